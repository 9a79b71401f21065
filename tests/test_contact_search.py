"""The searches for a push: contacts, durations, counts, and how they compare."""

import numpy as np
import pytest

import pushwise as pw
from pushwise.planning.contact_search import SEARCHES
from pushwise.planning.free import Free
from pushwise.planning.pushing import Pusher, contacts
from pushwise.planning.stability import Balance
from pushwise.shape.polygon import outline_distance

TABLE = pw.Table.rectangle(2.0, 2.0)
SQUARE = pw.ObjectModel(
    pw.CellGrid.from_outline([(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)], cell_size=0.04),
    mass=np.full(25, 0.04),
    friction=0.3,
)


def pusher(model: pw.ObjectModel, *obstacles: list[tuple[float, float]]) -> Pusher:
    """Return a pusher of a model on the large table."""
    return Pusher(Free(Balance(model, TABLE), obstacles), pw.Finger())


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
    (found,) = SEARCHES[method](tool, np.zeros(3), target)
    assert found.push.velocity == pytest.approx([0.1, 0.0], abs=1e-9)
    assert found.push.start == pytest.approx([-0.113, 0.0], abs=1e-3)
    assert found.gap < 0.005
    path = pw.simulate(SQUARE, found.push, table=TABLE)
    assert path.pose[-1] == pytest.approx(found.end, abs=1e-9)


def test_simulations_are_counted() -> None:
    """Use far fewer with Algorithm 2 than with every outer cell."""
    counts = {}
    for method, search in SEARCHES.items():
        tool = pusher(pw.objects.load("hammer").model)
        search(tool, np.zeros(3), np.array([0.3, 0.2, 1.0]))
        counts[method] = tool.simulations
    assert counts["exhaustive"] == len(tool.starts) + 1
    assert counts["gradient"] < counts["exhaustive"] / 4


@pytest.mark.parametrize("method", SEARCHES)
def test_no_push_goes_through_an_obstacle(method: str) -> None:
    """Stop before it, with the object and with the finger."""
    wall = [(0.15, -0.3), (0.2, -0.3), (0.2, 0.3), (0.15, 0.3)]
    (found,) = SEARCHES[method](pusher(SQUARE, wall), np.zeros(3), np.array([0.4, 0.0, 0.0]))
    assert found.end[0] < 0.05
    behind = [(-0.2, -0.3), (-0.12, -0.3), (-0.12, 0.3), (-0.2, 0.3)]
    blocked = SEARCHES[method](pusher(SQUARE, behind), np.zeros(3), np.array([0.4, 0.0, 0.0]))
    for each in blocked:
        assert outline_distance(np.array(behind), each.push.start) > 0.01


@pytest.mark.parametrize("method", SEARCHES)
def test_no_push_over_the_edge(method: str) -> None:
    """End every push towards a target beyond the edge with the object on the table."""
    (found,) = SEARCHES[method](
        pusher(SQUARE), np.array([0.85, 0.0, 0.0]), np.array([1.2, 0.0, 0.0])
    )
    assert found.end[0] < 1.0
