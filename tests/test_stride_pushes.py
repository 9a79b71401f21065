"""`stride_pushes` and `PushOutcomes`: pushes that turn with the object, and those at the edge."""

import numpy as np
import pytest

import pushwise as pw
from push_shapes import shape
from pushwise.physics.simulate import Mode
from pushwise.physics.simulator import Simulator
from pushwise.planning.push_library import (
    PUSH_SPEED,
    STRIDE,
    TIME_STEP,
    PushLibrary,
    local_pushes,
    push_directions,
    seen_from,
    strides_of,
)
from pushwise.planning.push_search import PlannedPush
from pushwise.sliding.push_outcomes import PushOutcomes
from pushwise.typing import Array

TABLE = pw.Table.rectangle(1.0, 0.7)
EDGE = 0.5  # m; where the table ends along x
COARSE = pw.Physics(dt=TIME_STEP)


def bar() -> pw.ObjectModel:
    """Return a bar of 200 x 30 mm with one end twice as heavy as the middle."""
    corners = [(-0.1, -0.015), (0.1, -0.015), (0.1, 0.015), (-0.1, 0.015)]
    grid = pw.CellGrid.from_outline(corners, cell_size=0.01)
    mass = np.where(grid.centres[:, 0] < -0.05, 2.0, 1.0)
    return pw.ObjectModel(grid, 0.3 * mass / mass.sum(), 0.3)


def stepped(simulator: Simulator, pose: Array, start: Array, along: Array, most: int) -> Array:
    """Return the poses of one push, one control step of the simulator after the other."""
    state = simulator.step(simulator.start(pose), start, 1e-6)
    poses, finger = [pose], start
    for _ in range(most):
        cos, sin = np.cos(state.pose[2]), np.sin(state.pose[2])
        turned = np.array([cos * along[0] - sin * along[1], sin * along[0] + cos * along[1]])
        finger = finger + STRIDE * turned
        state = simulator.step(state, finger, STRIDE / PUSH_SPEED)
        if state.mode >= Mode.WEDGED or state.tipped:
            break
        poses.append(state.pose)
    return np.array(poses)


@pytest.mark.parametrize("name", ["T", "L"])
def test_strides_are_control_steps(name: str) -> None:
    """Give the numbers of `Simulator.step` to the last bit, in several threads as in one."""
    model = shape(name)
    library = PushLibrary.of(model, pw.Finger())
    simulator = Simulator(model, physics=COARSE)
    pose = np.array([0.1, -0.2, 0.7])
    normals = library.normals[::3]
    along = push_directions(normals, np.array([0.2]))[:, 0]
    starts = pw.placed(library.contacts[::3], pose)
    most = np.arange(len(starts)) % 7 + 2
    poses = np.repeat(pose[None], len(starts), axis=0)
    found = strides_of(simulator, poses, starts, along, most)
    assert len(starts) > 16  # enough for several threads
    for i, count in enumerate(found.counts.tolist()):
        want = stepped(simulator, pose, starts[i], along[i], int(most[i]))
        assert 1 <= count <= most[i] + 1
        assert np.array_equal(found.poses[i, :count], want[:count])
        assert (found.poses[i, count:] == found.poses[i, count - 1]).all()


def test_what_overhangs_turns_more_easily() -> None:
    """Simulate the pushes from where the finger is with what the table carries there."""
    model = bar()
    library = PushLibrary.of(model, pw.Finger())
    simulator = Simulator(model, table=TABLE, physics=COARSE)
    inland, over = np.zeros(3), np.array([EDGE, 0.0, 0.0])
    place = np.array([0.08, -0.025])  # at the end that is in the air
    free, held = (local_pushes(library, simulator, pose, place) for pose in (over, inland))
    ahead = 3  # along the normal
    travel = min(free.counts[ahead], held.counts[ahead]) - 1
    assert free.displacements[ahead, travel, 2] > 1.2 * held.displacements[ahead, travel, 2] > 0.1
    # It is what the simulator says, one step after the other.
    start = pw.placed(free.paths[ahead, :1], over)[0]
    end = stepped(simulator, over, start, -free.normal, int(travel))[-1]
    seen = np.append(seen_from(over, end[:2]), end[2])
    assert seen == pytest.approx(free.displacements[ahead, travel], abs=1e-9)


def test_ways_at_the_edge_are_simulated() -> None:
    """Follow two pushes at one contact, and refuse a way on which the object tips."""
    model = bar()
    library = PushLibrary.of(model, pw.Finger())
    outcomes = PushOutcomes(library, Simulator(model, table=TABLE, physics=COARSE), TABLE)
    over = np.array([EDGE - 0.02, 0.0, 0.0])
    assert outcomes.overhangs(over) and not outcomes.overhangs(np.zeros(3))
    behind = library.nearest_contact(np.array([-0.11, 0.0]))
    aside = library.nearest_contact(np.array([0.0, -0.025]))
    ways = [
        (PlannedPush(aside, 2.0, 3.0), PlannedPush(aside, 2.0, 2.0)),
        (PlannedPush(behind, 2.0, 30.0),),  # over the edge
    ]
    two, fallen = outcomes.at_edge(over, ways)
    assert fallen is None and two is not None
    poses, fingers = two
    assert len(poses) == 1 + 4 + 3 and len(fingers) == 4 + 3
    assert np.array_equal(poses[0], over)
    assert np.hypot(*np.diff(fingers[:4], axis=0).T) == pytest.approx(STRIDE)
    # Inland, a push is as in the library.
    (inland,) = outcomes.at_edge(np.zeros(3), [ways[0][:1]])
    assert inland is not None
    assert inland[0][-1] == pytest.approx(outcomes.of(np.zeros(3), ways[0][:1], None)[0][-1])


def test_what_overhangs_glides_on() -> None:
    """Brake less where only a small part of the object is on the table."""
    model = bar()
    library = PushLibrary.of(model, pw.Finger())
    outcomes = PushOutcomes(library, Simulator(model, table=TABLE, physics=COARSE), TABLE)
    spin = np.array([0.0, 0.0, 1.5])
    assert outcomes.braking(np.zeros(3), spin, 0.15) == np.inf  # the table carries all of it
    centre = model.centre_of_mass[0]
    some, little = (
        outcomes.braking(np.array([EDGE - centre - inside, 0.0, 0.0]), spin, 0.15)
        for inside in (0.05, 0.008)
    )
    assert 0.0 < little < 0.7 * some
    assert outcomes.braking(np.array([EDGE - 0.02, 0.0, 0.0]), spin, 0.0) == np.inf
