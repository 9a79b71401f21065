"""`Ideal`, `Replay`, the `World` protocol and what all simulated worlds share."""

import ast
import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError, SimulationError
from pushwise.geometry.polygon import contains, outline_distance, placed
from pushwise.records.record import Noise
from pushwise.sliding.random_push import draw_push

HAMMER = pw.objects.load("hammer")
PUSH = pw.Push.line((0.1, -0.03), (0.0, 0.1), 2.0)


def test_ideal_is_simulate_bit_for_bit() -> None:
    """Return the very poses of `simulate`, for two pushes in a row."""
    world = pw.worlds.Ideal(HAMMER)
    pose = np.zeros(3)
    for push in (PUSH, pw.Push.line((-0.06, -0.12), (0.02, 0.1), 1.0)):
        path = pw.simulate(HAMMER.model, push, pose, table=pw.Table())
        record = world.push(push)
        assert record.pose.tolist() == path.pose_at(record.t).tolist()
        pose = path.pose[-1]
        assert record.pose[-1].tolist() == pose.tolist()
        assert record.t[-1] == path.t[-1]
        assert push.duration in record.t
    assert world.observe().pose.tolist() == pose.tolist()


def test_forces_are_means_between_samples() -> None:
    """Keep the impulse of the finger whatever the rate."""
    path = pw.simulate(HAMMER.model, PUSH, table=pw.Table())
    impulse = np.diff(path.t) @ path.force
    for rate in (5.0, 50.0):
        record = pw.worlds.Ideal(HAMMER, sensing=pw.worlds.Sensing(rate=rate)).push(PUSH)
        assert record.force is not None
        assert np.diff(record.t) @ record.force[1:] == pytest.approx(impulse)


def test_noise_is_as_told_and_repeats_by_seed() -> None:
    """Add noise of the given size to poses and forces, the same for the same seed."""
    noise = Noise(position=0.001, angle=0.01, force=0.1)
    clean = pw.worlds.Ideal(HAMMER, sensing=pw.worlds.Sensing(rate=500.0)).push(PUSH)
    world = pw.worlds.Ideal(HAMMER, sensing=pw.worlds.Sensing(noise, rate=500.0), seed=3)
    seen = world.push(PUSH)
    assert seen.noise == noise
    spread = (seen.pose - clean.pose).std(axis=0)
    assert spread == pytest.approx([0.001, 0.001, 0.01], rel=0.1)
    assert seen.force is not None and clean.force is not None
    assert (seen.force - clean.force).std() == pytest.approx(0.1, rel=0.1)
    world.reset(3)
    assert world.push(PUSH).pose.tolist() == seen.pose.tolist()
    world.reset(4)
    assert world.push(PUSH).pose.tolist() != seen.pose.tolist()


def test_a_clumsy_arm_pushes_elsewhere_and_says_nothing() -> None:
    """Hide the error of a push from its record."""
    world = pw.worlds.Ideal(HAMMER, arm_error=(0.002, 0.05), seed=1)
    record = world.push(PUSH)
    clean = pw.worlds.Ideal(HAMMER).push(PUSH)
    assert record.push is PUSH
    assert 0.001 < np.hypot(*(record.pose[-1] - clean.pose[-1])[:2]) < 0.05


def test_an_object_that_tips_has_fallen() -> None:
    """Tell in record and world, and refuse to go on."""
    world = pw.worlds.Ideal(HAMMER, pose=(0.3, 0.0, 0.0))
    record = world.push(pw.Push.line((0.11, 0.0), (0.1, 0.0), 4.0))
    assert record.fell
    assert world.fell
    with pytest.raises(SimulationError, match="fallen off the table; reset the world"):
        world.observe()
    world.reset(0)
    assert not world.fell


def test_the_cloud_shows_the_object_where_it_is() -> None:
    """See a thing's and a bare model's upper surface in the table frame."""
    pose = np.array([0.3, -0.1, 0.5])
    for thing in (HAMMER, HAMMER.model):
        seen = pw.worlds.Ideal(thing, pose=pose).observe()
        high = seen.points[seen.points[:, 2] > 0.012, :2]
        outline = placed(HAMMER.outline, pose)
        assert np.mean(contains(outline, high)) > 0.85
        assert high.min(axis=0) == pytest.approx(outline.min(axis=0), abs=0.012)
        assert high.max(axis=0) == pytest.approx(outline.max(axis=0), abs=0.012)
        assert seen.pose.tolist() == pose.tolist()


def test_a_world_refuses_what_it_cannot_push() -> None:
    """Refuse a finger inside the object, forces, and things that are none."""
    world = pw.worlds.Ideal(HAMMER)
    with pytest.raises(SimulationError, match="starts inside the object; start it clear"):
        world.push(pw.Push.line((0, 0), (0.1, 0), 1))
    with pytest.raises(PushwiseError, match="a world needs a Push by a finger; got ForcePush"):
        world.push(pw.ForcePush(0, (1, 0), 1))  # type: ignore[arg-type]
    with pytest.raises(
        PushwiseError, match="thing must be of the class Thing or ObjectModel; got str"
    ):
        pw.worlds.Ideal("hammer")  # type: ignore[arg-type]


def test_replay_answers_only_the_pushes_it_has() -> None:
    """Return the record of a push that was made, and refuse all others."""
    world = pw.worlds.Ideal(HAMMER)
    records = [world.push(PUSH)]
    replay = pw.worlds.Replay(pw.PushLog(tuple(records), HAMMER.grid))
    assert replay.observe().pose.tolist() == records[0].pose[0].tolist()
    assert replay.push(pw.Push.line(PUSH.start, PUSH.velocity, PUSH.duration)) is records[0]
    assert replay.observe().pose.tolist() == records[0].pose[-1].tolist()
    assert len(replay.observe().points) == HAMMER.grid.n_cells
    with pytest.raises(PushwiseError, match="only its own 1 pushes can be replayed"):
        replay.push(pw.Push.line((0.1, -0.04), (0.0, 0.1), 2.0))
    replay.reset(0)
    assert replay.observe().pose.tolist() == records[0].pose[0].tolist()
    with pytest.raises(PushwiseError, match="a log without records"):
        pw.worlds.Replay(pw.PushLog())


def test_worlds_are_worlds() -> None:
    """Satisfy the protocol."""
    record = pw.worlds.Ideal(HAMMER).push(PUSH)
    for world in (pw.worlds.Ideal(HAMMER), pw.worlds.Replay(pw.PushLog((record,)))):
        assert isinstance(world, pw.worlds.World)


class Robot:
    """A robot of someone else, whose methods return what they are told to."""

    def __init__(self, seen: object, done: object = None) -> None:
        """Keep what is returned."""
        self.seen, self.done = seen, done

    def observe(self) -> object:
        """Look."""
        return self.seen

    def push(self, push: pw.Push) -> object:
        """Push."""
        return self.done

    def move(self, finger: object, dt: float) -> object:
        """Move."""
        return self.done

    def reset(self, seed: int) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    ("world", "sentence"),
    [
        (
            Robot(None),
            r"^Robot.observe must return an object of the class Observation; got None\.$",
        ),
        (Robot((1, 2)), "Robot.observe must return .* got a tuple"),
        (Robot, "observe, push and reset; got Robot, a class"),
        (object(), "observe, push and reset; got object"),
    ],
)
def test_a_robot_that_returns_something_else_is_told_so(world: Any, sentence: str) -> None:
    """Name the class, the method and what it should return."""
    with pytest.raises(PushwiseError, match=sentence):
        pw.slide(world, pw.Table())


def test_a_push_or_move_that_returns_nothing_is_told_so(tmp_path: Path) -> None:
    """Name the method, in whatever uses it."""
    crimp = pw.objects.load("crimp")
    robot: Any = Robot(pw.worlds.Ideal(crimp).observe())
    with pytest.raises(PushwiseError, match=r"Robot.push must return .* PushRecord; got None"):
        pw.record(robot, tmp_path / "log.csv", grid=crimp.grid, pushes=1, seed=0)
    with pytest.raises(PushwiseError, match="a world must be an object with the methods observe"):
        pw.record(crimp, tmp_path / "log.csv", grid=crimp.grid, pushes=1, seed=0)  # type: ignore[arg-type]
    controller = pw.PushController(pw.Belief.certain(crimp.model), pw.Table())
    with pytest.raises(PushwiseError, match=r"Robot.move must return .* Observation; got None"):
        pw.drive(robot, controller, (0.1, 0.0, 0.0))


def test_points_that_a_camera_does_not_see_are_left_out() -> None:
    """Drop what is not finite, and refuse a cloud of nothing else, and a pose."""
    points = np.ones((4, 3))
    points[1:3, 2] = np.nan, np.inf
    assert len(pw.worlds.Observation(points, np.zeros(3)).points) == 2
    assert len(pw.worlds.Observation(points.tolist(), np.zeros(3)).points) == 2
    assert len(pw.worlds.Observation(np.empty((0, 3)), np.zeros(3)).points) == 0
    with pytest.raises(PushwiseError, match="observed points must be an array of numbers"):
        pw.worlds.Observation([["a", "b", "c"]], np.zeros(3))
    with pytest.raises(PushwiseError, match="none of the observed points is finite"):
        pw.worlds.Observation(np.full((2, 3), np.nan), np.zeros(3))
    with pytest.raises(PushwiseError, match=r"observed pose\[2\] is nan"):
        pw.worlds.Observation(points, (0.0, 0.0, np.nan))


def test_worlds_know_nothing_of_identification_and_planning() -> None:
    """Keep the truth from leaking: no import of identify or plan."""
    for file in Path(pw.worlds.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in getattr(node, "names", [])]
            names.append(getattr(node, "module", None) or "")
            for name in names:
                assert not name.startswith(("pushwise.identification", "pushwise.plan")), file


@pytest.mark.slow
def test_a_world_that_is_misspelt_is_named() -> None:
    """List the worlds that there are."""
    with pytest.raises(PushwiseError, match=r"one of mujoco, ideal, bullet; got .mujco.\."):
        pw.worlds.random_world("hammer", pw.Table(), world="mujco")


def test_drawn_pushes_touch_the_outline_and_stay_on_the_table() -> None:
    """Start clear, aim against the normal, hit, and end on the table."""
    rng = np.random.default_rng(1)
    table, finger = pw.Table(), pw.Finger()
    for _ in range(20):
        push = draw_push(rng, HAMMER.grid, np.zeros(3), table, finger)
        assert 0.002 < outline_distance(HAMMER.outline, push.start) - finger.radius < 0.006
        assert np.hypot(*push.velocity) == pytest.approx(0.1)
        path = pw.simulate(HAMMER.model, push, table=table)
        assert not path.tipped
        assert path.mode.any()
    with pytest.raises(PushwiseError, match=r"no push of 0.2 m keeps the object"):
        draw_push(rng, HAMMER.grid, np.array([0.35, 0, 0]), pw.Table.rectangle(0.36, 0.2), finger)


def test_the_example_of_a_robot_counts_on_past_pi() -> None:
    """Record a small turn as small where the camera's angle jumps from pi to -pi."""
    example = Path(__file__).parents[1] / "examples" / "own_robot.py"
    robot = runpy.run_path(str(example))["MyRobot"]()
    poses = iter([(0.1, 0.2, 3.1), (0.15, 0.2, -3.1)])
    robot.observe = lambda: SimpleNamespace(pose=np.array(next(poses)))
    record = robot.push(pw.Push.line((-1.0, 0.0), (0.1, 0.0), 0.5))
    assert record.pose[1] - record.pose[0] == pytest.approx([0.05, 0.0, 2.0 * np.pi - 6.2])


def test_an_object_of_one_cell_is_not_staged(tmp_path: Path) -> None:
    """Refuse a grid that can be heavier at no end."""
    pw.save(pw.CellGrid([(0.0, 0.0)], 0.05), tmp_path / "dot.json")
    with pytest.raises(PushwiseError, match=r"the grid has one cell; .* a smaller cell_size"):
        pw.worlds.random_world(str(tmp_path / "dot.json"), pw.Table(), world="ideal")


@pytest.mark.slow
def test_the_example_of_a_robot_runs(tmp_path: Path) -> None:
    """Log three pushes of a fake robot."""
    example = Path(__file__).parents[1] / "examples" / "own_robot.py"
    command = [sys.executable, str(example), str(tmp_path / "log.csv")]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    assert answer.stdout.count("moved by") == 3
    assert len(pw.PushLog.load(tmp_path / "log.csv")) == 3


def test_a_push_that_was_made_twice_is_replayed_as_it_went_each_time() -> None:
    """Return the records in their order, and start afresh after a reset."""
    push = pw.Push.line((-0.2, 0.0), (0.1, 0.0), 1.0)
    ends = (0.01, 0.02)
    records = [pw.PushRecord(push, [0.0, 1.0], [(0.0, 0.0, 0.0), (x, 0.0, 0.0)]) for x in ends]
    replay = pw.worlds.Replay(pw.PushLog(tuple(records), HAMMER.grid))
    assert [replay.push(push).pose[-1, 0] for _ in range(3)] == [*ends, ends[0]]
    replay.reset(0)
    assert replay.push(push).pose[-1, 0] == ends[0]


def test_what_is_no_table_finger_or_sensing_is_named() -> None:
    """Answer with a sentence, not with an exception of Python."""
    with pytest.raises(PushwiseError, match="table must be of the class Table; got tuple"):
        pw.worlds.Ideal(HAMMER, (1.0, 0.7))  # type: ignore[arg-type]
    with pytest.raises(PushwiseError, match="finger must be of the class Finger; got float"):
        pw.worlds.Ideal(HAMMER, finger=0.01)  # type: ignore[arg-type]
    with pytest.raises(PushwiseError, match="sensing must be of the class Sensing; got Noise"):
        pw.worlds.Ideal(HAMMER, sensing=pw.Noise(1e-3, 5e-3))  # type: ignore[arg-type]


def test_every_world_that_grasps_needs_a_rectangular_table() -> None:
    """Refuse another one before the first push, not after all of them."""
    triangle = pw.Table([(-0.6, -0.4), (0.6, -0.4), (0.0, 0.6)])
    with pytest.raises(PushwiseError, match="rectangular table"):
        pw.worlds.random_world("crimp", triangle, world="ideal")
