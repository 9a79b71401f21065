"""Choose each push by what it will reveal, instead of at random.

Run: python examples/next_push.py
"""

import numpy as np

import pushwise as pw

thing = pw.objects.load("hammer").sample(np.random.default_rng(0))
camera = pw.worlds.Sensing(pw.Noise(position=1e-3, angle=5e-3), rate=60.0)
world = pw.worlds.Ideal(thing, sensing=camera)
rng = np.random.default_rng(0)


def slow_pushes(count):
    """Draw pushes that keep the object on the table."""
    pose = world.observe().pose
    return [pw.draw_push(rng, thing.grid, pose, world.table, world.finger) for _ in range(count)]


def flicks(belief, count):
    """Draw flicks that keep it there whatever it is like, as far as that is known."""
    pose, models = world.observe().pose, belief.models(64, rng)
    return pw.draw_flicks(rng, models, pose, world.table, world.finger, count=count)


records = [world.push(push) for push in slow_pushes(1)]
for _ in range(5):
    found = pw.identify(thing.grid, records)
    candidates = [*slow_pushes(5), *flicks(found.belief, 5)]
    best = pw.next_push(found.belief, candidates, world.observe().pose)[0]
    known = np.sqrt(np.trace(found.posterior.centre_of_mass_covariance))
    kind = "a flick" if best.push.top_speed > 0.3 else "a slow push"
    print(f"centre of mass known to {1e3 * known:.1f} mm; {kind} promises", end=" ")
    print(f"{1e3 * best.centre_std:.1f} mm")
    records.append(world.push(best.push))

found = pw.identify(thing.grid, records)
off = 1e3 * np.hypot(*(found.model.centre_of_mass - thing.model.centre_of_mass))
print(f"after {len(records)} pushes the centre of mass is {off:.1f} mm off")
