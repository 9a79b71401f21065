"""Simple polygons and the squares they cover."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pushwise.errors import PushwiseError
from pushwise.geometry.compiled import nearest_feature
from pushwise.geometry.polygon import contains, outline_distance, signed_area, simple_polygon
from pushwise.shape.lattice import Lattice, coverage, lattice_over
from pushwise.typing import Array

SQUARE = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]


def star(radii: list[float]) -> np.ndarray:
    """Return a polygon that is simple by construction."""
    angle = np.linspace(0.0, 2.0 * np.pi, len(radii), endpoint=False)
    star: Array = np.array(radii)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return star


radii = st.lists(st.floats(0.3, 1.0), min_size=5, max_size=40)


def test_clockwise_is_reversed_from_the_same_corner() -> None:
    """Turn a clockwise polygon round, keeping its first corner."""
    polygon = simple_polygon("p", SQUARE[::-1])
    assert signed_area(polygon) == 1.0
    assert polygon[0].tolist() == [0.0, 1.0]
    assert not polygon.flags.writeable


@pytest.mark.parametrize(
    ("corners", "sentence"),
    [
        (SQUARE[:2], "p must have at least three corners; got 2."),
        ([*SQUARE, (0.0, 0.0)], r"corners 0 and 4 are both \(0, 0\)"),
        ([(0, 0), (1, 0), (2, 0)], "its 3 corners lie on one line"),
        ([(0, 0), (1, 1), (1, 0), (0, 1)], "edges 0 and 2 meet"),  # its areas cancel
        ([(0, 0), (1, 1), (1, 0), (0, 2)], "edges 0 and 2 meet"),
        ([(0, 0), (4, 0), (4, 4), (2, 0), (0, 4)], "must not touch or cross itself"),
        ([(0, 0), (4, 0), (2, 0), (2, 3)], "edges 0 and 1 meet"),
        ([(0, 0), (1, 0), (np.nan, 1)], r"p must be finite; p\[2, 0\] is nan."),
        ([(0, 0, 0)], r"p must have shape \(k, 2\); got shape \(1, 3\)."),
        ([(0, 0), (1,)], "rows of unequal length"),
        ("square", r"an array of numbers of shape \(k, 2\); got 'square'."),
    ],
)
def test_bad_polygons_are_refused(corners: object, sentence: str) -> None:
    """Refuse what is no simple polygon, and say why."""
    with pytest.raises(PushwiseError, match=sentence):
        simple_polygon("p", corners)  # type: ignore[arg-type]


@given(radii)
def test_star_polygons_pass(r: list[float]) -> None:
    """Accept polygons that are simple by construction, either way round."""
    forward, backward = simple_polygon("p", star(r)), simple_polygon("p", star(r)[::-1])
    assert signed_area(forward) == pytest.approx(signed_area(backward))


@given(radii, st.floats(0.05, 0.4))
def test_coverage_sums_to_the_area(r: list[float], cell_size: float) -> None:
    """Cover squares by exactly the polygon's area."""
    polygon = star(r)
    lattice = Lattice(np.array([-1.1, -1.1]), cell_size, 50, 50)
    area = coverage(polygon, lattice).sum() * cell_size**2
    assert area == pytest.approx(signed_area(polygon), rel=1e-9)


@given(radii)
def test_coverage_agrees_with_points(r: list[float]) -> None:
    """Agree with counting sample points inside each square."""
    polygon = star(r)
    coarse = Lattice(np.array([-0.9, -0.8]), 0.3, 5, 6)
    fine = Lattice(coarse.origin, 0.01, 150, 180)
    inside = contains(polygon, fine.centres().reshape(-1, 2)).reshape(6, 30, 5, 30)
    assert np.abs(coverage(polygon, coarse) - inside.mean(axis=(1, 3))).max() < 0.06


@settings(deadline=None)  # the first example compiles
@given(radii, st.integers(0, 2**32))
def test_the_nearest_feature_is_the_outline_and_its_side_that_of_the_point(
    r: list[float], seed: int
) -> None:
    """Compare distances and signs with the outline as a whole, at corners of every angle."""
    corners = star(r)
    halved = np.stack([corners, 0.5 * (corners + np.roll(corners, -1, axis=0))], axis=1)
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1.2, 1.2, (40, 2))
    for polygon in (corners, halved.reshape(-1, 2)):
        x, y = (axis.copy() for axis in polygon.T)
        found = [nearest_feature(px, py, x, y)[1] for px, py in points]
        wanted = [outline_distance(polygon, point) for point in points]
        np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_lattice_fits_a_whole_number_of_cells() -> None:
    """Give a rectangle of whole cells exactly these cells, in spite of rounding."""
    polygon = np.array([(0.1, 0.2), (0.4, 0.2), (0.4, 0.3), (0.1, 0.3)])
    lattice = lattice_over(polygon, cell_size=0.1)
    assert (lattice.columns, lattice.rows) == (3, 1)
    assert coverage(polygon, lattice) == pytest.approx(1.0)
