"""Push a hammer five times in MuJoCo, identify its mass and friction, and draw them.

Run: python examples/five_pushes.py hammer.png
"""

import sys
from pathlib import Path

import numpy as np

import pushwise as pw

thing = pw.objects.load("hammer")  # the truth, hidden in the world
table, finger = pw.Table.rectangle(2.0, 2.0), pw.Finger()
camera = pw.worlds.Sensing(pw.Noise(position=1e-3, angle=5e-3))
world = pw.worlds.MuJoCo(thing, table, sensing=camera, finger=finger)

rng = np.random.default_rng(3)
records = []
for _ in range(5):
    push = pw.draw_push(rng, thing.grid, world.observe().pose, table, finger)
    records.append(world.push(push))

# Forget the forces that the simulator measured: poses are all that most people have.
records = [pw.PushRecord(r.push, r.t, r.pose, noise=r.noise) for r in records]
found = pw.identify(thing.grid, records, finger=finger)
print(found.summary())
off = 1e3 * np.hypot(*(found.model.centre_of_mass - thing.model.centre_of_mass))
print(f"the true centre of mass is {off:.1f} mm away")
pw.plot_maps(found, Path(sys.argv[1] if len(sys.argv) > 1 else "five_pushes.png"))
