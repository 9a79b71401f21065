"""Any path of the finger and any starting twist, in every world."""

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError
from pushwise.geometry.metric import mean_cell_error
from pushwise.worlds import kuka
from pushwise.worlds.run_push import sample_times
from pushwise.worlds.simulated import SimulatedWorld

HAMMER = pw.objects.load("hammer")
SIDE = (np.arange(5) - 2.0) * 0.04
SQUARE = pw.ObjectModel(
    pw.CellGrid(np.stack(np.meshgrid(SIDE, SIDE), axis=-1).reshape(-1, 2), 0.04, [0.02] * 25),
    mass=[0.04] * 25,
    friction=0.3,
)
ANGLE = np.linspace(0.0, 0.5 * np.pi, 181)
ARC = 0.1 * np.column_stack([np.cos(ANGLE) - 1.0, np.sin(ANGLE)])
START = np.array([0.1, -0.03])
QUARTER = pw.Push.through(START + ARC, 0.2)
LINE = pw.Push.line(START, (0.0, 0.2), QUARTER.duration)
ASIDE = [(0.0, 0.3)] * 2

Make = Callable[..., SimulatedWorld]


def bullet(thing: pw.objects.Thing | pw.ObjectModel, **options: object) -> SimulatedWorld:
    """Return a Bullet world, or skip the test."""
    pytest.importorskip("pybullet")
    return pw.worlds.Bullet(thing, **options)  # type: ignore[arg-type]


WORLDS: dict[str, Make] = {
    "ideal": pw.worlds.Ideal,
    "mujoco": pw.worlds.MuJoCo,
    "own weight": partial(pw.worlds.MuJoCo, own_weight=True),
    "links": bullet,
    "compound": partial(bullet, body="compound"),
}
WITH_KUKA: dict[str, Make] = {**WORLDS, "kuka": partial(bullet, robot="kuka")}
LOADS: dict[str, Literal["own", "rigid"]] = {"mujoco": "rigid", "compound": "rigid"}


@pytest.mark.parametrize("name", WITH_KUKA)
def test_the_finger_follows_a_quarter_circle(name: str) -> None:
    """Stay within 0.1 mm of the path at every sample, the Kuka's fingertip within 3 mm."""
    world = WITH_KUKA[name](HAMMER)
    motion = world._carried_out(QUARTER, np.zeros(3), np.zeros(3))
    off = np.hypot(*(motion.finger - QUARTER.at(motion.t)).T)
    assert off.max() < (0.003 if name == "kuka" else 0.0001)
    assert np.diff(motion.t).max() < 0.0201
    assert len(motion.t) < 60


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_KUKA)
def test_curved_records_replay_as_well_as_straight_ones(name: str) -> None:
    """Follow the record's own path with the true model and end as near as after a line."""
    apart = []
    for push in (LINE, QUARTER):
        world = WITH_KUKA[name](HAMMER)
        if name == "kuka" and push is LINE:
            push = pw.Push.line(START, (0.0, 0.2), 0.5)  # its arm is not longer than that
        record = world.push(push)
        assert isinstance(record.push, pw.Push)
        assert (record.push is push) == (name != "kuka")
        physics = pw.Physics(load=LOADS.get(name, "own"))
        again = pw.simulate(world.truth, record.push, record.pose[0], physics=physics)
        apart.append(mean_cell_error(HAMMER.grid, record.pose[-1], again.pose[-1]))
    assert apart[1] < apart[0] + 5e-4


def test_a_record_of_the_kuka_states_where_its_fingertip_was() -> None:
    """Measure a path that is not quite the commanded one."""
    record = bullet(HAMMER, robot="kuka").push(QUARTER)
    assert isinstance(record.push, pw.Push)
    assert record.push.duration == QUARTER.duration
    apart = np.hypot(*(record.push.positions - QUARTER.at(record.push.times)).T)
    assert 0.0 < apart.max() < 0.001


@pytest.mark.parametrize("name", WORLDS)
def test_a_raised_finger_lets_the_object_pass(name: str) -> None:
    """Stop a thrown square by a finger that stands, and not by one that was raised in time."""
    ends = {}
    for raised in (True, False):
        world = WORLDS[name](SQUARE)
        stands = pw.Push([0.0, 0.04], [(0.16, 0.0)] * 2, raised=raised)
        ends[raised] = world.push(stands, twist=(0.8, 0.0, 0.0)).pose[-1, 0]
    assert ends[True] > 0.09
    assert ends[False] < 0.052


@pytest.mark.parametrize("name", WORLDS)
def test_the_finger_stands_still_lets_go_and_touches_again(name: str) -> None:
    """Move the object only while the finger moves it."""
    path = START + np.outer([0.0, 0.05, 0.05, 0.02, 0.02, 0.08], [0.0, 1.0])
    push = pw.Push([0.0, 0.5, 0.8, 1.1, 1.4, 2.0], path)
    record = WORLDS[name](HAMMER).push(push)
    theta = np.interp(push.times, record.t, record.pose[:, 2])
    assert set(push.times) <= set(record.t)
    assert theta[1] > 0.1
    assert theta[2:5] == pytest.approx(theta[2], abs=0.002)
    assert theta[1] == pytest.approx(theta[2], abs=0.04)
    assert theta[5] > theta[2] + 0.1


@pytest.mark.parametrize(
    ("name", "within"),
    [("ideal", 5e-4), ("mujoco", 0.03), ("own weight", 0.03), ("links", 0.05), ("compound", 0.05)],
)
def test_a_thrown_block_slides_as_far_as_friction_lets_it(name: str, within: float) -> None:
    """Stop after v^2 / (2 mu g), and note the twist in the record."""
    record = WORLDS[name](SQUARE).push(
        pw.Push([0.0, 0.02], ASIDE, raised=True), twist=(0.8, 0.0, 0.0)
    )
    assert record.twist.tolist() == [0.8, 0.0, 0.0]
    assert record.pose[-1, 0] == pytest.approx(0.8**2 / (2.0 * 0.3 * 9.81), rel=within)
    assert record.pose[-1, 1:] == pytest.approx([0.0, 0.0], abs=0.003)


@pytest.mark.parametrize("name", WORLDS)
def test_a_twist_is_that_of_the_grid_origin(name: str) -> None:
    """Throw the hammer, whose centre of mass is elsewhere, turning and from a turned pose."""
    twist = np.array([0.3, -0.2, 4.0])
    world = WORLDS[name](HAMMER, pose=(0.05, 0.1, 0.7), sensing=pw.worlds.Sensing(rate=500.0))
    record = world.push(pw.Push([0.0, 0.01], ASIDE, raised=True), twist=twist)
    begin = (record.pose[1] - record.pose[0]) / (record.t[1] - record.t[0])
    assert begin == pytest.approx(twist, abs=0.1)


def test_samples_are_taken_at_bends_and_not_at_every_knot() -> None:
    """Cut no corner, and add no samples for the knots of a smooth curve."""
    corner = pw.Push.through([(0.0, 0.0), (0.0333, 0.0), (0.0333, 0.05)], 0.1)
    t = sample_times(corner, 1.0, 10.0)
    assert {0.0, 0.333, 0.833, 1.0} <= set(t.round(9))
    assert np.diff(t).max() <= 0.1 + 1e-12
    fine = sample_times(QUARTER, QUARTER.duration, 10.0)
    assert len(fine) == 9
    assert sample_times(corner, 0.2, 10.0).tolist() == [0.0, 0.1, 0.2]


def test_the_kuka_refuses_what_is_too_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name the joint that is too slow, or how far the fingertip would stray, and move nothing."""
    world = bullet(HAMMER, robot="kuka")
    with pytest.raises(PushwiseError, match=r"its joint 4 would turn at .* it reaches 75 deg/s"):
        world.push(pw.Push.through(START + ARC, 0.6))
    monkeypatch.setattr(kuka, "_ASTRAY", 1e-6)
    with pytest.raises(PushwiseError, match=r"strays 0\.\d mm from the path"):
        world.push(QUARTER)
    assert world.observe().pose.tolist() == [0, 0, 0]


def test_a_clumsy_arm_turns_the_whole_path() -> None:
    """Move and turn a curve rigidly about its start."""
    world = pw.worlds.Ideal(HAMMER, arm_error=(0.002, 0.1), seed=1)
    done = world._attempted(pw.Push(QUARTER.times, QUARTER.positions, raised=True))
    assert done.raised
    assert 0.0 < np.hypot(*(done.start - START)) < 0.01
    arms = [push.positions - push.start for push in (QUARTER, done)]
    assert np.hypot(*arms[1].T) == pytest.approx(np.hypot(*arms[0].T))
    turn = np.unwrap(np.arctan2(*arms[1][1:].T) - np.arctan2(*arms[0][1:].T))
    assert turn == pytest.approx(turn[0])
    assert abs(turn[0]) > 0.01


def test_replay_knows_a_curve_from_a_line() -> None:
    """Answer a path that was recorded, and refuse the line between its ends."""
    record = pw.worlds.Ideal(HAMMER).push(QUARTER)
    replay = pw.worlds.Replay(pw.PushLog((record,), HAMMER.grid))
    assert replay.push(pw.Push(QUARTER.times, QUARTER.positions)) is record
    straight = pw.Push([0.0, QUARTER.duration], QUARTER.positions[[0, -1]])
    for other in (straight, pw.Push(QUARTER.times, QUARTER.positions, raised=True)):
        with pytest.raises(PushwiseError, match=r"no such push from \(0.1000, -0.0300\) m to"):
            replay.push(other)
