"""Slide an object with hidden masses to the table's edge and grasp it there, in twelve lines.

Run: python examples/slide.py crimp
"""

import sys

import pushwise as pw

table = pw.Table.rectangle(1.0, 0.7)
what = sys.argv[1] if len(sys.argv) > 1 else "crimp"
world = pw.worlds.random_world(what, table, world="ideal", seed=1)
outcome = pw.slide(world, table)

print(outcome.found.summary())
print(f"goal: {outcome.goal.overhang * 1e3:.0f} mm over the edge,", end=" ")
print(f"falls with probability {outcome.goal.fall_probability:.4f}")
print(outcome.verdict)
