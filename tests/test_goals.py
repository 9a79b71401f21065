"""`choose_goal`: graspable overhangs, safe ones first, and what could be had when there is none."""

from dataclasses import replace

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError
from pushwise.geometry.metric import cell_distance, mean_cell_error
from pushwise.geometry.polygon import contains, placed
from pushwise.planning.free_space import FreeSpace
from pushwise.planning.overhang import overhangs
from pushwise.planning.stability import Balance

TABLE = pw.Table.rectangle(0.8, 0.6)
HAMMER = pw.objects.load("hammer")
KNOWN = pw.Belief.certain(HAMMER.model)
FORK = np.array([[-0.1, 0.1, 0.1, 0.0, 0.0, 0.1, 0.1, -0.1], [-5, -5, -2, -2, 2, 2, 5, 5]]).T * [
    1.0,
    0.01,
]


def test_prongs_are_parts_of_their_own() -> None:
    """Find two prongs beyond the edge, and one part when the fork goes further."""
    table = TABLE.polygon
    prongs = overhangs(FORK, table, np.array([0.35, 0.0, 0.0]))
    assert [part.edge for part in prongs] == [1, 1]
    assert [part.depth for part in prongs] == pytest.approx([0.05, 0.05])
    assert [part.width for part in prongs] == pytest.approx([0.03, 0.03])
    assert sorted(part.begin for part in prongs) == pytest.approx([0.25, 0.32])
    (whole,) = overhangs(FORK, table, np.array([0.45, 0.0, 0.0]))
    assert (whole.depth, whole.width) == pytest.approx((0.15, 0.1))
    # Turned round, the hollow over the table is none of its parts.
    (back,) = overhangs(FORK, table, np.array([0.35, 0.0, np.pi]))
    assert (back.depth, back.width) == pytest.approx((0.05, 0.1))
    assert overhangs(FORK, table, np.zeros(3)) == []


def test_the_distance_of_cells_is_closed() -> None:
    """Agree with the cells themselves, and never fall below their mean distance."""
    rng = np.random.default_rng(0)
    grid = HAMMER.grid
    for a, b in rng.normal(size=(20, 2, 3)):
        apart = placed(grid.centres, a) - placed(grid.centres, b)
        exact = np.sqrt(np.mean(np.sum(apart**2, axis=1)))
        assert cell_distance(grid, a, b) == pytest.approx(exact)
        assert mean_cell_error(grid, a, b) <= exact + 1e-12


def test_goals_are_free_of_obstacles() -> None:
    """Choose another edge where the best two are full, and say when all are."""
    walls = [[(-0.3, y), (0.3, y), (0.3, y + 0.1), (-0.3, y + 0.1)] for y in (0.18, -0.28)]
    assert pw.choose_goal(KNOWN, TABLE, space=pw.GoalSpace(start=(0, 0, 0))).edge in (0, 2)
    best = pw.choose_goal(KNOWN, TABLE, space=pw.GoalSpace(start=(0, 0, 0), obstacles=walls))
    free = FreeSpace(Balance(KNOWN, TABLE), walls)
    assert free([goal.pose for goal in (best, *best.alternatives)]).all()
    slab = [(-0.39, -0.29), (0.39, -0.29), (0.39, 0.29), (-0.39, 0.29)]
    with pytest.raises(PushwiseError, match="no goal with 50 mm overhang that is free of obst"):
        pw.choose_goal(KNOWN, TABLE, space=pw.GoalSpace(obstacles=[slab]))


@pytest.mark.parametrize("name", pw.objects.names)
def test_goals_overhang_and_rest(name: str) -> None:
    """Keep what was asked for, and what is said of the goal, for every object."""
    thing = pw.objects.load(name)
    belief = pw.Belief.certain(thing.model)
    goal = pw.choose_goal(belief, TABLE, overhang=0.04)
    balance = Balance(belief, TABLE)
    for each in (goal, *goal.alternatives):
        parts = overhangs(thing.outline, TABLE.polygon, each.pose)
        assert any(
            (part.edge, part.depth, part.width)
            == pytest.approx((each.edge, each.overhang, each.width))
            for part in parts
        )
        assert each.overhang >= 0.04 - 1e-9
        assert each.width <= 0.3
        assert each.margin == pytest.approx(balance.at(each.pose).margin)
        assert each.margin > 0.005
    assert not pw.worlds.MuJoCo(thing, TABLE, pose=goal.pose).fell


def test_goals_stay_in_the_region() -> None:
    """Take an edge, a polygon, or given poses."""
    at_edge = pw.choose_goal(KNOWN, TABLE, space=pw.GoalSpace(region=2))
    assert {goal.edge for goal in (at_edge, *at_edge.alternatives)} == {2}
    region = [(0.1, -0.3), (0.6, -0.3), (0.6, 0.3), (0.1, 0.3)]
    inside = pw.choose_goal(KNOWN, TABLE, space=pw.GoalSpace(region=region))
    assert all(goal.pose[0] > 0.1 for goal in (inside, *inside.alternatives))
    chosen = pw.choose_goal(
        KNOWN, TABLE, space=pw.GoalSpace(region=[list(at_edge.pose), [0.0, 0.0, 0.0]])
    )
    assert chosen.pose == pytest.approx(at_edge.pose)
    assert chosen.alternatives == ()
    with pytest.raises(PushwiseError, match="number of the table's edges, 4; got 4"):
        pw.choose_goal(KNOWN, TABLE, space=pw.GoalSpace(region=4))


def test_numbers_of_edges_may_be_numpy_s() -> None:
    """Take an edge that np.argmin found."""
    belief = pw.Belief.certain(pw.objects.load("hammer").model)
    goal = pw.choose_goal(belief, pw.Table(), space=pw.GoalSpace(region=np.int64(2)))
    assert goal.edge == 2


def test_the_nearer_of_equals_is_taken() -> None:
    """Go to the side the object is on."""
    for side in (-1.0, 1.0):
        goal = pw.choose_goal(KNOWN, TABLE, space=pw.GoalSpace(start=(0.2 * side, 0.0, 0.0)))
        assert goal.pose[0] * side > 0.0


def test_doubt_asks_for_margin() -> None:
    """Keep the limit when the centre of mass is known to 10 mm."""
    covariance = np.diag([0.01**2, 0.01**2])
    belief = pw.Belief(HAMMER.model, pw.Finger(), covariance, None, np.zeros(3))
    goal = pw.choose_goal(belief, TABLE)
    assert goal.fall_probability <= 0.01
    assert goal.margin > 0.02


def test_no_goal_is_explained() -> None:
    """Say what could be had, how wide parts are, and how much better one would have to know."""
    covariance = np.diag([0.05**2, 0.01**2])
    belief = pw.Belief(HAMMER.model, pw.Finger(), covariance, None, np.zeros(3))
    with pytest.raises(
        PushwiseError, match=r"no goal with 200 mm .* could be had; .* known .* times"
    ):
        pw.choose_goal(belief, TABLE, overhang=0.2)
    with pytest.raises(
        PushwiseError, match=r"narrowest part that deep is .* mm wide, the grasp 5 mm"
    ):
        pw.choose_goal(KNOWN, TABLE, grasp_width=0.005)
    with pytest.raises(PushwiseError, match="no pose of the region"):
        pw.choose_goal(KNOWN, TABLE, space=pw.GoalSpace(region=[(0.0, 0.0, 0.0)]))
    with pytest.raises(PushwiseError, match="better would not help"):
        pw.choose_goal(KNOWN, pw.Table.rectangle(0.05, 0.05), overhang=0.03)


def test_as_far_over_the_edge_as_the_risk_allows() -> None:
    """Go as far as the centre of mass allows if it is known, and less far the less it is known."""
    exactly = pw.PlanOptions(placement_std=0.0)
    far = pw.choose_goal(KNOWN, TABLE, prefer="overhang", options=exactly)
    safe = pw.choose_goal(KNOWN, TABLE, options=exactly)
    assert far.overhang > 2.0 * safe.overhang
    assert 0.0 <= far.margin < 0.006 and far.fall_probability == 0.0
    unsure = replace(KNOWN, centre_covariance=0.01**2 * np.eye(2))
    less = pw.choose_goal(unsure, TABLE, prefer="overhang", options=exactly)
    assert less.fall_probability <= 0.01
    assert less.overhang == pytest.approx(far.overhang - 0.0257, abs=0.008)
    # Nobody places an object to the millimetre: a known one keeps its distance, too.
    placed_badly = pw.PlanOptions(placement_std=0.01)
    short = pw.choose_goal(KNOWN, TABLE, prefer="overhang", options=placed_badly)
    assert short.overhang == pytest.approx(far.overhang - 0.0233, abs=0.008)
    with pytest.raises(PushwiseError, match=r'prefer must be "safety" or "overhang"; got .speed.'):
        pw.choose_goal(KNOWN, TABLE, prefer="speed")  # type: ignore[arg-type]


def test_the_part_to_be_grasped_is_beyond_the_edge() -> None:
    """Bring the head of the hammer over the edge if asked to, or the end of its handle."""
    x = HAMMER.grid.outline[:, 0]
    for point in ((x.min() + 0.02, 0.0), (x.max() - 0.02, 0.0)):
        goal = pw.choose_goal(KNOWN, TABLE, grasp_at=point)
        for one in (goal, *goal.alternatives):
            at = placed(np.array([point]), one.pose)[0]
            assert not contains(TABLE.polygon, at[None])[0]
            assert one.fall_probability <= 0.01 and one.overhang >= 0.05
    with pytest.raises(PushwiseError, match=r"there is no goal with 50 mm overhang of the part at"):
        pw.choose_goal(KNOWN, TABLE, grasp_at=HAMMER.model.centre_of_mass)
    with pytest.raises(PushwiseError, match="grasp_at must be a point of the object"):
        pw.choose_goal(KNOWN, TABLE, grasp_at=(1.0, 0.0))


def test_obstacles_far_over_the_edge_leave_the_goals_that_are_nearer() -> None:
    """Extend as far as is free where walls keep the object from the goals that extend farthest."""
    outline = [(-0.1, -0.015), (0.1, -0.015), (0.1, 0.015), (-0.1, 0.015)]
    grid = pw.CellGrid.from_outline(outline, cell_size=0.015)
    bar = pw.Belief.certain(pw.ObjectModel(grid, np.full(grid.n_cells, 0.01), 0.3))
    x, y = 0.4 - 0.06, 0.3 - 0.06
    walls = [
        [(-x, y - 0.01), (x, y - 0.01), (x, y), (-x, y)],
        [(-x, -y), (x, -y), (x, 0.01 - y), (-x, 0.01 - y)],
        [(x - 0.01, 0.02 - y), (x, 0.02 - y), (x, y - 0.02), (x - 0.01, y - 0.02)],
        [(-x, 0.02 - y), (0.01 - x, 0.02 - y), (0.01 - x, y - 0.02), (-x, y - 0.02)],
    ]
    space = pw.GoalSpace(obstacles=walls)
    far = pw.choose_goal(bar, TABLE, overhang=0.005, prefer="overhang", space=space)
    safe = pw.choose_goal(bar, TABLE, overhang=0.005, space=space)
    assert far.overhang >= safe.overhang > 0.0
