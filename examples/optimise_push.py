"""Find a push that brings a hammer to a pose, by gradient descent through the physics.

Run: python examples/optimise_push.py   (needs the extra torch)
"""

import torch

import pushwise as pw
from pushwise.torch import PushScene, simulate

model = pw.objects.load("hammer").model
mass, friction = torch.tensor(model.mass), torch.tensor(model.friction)
still = torch.zeros(3, dtype=torch.float64)
goal = torch.tensor([0.01, 0.05, 0.15], dtype=torch.float64)
size = torch.tensor([1.0, 1.0, 0.1], dtype=torch.float64)  # metres, and metres per radian

scene = PushScene(model.grid, times=[0.0, 0.5, 1.0], at=[1.2])
knots = torch.tensor([[-0.05, -0.08], [-0.05, -0.03], [-0.05, 0.01]], dtype=torch.float64)
knots.requires_grad_()
optimiser = torch.optim.Adam([knots], lr=1e-3)
for step in range(151):
    pose = simulate(mass, friction, 0.3, still, still, knots, scene=scene)[0]
    distance = torch.linalg.norm(size * (pose - goal))
    if step % 50 == 0:
        print(f"after {step} steps: {1e3 * distance.item():.1f} mm from the goal")
    optimiser.zero_grad()
    distance.backward()
    optimiser.step()
print("push through", *(f"({x:.3f}, {y:.3f})" for x, y in knots.tolist()), "m")
