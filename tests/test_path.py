"""`find_path`: straight where it can be, round obstacles where not, in time, and plain words."""

from itertools import pairwise

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import placed
from pushwise.planning.free_space import FreeSpace
from pushwise.planning.options import PlanOptions
from pushwise.planning.path import find_path
from pushwise.planning.stability import Balance
from ticking import Ticking

HAMMER = pw.objects.load("hammer").model
KNOWN = pw.Belief.certain(HAMMER)
TABLE = pw.Table.rectangle(1.2, 0.8)
WALL = [(-0.02, -0.4), (0.02, -0.4), (0.02, 0.12), (-0.02, 0.12)]
START, GOAL = (-0.35, -0.1, 1.5), (0.35, -0.1, 1.5)


def free(*obstacles: list[tuple[float, float]]) -> FreeSpace:
    """Return the hammer's free poses on the table with obstacles."""
    return FreeSpace(Balance(KNOWN, TABLE), obstacles)


def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return poses on the straight way of the cells' centroid from a to b, 2 mm apart or less."""
    centroid = HAMMER.grid.centres.mean(axis=0)[None]
    first, last = placed(centroid, a)[0], placed(centroid, b)[0]
    turn = np.remainder(b[2] - a[2] + np.pi, 2.0 * np.pi) - np.pi
    poses = []
    for share in np.linspace(0.0, 1.0, 400):
        theta = a[2] + share * turn
        at = first + share * (last - first) - placed(centroid, np.array([0.0, 0.0, theta]))[0]
        poses.append(np.append(at, theta))
    return np.array(poses)


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
    assert room(np.concatenate([between(a, b) for a, b in pairwise(path)])).all()
    assert np.hypot(*np.diff(path[:, :2], axis=0).T).sum() < 1.6


@pytest.mark.parametrize("limit", [0.0, 1.0, 5.0, float("nan")])
def test_a_limit_that_is_no_probability_is_refused(limit: float) -> None:
    """Take no limit under which everything or nothing may fall, in any place it is given."""
    for make in (
        lambda: FreeSpace(Balance(KNOWN, TABLE), max_fall_probability=limit),
        lambda: PlanOptions(max_fall_probability=limit),
    ):
        with pytest.raises(PushwiseError, match=r"max_fall_probability must be (above 0|finite)"):
            make()


def test_the_probability_said_is_the_one_judged_by() -> None:
    """Name a probability above the limit wherever a pose is refused for it."""
    belief = pw.Belief(HAMMER, pw.Finger(), 0.01**2 * np.eye(2), None, np.zeros(3))
    balance = Balance(belief, TABLE, seed=2)
    room = FreeSpace(balance, max_fall_probability=0.01)
    poses = np.column_stack([np.linspace(0.65, 0.69, 81), np.zeros((81, 2))])
    said = [room.objection(pose) or "" for pose in poses]
    fall = [i for i, words in enumerate(said) if "would fall" in words]
    assert all(float(said[i].split("probability ")[1].split()[0]) > 0.01 for i in fall)
    # Goals are judged by the same samples, so that none is refused on the way.
    assert fall == np.flatnonzero(balance.fall_probabilities(poses) > 0.01).tolist()
    assert 0 < len(fall) < len(poses)


def test_time_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up within 10 % of the limit, and say what is in the way."""
    clock = Ticking()
    monkeypatch.setattr("pushwise.planning.deadline.working_clock", clock)
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
