"""The searches for a push: contacts, durations, counts, and how they compare."""

from typing import Any

import numpy as np
import pytest

import pushwise as pw
from pushwise.geometry.polygon import outline_distance, placed
from pushwise.planning.contact_search import LENGTHS, SEARCHES
from pushwise.planning.free_space import FreeSpace
from pushwise.planning.push_evaluation import Candidate, Pusher, contacts
from pushwise.planning.stability import Balance

TABLE = pw.Table.rectangle(2.0, 2.0)
SQUARE = pw.ObjectModel(
    pw.CellGrid.from_outline([(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)], cell_size=0.04),
    mass=np.full(25, 0.04),
    friction=0.3,
)


def pusher(model: pw.ObjectModel, *obstacles: list[tuple[float, float]]) -> Pusher:
    """Return a pusher of a model on the large table."""
    return Pusher(
        FreeSpace(Balance(pw.Belief.certain(model), TABLE), obstacles), pw.Finger(), np.zeros(3)
    )


@pytest.mark.parametrize("name", pw.objects.names)
def test_contacts_are_clear_of_the_object(name: str) -> None:
    """Start just outside the outline at every outer cell, in hollows, too."""
    grid = pw.objects.load(name).grid
    starts, normals = contacts(grid, pw.Finger())
    assert len(starts) == len(grid.boundary)
    away = np.array([outline_distance(grid.outline, start) for start in starts])
    assert away.min() > 0.0129
    assert np.median(away) < 0.02
    assert np.hypot(*normals.T) == pytest.approx(1.0)


@pytest.mark.parametrize("method", SEARCHES)
def test_straight_ahead_is_pushed_from_behind(method: str) -> None:
    """Push a square through its middle, and stop at the target."""
    tool = pusher(SQUARE)
    target = np.array([0.2, 0.0, 0.0])
    found = SEARCHES[method](tool, np.zeros(3), target)
    assert found is not None
    assert found.push.velocity == pytest.approx([0.1, 0.0], abs=1e-9)
    assert found.push.start == pytest.approx([-0.113, 0.0], abs=1e-3)
    assert found.gap < 0.005
    path = pw.simulate(SQUARE, found.push, table=TABLE)
    assert path.pose[-1] == pytest.approx(found.end, abs=1e-9)


def test_a_push_through_balance_keeps_from_obstacles_it_may_swing_into() -> None:
    """Stop a push of a bar early enough that it hits nothing when it begins 2 mm aside."""
    side = 0.02
    corners = [(-0.15, -side), (0.15, -side), (0.15, side), (-0.15, side)]
    grid = pw.CellGrid.from_outline(corners, cell_size=0.02)
    bar = pw.ObjectModel(grid, np.full(grid.n_cells, 0.02), 0.3)
    target = np.array([0.28, 0.0, 0.0])
    # Straight ahead the bar passes 30 mm beside it.
    wall = [(0.0, 0.05), (0.4, 0.05), (0.4, 0.07), (0.0, 0.07)]
    free = FreeSpace(Balance(pw.Belief.certain(bar), TABLE), [wall])
    tool, alone = pusher(bar, wall), pusher(bar)
    at = int(np.argmin(np.hypot(*(tool.starts - [-0.163, 0.01]).T)))
    bold, tried = (
        alone.until_nearest(np.zeros(3), target, at),
        tool.until_nearest(np.zeros(3), target, at),
    )
    assert bold is not None and tried is not None
    hits = {}
    for name, candidate in (("bold", bold), ("careful", tried)):
        push = tool.push(np.zeros(3), candidate)
        paths = [
            pw.simulate(
                bar, pw.Push.line(push.start + np.array([0.0, y]), push.velocity, push.duration)
            )
            for y in (-0.002, 0.0, 0.002)
        ]
        hits[name] = [bool(free(path.pose).all()) for path in paths]
    assert not all(hits["bold"])
    assert all(hits["careful"])


def test_simulations_are_counted() -> None:
    """Simulate each length at each contact once, wherever the object is, and few by Algorithm 2."""
    counts = {}
    for method, search in SEARCHES.items():
        tool = pusher(pw.objects.load("hammer").model)
        for pose in ((0.0, 0.0, 0.0), (0.1, -0.2, 2.0)):
            assert search(tool, np.array(pose), np.array([0.3, 0.2, 1.0])) is not None
        counts[method] = tool.simulations
    assert counts["exhaustive"] == len(tool.starts) * len(LENGTHS)
    assert counts["gradient"] < counts["exhaustive"] / 10
    assert counts["batch"] < counts["exhaustive"] / 10


def test_algorithm_2_ends_at_a_local_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no better push left, right, shorter or longer, and start from the aligned contact."""
    tool = pusher(pw.objects.load("hammer").model)
    pose, target = np.zeros(3), np.array([0.12, 0.08, 0.6])
    tried = []
    for_travel = tool.for_travel

    def noted(*way: Any) -> Candidate | None:
        tried.append(way[2:])
        return for_travel(*way)

    monkeypatch.setattr(tool, "for_travel", noted)
    found = SEARCHES["gradient"](tool, pose, target)
    assert found is not None
    centre = tool.model.centre_of_mass
    arm = tool.grid.centres[tool.grid.boundary] - centre
    away = centre - placed(centre[None], target)[0]
    aligned = int(np.argmax(arm @ away / np.hypot(*arm.T)))
    first = min(way for way in LENGTHS if way >= np.hypot(*away))
    assert tried[0] == (aligned, first)
    contact = int(np.argmin(np.hypot(*(tool.starts - found.push.start).T)))
    length = int(np.argmin(np.abs(np.array(LENGTHS) + 0.003 - 0.1 * found.push.duration)))
    assert found.push.velocity == pytest.approx(-0.1 * tool.normals[contact])
    here = for_travel(pose, target, contact, first)
    for side in (-1, 1):
        beside = for_travel(pose, target, (contact + side) % len(tool.starts), first)
        assert here is not None and (beside is None or beside.gap >= here.gap)
    for k in (length - 1, length + 1):
        if 0 <= k < len(LENGTHS):
            other = tool.for_travel(pose, target, contact, LENGTHS[k])
            assert other is None or other.gap >= found.gap


def test_kept_simulations_are_those_made_in_place() -> None:
    """Predict from anywhere on the table what a simulation there gives, and know the edge."""
    tool = pusher(pw.objects.load("hammer").model)
    target = np.array([0.3, 0.2, 1.0])
    for pose in (np.array([-0.4, 0.3, 2.5]), np.array([0.1, 0.1, -1.0])):
        before = tool.simulations
        found = tool.for_travel(pose, target, 3, 0.1)
        assert found is not None
        path = pw.simulate(tool.model, tool.push(pose, found), pose, table=TABLE)
        assert path.pose[-1] == pytest.approx(found.end, abs=1e-9)
    assert tool.simulations == before
    edge = np.array([0.9, 0.0, 0.0])
    found = tool.for_travel(edge, target, 3, 0.1)
    assert tool.simulations == before + 1
    assert found is not None
    path = pw.simulate(tool.model, tool.push(edge, found), edge, table=TABLE)
    assert path.pose[-1] == pytest.approx(found.end, abs=1e-9)


def test_the_finger_walks_round_the_object() -> None:
    """Come from the last push to the next one without touching object or obstacle."""
    wall = [(-0.3, -0.3), (-0.15, -0.3), (-0.15, 0.3), (-0.3, 0.3)]
    tool = pusher(SQUARE, wall)
    tool.place = np.array([0.11, 0.0])
    way = tool.approach_to(np.zeros(3), pw.Push.line((0.0, -0.113), (0.0, 0.1), 1.0))
    assert way is not None
    assert way[0] == pytest.approx(tool.place)
    assert way[-1] == pytest.approx([0.0, -0.113])
    share = np.linspace(0.0, 1.0, 200)[:, None, None]
    points = (way[1:-1] + share * (way[2:] - way[1:-1])).reshape(-1, 2)
    for polygon in (SQUARE.grid.outline, np.array(wall)):
        assert min(outline_distance(polygon, point) for point in points) > 0.01
    # Between the square and the wall there is no room for the finger.
    near = [(-0.3, -0.3), (-0.118, -0.3), (-0.118, 0.3), (-0.3, 0.3)]
    tight = pusher(SQUARE, near)
    tight.place = np.array([0.11, 0.0])
    assert tight.approach_to(np.zeros(3), pw.Push.line((-0.112, 0.0), (0.1, 0.0), 1.0)) is None


@pytest.mark.parametrize("method", SEARCHES)
def test_no_push_goes_through_an_obstacle(method: str) -> None:
    """Stop before it, with the object and with the finger."""
    wall = [(0.15, -0.3), (0.2, -0.3), (0.2, 0.3), (0.15, 0.3)]
    found = SEARCHES[method](pusher(SQUARE, wall), np.zeros(3), np.array([0.4, 0.0, 0.0]))
    assert found is not None
    assert found.end[0] < 0.05
    behind = [(-0.2, -0.3), (-0.12, -0.3), (-0.12, 0.3), (-0.2, 0.3)]
    blocked = SEARCHES[method](pusher(SQUARE, behind), np.zeros(3), np.array([0.4, 0.0, 0.0]))
    assert blocked is not None
    for obstacle, push in ((wall, found.push), (behind, blocked.push)):
        way = push.start + np.linspace(0.0, push.duration, 100)[:, None] * push.velocity
        assert min(outline_distance(np.array(obstacle), at) for at in way) > pw.Finger().radius


@pytest.mark.parametrize("method", SEARCHES)
def test_no_push_over_the_edge(method: str) -> None:
    """End every push towards a target beyond the edge with the object on the table."""
    found = SEARCHES[method](pusher(SQUARE), np.array([0.85, 0.0, 0.0]), np.array([1.2, 0.0, 0.0]))
    assert found is not None
    assert found.end[0] < 1.0
