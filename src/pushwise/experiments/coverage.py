"""The second half of `pushwise experiment identification`: whether error bars are honest.

Objects whose parts have nearly the same friction ("even"), or frictions that differ by up to a
factor of 3 ("uneven"), are pushed in three worlds: Ideal with every cell carrying its own weight,
Ideal on a stiff bed, and MuJoCo. The method does not know the world. It knows where friction is
even, `Prior(friction_spread=0.05)`: slow pushes cannot show it, and error bars that allow for
uneven friction are far too large then. Of uneven friction it knows nothing. It learns from five
slow pushes, or from two slow pushes and five flicks that it chooses itself, one after the other, on
a table of 1.0 x 0.7 m. Poses have 1 mm and 5 mrad of noise; slow pushes are sampled at 10 Hz,
flicks at 60 Hz. Forces are not used, except for the total mass in MuJoCo: there everything is
identified once more with the forces of the same pushes, whose noise is 0.05 N.
"""

from __future__ import annotations

import warnings
from time import process_time

import numpy as np

from pushwise import objects
from pushwise.compilation import seconds_compiling
from pushwise.errors import PushwiseWarning, SimulationError
from pushwise.experiments.edge_risk import edge_risk
from pushwise.experiments.rows import Row
from pushwise.experiments.trials import EVEN, NOISE, TABLE, end_error
from pushwise.identification.identify import identify
from pushwise.identification.next_push import next_push
from pushwise.identification.prior import Prior
from pushwise.identification.result import Identification
from pushwise.objects.thing import Thing
from pushwise.physics.model import Physics, Table
from pushwise.physics.push import Finger, Push
from pushwise.records.record import Noise, PushRecord
from pushwise.sliding.flick import draw_flicks
from pushwise.sliding.random_push import draw_push
from pushwise.typing import Array
from pushwise.worlds.ideal import Ideal
from pushwise.worlds.mujoco import MuJoCo
from pushwise.worlds.simulated import SimulatedWorld
from pushwise.worlds.world import Sensing

__all__ = ["FRICTIONS", "PLANS", "WORLDS", "rows_of", "settings_of"]

WORLDS = ("own weight", "stiff bed", "mujoco")
FRICTIONS = ("even", "uneven")
PLANS = {"slow": (5, 0), "flicks": (2, 5)}  # slow pushes and flicks
SMALL = Table.rectangle(1.0, 0.7)
SLOW_RATE, FLICK_RATE = 10.0, 60.0  # Hz
SENSED = Noise(NOISE.position, NOISE.angle, force=0.05)
CANDIDATES = 20  # flicks to choose from
SEEDS = {"slow": 53, "flicks": 59}
MODELS = 64  # of what is believed; a flick must be safe for all of them
TOPPLED = 0.2  # rad; far beyond the noise of a tilt
TEST = 3  # slow pushes to predict after five of them


def settings_of(*, draws: int) -> list[Row]:
    """Return all settings: `draws` truths for each of twelve cases."""
    return [
        {
            "world": world,
            "friction": friction,
            "plan": plan,
            "object": objects.names[i % len(objects.names)],
            "draw": i,
        }
        for i in range(draws)
        for world in WORLDS
        for friction in FRICTIONS
        for plan in PLANS
    ]


def rows_of(setting: Row) -> list[Row]:
    """Push an object, learn, and compare with the truth."""
    world, friction, plan, name, draw = setting.values()
    assert isinstance(world, str) and isinstance(name, str) and isinstance(plan, str)
    assert isinstance(draw, int)
    rng = np.random.default_rng([SEEDS[plan], draw, WORLDS.index(world), friction == "uneven"])
    thing = objects.load(name).sample(rng, uneven=friction == "uneven")
    slow, flicks = PLANS[plan]
    pushed = _Pushed(thing, world, Prior() if friction == "uneven" else EVEN, rng)
    for _ in range(slow):
        pushed.slow(draw_push(rng, thing.grid, np.zeros(3), TABLE, Finger()))
    found = pushed.identified()
    safe = slides = 0
    if flicks:
        pushed.reseed()
    for _ in range(flicks):
        stays = pushed.flicked(found)
        if stays is None:
            break
        safe += stays
        found = pushed.identified()
        slides = sum(found.posterior.problem.order.free)
    off = found.model.centre_of_mass - thing.model.centre_of_mass
    covariance = found.posterior.centre_of_mass_covariance
    risk = edge_risk(found.belief, thing.model)
    return [
        {
            "centre_mm": 1e3 * float(np.hypot(*off)),
            "centre_std_mm": 1e3 * float(np.sqrt(np.trace(covariance))),
            "centre_chi2": float(off @ np.linalg.solve(covariance, off)),
            "error_mm": None if flicks else pushed.error_of(found),
            "fallen": risk.fallen,
            "short_mm": 1e3 * risk.short,
            **_total_mass(pushed if world == "mujoco" and flicks else None),
            "flicks": len(pushed.records) - slow,
            "slides": slides,
            "lost": len(pushed.records) - slow - safe,
            "simulations": found.simulations,
            "longest_seconds": max(pushed.seconds),
        }
    ]


def _total_mass(pushed: _Pushed | None) -> Row:
    """Return what the total mass is with forces: its error in standard errors, if determined."""
    if pushed is None:
        return {"mass_determined": None, "mass_error": None, "mass_std": None}
    found = pushed.identified(forces=True)
    std, total = found.belief.total_mass_std, pushed.thing.model.total_mass
    if std is None:
        return {"mass_determined": False, "mass_error": None, "mass_std": None}
    off = found.model.total_mass - total
    return {"mass_determined": True, "mass_error": off / std, "mass_std": std / total}


class _Pushed:
    """An object in a world, what was measured of it, and how long identifying it took."""

    def __init__(self, thing: Thing, world: str, prior: Prior, rng: np.random.Generator) -> None:
        self.records: list[PushRecord] = []
        self.seconds: list[float] = []
        self.thing, self._world, self._prior, self._rng = thing, world, prior, rng
        self._pose: Array = np.zeros(3)
        self._small = self._made(SMALL, Sensing(SENSED, rate=FLICK_RATE, lift=True))

    def slow(self, push: Push) -> None:
        """Push the object from the origin."""
        world = self._made(TABLE, Sensing(SENSED, rate=SLOW_RATE))
        world.reset(int(self._rng.integers(1 << 30)))
        self.records.append(world.push(push))

    def reseed(self) -> None:
        """Give the flicks of each truth a noise of their own."""
        self._small.reset(int(self._rng.integers(1 << 30)))

    def flicked(self, found: Identification) -> bool | None:
        """Flick the object on the small table; return whether it stays there.

        The flick is the most informative of some that are safe; None where there is none.
        """
        models = found.belief.models(MODELS, self._rng)
        candidates = draw_flicks(self._rng, models, self._pose, SMALL, Finger(), count=CANDIDATES)
        if not candidates:
            return None
        ranked = next_push(found.belief, candidates, self._pose, rate=FLICK_RATE)
        for push in [each.push for each in ranked] or candidates:
            try:
                record = self._small.push(push)
            except SimulationError:  # the object is not quite where it was seen, but in the way
                continue
            self.records.append(record)
            self._pose = record.pose[-1]
            return not record.fell and not _toppled(record)
        return None

    def identified(self, *, forces: bool = False) -> Identification:
        """Identify the object from all records, with or without their forces."""
        records = (
            self.records
            if forces
            else [one.with_lift(None).without_force() for one in self.records]
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PushwiseWarning)  # of flicks without a slide
            while True:
                began, compiling = process_time(), seconds_compiling()
                found = identify(self.thing.grid, records, finger=Finger(), prior=self._prior)
                if seconds_compiling() == compiling:
                    break  # timed without compilation
        self.seconds.append(process_time() - began)
        return found

    def error_of(self, found: Identification) -> float:
        """Return the error of predicted slow pushes from the origin [mm], measured exactly."""
        records = []
        world = self._made(TABLE, Sensing())
        for _ in range(TEST):
            world.reset(0)
            push = draw_push(self._rng, self.thing.grid, np.zeros(3), TABLE, Finger())
            records.append(world.push(push))
        return 1e3 * end_error(found.model, found.finger, records)

    def _made(self, table: Table, sensing: Sensing) -> SimulatedWorld:
        if self._world == "mujoco":
            return MuJoCo(self.thing, table, finger=Finger(), sensing=sensing)
        physics = Physics(load="own" if self._world == "own weight" else "rigid")
        return Ideal(self.thing, table, finger=Finger(), sensing=sensing, physics=physics)


def _toppled(record: PushRecord) -> bool:
    """Return whether an object that was flat on the table is so no longer."""
    return record.lift is not None and bool(record.lift[-1, 1] > TOPPLED)
