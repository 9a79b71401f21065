"""Objects get to goals with feedback where the world streams, and push by push elsewhere."""

from pathlib import Path

import numpy as np
import pytest

import pushwise as pw
from pushwise.progress import Progress
from pushwise.sliding.bring import bring
from pushwise.worlds.world import Observation

TABLE = pw.Table.rectangle(1.0, 0.7)
BAR = pw.CellGrid.from_outline(
    [(-0.06, -0.02), (0.06, -0.02), (0.06, 0.02), (-0.06, 0.02)], cell_size=0.02
)
MODEL = pw.ObjectModel(BAR, np.full(BAR.n_cells, 0.02), 0.3)
GOAL = np.array([0.12, 0.05, 0.4])


class WholePushes:
    """A world that makes whole pushes only."""

    def __init__(self, world: pw.worlds.Ideal) -> None:
        self.world = world

    def observe(self) -> Observation:
        """Look at the object."""
        return self.world.observe()

    def push(self, push: pw.Push) -> pw.PushRecord:
        """Push it."""
        return self.world.push(push)

    def reset(self, seed: int) -> None:
        """Put it back."""
        self.world.reset(seed)


@pytest.mark.slow
@pytest.mark.parametrize("streams", [True, False])
def test_both_kinds_of_worlds_get_there(streams: bool) -> None:
    """Reach a goal, and report each push as it is made."""
    ideal = pw.worlds.Ideal(MODEL, TABLE)
    world = ideal if streams else WholePushes(ideal)
    news: list[Progress] = []
    done = bring(world, pw.Belief.certain(MODEL), GOAL, TABLE, progress=news.append)
    assert done.reached and done.error < 0.01
    assert np.allclose(ideal.observe().pose, GOAL, atol=0.02)
    assert (done.simulations == 0) is streams  # feedback plans nothing beforehand
    assert done.records and {one.stage for one in news} == {"follow"}
    assert [one.result for one in news] == list(done.records)[: len(news)]


def test_pushes_after_a_drive_fit_into_one_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keep of whole pushes only what is known of those driven, too: a log has it for all."""
    monkeypatch.setattr("pushwise.sliding.bring._TIME_LIMIT", 1.0)
    world = pw.worlds.Ideal(MODEL, TABLE, sensing=pw.worlds.Sensing(lift=True))
    done = bring(world, pw.Belief.certain(MODEL), (0.3, 0.2, 2.0), TABLE)
    assert {record.source for record in done.records} == {"drive", "Ideal"}
    pw.PushLog(done.records).save(tmp_path / "log.csv")
