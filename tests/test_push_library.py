"""`PushLibrary`, `ValueFunction` and `PushSearch`: pushes seen from the object, and their value."""

from functools import cache

import numpy as np
import pytest

import pushwise as pw
from push_shapes import OUTLINES, shape
from pushwise.errors import PushwiseError
from pushwise.geometry.metric import cell_distance
from pushwise.geometry.polygon import outline_distance
from pushwise.planning.near_goal import NEAR
from pushwise.planning.prepared_pushes import PreparedPushes, prepared_pushes
from pushwise.planning.push_library import STRIDE, TIME_STEP, PushLibrary, contour_points
from pushwise.planning.value import CONTACT_COST, TRAVELS, relative_pose
from pushwise.typing import Array

FINGER = pw.Finger()
PHYSICS = pw.Physics(dt=TIME_STEP)


@cache
def prepared(name: str) -> PreparedPushes:
    """Return the pushes of a shape."""
    return prepared_pushes(shape(name), FINGER)


@cache
def library(name: str) -> PushLibrary:
    """Return the library of a shape, without its value function."""
    return PushLibrary.of(shape(name), FINGER)


def composed(pose: Array, moved: Array) -> Array:
    """Return the pose of an object that moved by a displacement of its own frame."""
    return np.append(pw.placed(moved[None, :2], pose)[0], pose[2] + moved[2])


def simulated(model: pw.ObjectModel, push: pw.Push, pose: Array) -> Array:
    """Return where the object is when the finger stops."""
    motion = pw.simulate(model, push, pose, finger=FINGER, physics=PHYSICS, until=push.duration)
    end: Array = motion.pose[-1]
    return end


@pytest.mark.parametrize("name", ["L", "T"])
def test_displacements_are_those_of_simulate(name: str) -> None:
    """Be within 0.05 mm of `simulate` along the same path of the finger, at any pose."""
    model, found = shape(name), library(name)
    rng = np.random.default_rng(0)
    for _ in range(6):
        c, d = (int(rng.integers(size)) for size in found.counts.shape)
        t = int(found.counts[c, d]) - 1
        if t < 2:
            continue
        push, moved = found.push(c, d, t), found.displacements[c, d, t]
        assert np.isclose(push.length, STRIDE * t)
        assert cell_distance(model.grid, simulated(model, push, np.zeros(3)), moved) < 5e-5
        pose = rng.uniform(-3.0, 3.0, 3)
        there = pw.Push(push.times, pw.placed(push.positions, pose))
        end = simulated(model, there, pose)
        assert cell_distance(model.grid, end, composed(pose, moved)) < 5e-5


@pytest.mark.parametrize("name", OUTLINES)
def test_the_finger_fits_at_every_contact(name: str) -> None:
    """Touch the outline without overlapping it, all around but not in a narrow slot."""
    outline = shape(name).grid.outline
    places, normals = contour_points(outline, FINGER)
    away = np.array([outline_distance(outline, place) for place in places])
    assert np.all((away > FINGER.radius) & (away < FINGER.radius + 1e-5))
    assert np.allclose(np.hypot(*normals.T), 1.0)
    inside = (np.abs(places[:, 0] - places[:, 0].mean()) < 0.012) & (
        places[:, 1] > outline[:, 1].mean()
    )
    if name == "slot":
        assert not inside.any()
    assert len(places) > 0.8 * np.hypot(*np.diff(outline, axis=0).T).sum() / 0.02


def test_a_finger_that_fits_nowhere_is_refused() -> None:
    """Say so for a star whose sides are all hollow, and a finger as large as a wheel."""
    angle = np.arange(6) * np.pi / 3.0
    star = np.where(np.arange(6) % 2, 0.01, 0.1)[:, None] * np.column_stack(
        [np.cos(angle), np.sin(angle)]
    )
    with pytest.raises(PushwiseError, match=r"radius 2 m touches the outline nowhere"):
        contour_points(star, pw.Finger(radius=2.0))


def test_pushes_stop_where_the_finger_leaves() -> None:
    """Keep what was reached before: later travels repeat the last valid one."""
    found = library("L")
    assert found.counts.min() >= 1
    assert found.counts.max() > 50
    c, d = np.unravel_index(np.argmin(found.counts), found.counts.shape)
    last = found.counts[c, d] - 1
    assert np.all(found.displacements[c, d, last:] == found.displacements[c, d, last])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["L", "T"])
def test_the_value_falls_along_greedy_pushes(name: str) -> None:
    """Start at zero at the goal, and lead there from anywhere, from half a turn as well."""
    found, grid = prepared(name), shape(name).grid
    goal = np.array([0.3, -0.2, 0.4])
    assert found.value([goal], goal)[0] == 0.0
    starts = [[0.3, -0.2, 0.4 + np.pi], [-0.3, 0.2, -1.0], [0.5, 0.3, 2.0], [0.31, -0.2, 1.4]]
    for start in starts:
        pose = np.array(start)
        value = found.value([pose], goal)[0]
        assert value > CONTACT_COST
        for _ in range(8):
            ends, costs = [], []
            for c, d in np.ndindex(found.library.counts.shape):
                for t in TRAVELS[found.library.counts[c, d] > TRAVELS]:
                    ends.append(composed(pose, found.library.displacements[c, d, t]))
                    costs.append(CONTACT_COST + t * STRIDE / 0.2)
            after = found.value(ends, goal)
            best = int(np.argmin(after + costs))
            pose = ends[best]
            assert after[best] < value
            value = after[best]
            if cell_distance(grid, pose, goal) < 0.03:
                break
        assert cell_distance(grid, pose, goal) < 0.03


@pytest.mark.slow
def test_the_pushes_found_end_at_the_goal() -> None:
    """Promise what simulating the chosen pushes confirms: both at one contact, to the goal."""
    found, model = prepared("L"), shape("L")
    search = found.search()
    goal, hits = np.array([0.25, 0.1, 0.8]), 0
    begin = np.full(len(found.library.contacts), CONTACT_COST)
    for choice in search.choices(relative_pose(np.zeros(3), goal), begin)[:20]:
        if choice.lets_go or len(choice.pushes) < 2:
            continue
        pose = np.zeros(3)
        for push in choice.pushes:
            i, k = int(push.direction), int(push.travel)
            near = found.library.displacements[push.contact, i, k]
            pose = composed(pose, near)
        hits += bool(cell_distance(model.grid, pose, goal) < 0.06)
    assert hits > 0
    assert NEAR < 0.005


def test_pushes_are_prepared_once() -> None:
    """Return the same object for an equal model, and another one for another finger."""
    first = prepared("square")
    assert prepared_pushes(shape("square"), pw.Finger()) is first
    assert prepared_pushes(shape("square"), pw.Finger(radius=0.008)) is not first
