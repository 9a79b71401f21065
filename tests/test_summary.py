"""What the summary says first if a model is not to be trusted."""

from functools import cache

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseWarning
from pushwise.identification.summary import statements

TABLE, FINGER = pw.Table.rectangle(2.0, 2.0), pw.Finger()
THING = pw.objects.load("crimp")


@cache
def records() -> tuple[pw.PushRecord, ...]:
    """Return three pushes without noise."""
    rng = np.random.default_rng(3)
    world = pw.worlds.Ideal(THING, TABLE)
    made = []
    for k in range(3):
        world.reset(k)
        made.append(world.push(pw.draw_push(rng, THING.grid, np.zeros(3), TABLE, FINGER)))
    return tuple(made)


def doubts(found: pw.Identification) -> list[str]:
    """Return the sentences before that about the centre of mass."""
    said = found.statements()
    return said[: next(i for i, text in enumerate(said) if text.startswith("centre of mass"))]


def test_a_model_that_misses_its_own_pushes_is_not_trusted() -> None:
    """Say so if ends are missed by a tenth of the motion, and not before."""
    found = pw.identify(THING.grid, records())
    assert doubts(found) == []
    ends = (record.pose[[0, -1]] @ np.diag([1.0, 1.0, 0.0]) for record in records())
    moved = float(np.mean([np.hypot(*np.diff(end, axis=0)[0, :2]) for end in ends]))
    first, *_ = statements(found.posterior, fitted=True, error=0.2 * moved + 0.01)
    assert first.startswith("the model misses the ends of its own pushes by ")
    assert "so do not trust it: check the grid" in first
    fine = statements(found.posterior, fitted=True, error=0.009)
    assert fine == found.statements()
    assert statements(found.posterior, fitted=False, error=0.5)[0].startswith("centre of mass")


@pytest.mark.parametrize(("off", "expected"), [(0.005, False), (0.018, True)])
def test_a_set_up_beyond_calibration_is_not_trusted(off: float, expected: bool) -> None:
    """Name a tip that would have to be off by centimetres, which two pushes do not contradict."""
    moved = []
    for one in records()[:2]:
        assert isinstance(one.push, pw.Push)
        moved.append(pw.PushRecord(one.push.moved((off, 0.0)), one.t, one.pose))
    prior = pw.Prior(tip_doubt=0.03, frame_doubt=1e-3)
    said = doubts(pw.identify(THING.grid, moved, finger=FINGER, prior=prior))
    assert any("more than a calibration is" in text for text in said) == expected


def test_pushes_that_were_left_out_are_counted() -> None:
    """Begin with how many pushes were learned from."""
    one, two, _ = records()
    assert isinstance(two.push, pw.Push)
    away = pw.PushRecord(two.push.moved((0.5, 0.5)), two.t, two.pose)
    with pytest.warns(PushwiseWarning, match="left out: push 1"):
        found = pw.identify(THING.grid, [one, away], finger=FINGER)
    assert " cells from 1 of 2 pushes with " in found.summary().splitlines()[0]
