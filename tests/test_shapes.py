"""The shapes that are harder to push than the nine objects."""

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import signed_area

AREAS = {  # mm^2, of the material
    "L": 120 * 40 + 40 * 120,
    "T": 120 * 40 + 40 * 80,
    "U": 140 * 120 - 60 * 80,
    "slot": 140 * 120 - 6 * 80,
    "ring": 12 * np.sin(2 * np.pi / 24) * (70**2 - 40**2),
    "cross": 2 * 140 * 40 - 40 * 40,
    "rod": 300 * 10,
    "bar": 300 * 40,
}


@pytest.mark.parametrize("name", pw.objects.shapes)
def test_shapes_keep_their_mass_and_size(name: str) -> None:
    """Put all mass into cells that cover the material."""
    thing = pw.objects.load(name)
    assert thing.model.total_mass == pytest.approx(0.42)
    material = 1e6 * sum(signed_area(p) for part in thing.parts for p in part.polygons)
    assert material == pytest.approx(AREAS[name], rel=1e-6)
    assert 1e6 * thing.grid.area == pytest.approx(AREAS[name], rel=0.25)
    drawn = thing.sample(np.random.default_rng(0))
    assert drawn.model.friction.std() > 0.0


def test_a_ring_has_a_hole() -> None:
    """Leave the cells of the hole out, although the outline goes round them."""
    ring = pw.objects.load("ring")
    away = np.hypot(*ring.grid.centres.T)
    assert away.min() > 0.03 and np.hypot(*ring.outline.T).min() > 0.068


def test_a_wrong_name_lists_the_valid_ones() -> None:
    """Name the nine objects and the shapes."""
    with pytest.raises(PushwiseError, match=r"valid names are box, .*toothpaste, L, T, U, slot"):
        pw.objects.load("spoon")
