"""Grids from depth images and meshes."""

import numpy as np
import pytest
import trimesh

import pushwise as pw
from pushwise.errors import PushwiseError

CAMERA = (300.0, 300.0, 160.0, 120.0)
# Turned by a right angle about y.
LYING = np.array([[0.0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1]])
CUBE = np.array([[x, y, z] for x in (0, 0.1) for y in (0, 0.04) for z in (0.5, 0.53)])
CUBE_FACES = np.array(
    [
        *[(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)],
        *[(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)],
    ]
)


def depth_image(height: int = 30) -> np.ndarray:
    """Return the depth [mm] of a box of 90 x 30 pixels seen from 600 mm straight above."""
    depth = np.full((240, 320), 600, dtype=np.uint16)
    depth[100:130, 120:210] = 600 - height
    depth[:, :5] = 0
    return depth


def test_a_depth_image_is_measured() -> None:
    """Find the box in a depth image, in metres."""
    grid = pw.CellGrid.from_depth(depth_image(), CAMERA)
    length, width = np.ptp(grid.outline, axis=0)
    assert (length, width) == pytest.approx((90 * 0.57 / 300, 30 * 0.57 / 300), abs=0.005)
    assert grid.heights == pytest.approx(0.03, abs=0.001)
    assert 28 <= grid.n_cells <= 127


def test_intrinsics_may_be_a_matrix_and_depth_may_be_in_metres() -> None:
    """Give the same grid for a camera matrix and for metres."""
    matrix = [[300.0, 0.0, 160.0], [0.0, 300.0, 120.0], [0.0, 0.0, 1.0]]
    a = pw.CellGrid.from_depth(depth_image(), CAMERA)
    b = pw.CellGrid.from_depth(depth_image() * 0.001, matrix, scale=1.0)
    assert a.centres == pytest.approx(b.centres)


def test_a_mask_shows_what_the_depth_does_not() -> None:
    """Trust a mask where the object is as flat as the table, and where it was not read."""
    depth = depth_image(height=0)
    depth[110:120, 140:180] = 0
    mask = np.zeros(depth.shape, dtype=np.uint8)
    mask[100:130, 120:210] = 2
    grid = pw.CellGrid.from_depth(depth, CAMERA, mask=mask)
    assert np.ptp(grid.outline, axis=0) == pytest.approx((0.18, 0.06), abs=0.006)
    assert grid.area == pytest.approx(0.18 * 0.06, rel=0.1)


@pytest.mark.parametrize(
    ("depth", "camera", "mask", "sentence"),
    [
        (depth_image().astype(np.uint8), CAMERA, None, "at least 16 bits per pixel; got 8"),
        (np.zeros((240, 320)), CAMERA, None, "none of its 76800 pixels has one"),
        (np.zeros((240, 320, 3)), CAMERA, None, "one number per pixel"),
        (depth_image(), (1.0, 2.0), None, r"\(fx, fy, cx, cy\) or a camera matrix"),
        (depth_image(), (0.0, 1.0, 2.0, 3.0), None, "fx must be greater than zero"),
        (depth_image(), CAMERA, np.zeros((240, 320), dtype=bool), "all of its 76800 pixels"),
        (depth_image(), CAMERA, np.ones((2, 2), dtype=bool), r"depth image's shape \(240, 320\)"),
    ],
)
def test_bad_depth_images_are_refused(
    depth: np.ndarray, camera: object, mask: object, sentence: str
) -> None:
    """Say what is wrong with a depth image, a camera or a mask."""
    with pytest.raises(PushwiseError, match=sentence):
        pw.CellGrid.from_depth(depth, camera, mask=mask)  # type: ignore[arg-type]


def test_a_mesh_is_seen_from_above() -> None:
    """Give a box mesh its footprint and its height above its lowest point."""
    grid = pw.CellGrid.from_mesh(CUBE, CUBE_FACES, pw.ScanOptions(cell_size=0.01))
    assert grid.n_cells == 40
    assert np.ptp(grid.outline, axis=0) == pytest.approx((0.1, 0.04), abs=0.001)
    assert grid.heights == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("mesh", "size", "area", "holes"),
    [
        (trimesh.creation.cylinder(0.0025, 0.3, 32, transform=LYING), (0.3, 0.005, 0.005), 1.0, 0),
        (trimesh.creation.annulus(0.00525, 0.01, 0.002, 64), (0.02, 0.02, 0.002), 0.569, 1),
        (trimesh.creation.box((0.02, 0.02, 0.02)), (0.02, 0.02, 0.02), 1.0, 0),
        (trimesh.creation.icosphere(4, 0.05), (0.1, 0.1, 0.1), np.pi / 4, 0),
    ],
    ids=["rod", "washer", "cube", "ball"],
)
def test_small_and_thin_meshes_keep_their_size(
    mesh: trimesh.Trimesh, size: tuple[float, ...], area: float, holes: int
) -> None:
    """Give a rod, a washer, a cube and a ball their size to a tenth of a millimetre or 1 %."""
    scan = pw.Scan.from_mesh(mesh.vertices, mesh.faces)
    assert np.ptp(scan.grid.outline, axis=0) == pytest.approx(size[:2], rel=0.01, abs=1e-4)
    # The height of a cell is the median over it, so that a round top is a little lower.
    assert scan.grid.heights.max() == pytest.approx(size[2], rel=0.05)
    assert len(scan.holes) == holes
    assert ("holes    1" in scan.summary()) == bool(holes)
    assert scan.grid.area == pytest.approx(area * size[0] * size[1], rel=0.2)


@pytest.mark.parametrize(
    ("vertices", "faces", "sentence"),
    [
        (CUBE * [0, 1, 1], CUBE_FACES, "the mesh covers no area when seen from above"),
        (CUBE * [1, 1, 0], CUBE_FACES, "the mesh is flat: its z runs from 0 to 0 m"),
        (CUBE, np.empty((0, 3), dtype=int), "the mesh has none"),
        (CUBE, [(0, 1, 8)], "indices of the 8 vertices, 0 to 7; they run from 0 to 8"),
        (CUBE, [(0.0, 1.0, 2.0)], "faces must be integers"),
    ],
)
def test_bad_meshes_are_refused(vertices: object, faces: object, sentence: str) -> None:
    """Say why a mesh has no footprint."""
    with pytest.raises(PushwiseError, match=sentence):
        pw.CellGrid.from_mesh(vertices, faces)  # type: ignore[arg-type]
