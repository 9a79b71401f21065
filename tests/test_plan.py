"""`plan`: pushes that reach the goal, plain words when they cannot, and the saved file."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError
from pushwise.geometry.metric import mean_cell_error
from pushwise.geometry.polygon import outline_distance
from pushwise.planning.contact_search import SEARCHES
from pushwise.planning.free_space import FreeSpace
from pushwise.planning.options import PlanOptions
from pushwise.planning.stability import Balance
from ticking import Ticking

HAMMER = pw.objects.load("hammer").model
KNOWN = pw.Belief.certain(HAMMER)
GRADIENT = PlanOptions(method="gradient")
TABLE = pw.Table.rectangle(2.4, 2.4)
WALLS = [
    [(0.3, -0.5), (0.34, -0.5), (0.34, 0.1), (0.3, 0.1)],
    [(0.6, -0.1), (0.64, -0.1), (0.64, 0.5), (0.6, 0.5)],
]


def uncertain(model: pw.ObjectModel, std: float, drift: np.ndarray | None = None) -> pw.Belief:
    """Return a belief in a model whose centre of mass has a standard error [m] each way."""
    drift = np.zeros(3) if drift is None else drift
    return pw.Belief(model, pw.Finger(), std**2 * np.eye(2), None, drift)


def replayed(model: pw.ObjectModel, plan: pw.Plan, start: np.ndarray) -> np.ndarray:
    """Return all poses passed when the plan's pushes are carried out as they are."""
    passed, pose = [], start
    for push in plan.pushes:
        path = pw.simulate(model, push, pose, table=TABLE)
        assert not path.tipped
        passed.append(path.pose)
        pose = path.pose[-1]
    return np.concatenate(passed)


def finger_gap(pushes: Sequence[pw.Push], walls: list[list[tuple[float, float]]]) -> float:
    """Return how near to walls the finger's centre comes in pushes [m]."""
    return min(
        outline_distance(np.array(wall), push.at(t))
        for push in pushes
        for t in np.linspace(0.0, push.duration, 100)
        for wall in walls
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", SEARCHES)
@pytest.mark.parametrize("name", ["box", "crimp", "hammer"])
def test_plans_reach_the_goal(name: str, method: str) -> None:
    """Be within 10 mm of the goal when the pushes are carried out, as the plan expects."""
    rng = np.random.default_rng(3)
    model = pw.objects.load(name).sample(rng).model
    for _ in range(2):
        goal = np.append(rng.uniform(-0.7, 0.7, 2), rng.uniform(-np.pi, np.pi))
        plan = pw.plan(
            pw.Belief.certain(model), np.zeros(3), goal, TABLE, options=PlanOptions(method=method)
        )
        end = replayed(model, plan, np.zeros(3))[-1]
        assert plan.error < 0.01
        assert mean_cell_error(model.grid, end, goal) < 0.01
        assert plan.poses[-1] == pytest.approx(end, abs=1e-9)
        assert plan.simulations > len(plan.pushes)


@pytest.mark.slow
def test_plans_go_round_obstacles() -> None:
    """Touch neither of two walls, with object or finger."""
    plan = pw.plan(
        *(KNOWN, (0, -0.2, 0), (0.95, 0.2, 1.0), TABLE),
        obstacles=WALLS,
        options=PlanOptions(time_limit=30.0),
    )
    room = FreeSpace(Balance(KNOWN, TABLE), WALLS)
    passed = replayed(HAMMER, plan, np.array([0.0, -0.2, 0.0]))
    assert room(passed).all()
    assert len(plan.waypoints) > 2
    assert finger_gap(plan.pushes, WALLS) > pw.Finger().radius


def test_the_finger_stands_on_no_obstacle() -> None:
    """Push otherwise where a stump stands at the place the finger would start from."""
    way = (KNOWN, (0, -0.2, 0), (0.3, 0.1, 1.0), TABLE)
    x, y = pw.plan(*way).pushes[0].start
    corners = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    stump = [(x + 0.005 * dx, y + 0.005 * dy) for dx, dy in corners]
    plan = pw.plan(*way, obstacles=[stump])
    assert finger_gap(plan.pushes, [stump]) > pw.Finger().radius


def test_a_finger_that_is_fenced_in_is_lifted() -> None:
    """Plan from a place in a pit, and begin with a push that the finger is lowered to."""
    square = [(-0.05, -0.05), (0.05, -0.05), (0.05, 0.05), (-0.05, 0.05)]
    box = pw.ObjectModel(pw.CellGrid.from_outline(square, cell_size=0.05), np.full(4, 0.1), 0.3)
    side = [(0.4, 0.4), (0.5, 0.4), (0.5, 0.42), (0.4, 0.42)]
    pit = [side, [(x, y + 0.08) for x, y in side]]
    pit += [[(y, x) for x, y in wall][::-1] for wall in pit]
    way = (pw.Belief.certain(box), (0, 0, 0), (0.2, 0, 0), TABLE)
    fenced = pw.plan(*way, obstacles=pit, finger_at=(0.45, 0.45))
    assert len(fenced.approaches[0]) == 1
    free = pw.plan(*way, obstacles=pit, finger_at=(0.2, 0.2))
    assert free.approaches[0][0] == pytest.approx([0.2, 0.2])
    assert len(free.approaches[0]) > 1


def test_a_goal_that_is_reached_needs_no_push() -> None:
    """Return an empty plan, turned once round, too."""
    plan = pw.plan(KNOWN, (0.1, 0.0, 0.0), (0.105, 0.0, 2 * np.pi), TABLE)
    assert plan.pushes == ()
    assert plan.error == pytest.approx(0.005)


def test_what_cannot_be_planned_is_said() -> None:
    """Name the reason."""
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
        ((0, 0, np.nan), (0.1, 0, 0), TABLE, (), "start must be finite"),
        ((0, 0, 0), (0.1, 0), TABLE, (), r"goal must have shape \(3,\)"),
        ((0, 0, 0), (0.1, 0, 0), TABLE, [[(0, 0), (1, 1)]], r"obstacles\[0\] must have at least"),
    )
    for start, goal, table, obstacles, said in cases:
        with pytest.raises(PushwiseError, match=said):
            pw.plan(KNOWN, start, goal, table, obstacles=obstacles)
    with pytest.raises(PushwiseError, match=r"not reached within 1 pushes: the object ends .* mm"):
        pw.plan(KNOWN, (0, 0, 0), (0.9, 0, 2), TABLE, options=PlanOptions(max_pushes=1))
    with pytest.raises(PushwiseError, match="method must be one of batch, gradient, exhaustive"):
        PlanOptions(method="magic")


@pytest.mark.parametrize("method", SEARCHES)
def test_time_is_kept_in_the_search(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop within 10 % of the limit where no push is good enough, and say how far it came."""
    options = PlanOptions(method=method, tolerance=1e-6, max_pushes=60, time_limit=1)
    clock = Ticking()
    monkeypatch.setattr("pushwise.planning.deadline.working_clock", clock)
    with pytest.raises(
        PushwiseError, match=r"not reached in 1 s, \d+ of the pushes found: .* mm from it"
    ):
        pw.plan(KNOWN, (0, 0, 0), (0.3, 0.1, 2), TABLE, options=options)
    assert 1.0 < clock.now < 1.1


def test_error_bars_follow_what_is_known() -> None:
    """Know poses exactly with a certain model, and less well the less is known of its balance."""
    way = ((0, 0, 0), (0.3, 0.1, 0.5), TABLE)
    sure = pw.plan(KNOWN, *way, options=GRADIENT)
    assert sure.pose_std.shape == (len(sure.pushes), 3)
    assert not sure.pose_std.any()
    drift = np.array([1e-3, 2e-3, 1e-2])
    beliefs = [uncertain(HAMMER, std, drift) for std in (1e-6, 0.002, 0.01)]
    stds = [pw.plan(belief, *way, options=GRADIENT).pose_std for belief in beliefs]
    assert stds[0][0] == pytest.approx(drift, rel=1e-3)
    assert stds[1][0, 2] < stds[2][0, 2]


def test_no_push_of_a_plan_risks_a_fall() -> None:
    """Pass only poses of which the object falls with at most the probability allowed."""
    table = pw.Table.rectangle(0.8, 0.6)
    belief = uncertain(HAMMER, 0.006)
    goal = pw.choose_goal(belief, table, space=pw.GoalSpace(start=(0, 0, 0)))
    plan = pw.plan(belief, (0, 0, 0), goal.pose, table)
    balance = Balance(belief, table)
    pose = np.zeros(3)
    for push in plan.pushes:
        path = pw.simulate(HAMMER, push, pose, table=table)
        # On the way 256 samples are looked at: 1 % is right to 2 %.
        assert balance.fall_probabilities(path.pose).max() < 0.03
        pose = path.pose[-1]
    beyond = goal.pose.copy()
    side = table.polygon[(goal.edge + 1) % 4] - table.polygon[goal.edge]
    beyond[:2] += 0.25 * np.array([side[1], -side[0]]) / np.hypot(*side)
    with pytest.raises(PushwiseError, match=r"would fall there with probability|off the table"):
        pw.plan(belief, (0, 0, 0), beyond, table)


def test_what_is_known_of_an_object_one_cell_wide_is_refused() -> None:
    """Say that the grid is too coarse where a centre of mass across it should vary."""
    row = pw.CellGrid([(0.02 * i, 0.0) for i in range(7)], 0.02)
    pen = pw.ObjectModel(row, np.full(7, 0.01), 0.3)
    with pytest.raises(PushwiseError, match="the object is one cell wide"):
        pw.plan(uncertain(pen, 1e-3), (0, 0, 0), (0.2, 0, 0), TABLE)


def test_a_goal_close_to_an_obstacle_is_reached() -> None:
    """Keep less distance where the goal leaves less."""
    low = HAMMER.grid.outline[:, 1].min()
    wall = [(-0.4, low - 0.1), (0.8, low - 0.1), (0.8, low - 0.008), (-0.4, low - 0.008)]
    plan = pw.plan(KNOWN, (0.2, 0.2, 0.0), (0.2, 0.0, 0.0), TABLE, obstacles=[wall])
    room = FreeSpace(Balance(KNOWN, TABLE), [wall])
    assert room(replayed(HAMMER, plan, np.array([0.2, 0.2, 0.0]))).all()


A_BEND = pw.Push([0.0, 1.0, 1.5], [(0.0, 0.0), (0.1, 0.0), (0.1, 0.1)], raised=True)


def test_plans_are_saved(tmp_path: Path) -> None:
    """Write each push with the pose it should lead to."""
    plan = pw.plan(KNOWN, (0, 0, 0), (0.3, 0.1, 0.5), TABLE, options=GRADIENT)
    plan.save(tmp_path / "plan.json")
    saved = json.loads((tmp_path / "plan.json").read_text())
    assert saved["kind"] == "plan"
    assert len(saved["pushes"]) == len(plan.pushes)
    assert saved["pushes"][-1]["expected_pose"] == plan.poses[-1].tolist()
    assert saved["pushes"][0]["times"] == [0.0, plan.pushes[0].duration]
    assert saved["pushes"][0]["positions"] == plan.pushes[0].positions.tolist()
    again = pw.Plan.load(tmp_path / "plan.json")
    assert again.to_json() == plan.to_json()
    bent = replace(plan, pushes=(A_BEND,) * len(plan.pushes))
    bent.save(tmp_path / "bent.json")
    for push in pw.Plan.load(tmp_path / "bent.json").pushes:
        assert push.raised
        assert push.times.tolist() == A_BEND.times.tolist()
        assert push.positions.tolist() == A_BEND.positions.tolist()
    old = {**saved, "version": 1}
    (tmp_path / "old.json").write_text(json.dumps(old))
    (tmp_path / "torn.json").write_text('{"kind": "plan"')
    for name, said in (
        ("torn", r"torn\.json: not a JSON file"),
        ("none", "cannot read"),
        ("old", r"old\.json: version must be 2, the one this release reads; it is 1"),
    ):
        with pytest.raises(PushwiseError, match=said):
            pw.Plan.load(tmp_path / f"{name}.json")
    with pytest.raises(PushwiseError, match="cannot write"):
        plan.save(tmp_path / "nowhere" / "plan.json")
