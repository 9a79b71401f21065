"""`plan`: pushes that reach the goal, plain words when they cannot, and the saved file."""

import json
import time
from pathlib import Path

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError
from pushwise.planning.contact_search import SEARCHES
from pushwise.planning.free import Free
from pushwise.planning.stability import Balance
from pushwise.shape.metric import mean_cell_error

HAMMER = pw.objects.load("hammer").model
TABLE = pw.Table.rectangle(2.4, 2.4)
WALLS = [
    [(0.3, -0.5), (0.34, -0.5), (0.34, 0.1), (0.3, 0.1)],
    [(0.6, -0.1), (0.64, -0.1), (0.64, 0.5), (0.6, 0.5)],
]


def replayed(model: pw.ObjectModel, plan: pw.Plan, start: np.ndarray) -> np.ndarray:
    """Return all poses passed when the plan's pushes are carried out as they are."""
    passed, pose = [], start
    for push in plan.pushes:
        path = pw.simulate(model, push, pose, table=TABLE)
        assert not path.tipped
        passed.append(path.pose)
        pose = path.pose[-1]
    return np.concatenate(passed)


@pytest.mark.parametrize("method", SEARCHES)
@pytest.mark.parametrize("name", ["box", "crimp", "hammer"])
def test_plans_reach_the_goal(name: str, method: str) -> None:
    """Be within 20 mm of the goal when the pushes are carried out, as the plan expects."""
    rng = np.random.default_rng(3)
    model = pw.objects.load(name).sample(rng).model
    for _ in range(2):
        goal = np.append(rng.uniform(-0.7, 0.7, 2), rng.uniform(-np.pi, np.pi))
        plan = pw.plan(model, np.zeros(3), goal, TABLE, method=method)
        end = replayed(model, plan, np.zeros(3))[-1]
        assert plan.error < 0.02
        assert mean_cell_error(model.grid, end, goal) < 0.02
        assert plan.poses[-1] == pytest.approx(end, abs=1e-9)
        assert plan.simulations > len(plan.pushes)


def test_plans_go_round_obstacles() -> None:
    """Touch neither of two walls, with object or finger."""
    plan = pw.plan(HAMMER, (0, -0.2, 0), (0.95, 0.2, 1.0), TABLE, obstacles=WALLS, time_limit=30.0)
    room = Free(Balance(HAMMER, TABLE), WALLS)
    passed = replayed(HAMMER, plan, np.array([0.0, -0.2, 0.0]))
    assert room(passed).all()
    assert len(plan.waypoints) > 2


def test_a_goal_that_is_reached_needs_no_push() -> None:
    """Return an empty plan, turned once round, too."""
    plan = pw.plan(HAMMER, (0.1, 0.0, 0.0), (0.105, 0.0, 2 * np.pi), TABLE)
    assert plan.pushes == ()
    assert plan.error == pytest.approx(0.005)


def test_what_cannot_be_planned_is_said_in_time() -> None:
    """Name the reason, and keep the time limit within 10 %."""
    pit = [(-0.5, -0.5), (0.5, -0.5), (0.5, -0.45), (-0.5, -0.45)]
    ring = [
        pit,
        *([(-y, x) for x, y in pit], [(-x, -y) for x, y in pit], [(y, -x) for x, y in pit]),
    ]
    cases = (
        ((0, 0, 0), (3, 0, 0), TABLE, (), "goal .* is not free: that is off the table"),
        (
            (0.31, 0, 0),
            (1, 0, 0),
            TABLE,
            WALLS,
            "start .* is not free: the object touches obstacle 0",
        ),
        ((0, 0, 0), (0.9, 0, 0), TABLE, ring, "no path was found"),
        ((0, 0, 0), (0.1, 0, 0), pw.Table.rectangle(0.05, 0.05), (), "start .* is not free"),
    )
    for start, goal, table, obstacles, said in cases:
        begin = time.perf_counter()
        with pytest.raises(PushwiseError, match=said):
            pw.plan(HAMMER, start, goal, table, obstacles=obstacles, time_limit=2.0)
        assert time.perf_counter() - begin < 2.2
    with pytest.raises(PushwiseError, match=r"not reached within 1 pushes: the object ends .* mm"):
        pw.plan(HAMMER, (0, 0, 0), (0.9, 0, 2), TABLE, max_pushes=1)
    with pytest.raises(PushwiseError, match="method must be one of batch, gradient, exhaustive"):
        pw.plan(HAMMER, (0, 0, 0), (0.9, 0, 2), TABLE, method="magic")


def test_plans_are_saved(tmp_path: Path) -> None:
    """Write each push with the pose it should lead to."""
    plan = pw.plan(HAMMER, (0, 0, 0), (0.3, 0.1, 0.5), TABLE, method="gradient")
    plan.save(tmp_path / "plan.json")
    saved = json.loads((tmp_path / "plan.json").read_text())
    assert saved["kind"] == "plan"
    assert len(saved["pushes"]) == len(plan.pushes)
    assert saved["pushes"][-1]["expected_pose"] == plan.poses[-1].tolist()
    assert saved["pushes"][0]["start"] == plan.pushes[0].start.tolist()
    with pytest.raises(PushwiseError, match="cannot write"):
        plan.save(tmp_path / "nowhere" / "plan.json")
