"""`CellGrid` from arrays, outlines and masks."""

import pickle
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pushwise as pw
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import signed_area

L_SHAPE = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)]
_RIGHT_HALF = [(6, 1.4), (6, 0), (9, 0), (9, 3), (6, 3), (6, 1.6)]
DUMBBELL = _RIGHT_HALF + [(9 - x, 3 - y) for x, y in _RIGHT_HALF]
SQUARE = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]


def blob(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return a random connected patch of lattice positions, often with holes and pinches."""
    cells = [(0, 0)]
    while len(cells) < n:
        i, j = cells[rng.integers(len(cells))]
        step = [(1, 0), (0, 1), (-1, 0), (0, -1)][rng.integers(4)]
        if (new := (i + step[0], j + step[1])) not in cells:
            cells.append(new)
    return np.array(cells)


def test_bare_cells_get_their_border_as_outline() -> None:
    """Walk the outer border of the squares when no outline is given."""
    grid = pw.CellGrid(L_SHAPE, 1.0)
    assert grid.n_cells == 3
    assert grid.area == 3.0
    assert grid.heights.tolist() == [1.0, 1.0, 1.0]
    assert grid.outline.tolist() == [
        [-0.5, -0.5],
        [1.5, -0.5],
        [1.5, 1.5],
        [0.5, 1.5],
        [0.5, 0.5],
        [-0.5, 0.5],
    ]
    assert grid.adjacency.tolist() == [[0, 1], [1, 2]]
    assert repr(grid) == "CellGrid(3 cells of 1 m)"


def test_boundary_walks_counter_clockwise_with_outward_normals() -> None:
    """List the eight outer cells of a 3 x 3 square in order, not the inner one."""
    grid = pw.CellGrid([(x, y) for y in range(3) for x in range(3)], 1.0)
    walk = grid.boundary.tolist()
    start = walk.index(0)
    assert walk[start:] + walk[:start] == [0, 1, 2, 5, 8, 7, 6, 3]
    away = grid.centres[grid.boundary] - grid.centres[4]
    assert np.allclose(grid.normals, away / np.linalg.norm(away, axis=1, keepdims=True))


def test_a_thin_handle_is_listed_on_both_sides() -> None:
    """List a cell of a row one cell wide twice, with opposite normals."""
    grid = pw.CellGrid([(0, 0), (1, 0), (2, 0)], 1.0)
    assert sorted(grid.boundary.tolist()) == [0, 1, 1, 2]
    assert grid.normals[grid.boundary == 1].tolist() == [[0.0, -1.0], [0.0, 1.0]]


def test_a_lone_cell_has_four_normals() -> None:
    """List a single cell once a side."""
    grid = pw.CellGrid([(3.0, 4.0)], 0.5)
    assert grid.boundary.tolist() == [0, 0, 0, 0]
    assert grid.normals.tolist() == [[0, -1], [1, 0], [0, 1], [-1, 0]]
    assert grid.adjacency.shape == (0, 2)


@given(st.integers(0, 2**32), st.integers(2, 120))
def test_blobs_have_simple_outlines(seed: int, n: int) -> None:
    """Give every connected patch, with holes and pinches, a simple outline around it."""
    grid = pw.CellGrid(blob(np.random.default_rng(seed), n) * 0.012 + 0.3, 0.012)
    assert signed_area(grid.outline) >= grid.area * (1.0 - 1e-9)
    assert np.allclose(np.linalg.norm(grid.normals, axis=1), 1.0)
    apart = np.abs(grid.centres[grid.adjacency[:, 0]] - grid.centres[grid.adjacency[:, 1]])
    assert np.allclose(np.sort(apart, axis=1), [0.0, 0.012])


def test_arrays_are_read_only_copies() -> None:
    """Protect the grid from changes to the caller's arrays, and from changes to its own."""
    centres = np.array(L_SHAPE)
    grid = pw.CellGrid(centres, 1.0)
    centres[0] = 7.0
    assert grid.centres[0].tolist() == [0.0, 0.0]
    for array in (grid.centres, grid.heights, grid.outline, grid.adjacency, grid.boundary):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_pickle_keeps_the_grid() -> None:
    """Travel to another process unharmed."""
    grid = pickle.loads(pickle.dumps(pw.CellGrid(L_SHAPE, 1.0, [1, 2, 3])))
    assert grid.heights.tolist() == [1.0, 2.0, 3.0]
    assert len(grid.boundary) == 3


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"centres": np.zeros((0, 2))}, "centres must have at least one cell"),
        ({"centres": np.zeros((3, 3))}, r"centres must have shape \(n, 2\); got shape \(3, 3\)"),
        ({"centres": [(0, 0), (np.inf, 0)]}, r"centres must be finite; centres\[1, 0\] is inf"),
        ({"centres": [(0, 0), (0.98, 0)]}, r"cell 1 at \(0.98, 0\) is 0.02 of a cell off"),
        ({"centres": [(0, 0), (1, 0), (0, 0)]}, r"cells 0 and 2 are both at \(0, 0\)"),
        ({"centres": [(0, 0), (1, 1)]}, r"cell 1 at \(1, 1\) is not joined to cell 0"),
        ({"centres": [(0, 0), (1e30, 0)]}, r"2 cells of 1 m cannot span 1e\+30 m"),
        ({"centres": True}, "got True"),
        ({"cell_size": 0.0}, "cell_size must be greater than zero; got 0."),
        ({"cell_size": np.nan}, "cell_size must be finite; got nan."),
        ({"cell_size": "1"}, "cell_size must be a number; got '1'."),
        ({"cell_size": True}, "cell_size must be a number; got True."),
        ({"heights": [1.0, 2.0]}, r"heights must have shape \(3,\); got shape \(2,\)."),
        ({"heights": [1.0, 0.0, 1.0]}, r"heights must be greater than zero; heights\[1\] is 0."),
        ({"outline": [(0, 0), (1, 1), (1, 0), (0, 1)]}, "outline must"),
        ({"outline": np.array(SQUARE) + 9.0}, "only 0 of 3 centres are inside it"),
    ],
)
def test_bad_grids_are_refused(arguments: dict[str, object], sentence: str) -> None:
    """Refuse bad arrays with a sentence that names what is wrong."""
    with pytest.raises(PushwiseError, match=sentence):
        pw.CellGrid(**({"centres": L_SHAPE, "cell_size": 1.0} | arguments))  # type: ignore[arg-type]


def test_from_outline_keeps_frame_and_outline() -> None:
    """Fill a rectangle with its cells and keep its corners."""
    rectangle = np.array([(0.1, 0.2), (0.34, 0.2), (0.34, 0.32), (0.1, 0.32)])
    grid = pw.CellGrid.from_outline(rectangle[::-1], cell_size=0.012)
    assert grid.n_cells == 200
    assert grid.centres.min(axis=0) == pytest.approx([0.106, 0.206])
    assert signed_area(grid.outline) == pytest.approx(0.24 * 0.12)
    assert sorted(map(tuple, grid.outline.tolist())) == sorted(map(tuple, rectangle.tolist()))


def test_from_outline_keeps_squares_half_covered() -> None:
    """Keep the squares a disc covers by half, so that the area comes out right."""
    angle = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)
    disc = 0.1 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    grid = pw.CellGrid.from_outline(disc, cell_size=0.01)
    assert grid.area == pytest.approx(np.pi * 0.01, rel=0.02)
    assert np.abs(grid.centres.mean(axis=0)).max() < 1e-12


def test_from_outline_is_fast() -> None:
    """Make 10,000 cells and their border in well under a second."""
    start = time.process_time()
    grid = pw.CellGrid.from_outline(SQUARE, cell_size=0.01)
    assert grid.n_cells == 10_000
    assert len(grid.boundary) == 396
    assert len(grid.adjacency) == 2 * 99 * 100
    assert time.process_time() - start < 1.0


@pytest.mark.parametrize(
    ("polygon", "cell_size", "sentence"),
    [
        ([(0, 0), (9, 0), (9, 1), (0, 1)], 20.0, "no square is half covered; use a smaller"),
        (
            DUMBBELL,
            1.0,
            "fall into 2 separate pieces; use a smaller cell_size",
        ),
        (SQUARE, 1e-5, "use a larger cell_size"),
        (SQUARE, -1.0, "cell_size must be greater than zero; got -1."),
        (SQUARE[:2], 1.0, "polygon must have at least three corners"),
    ],
)
def test_bad_outlines_are_refused(polygon: object, cell_size: float, sentence: str) -> None:
    """Refuse outlines that give no connected grid, and say what would help."""
    with pytest.raises(PushwiseError, match=sentence):
        pw.CellGrid.from_outline(polygon, cell_size=cell_size)  # type: ignore[arg-type]


def turned_box(angle: float) -> np.ndarray:
    """Return the 300 x 400 pixel mask of a 200 x 100 pixel box about the middle."""
    row, column = np.mgrid[0:300, 0:400]
    x, y = column + 0.5 - 200.0, 150.0 - (row + 0.5)
    along = np.cos(angle) * x + np.sin(angle) * y
    across = np.cos(angle) * y - np.sin(angle) * x
    mask: np.ndarray = (np.abs(along) < 100.0) & (np.abs(across) < 50.0)
    return mask


def test_from_mask_sees_y_up_from_the_lower_left() -> None:
    """Put the origin at the image's lower left corner, row 0 at the top."""
    mask = np.zeros((100, 200), dtype=bool)
    mask[10:30, 120:180] = True
    mask[80:82, 0:2] = True
    grid = pw.CellGrid.from_mask(mask, pixel_size=0.001, cell_size=0.01)
    assert grid.n_cells == 12
    assert grid.outline.min(axis=0) == pytest.approx([0.12, 0.07])
    assert grid.outline.max(axis=0) == pytest.approx([0.18, 0.09])
    assert len(grid.outline) == 4


@pytest.mark.parametrize("angle", [0.0, 0.1, 0.3, 0.7, np.pi / 4.0])
def test_from_mask_hides_the_staircase(angle: float) -> None:
    """Trace a turned box with a few straight sides, within a pixel of the truth."""
    grid = pw.CellGrid.from_mask(turned_box(angle), pixel_size=0.001, cell_size=0.01)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    box = (grid.outline - [0.2, 0.15]) @ turn.T
    edge = np.maximum(np.abs(box[:, 0]) - 0.1, np.abs(box[:, 1]) - 0.05)
    assert len(grid.outline) <= 12
    assert np.abs(edge).max() < 0.001
    assert signed_area(grid.outline) == pytest.approx(0.02, rel=0.01)


@pytest.mark.slow
@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 60))
def test_from_mask_traces_any_blob(seed: int, n: int) -> None:
    """Give any blob of pixels a simple outline of about its area."""
    ij = blob(np.random.default_rng(seed), n)
    mask = np.zeros((130, 130), dtype=bool)
    mask[ij[:, 1] + 64, ij[:, 0] + 64] = True
    big = np.kron(mask, np.ones((4, 4), dtype=bool))
    grid = pw.CellGrid.from_mask(big, pixel_size=0.25, cell_size=0.5)
    assert signed_area(grid.outline) > 0.8 * n


@pytest.mark.parametrize(
    ("mask", "pixel_size", "sentence"),
    [
        (np.zeros((4, 5), dtype=bool), 1.0, "all of its 20 pixels are False"),
        (np.ones((4, 5)), 1.0, "boolean image of shape .* got dtype float64"),
        (np.ones(4, dtype=bool), 1.0, r"got dtype bool, shape \(4,\)"),
        (np.ones((4, 5), dtype=bool), 0.0, "pixel_size must be greater than zero"),
    ],
)
def test_bad_masks_are_refused(mask: np.ndarray, pixel_size: float, sentence: str) -> None:
    """Refuse what is no mask, and say what would be."""
    with pytest.raises(PushwiseError, match=sentence):
        pw.CellGrid.from_mask(mask, pixel_size=pixel_size, cell_size=1.0)
