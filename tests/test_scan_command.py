"""`pushwise scan`."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import trimesh
from PIL import Image

import pushwise as pw
from command import pushwise
from drawn import drawn


@pytest.fixture
def cloud(tmp_path: Path) -> Path:
    """Return a file with the cloud of a hammer."""
    path = tmp_path / "cloud.npy"
    np.save(path, pw.objects.load("hammer").points(np.random.default_rng(0), tilt=0.2))
    return path


def test_a_cloud_becomes_a_grid_a_picture_and_a_report(cloud: Path) -> None:
    """Write what was asked for, print what was found, and overwrite only when told to."""
    grid, picture = cloud.with_name("grid.json"), cloud.with_name("grid.png")
    with drawn() as figures:
        code, out, err = pushwise("scan", cloud, "-o", grid, "--plot", picture)
    assert (code, err) == (0, "")
    for word in ("size", "cells", "table", "object", "dropped"):
        assert f"\n{word}" in f"\n{out}"
    saved = pw.load(grid)
    assert isinstance(saved, pw.Scan)
    assert 28 <= saved.grid.n_cells <= 127
    assert picture.is_file()
    (axes, _) = figures["grid.png"].axes
    assert axes.get_title(loc="left").startswith(f"{saved.grid.n_cells} cells of ")
    code, out, err = pushwise("scan", cloud, "-o", grid)
    assert (code, out) == (1, "")
    assert err == f"pushwise: {grid} exists; add --force to overwrite it.\n"
    code, out, _ = pushwise("scan", cloud, "-o", grid, "--force", "--json", "--cells", 40)
    assert code == 0
    assert abs(json.loads(out)["n_cells"] - 40) <= 3


def test_a_depth_image_needs_its_camera(tmp_path: Path) -> None:
    """Scan a 16-bit depth image with a mask; refuse it without intrinsics, or with 8 bits."""
    depth = np.full((120, 160), 600, dtype=np.uint16)
    depth[40:80, 50:110] = 570
    path, mask, poor = tmp_path / "d.png", tmp_path / "m.png", tmp_path / "8.png"
    Image.fromarray(depth).save(path)
    Image.fromarray((depth < 600).astype(np.uint8)).save(mask)
    Image.fromarray((depth // 4).astype(np.uint8)).save(poor)
    camera = ("--intrinsics", 150, 150, 80, 60)
    code, out, _ = pushwise("scan", path, *camera, "--mask", mask, "--json")
    assert code == 0
    assert json.loads(out)["size"] == pytest.approx([0.228, 0.152, 0.03], abs=0.01)
    code, _, err = pushwise("scan", path)
    assert code == 1
    assert "give the camera's intrinsics" in err
    code, _, err = pushwise("scan", poor, *camera)
    assert code == 1
    assert "at least 16 bits per pixel; got 8" in err
    code, _, err = pushwise("scan", poor, "--all", *camera)
    assert code == 1
    assert err.startswith("pushwise: 8.png: depth must have at least 16 bits per pixel")
    code, _, err = pushwise("scan", path, *camera, "--mask", mask, "--plot", mask, "--force")
    assert code == 1
    assert "m.png is read by this command" in err


@pytest.mark.slow
def test_a_mesh_in_millimetres(tmp_path: Path) -> None:
    """Scale a mesh to metres; refuse options that are for clouds."""
    path = tmp_path / "box.stl"
    trimesh.creation.box((200.0, 100.0, 50.0)).export(path)
    code, _, err = pushwise("scan", path, "--scale", 1e-6)
    assert (code, err.count("\n")) == (1, 1)
    assert "m across; give the scale in metres per unit of the file" in err
    code, out, _ = pushwise("scan", path, "--scale", 0.001, "--json")
    assert code == 0
    assert json.loads(out)["size"] == pytest.approx([0.2, 0.1, 0.05], abs=0.002)
    code, _, err = pushwise("scan", path, "--near", 0, 0, 0)
    assert code == 1
    assert "a mesh stands on the table" in err


@pytest.mark.parametrize(
    ("name", "content"),
    [("none.ply", None), ("a.ply", b"ply\n"), ("a.xyz", b"0 0 0\n"), ("a.csv", b"\x00" * 50)],
)
def test_a_bad_file_is_one_line(
    name: str,
    content: bytes | None,
    tmp_path: Path,
) -> None:
    """Answer a bad file with one line on stderr and a code."""
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    code, out, err = pushwise("scan", path)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("pushwise: ")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--scale", 1000), "cloud.npy: points must be in metres; .* --scale 0.001"),
        (
            ("--min-height", 1),
            "cloud.npy: .* nothing rises above it by 1 m, which min_height "
            r"\(--min-height\) asks",
        ),
        (("--near", 1, 1, 1), "cloud.npy: near must be a point on an object"),
        (("--cells", 40, "--cell-size", 0.01), "give --cells or --cell-size, not both"),
    ],
)
def test_what_cannot_be_scanned_is_one_line(
    options: tuple[object, ...], sentence: str, cloud: Path
) -> None:
    """Name the file and what would be right."""
    code, out, err = pushwise("scan", cloud, *options)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert re.match(f"pushwise: {sentence}", err), err


def test_a_folder_is_no_cloud(tmp_path: Path) -> None:
    """Ask for a file."""
    code, _, err = pushwise("scan", tmp_path)
    assert (code, err) == (
        1,
        f"pushwise: cannot read {tmp_path}: it is a folder; give a file name.\n",
    )
