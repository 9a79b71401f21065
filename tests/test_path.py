"""`find_path`: straight where it can be, round obstacles where not, in time, and plain words."""

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError
from pushwise.planning.free import Free
from pushwise.planning.path import find_path, poses_along
from pushwise.planning.stability import Balance
from ticking import Ticking

HAMMER = pw.objects.load("hammer").model
TABLE = pw.Table.rectangle(1.2, 0.8)
WALL = [(-0.02, -0.4), (0.02, -0.4), (0.02, 0.12), (-0.02, 0.12)]
START, GOAL = (-0.35, -0.1, 1.5), (0.35, -0.1, 1.5)


def free(*obstacles: list[tuple[float, float]]) -> Free:
    """Return the hammer's free poses on the table with obstacles."""
    return Free(Balance(HAMMER, TABLE), obstacles)


def test_poses_are_free_or_not() -> None:
    """Refuse poses in an obstacle, around it, beyond the table and over its edge."""
    small = [(0.0, 0.0), (0.004, 0.0), (0.004, 0.004), (0.0, 0.004)]
    poses = [(0.0, 0.0, 0.0), (0.0, 0.2, 0.0), (2.0, 0.0, 0.0), (0.62, 0.2, 1.57)]
    assert free(small)(poses).tolist() == [False, True, False, False]
    huge = [(-0.5, -0.3), (0.5, -0.3), (0.5, 0.3), (-0.5, 0.3)]
    assert free(huge)([(0.0, 0.0, 0.0)]).tolist() == [False]


def test_the_straight_way_is_taken() -> None:
    """Return start and goal alone, the shorter way round."""
    path = find_path(free(), (0.0, 0.0, 3.0), (0.2, 0.1, -3.0))
    assert path == pytest.approx(np.array([(0.0, 0.0, 3.0), (0.2, 0.1, 2 * np.pi - 3.0)]))


@pytest.mark.parametrize("seed", range(5))
def test_the_path_goes_round_a_wall(seed: int) -> None:
    """Pass through free poses only, and not much further than needed."""
    room = free(WALL)
    path = find_path(room, START, GOAL, time_limit=5.0, seed=seed)
    assert path[0] == pytest.approx(START)
    assert path[-1] == pytest.approx(GOAL)
    assert room(poses_along(HAMMER.grid, path, 0.002)).all()
    assert np.hypot(*np.diff(path[:, :2], axis=0).T).sum() < 1.6


def test_time_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up within 10 % of the limit, and say what is in the way."""
    clock = Ticking()
    monkeypatch.setattr("pushwise.planning.deadline.perf_counter", clock)
    wall = [(-0.02, -0.4), (0.02, -0.4), (0.02, 0.4), (-0.02, 0.4)]
    with pytest.raises(PushwiseError, match=r"no path was found in 0.3 s; in the way are"):
        find_path(free(wall), START, GOAL, time_limit=0.3)
    assert clock.now < 0.33


def test_ends_that_are_not_free_are_named() -> None:
    """Say which end it is, and what is wrong with it."""
    for start, goal, said in (
        ((0.0, 0.0, 0.0), GOAL, r"start \(0.000 m, .* touches obstacle 0"),
        (START, (2.0, 0.0, 0.0), r"goal \(2.000 m, .*: that is off the table"),
        (START, (0.75, 0.0, 0.0), r"goal .* would fall there with probability 1 .* margin of -"),
    ):
        with pytest.raises(PushwiseError, match=said):
            find_path(free(WALL), start, goal)
