"""The second half of `pushwise experiment identification`: how honest the error bars are.

Objects whose parts have nearly the same friction ("even"), or frictions that differ by up to a
factor of 3 ("uneven"), are pushed in three worlds: Ideal with every cell carrying its own weight,
Ideal on a stiff bed, and MuJoCo. The method does not know the world. It is told where friction is
even, `Prior(friction_spread=0.05)`: slow pushes cannot show it, and error bars that allow for
uneven friction are far too large then. Of uneven friction it is told nothing. It learns from five
slow pushes, or from two slow pushes and five flicks that it chooses itself, one after the other, on
a table of 1.0 x 0.7 m. Poses have 1 mm and 5 mrad of noise; slow pushes are sampled at 10 Hz,
flicks at 60 Hz.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from pushwise import objects
from pushwise.atomic_write import write_text
from pushwise.errors import PushwiseWarning, SimulationError
from pushwise.experiments.reporting import markdown
from pushwise.experiments.rows import Row, numbers, where
from pushwise.experiments.trials import EVEN, NOISE, TABLE, end_error
from pushwise.identification.identify import identify
from pushwise.identification.next_push import next_push
from pushwise.identification.prior import Prior
from pushwise.identification.result import Identification
from pushwise.objects.thing import Thing
from pushwise.physics.model import Physics, Table
from pushwise.physics.push import Finger, Push
from pushwise.records.record import PushRecord
from pushwise.sliding.flick import draw_flicks
from pushwise.sliding.random_push import draw_push
from pushwise.typing import Array
from pushwise.worlds.ideal import Ideal
from pushwise.worlds.mujoco import MuJoCo
from pushwise.worlds.simulated import SimulatedWorld
from pushwise.worlds.world import Sensing

__all__ = ["report", "rows_of", "settings_of"]

WORLDS = ("own weight", "stiff bed", "mujoco")
FRICTIONS = ("even", "uneven")
PLANS = {"slow": (5, 0), "flicks": (2, 5)}  # slow pushes and flicks
SMALL = Table.rectangle(1.0, 0.7)
FLICK_RATE = 60.0  # Hz
CANDIDATES = 20  # flicks to choose from
MODELS = 64  # of what is believed; a flick must be safe for all of them
TEST = 5  # slow pushes to predict
CHI2_95 = 5.991  # 95 % quantile with two degrees of freedom


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
    # Pushes do not depend on the plan until the flicks begin.
    rng = np.random.default_rng([5000 + draw, WORLDS.index(world), friction == "uneven"])
    thing = objects.load(name).sample(rng, uneven=friction == "uneven")
    slow, flicks = PLANS[plan]
    pushed = _Pushed(thing, world, Prior() if friction == "uneven" else EVEN, rng)
    for _ in range(slow):
        pushed.slow(draw_push(rng, thing.grid, np.zeros(3), TABLE, Finger()))
    found = pushed.identified()
    safe = slides = 0
    for _ in range(flicks):
        stays = pushed.flicked(found)
        if stays is None:
            break
        safe += stays
        found = pushed.identified()
        slides = sum(found.posterior.problem.order.free)
    off = found.model.centre_of_mass - thing.model.centre_of_mass
    covariance = found.posterior.centre_of_mass_covariance
    return [
        {
            "centre_mm": 1e3 * float(np.hypot(*off)),
            "centre_std_mm": 1e3 * float(np.sqrt(np.trace(covariance))),
            "centre_chi2": float(off @ np.linalg.solve(covariance, off)),
            "error_mm": 1e3 * end_error(found.model, found.finger, pushed.to_predict(TEST)),
            "flicks": len(pushed.records) - slow,
            "slides": slides,
            "lost": len(pushed.records) - slow - safe,
            "simulations": found.simulations,
            "longest_seconds": max(pushed.seconds),
        }
    ]


class _Pushed:
    """An object in a world, what was measured of it, and how long identifying it took."""

    def __init__(self, thing: Thing, world: str, prior: Prior, rng: np.random.Generator) -> None:
        self.records: list[PushRecord] = []
        self.seconds: list[float] = []
        self._thing, self._world, self._prior, self._rng = thing, world, prior, rng
        self._pose: Array = np.zeros(3)
        self._small = self._made(SMALL, Sensing(NOISE, rate=FLICK_RATE))

    def slow(self, push: Push) -> None:
        """Push the object from the origin."""
        world = self._made(TABLE, Sensing(NOISE))
        world.reset(int(self._rng.integers(1 << 30)))
        self.records.append(world.push(push))

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
            return not record.fell
        return None

    def identified(self) -> Identification:
        """Identify the object from all records."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PushwiseWarning)  # of flicks without a slide
            found = identify(self._thing.grid, self.records, finger=Finger(), prior=self._prior)
        self.seconds.append(found.seconds)
        return found

    def to_predict(self, count: int) -> list[PushRecord]:
        """Push the object slowly from the origin, and measure that without noise."""
        records = []
        world = self._made(TABLE, Sensing())
        for _ in range(count):
            world.reset(0)
            push = draw_push(self._rng, self._thing.grid, np.zeros(3), TABLE, Finger())
            records.append(world.push(push))
        return records

    def _made(self, table: Table, sensing: Sensing) -> SimulatedWorld:
        if self._world == "mujoco":
            return MuJoCo(self._thing, table, finger=Finger(), sensing=sensing)
        physics = Physics(load="own" if self._world == "own weight" else "rigid")
        return Ideal(self._thing, table, finger=Finger(), sensing=sensing, physics=physics)


def report(rows: list[Row], folder: Path) -> str:
    """Write ``table.md``; return the table."""
    lines = []
    for friction in FRICTIONS:
        for plan, (slow, flicks) in PLANS.items():
            for world in WORLDS:
                mine = where(rows, world=world, friction=friction, plan=plan)
                if not mine:
                    continue
                off = numbers(mine, "centre_mm")
                seconds = numbers(mine, "longest_seconds")
                held = np.mean(numbers(mine, "centre_chi2") < CHI2_95)
                lines.append(
                    (
                        friction,
                        f"{slow} slow" + (f", {flicks} flicks" if flicks else ""),
                        world,
                        f"{len(mine)}",
                        f"{held:.1%}",
                        f"{np.median(off):.1f} / {np.percentile(off, 90):.1f}",
                        f"{np.median(numbers(mine, 'centre_std_mm')):.1f}",
                        f"{np.mean(numbers(mine, 'error_mm')):.1f}",
                        f"{numbers(mine, 'lost').sum():.0f} of {numbers(mine, 'flicks').sum():.0f}",
                        f"{np.median(seconds):.2f} / {seconds.max():.2f}",
                    )
                )
    columns = (
        "friction",
        "pushes",
        "world",
        "truths",
        "95 % region holds the centre of mass",
        "centre off, median / 90 % [mm]",
        "claimed, median [mm]",
        "slow pushes predicted, mean [mm]",
        "flicks that lost the object",
        "identification, median / longest [s]",
    )
    title = (
        "Error bars where the method does not know the world; it is told that friction is even, "
        "and nothing of uneven friction. Claimed: "
        "the root of the sum of both variances. The time is that of the longest identification of "
        "each truth."
    )
    table = f"{title}\n\n{markdown(columns, lines)}"
    write_text(folder / "table.md", table + "\n")
    return table
