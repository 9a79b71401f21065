"""The paper's nine objects."""

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import signed_area

# Length and width [mm] measured from the paper's published depth images.
LIFE_SIZE = {
    "box": (340, 121),
    "hammer": (350, 124),
    "book": (346, 256),
    "clamp": (202, 139),
    "crimp": (201, 53),
    "wrench": (280, 42),
    "snack": (228, 201),
    "spray-gun": (279, 117),
    "toothpaste": (213, 49),
}


def test_names_are_the_papers_nine() -> None:
    """List the nine objects."""
    assert set(pw.objects.names) == set(LIFE_SIZE)


@pytest.mark.parametrize("name", LIFE_SIZE)
def test_drawings_are_life_size(name: str) -> None:
    """Draw each object to size, about the origin, with parts that fill its outline."""
    thing = pw.objects.load(name)
    assert np.ptp(thing.outline, axis=0) * 1000.0 == pytest.approx(LIFE_SIZE[name], abs=1.5)
    assert thing.outline.min(axis=0) == pytest.approx(-thing.outline.max(axis=0))
    filled = sum(signed_area(polygon) for part in thing.parts for polygon in part.polygons)
    assert filled == pytest.approx(signed_area(thing.outline))


@pytest.mark.parametrize("name", LIFE_SIZE)
def test_cells_carry_the_parts(name: str) -> None:
    """Give 28 to 127 cells that together weigh what the parts weigh."""
    thing = pw.objects.load(name)
    assert 28 <= thing.grid.n_cells <= 127
    assert thing.mass.sum() == pytest.approx(sum(part.mass for part in thing.parts))
    frictions = [part.friction for part in thing.parts]
    assert thing.friction.min() >= min(frictions) - 1e-12
    assert thing.friction.max() <= max(frictions) + 1e-12
    heights = [part.height for part in thing.parts]
    assert thing.grid.heights.min() >= min(heights) - 1e-12
    assert thing.grid.heights.max() <= max(heights) + 1e-12


def test_hammer_has_the_papers_88_cells_and_a_heavy_head() -> None:
    """Reproduce the paper's hammer: 88 cells, balanced near its head."""
    hammer = pw.objects.load("hammer")
    assert hammer.grid.n_cells == 88
    assert -0.13 < hammer.model.centre_of_mass[0] < -0.08


@pytest.mark.parametrize("name", LIFE_SIZE)
def test_moments_do_not_depend_on_the_cells(name: str) -> None:
    """Keep centre of mass and inertia when the cells are made finer."""
    coarse, fine = pw.objects.load(name).model, pw.objects.load(name, cell_size=0.003).model
    assert coarse.total_mass == pytest.approx(fine.total_mass)
    assert coarse.centre_of_mass == pytest.approx(fine.centre_of_mass, abs=0.004)
    assert coarse.inertia == pytest.approx(fine.inertia, rel=0.08)


def test_sample_changes_the_truth_and_not_the_shape() -> None:
    """Draw masses and frictions near the drawn ones, repeatably."""
    hammer = pw.objects.load("hammer")
    other = hammer.sample(np.random.default_rng(1))
    assert other.grid is hammer.grid
    assert not np.allclose(other.mass, hammer.mass)
    for drawn, sampled in zip(hammer.parts, other.parts, strict=True):
        assert drawn.mass / 1.6 <= sampled.mass <= drawn.mass * 1.6
        change = sampled.friction / drawn.friction
        assert 1.0 / (1.4 * 3.0**0.5) <= change <= 1.4 * 3.0**0.5
    spread = []
    for uneven in (False, True):
        things = [hammer.sample(np.random.default_rng(k), uneven=uneven) for k in range(50)]
        ratios = [
            np.array([p.friction for p in thing.parts]) / [p.friction for p in hammer.parts]
            for thing in things
        ]
        spread.append(max(ratio.max() / ratio.min() for ratio in ratios))
    assert 1.1 < spread[0] <= 1.08**2 and 2.0 < spread[1] <= 3.0
    again = hammer.sample(np.random.default_rng(1))
    assert again.mass.tolist() == other.mass.tolist()
    assert hammer.mass.sum() == pytest.approx(0.61)


def test_unknown_names_are_refused_with_the_list() -> None:
    """Name the objects there are when asked for one there is not."""
    with pytest.raises(PushwiseError, match="no object 'banana'; valid names are box, hammer"):
        pw.objects.load("banana")


def test_bad_cell_sizes_are_refused() -> None:
    """Refuse a cell size that is negative or too coarse for the drawing."""
    with pytest.raises(PushwiseError, match=r"cell_size must be greater than zero; got -1\."):
        pw.objects.load("box", cell_size=-1.0)
    with pytest.raises(PushwiseError, match="use a smaller cell_size"):
        pw.objects.load("hammer", cell_size=0.2)
