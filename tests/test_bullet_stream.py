"""`Bullet`, streamed: the finger moved bit by bit, alone and by the Kuka."""

import json
from itertools import product
from typing import Any

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError, SimulationError
from pushwise.geometry.metric import mean_cell_error
from pushwise.physics.model import Table
from pushwise.physics.push import Finger
from pushwise.records.record import Noise
from pushwise.worlds.bullet_engine import BulletScene, BulletStream

pytest.importorskip("pybullet")

HAMMER = pw.objects.load("hammer")
START = np.array([0.1, -0.03])
DT = 0.02
PUSH = pw.Push.line(START, (0.02, 0.1), 0.8)
KINDS: dict[str, dict[str, Any]] = {
    "links": {},
    "compound": {"body": "compound"},
    "kuka": {"body": "compound", "robot": "kuka"},
}
SLOW = pytest.param("links", marks=pytest.mark.slow)
kinds = pytest.mark.parametrize("kind", [SLOW, "compound", "kuka"])


def moved(world: pw.worlds.Bullet, push: pw.Push, begin: int, end: int) -> list[list[float]]:
    """Move along a push from one tick of a clock to another; return the poses seen."""
    return [world.move(push.at(DT * k), DT).pose.tolist() for k in range(begin, end)]


@kinds
def test_the_finger_follows(kind: str) -> None:
    """Be within 0.1 mm of where the finger is sent, also while it pushes."""
    options = {"body": "links", "robot": None} | KINDS[kind]
    scene = BulletScene(HAMMER.model, Table(), Finger(), **options)
    stream = BulletStream(scene, np.zeros(3), np.zeros(3))
    for k in range(31):
        stream.move(PUSH.at(DT * k), DT)
        assert np.hypot(*(stream.finger_at() - PUSH.at(DT * k))) < 1e-4
    stream.close()


@kinds
def test_moves_add_up_to_a_push(kind: str) -> None:
    """End within 0.1 mm of a push; the Kuka, which follows moves more closely, within 2 mm."""
    world = pw.worlds.Bullet(HAMMER, **KINDS[kind])
    pushed = world.push(PUSH).pose[-1]
    world.reset(0)
    last = np.array(moved(world, PUSH, 0, 46)[-1])
    assert mean_cell_error(HAMMER.grid, last, np.zeros(3)) > 0.01
    assert mean_cell_error(HAMMER.grid, last, pushed) < (2e-3 if kind == "kuka" else 1e-4)


@kinds
def test_the_same_seed_has_the_same_result(kind: str) -> None:
    """Repeat a stream bit by bit in a fresh world, and in one that was used before."""
    sensing = pw.worlds.Sensing(Noise(position=1e-3, angle=5e-3))
    seen = []
    for _ in range(2):
        world = pw.worlds.Bullet(HAMMER, sensing=sensing, seed=3, **KINDS[kind])
        seen.append(moved(world, PUSH, 0, 20))
    world.reset(3)
    assert seen[0] == seen[1] == moved(world, PUSH, 0, 20)


@kinds
@pytest.mark.parametrize("tick", [1, 18])
def test_a_stream_continues_from_its_state(kind: str, tick: int) -> None:
    """Continue to the last bit in another world, in contact or not, and push there."""
    world = pw.worlds.Bullet(HAMMER, **KINDS[kind])
    moved(world, PUSH, 0, tick)
    state = json.loads(json.dumps(world.state()))
    rest = moved(world, PUSH, tick, 25)
    other = pw.worlds.Bullet(HAMMER, **KINDS[kind])
    other.restore(state)
    assert moved(other, PUSH, tick, 25) == rest
    back = pw.Push.line((0.1, 0.15), (0.0, -0.1), 0.3)
    assert other.push(back).pose.tolist() == world.push(back).pose.tolist()
    assert world.state()["stream"] is None


@pytest.mark.parametrize("kind", ["compound", "kuka"])
def test_a_raised_finger_goes_anywhere(kind: str) -> None:
    """Raise the finger, and set it down on the other side of the object without touching it."""
    world = pw.worlds.Bullet(HAMMER, **KINDS[kind])
    moved(world, PUSH, 0, 20)
    raised = world.move(None, DT).pose
    for _ in range(10):
        still = world.move(None, DT).pose
    assert still == pytest.approx(raised, abs=2e-4)
    assert world.move((0.1, 0.07), DT).pose == pytest.approx(still, abs=1e-5)
    for k in range(1, 31):
        seen = world.move((0.1, 0.07 - 0.1 * DT * k), DT)
    assert seen.pose[2] < still[2] - 0.02


def test_an_object_that_glides_is_waited_for() -> None:
    """Let a moving object come to rest before the next push."""
    world = pw.worlds.Bullet(HAMMER, body="compound")
    moved(world, pw.Push.line(START, (0.0, 0.5), 0.3), 0, 15)
    assert world.state()["stream"]["twist"][1] > 0.05
    record = world.push(pw.Push.line((-0.3, -0.3), (0.1, 0.0), 0.02))
    assert record.pose[0] == pytest.approx(record.pose[-1], abs=2e-4)


def test_an_object_moved_off_the_table_falls() -> None:
    """Say that it fell, move no further, and begin again after a reset."""
    world = pw.worlds.Bullet(HAMMER, pose=(0.45, 0.0, 0.0), body="compound")
    moves = 0
    while not world.fell and moves < 200:
        world.move((0.26 + 0.004 * moves, 0.0), DT)
        moves += 1
    assert 10 < moves < 200
    with pytest.raises(SimulationError, match="fallen off the table"):
        world.move(None, DT)
    other = pw.worlds.Bullet(HAMMER, body="compound")
    other.restore(json.loads(json.dumps(world.state())))
    assert other.fell
    world.reset(0)
    assert world.move((0.26, 0.0), DT).pose == pytest.approx([0.45, 0.0, 0.0], abs=1e-4)


@pytest.mark.parametrize(
    ("place", "message"),
    [((0.4, 0.3), "the Kuka cannot reach"), ((-0.05, -0.03), "deg/s")],
)
def test_the_kuka_refuses_a_move_before_it_starts(place: Any, message: str) -> None:
    """Say what the arm cannot do, and leave finger and object where they are."""
    world, same = (pw.worlds.Bullet(HAMMER, **KINDS["kuka"]) for _ in range(2))
    for each, k in product((world, same), range(18)):
        each.move(PUSH.at(DT * k), DT)
    with pytest.raises(PushwiseError, match=message):
        world.move(place, DT)
    assert moved(world, PUSH, 18, 22) == moved(same, PUSH, 18, 22)


def test_a_world_that_nobody_holds_leaves_its_room() -> None:
    """Close the engine's world with ours: there are a thousand of them at most."""
    import pybullet

    world = pw.worlds.Bullet(HAMMER, body="compound")
    world.move(START, DT)
    open_rooms = [i for i in range(50) if pybullet.isConnected(i)]
    del world
    assert sum(pybullet.isConnected(i) for i in open_rooms) == len(open_rooms) - 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["compound", "kuka"])
def test_a_controller_drives_it(kind: str) -> None:
    """Bring the hammer to a goal, with an arm too, whose reach ends near the table's corners."""
    sensing = pw.worlds.Sensing(Noise(position=1e-3, angle=5e-3))
    world = pw.worlds.Bullet(HAMMER, pose=(0.0, -0.05, 0.0), sensing=sensing, **KINDS[kind])
    control = pw.PushController(pw.Belief.certain(HAMMER.model), Table())
    goal = np.array([0.05, 0.05, 0.5])
    done = pw.drive(world, control, goal, noise=sensing.noise)
    assert done.reached
    assert mean_cell_error(HAMMER.grid, np.array(world.state()["pose"]), goal) < 0.006
