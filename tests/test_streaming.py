"""`StreamingWorld`: the finger moved bit by bit, as a controller does."""

import json
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError, SimulationError
from pushwise.geometry.metric import mean_cell_error
from pushwise.records.record import Noise
from pushwise.worlds.streaming import StreamedSimulation

HAMMER = pw.objects.load("hammer")
START = np.array([0.1, -0.03])
DT = 0.02
KNOTS = START + np.outer([0.0, 0.05, 0.05, 0.02, 0.02, 0.08], [0.2, 1.0])
PATH = pw.Push([0.0, 0.5, 0.8, 1.1, 1.4, 2.0], KNOTS)
CLOCK = DT * np.arange(1, 101)
WORLDS: dict[str, Callable[..., StreamedSimulation]] = {
    "ideal": pw.worlds.Ideal,
    "mujoco": pw.worlds.MuJoCo,
    "own weight": partial(pw.worlds.MuJoCo, own_weight=True),
}
streamed = pytest.mark.parametrize("name", WORLDS)


def moved(world: StreamedSimulation, begin: int, end: int) -> list[list[float]]:
    """Move along the path from one tick of the clock to another; return the poses seen."""
    return [world.move(PATH.at(t), DT).pose.tolist() for t in CLOCK[begin:end]]


def test_who_streams() -> None:
    """Tell worlds that can stream from those that cannot."""
    record = pw.worlds.Ideal(HAMMER).push(PATH)
    assert isinstance(pw.worlds.Ideal(HAMMER), pw.worlds.StreamingWorld)
    assert isinstance(pw.worlds.MuJoCo(HAMMER), pw.worlds.StreamingWorld)
    assert not isinstance(pw.worlds.Replay(pw.PushLog((record,))), pw.worlds.StreamingWorld)
    pytest.importorskip("pybullet")
    assert isinstance(pw.worlds.Bullet(HAMMER), pw.worlds.StreamingWorld)


@streamed
def test_moves_add_up_to_a_push(name: str) -> None:
    """Be within 0.05 mm of a push all along, through standing still, letting go and touching.

    Moves have steps of their own, and MuJoCo's contacts become finer at the step that is fast.
    """
    world = WORLDS[name](HAMMER, sensing=pw.worlds.Sensing(rate=500.0))
    record = world.push(PATH)
    world.reset(0)
    world.move(PATH.start, DT)
    for t, pose in zip(CLOCK, moved(world, 0, 100), strict=True):
        there = [np.interp(t, record.t, column) for column in record.pose.T]
        assert mean_cell_error(HAMMER.grid, np.array(pose), np.array(there)) < 5e-5


@streamed
@pytest.mark.parametrize("tick", [10, 30, 95])
def test_a_stream_continues_from_its_state(name: str, tick: int) -> None:
    """Go on to the last bit in another world, in contact or not, with noise."""
    sensing = pw.worlds.Sensing(Noise(position=1e-3, angle=5e-3))
    world = WORLDS[name](HAMMER, sensing=sensing, seed=3)
    world.move(PATH.start, DT)
    moved(world, 0, tick)
    state = json.loads(json.dumps(world.state()))
    rest = moved(world, tick, 100)
    other = WORLDS[name](HAMMER, sensing=sensing, seed=7)
    other.restore(state)
    assert moved(other, tick, 100) == rest
    assert other.push(PATH.moved((0.0, -0.05))).pose.tolist() == (
        world.push(PATH.moved((0.0, -0.05))).pose.tolist()
    )


@streamed
def test_a_push_waits_until_a_moving_object_rests(name: str) -> None:
    """Raise the finger, let the object slide on, and push it then, as a raised finger does."""
    world = WORLDS[name](HAMMER)
    world.move(START, DT)
    for k in range(1, 16):
        seen = world.move((0.1, -0.03 + 0.4 * DT * k), DT)
    before = seen.pose
    slid = WORLDS[name](HAMMER).push(pw.Push.line(START, (0.0, 0.4), 15 * DT, raised=True)).pose[-1]
    record = world.push(pw.Push.line((0.0, 0.3), (0.0, -0.1), 0.02))
    assert record.twist.tolist() == [0, 0, 0]
    assert np.hypot(*(record.pose[0] - before)[:2]) > 0.005
    assert record.pose[0] == pytest.approx(slid, abs=0.001)
    assert record.pose[-1] == pytest.approx(record.pose[0], abs=2e-4)
    assert world.state()["stream"] is None


@streamed
def test_a_raised_finger_goes_anywhere(name: str) -> None:
    """Raise the finger, and set it down on the other side of the object."""
    world = WORLDS[name](HAMMER)
    world.move(START, DT)
    world.move(None, DT)
    seen = world.move((0.1, 0.05), DT)
    assert seen.pose == pytest.approx([0.0, 0.0, 0.0], abs=1e-4)
    for k in range(1, 26):
        seen = world.move((0.1, 0.05 - 0.1 * DT * k), DT)
    assert seen.pose[2] < -0.05


def test_a_move_looks_at_the_pose_alone() -> None:
    """See the pose with noise and no cloud, which is left to `observe`."""
    noise = Noise(position=1e-3, angle=5e-3)
    world = pw.worlds.Ideal(HAMMER, sensing=pw.worlds.Sensing(noise), seed=1)
    seen = np.array([world.move(START, DT).pose for _ in range(400)])
    assert seen.std(axis=0) == pytest.approx([1e-3, 1e-3, 5e-3], rel=0.2)
    assert world.move(START, DT).points.shape == (0, 3)
    assert len(world.observe().points) > 1000


def test_what_cannot_be_moved_is_refused() -> None:
    """Refuse a finger set down in the object, no time, and a fallen object."""
    world = pw.worlds.Ideal(HAMMER)
    with pytest.raises(SimulationError, match="starts inside the object; start it clear"):
        world.move((0.0, 0.0), DT)
    with pytest.raises(PushwiseError, match="dt must be"):
        world.move(START, 0.0)
    with pytest.raises(PushwiseError, match="finger must"):
        world.move((0.0, np.nan), DT)
    world = pw.worlds.Ideal(HAMMER, pose=(0.45, 0.0, 0.0))
    world.move((0.26, 0.0), DT)
    moves = 0
    while not world.fell and moves < 200:
        moves += 1
        world.move((0.26 + 0.004 * moves, 0.0), DT)
    assert world.fell
    with pytest.raises(SimulationError, match="fallen off the table"):
        world.move(None, DT)
    world.reset(0)
    world.move((0.26, 0.0), DT)


def test_states_of_worlds_at_rest_need_no_stream() -> None:
    """Restore what a run of pushes alone has kept."""
    world = pw.worlds.MuJoCo(HAMMER)
    state = world.state()
    del state["stream"]
    world.move(START, DT)
    world.restore(state)
    assert world.state() == {**state, "stream": None}
