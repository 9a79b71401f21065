"""`Route`: waypoints of a controller, and detours where no push leads to the next one."""

import numpy as np
import pytest

import pushwise as pw
from push_shapes import shape
from pushwise.geometry.metric import cell_distance
from pushwise.planning.free_space import FreeSpace
from pushwise.planning.stability import Balance
from pushwise.sliding.route import Route

SQUARE = shape("square")
FREE = FreeSpace(Balance(pw.Belief.certain(SQUARE), pw.Table.rectangle(3.0, 2.0)))
START = np.array([-1.0, 0.0, 3.0])


@pytest.mark.parametrize("goal", [(1.0, 0.5, -3.0), (-0.95, 0.05, -3.0)])
def test_a_detour_is_near_the_way_ahead(goal: tuple[float, float, float]) -> None:
    """Aim at most 0.15 m ahead and a little aside, however far the goal is, the short way round."""
    route = Route(FREE, seed=0)
    route.start(START, np.array(goal))
    ways = np.array([route.detour(START, 1.0) for _ in range(40)])
    ahead = START + min(1.0, 0.15 / np.hypot(goal[0] + 1.0, goal[1])) * (
        np.array([goal[0], goal[1], goal[2] + 2.0 * np.pi]) - START
    )
    aside = ways - ahead
    aside[:, 2] = np.remainder(aside[:, 2] + np.pi, 2.0 * np.pi) - np.pi
    assert np.abs(aside).max(axis=0) == pytest.approx([0.08, 0.08, 0.6], rel=0.15)
    assert max(cell_distance(SQUARE.grid, START, way) for way in ways) < 0.3
