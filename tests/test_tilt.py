"""Pushing above the table: statics of three feet, the moment balance, and its derivatives."""

import numpy as np
import pytest

from from_python import from_python
from pushwise import (
    CellGrid,
    Finger,
    ForcePush,
    ObjectModel,
    Physics,
    Push,
    PushRecord,
    identify,
    objects,
    simulate,
)
from pushwise.errors import PushwiseError
from pushwise.geometry.se2 import se2
from pushwise.identification.holdout import end_distance
from pushwise.physics.constants import GRAVITY, STICTION_SPEED
from pushwise.physics.kernels import tilt as kernel
from pushwise.physics.kernels.contact import SEPARATE
from pushwise.physics.kernels.load import Body
from pushwise.physics.kernels.state import STEADY, State
from pushwise.physics.prepared import (
    Ending,
    Feet,
    PreparedObject,
    Track,
    action_of,
    clock_of,
    pushes_of,
    time_step,
)
from random_pushes import library_model, random_push

Array = np.ndarray

tilt_of = from_python(kernel.tilt_of)
tilted = from_python(kernel.tilted)

FEET = np.array([[-0.03, -0.02], [0.04, -0.01], [0.005, 0.05]])
SHARES = np.array([0.3, 0.4, 0.3])
MASS, FRICTION, HEIGHT = 1.2, 0.35, 0.02


def turned(th: float) -> Array:
    """Return the rotation by an angle, (2, 2)."""
    return np.array([[np.cos(th), -np.sin(th)], [np.sin(th), np.cos(th)]])


def body_on(feet: Array, mass: float) -> Body:
    """Return an object of a mass that stands on points (f, 2)."""
    x, y = feet.T.copy()
    return Body(mass, 0.0, 0.0, 0.0, x, y, np.empty(0), np.empty(0), 0.0, 0.0)


def after(fx: float, fy: float, lean_x: float = 0.0, lean_y: float = 0.0) -> State:
    """Return the state after a step with a mean force [N], and a shift by inertia [m]."""
    rest = State(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, SEPARATE, -1, -1, 0.0, 0.0, 0.0, 0.0, STEADY)
    return rest._replace(fx=fx, fy=fy, lean_x=lean_x, lean_y=lean_y)


def statics(feet: Array, weight: Array, couple: Array) -> Array:
    """Return what three feet (3, 2) carry: forces and moments balance, couple = height * force."""
    A = np.stack([np.ones(3), feet[:, 0], feet[:, 1]])
    rhs = np.array([weight.sum(), *(weight @ feet + couple)])
    return np.linalg.solve(A, rhs)


def test_three_feet() -> None:
    """Share the weight of a pushed object as statics does, more to the feet ahead."""
    weight = MASS * GRAVITY * SHARES
    th, force = 0.4, np.array([1.5, -2.0])
    turn = turned(th)
    body = body_on(FEET, MASS)
    load = np.empty(3)
    tilt = tilt_of(body, FRICTION * weight, HEIGHT, after(*force), se2(0.0, 0.0, th))
    tilted(body, FRICTION * weight, tilt, load)
    expected = FRICTION * statics(FEET @ turn.T, weight, HEIGHT * force)
    assert load == pytest.approx(expected, rel=1e-12)
    ahead = FEET @ turn.T @ force
    assert load[ahead.argmax()] > FRICTION * weight[ahead.argmax()]


def test_inertia_shifts_the_load_of_three_feet() -> None:
    """Share the weight of an object that speeds up or slows down as statics does."""
    weight = MASS * GRAVITY * SHARES
    lean = np.array([0.004, -0.002])
    body = body_on(FEET, MASS)
    load = np.empty(3)
    tilt = tilt_of(body, FRICTION * weight, 0.0, after(0.0, 0.0, *lean), se2(0.0, 0.0, 0.3))
    tilted(body, FRICTION * weight, tilt, load)
    expected = FRICTION * statics(FEET @ turned(0.3).T, weight, MASS * GRAVITY * lean)
    assert load == pytest.approx(expected, rel=1e-12)


def test_a_leaning_object_slides_as_far() -> None:
    """Stop after v^2 / (2 mu g) whatever the height: the load moves along the motion."""
    corners = 0.05 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    grid = CellGrid.from_outline(corners, cell_size=0.025)
    model = ObjectModel(grid, np.full(grid.n_cells, 0.05), 0.3)
    action = action_of(model, ForcePush(0, (0.0, 0.0), 0.5), Finger())
    clock = clock_of(action, 1e-3, 0.5, settle=False)
    ends = {}
    for spin in (0.0, 3.0):
        for z in (0.0, 0.03):
            prepared = PreparedObject.of(model, None, Physics()).leaning(z)
            twist = np.array([0.6, 0.0, spin])
            ends[spin, z] = prepared.roll(action, np.zeros(3), clock, twist).track.pose[-1]
    far = 0.6**2 / (2.0 * 0.3 * GRAVITY)
    assert ends[0.0, 0.03] == pytest.approx([far, 0.0, 0.0], rel=5e-3, abs=1e-6)
    # Spinning, it is pushed aside: more friction in front, where it moves across.
    assert ends[3.0, 0.0][1] == pytest.approx(0.0, abs=1e-4)
    assert abs(ends[3.0, 0.03][1]) > 1e-3


def test_no_foot_pulls() -> None:
    """Lift the feet behind a push that would tip the object: their load is zero, not negative."""
    body = body_on(FEET, 1.0)
    load = np.empty(3)
    tilt = tilt_of(body, np.ones(3), 1.0, after(50.0, 0.0), se2(0.0, 0.0, 0.0))
    tilted(body, np.ones(3), tilt, load)
    assert load[0] == 0.0
    assert load[1] > 1.0


def test_points_in_a_line() -> None:
    """Leave the load of points in a line, and of none with friction, as it is."""
    for x, y, c in [([0.0, 0.1, 0.2], [0.0, 0.1, 0.2], [1.0, 1.0, 2.0]), ([0.0], [0.0], [0.0])]:
        load = np.empty(len(x))
        body = body_on(np.column_stack([x, y]), 1.0)
        state = after(1.0, 0.0)
        tilt = tilt_of(body, np.array(c), 0.02, state, se2(0.0, 0.0, 0.0))
        tilted(body, np.array(c), tilt, load)
        assert load.tolist() == c


def slow_push(height: float, dt: float) -> Track:
    """Push a square plate on three feet, off its centre, so that it slides and turns."""
    corners = 0.08 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    plate = CellGrid.from_outline(corners, cell_size=0.04)
    feet = Feet(FEET, MASS * SHARES, FRICTION)
    speed, duration = 0.02, 2.0
    push = Push.line((-0.0851, 0.03), (speed, 0.0), duration)
    action = action_of(ObjectModel(plate, np.ones(16), 0.1), push, Finger(0.005, 0.3, height))
    clock = clock_of(action, dt, duration, settle=False)
    prepared = PreparedObject.on_feet(plate, feet, Physics())
    ending, track = prepared.roll(action, np.zeros(3), clock)
    assert ending is Ending.DONE
    return track


def centre_velocity(track: Track, k: int) -> Array:
    """Return the velocity of the centre of mass at an instant, (2,)."""
    x, y = turned(track.pose[k, 2]) @ (SHARES @ FEET)
    vx, vy, w = track.twist[k]
    return np.array([vx - w * y, vy + w * x])


def test_moment_balance() -> None:
    """Converge with the step to loads whose friction balances the push at its height."""

    def out_of_balance(track: Track) -> float:
        """Return the largest force [N] missing to Newton's law with loads by statics."""
        worst = 0.0
        for k in range(len(track.mid) // 2, len(track.mid)):
            h = track.t[k + 1] - track.t[k]
            force = track.impulse[k] / h
            vx, vy, w = track.mid[k]
            r = FEET @ turned(track.pose[k, 2] + 0.5 * h * track.twist[k, 2]).T
            load = FRICTION * statics(r, MASS * GRAVITY * SHARES, HEIGHT * force)
            v = np.column_stack([vx - w * r[:, 1], vy + w * r[:, 0]])
            v /= np.sqrt(np.sum(v**2, axis=1) + STICTION_SPEED**2)[:, None]
            inertia = MASS * (centre_velocity(track, k + 1) - centre_velocity(track, k)) / h
            worst = max(worst, float(np.hypot(*(force - load @ v - inertia))))
        return worst

    steps = [slow_push(HEIGHT, dt) for dt in (0.04, 0.02, 0.01, 0.0025)]
    coarse, fine = out_of_balance(steps[0]), out_of_balance(steps[3])
    assert fine < 0.1 * coarse
    assert out_of_balance(slow_push(0.0, 0.0025)) > 100.0 * fine
    ends = [track.pose[-1] for track in steps]
    assert np.abs(ends[1] - ends[3]).max() < 0.6 * np.abs(ends[0] - ends[3]).max()
    assert np.abs(ends[2] - ends[3]).max() < 0.6 * np.abs(ends[1] - ends[3]).max()
    assert np.abs(ends[3] - slow_push(0.0, 0.0025).pose[-1]).max() > 1e-3


def test_finger_height() -> None:
    """Push nothing at height zero, a little at a small height; refuse one below the table."""
    rng = np.random.default_rng(0)
    model = library_model(rng, "hammer")
    push = random_push(rng, model, Finger(), length=0.05, speed=0.05)
    flat, low, high = (
        simulate(model, push, finger=Finger(height=height)).pose[-1] for height in (0.0, 1e-9, 0.02)
    )
    assert low == pytest.approx(flat, abs=1e-9)
    assert np.abs(high - flat).max() > 1e-5
    with pytest.raises(PushwiseError, match="finger height must be"):
        Finger(height=-0.01)


def test_identified_with_the_height() -> None:
    """Learn from pushes at a height: better with a finger of that height than with a flat one."""
    rng = np.random.default_rng(1)
    thing = objects.load("hammer")
    truth = thing.sample(rng).model
    finger = Finger(height=0.03)
    records = []
    for _ in range(18):
        push = random_push(rng, truth, finger, length=0.05, speed=0.05)
        t = np.linspace(0.0, push.duration, 8)
        records.append(PushRecord(push, t, simulate(truth, push, finger=finger).pose_at(t)))
    found = identify(truth.grid, records[:12], finger=finger)
    flat = identify(truth.grid, records[:12], finger=Finger())
    assert found.finger.height == pytest.approx(0.03, rel=0.05)
    error = end_distance(found.model, records[12:], found.finger)
    assert error < 0.3 * end_distance(flat.model, records[12:], flat.finger)
    pushes = [record.push for record in records if isinstance(record.push, Push)]
    actions = [action_of(truth, push, finger) for push in pushes]
    clocks = [
        clock_of(action, time_step(push, finger, Physics()), push.duration, settle=False)
        for action, push in zip(actions, pushes, strict=True)
    ]
    ends = PreparedObject.of(truth, None, Physics()).ends(
        pushes_of(actions, clocks), np.zeros((18, 3))
    )
    assert ends == pytest.approx(np.array([record.pose[-1] for record in records]), abs=1e-12)
