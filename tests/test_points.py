"""From clouds to grids: the table, the object, its outline and its cells."""

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError, PushwiseWarning
from pushwise.shape.lattice import Lattice, coverage, lattice_over
from pushwise.shape.plane import Plane
from pushwise.typing import Array

TILT = np.deg2rad(20.0)
SEEDS = 8
# Coarser than most depth cameras, which makes it harder and the test quicker.
CAMERA = pw.objects.Camera(TILT, columns=480, rows=360, focal=461.25)


def overlap(true: np.ndarray, loops: list[np.ndarray]) -> float:
    """Return the intersection over union of an outline and another with holes."""
    tight = lattice_over(true, cell_size=0.001)
    lattice = Lattice(tight.origin - 0.05, 0.001, tight.columns + 100, tight.rows + 100)
    a = coverage(true, lattice)
    b = coverage(loops[0], lattice) - sum(coverage(hole, lattice) for hole in loops[1:])
    return float(np.minimum(a, b).sum() / np.maximum(a, b).sum())


def in_object_frame(scan: pw.Scan, pose: np.ndarray, loop: np.ndarray) -> np.ndarray:
    """Take a loop from the grid frame through the camera to the object's own frame."""
    to_table = CAMERA.pose @ scan.frame
    xy = (np.column_stack([loop, np.zeros(len(loop)), np.ones(len(loop))]) @ to_table.T)[:, :2]
    c, s = np.cos(pose[2]), np.sin(pose[2])
    turned: Array = (xy - pose[:2]) @ np.array([[c, -s], [s, c]])
    return turned


def box_cloud(rng: np.random.Generator, *, noise: float = 0.0) -> np.ndarray:
    """Return the cloud of a 0.12 x 0.06 x 0.03 m box about the origin of a 0.5 m table."""
    xy = rng.uniform(-0.25, 0.25, (40_000, 2))
    on_it = (np.abs(xy[:, 0]) < 0.06) & (np.abs(xy[:, 1]) < 0.03)
    z = np.where(on_it, 0.03, 0.0) + noise * rng.standard_normal(len(xy))
    return np.column_stack([xy, z])


@pytest.mark.slow
@pytest.mark.parametrize("name", pw.objects.names)
def test_the_nine_objects_come_back_from_their_clouds(name: str) -> None:
    """Find each outline through noise, wild points and a tilted camera, for many seeds."""
    thing = pw.objects.load(name)
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        pose = np.array([*rng.uniform(-0.03, 0.03, 2), rng.uniform(-np.pi, np.pi)])
        cloud = thing.points(rng, noise=0.002, outliers=0.05, pose=pose, camera=CAMERA)
        scan = pw.Scan.from_points(cloud, pw.ScanOptions(cell_size=0.01))
        loops = [in_object_frame(scan, pose, loop) for loop in (scan.grid.outline, *scan.holes)]
        assert overlap(thing.outline, loops) >= 0.85, seed
        # A grid is connected or it would not exist; it is also neither sparse nor fat.
        assert scan.grid.area == pytest.approx(thing.grid.area, rel=0.3)


def test_a_box_is_measured() -> None:
    """Give the box its size, height, place and table."""
    scan = pw.Scan.from_points(box_cloud(np.random.default_rng(0), noise=0.001))
    length, width = np.ptp(scan.grid.outline, axis=0)
    assert (length, width) == pytest.approx((0.12, 0.06), abs=0.005)
    assert scan.grid.heights == pytest.approx(0.03, abs=0.002)
    assert 28 <= scan.grid.n_cells <= 127
    assert scan.noise == pytest.approx(0.001, rel=0.1)
    assert scan.table.coefficients == pytest.approx((0.0, 0.0, 1.0, 0.0), abs=1e-3)
    assert scan.frame == pytest.approx(np.eye(4), abs=0.03)
    assert "cells" in scan.summary()
    assert "the table" in scan.summary()


def test_the_frame_takes_the_grid_to_the_cloud() -> None:
    """Put the turned and shifted box where it was put, whichever way up the cloud is."""
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]
    turn *= np.linalg.det(turn)
    shift = np.array([0.3, -0.2, 0.9])
    cloud = box_cloud(np.random.default_rng(1), noise=0.001) @ turn.T + shift
    scan = pw.Scan.from_points(cloud)
    assert scan.frame[:3, 3] == pytest.approx(shift, abs=0.003)
    assert scan.frame[:3, 2] == pytest.approx(turn[:, 2], abs=0.01)
    assert abs(scan.frame[:3, 0] @ turn[:, 0]) == pytest.approx(1.0, abs=0.01)
    assert np.linalg.det(scan.frame[:3, :3]) == pytest.approx(1.0)
    assert scan.pose is None
    assert "whose z axis is not vertical" in scan.summary()


def test_an_object_alone_needs_no_table() -> None:
    """Take a cloud without a table as the object's, z up from the table."""
    hammer = pw.objects.load("hammer", cell_size=0.002).grid
    scan = pw.Scan.from_points(np.column_stack([hammer.centres, hammer.heights]))
    assert overlap(hammer.outline, [scan.grid.outline + scan.frame[:2, 3]]) > 0.85
    assert scan.grid.heights.max() == pytest.approx(0.028, abs=0.001)
    cloud = box_cloud(np.random.default_rng(0))
    top = cloud[cloud[:, 2] > 0.02]
    given = pw.CellGrid.from_points(top, pw.ScanOptions(table=(0, 0, 1, 0)))
    assert given.heights == pytest.approx(0.03)


def test_a_thing_can_be_pointed_at_and_the_rest_is_told() -> None:
    """Take the largest of two things, warn of the other, and take it when pointed at."""
    cloud = box_cloud(np.random.default_rng(0))
    there = (np.abs(cloud[:, 0] - 0.2) < 0.025) & (np.abs(cloud[:, 1] - 0.2) < 0.025)
    cloud[there, 2] = 0.05
    with pytest.warns(PushwiseWarning, match=r"another object of 2\d\.\d cm2 at \(0\..*near"):
        grid = pw.CellGrid.from_points(cloud)
    assert grid.heights == pytest.approx(0.03)
    with pytest.warns(PushwiseWarning, match="another object"):
        other = pw.CellGrid.from_points(cloud, pw.ScanOptions(near=(0.2, 0.2, 0.05)))
    assert other.heights == pytest.approx(0.05)


def test_axes_and_counts_can_be_given() -> None:
    """Turn the grid to the given axis and make about the given number of cells."""
    cloud = box_cloud(np.random.default_rng(0))
    moved = cloud + np.array([0.3, -0.2, 0.0])
    scan = pw.Scan.from_points(moved, pw.ScanOptions(axis=(1.0, 1.0, 0.0), n_cells=60))
    assert scan.pose == pytest.approx((0.3, -0.2, np.pi / 4), abs=2e-3)
    assert scan.facts()["pose"] == scan.pose
    assert "in the cloud's frame, x axis at 0.785" in scan.summary()
    assert scan.frame[:3, 0] == pytest.approx([0.5**0.5, 0.5**0.5, 0.0], abs=1e-3)
    assert abs(scan.grid.n_cells - 60) <= 3
    with pytest.raises(PushwiseError, match="cell_size or n_cells, not both"):
        pw.CellGrid.from_points(cloud, pw.ScanOptions(cell_size=0.01, n_cells=20))


@pytest.mark.parametrize("cell_size", [0.02, 0.03, 0.04])
def test_a_thin_handle_stays(cell_size: float) -> None:
    """Keep the hammer's handle when it is as narrow as a cell, or narrower."""
    cloud = pw.objects.load("hammer").points(np.random.default_rng(0), noise=0.001)
    grid = pw.CellGrid.from_points(cloud, pw.ScanOptions(cell_size=cell_size))
    assert np.ptp(grid.centres[:, 0]) > 0.35 - 1.6 * cell_size


def test_a_square_may_be_one_cell() -> None:
    """Take a cell as large as the object, whatever rounding makes of its side."""
    mask = np.zeros((12, 12), dtype=bool)
    mask[:10, 2:] = True
    assert pw.CellGrid.from_mask(mask, pixel_size=0.01, cell_size=0.1).n_cells == 1


def test_a_ring_keeps_its_hole_and_a_pinhole_is_filled() -> None:
    """Leave cells out of a hole that is larger than a cell, and only of that."""
    cloud = box_cloud(np.random.default_rng(0))
    away = np.hypot(cloud[:, 0], cloud[:, 1])
    cloud[:, 2] = np.where((away < 0.1) & (away > 0.05), 0.03, 0.0)
    ring = pw.Scan.from_points(cloud, pw.ScanOptions(cell_size=0.01))
    assert len(ring.holes) == 1
    assert np.hypot(*ring.grid.centres.T).min() > 0.04
    filled = pw.Scan.from_points(cloud, pw.ScanOptions(cell_size=0.11))
    assert filled.grid.n_cells >= 3


def test_nan_points_are_dropped_and_told() -> None:
    """Take an organised cloud with NaN where nothing was read."""
    cloud = box_cloud(np.random.default_rng(0))
    cloud[::7] = np.nan
    scan = pw.Scan.from_points(cloud)
    assert scan.dropped[0].what == "not finite"
    assert scan.dropped[0].points == len(cloud[::7])
    assert scan.points + sum(gone.points for gone in scan.dropped) == len(cloud)


PLANE = np.column_stack([np.random.default_rng(0).uniform(-1, 1, (5000, 2)), np.zeros(5000)])


@pytest.mark.parametrize(
    ("points", "sentence"),
    [
        (np.empty((0, 3)), "points must not be empty"),
        ([[0.0, 0.0, 1.0]], "at least 10 finite rows to show a shape; got 1"),
        (np.full((100, 3), np.nan), "points must be finite; all 100 of them"),
        (np.zeros((100, 2)), r"shape \(n, 3\); got dtype float64, shape \(100, 2\)"),
        (PLANE, "most points lie on one plane, and nothing rises above it"),
        (np.zeros((100, 3)), "found neither a table"),
        (1000.0 * PLANE, "points must be in metres; they span .* multiply millimetres by 0.001"),
        (np.arange(300.0).reshape(100, 3) * 1e-3 * [1, 1, 0], "lie on one plane"),
    ],
)
def test_hopeless_clouds_are_refused(points: object, sentence: str) -> None:
    """Say in one sentence why a cloud shows no object."""
    with pytest.raises(PushwiseError, match=sentence) as refusal:
        pw.CellGrid.from_points(points)  # type: ignore[arg-type]
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"axis": (0, 0, 1)}, "axis must run along the table"),
        ({"near": (0, 0)}, r"near must have shape \(3,\)"),
        ({"table": (0, 0, 0, 1)}, "table must have a normal"),
        ({"table": (0, 0, 1, -1)}, "nothing in the cloud rises above"),
        ({"min_height": 0.0}, "min_height must be greater than zero"),
        ({"n_cells": 0}, "n_cells must be from 1 to"),
        ({"cell_size": 12.0}, r"cell_size 12 m is larger than .* 0\.06\d* m; give it in metres"),
        ({"near": (10, 10, 10)}, r"near must be .* in metres; \(10, 10, 10\) is 17\.\d+ m"),
        ({"near": (0, 0, 500)}, "near must be a point on an object, in metres"),
        ({"cell_size": 1e-6}, "cell_size 1e-06 m is too small"),
    ],
)
def test_bad_options_are_refused(options: dict[str, object], sentence: str) -> None:
    """Name the option that cannot be right."""
    cloud = box_cloud(np.random.default_rng(0), noise=0.001)
    with pytest.raises(PushwiseError, match=sentence):
        pw.CellGrid.from_points(cloud, pw.ScanOptions(**options))  # type: ignore[arg-type]


def test_a_plane_is_written_as_its_equation() -> None:
    """Write signs between the terms, and no minus before a zero."""
    assert str(Plane([0.0, 0.0, 1.0, -0.7])) == "0.0000 x + 0.0000 y + 1.0000 z - 0.7000 = 0"
    assert str(Plane([-1e-6, -0.6, 0.8, 1e-7])) == "0.0000 x - 0.6000 y + 0.8000 z + 0.0000 = 0"
