"""Choose each push by what it will reveal, instead of at random.

Run: python examples/next_push.py
"""

import numpy as np

import pushwise as pw

thing = pw.objects.load("hammer")
camera = pw.worlds.Sensing(pw.Noise(position=1e-3, angle=5e-3))
world = pw.worlds.Ideal(thing, sensing=camera)
rng = np.random.default_rng(0)


def candidates(count):
    """Draw pushes that keep the object on the table."""
    pose = world.observe().pose
    return [pw.draw_push(rng, thing.grid, pose, world.table, world.finger) for _ in range(count)]


records = [world.push(candidates(1)[0])]
for _ in range(3):
    found = pw.identify(thing.grid, records)
    best = pw.next_push(found.belief, candidates(20), world.observe().pose)[0]
    known = 1e3 * np.sqrt(np.trace(found.posterior.centre_of_mass_covariance))
    print(f"standard error of the centre of mass {known:.1f} mm; the next push promises", end=" ")
    print(f"{1e3 * best.centre_std:.1f} mm")
    records.append(world.push(best.push))

found = pw.identify(thing.grid, records)
off = 1e3 * np.hypot(*(found.model.centre_of_mass - thing.model.centre_of_mass))
print(f"after {len(records)} pushes the centre of mass is {off:.1f} mm off")
