"""`Learner`: nothing is identified twice, and no warning is lost or repeated."""

import warnings
from typing import Any

import pytest

import pushwise as pw
from pushwise.errors import PushwiseWarning
from pushwise.sliding import learner as module
from pushwise.sliding.explore import Unexplored
from pushwise.sliding.learner import Learner

BOX = pw.objects.load("box")


def test_the_same_pushes_are_learned_from_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the last result for the same pushes, and warn only when asked to."""
    calls: list[int] = []

    def identify(grid: pw.CellGrid, records: list[pw.PushRecord], **_: Any) -> object:
        calls.append(len(records))
        warnings.warn(f"{len(records)} pushes.", PushwiseWarning, stacklevel=2)
        return object()

    monkeypatch.setattr(module, "identify", identify)
    world = pw.worlds.Ideal(BOX, pw.Table())
    push = pw.Push.line((-0.2, 0.0), (0.1, 0.0), 1.0)
    records = [world.push(push)]
    learner = Learner(Unexplored(BOX.grid, pw.Table(), pw.Finger(), pw.Prior()), seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = learner.learn(records)
        records.append(records[0])
        second = learner.learn(records)
        assert learner.learn(tuple(records)) is second is not first
    assert calls == [1, 2]
    with pytest.warns(PushwiseWarning) as warned:
        learner.warn()
    assert [str(each.message) for each in warned] == ["2 pushes."]
