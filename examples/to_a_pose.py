"""Plan pushes to a pose round an obstacle, and look at what the first of them would do.

Run: python examples/to_a_pose.py
"""

import numpy as np

import pushwise as pw

model = pw.objects.load("wrench").model
table = pw.Table.rectangle(1.4, 1.0)
wall = [(0.15, -0.3), (0.2, -0.3), (0.2, 0.05), (0.15, 0.05)]
goal = np.array([0.4, -0.1, 1.0])

plan = pw.plan(pw.Belief.certain(model), (-0.3, -0.1, 0.0), goal, table, obstacles=[wall])
for push, pose in zip(plan.pushes, plan.poses[1:], strict=True):
    x, y, theta = pose
    print(f"{push.duration:.1f} s from ({push.start[0]:.3f}, {push.start[1]:.3f}) m", end=" ")
    print(f"brings it to ({x:.3f} m, {y:.3f} m, {np.degrees(theta):.0f} degrees)")

path = pw.simulate(model, plan.pushes[0], plan.poses[0])
print(f"the first push takes at most {np.hypot(*path.force.T).max():.2f} N")
