"""Enormous and malicious input is refused, or handled, within stated limits of time and memory."""

import io
import json
import zipfile
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from PIL import Image

import pushwise as pw
from command import pushwise
from pushwise import documents
from pushwise.errors import PushwiseError
from pushwise.planning.plan import Plan
from pushwise.shape import cloud_limits
from pushwise.shape.files import read_image, read_shape
from pushwise.shape.sensors import depth_points

DEEP = "[" * 200_000 + "]" * 200_000
LONG = b"1," * 10_000_000  # a line of 20 MB


def bomb(path: Path, name: str, megabytes: int) -> None:
    """Write an .npz file whose array unpacks to some megabytes of zeros."""
    count = megabytes * 1_000_000 // 24
    head = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (count, 3)}
    np.lib.format.write_array_header_1_0(head, shape)
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(f"{name}.npy", "w", force_zip64=True) as file,
    ):
        file.write(head.getvalue())
        for _ in range(megabytes):
            file.write(bytes(1_000_000))


def test_deep_json_is_refused_by_every_reader(tmp_path: Path) -> None:
    """Refuse brackets nested 200,000 deep, wherever JSON is read."""
    deep = tmp_path / "deep.json"
    deep.write_text(DEEP)
    (tmp_path / "deep.csv").write_text("push,t,x,y,theta,finger_x,finger_y\n")
    for read in (
        pw.load,
        pw.load_belief,
        Plan.load,
        pw.read_recordings,
        lambda path: pw.PushLog.load(path.with_suffix(".csv")),
    ):
        with pytest.raises(PushwiseError, match=r"deep\.json: .*nested too deeply"):
            read(deep)
    pw.save(pw.objects.load("box").grid, tmp_path / "grid.json")
    for words in (
        ("plan", deep, "--goal", 0, 0, 0, "-o", tmp_path / "plan.json"),
        ("slide", "box", "--table", deep, "-o", tmp_path / "run"),
        ("slide", "box", "--obstacles", deep, "-o", tmp_path / "run"),
        ("view", deep),
    ):
        said = pushwise(*words)
        assert (said.code, said.err.count("\n")) == (1, 1)
        assert "nested too deeply" in said.err


def test_bombs_are_refused_before_they_unpack(tmp_path: Path) -> None:
    """Refuse a small file of arrays with 1.2 GB, as a cloud and in the folder of a run."""
    bomb(tmp_path / "cloud.npz", "points", 1200)
    assert (tmp_path / "cloud.npz").stat().st_size < 10_000_000
    begin = process_time()
    with pytest.raises(PushwiseError, match=r"1,200 MB once unpacked; at most 1,000 MB"):
        read_shape(tmp_path / "cloud.npz")
    with pytest.raises(PushwiseError, match=r"1,200 MB once unpacked"):
        documents.read_arrays(tmp_path / "cloud.npz", "cloud")
    assert process_time() - begin < 2.0


def test_what_a_header_promises_is_not_allocated(tmp_path: Path) -> None:
    """Refuse arrays and clouds of a trillion points that are not there."""
    head = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 3)}
    np.lib.format.write_array_header_1_0(head, shape)
    (tmp_path / "a.npy").write_bytes(head.getvalue())
    (tmp_path / "a.ply").write_text("ply\nformat ascii 1.0\nelement vertex 999999999\nend_header\n")
    (tmp_path / "a.pcd").write_text(
        "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH 99999999\nHEIGHT 1\n"
        "POINTS 99999999\nDATA binary_compressed\n"
    )
    for name, said in (("a.npy", "NumPy"), ("a.ply", "999,999,999"), ("a.pcd", "99,999,999")):
        with pytest.raises(PushwiseError, match=said):
            read_shape(tmp_path / name)


@pytest.mark.parametrize("name", ["cloud.xyz", "cloud.csv", "log.csv", "cloud.pcd", "cloud.ply"])
def test_long_lines_are_refused_in_a_short_sentence(name: str, tmp_path: Path) -> None:
    """Name the line of 20 MB, and do not repeat it."""
    path = tmp_path / name
    path.write_bytes(b"x,y,z\n" + LONG)
    pw.save(pw.objects.load("box").grid, tmp_path / "grid.json")
    words: tuple[object, ...] = ("scan", path)
    if name == "log.csv":
        words = ("identify", tmp_path / "grid.json", path, "-o", tmp_path / "model.json")
    begin = process_time()
    said = pushwise(*words)
    assert process_time() - begin < 10.0
    assert (said.code, said.err.count("\n")) == (1, 1)
    assert name in said.err
    assert len(said.err) < 400
    if name.endswith(("xyz", "csv")):
        assert "line 2: a line has at most 1 MB" in said.err


def test_long_cells_are_not_repeated(tmp_path: Path) -> None:
    """Shorten a cell of 100 kB, and 10,000 column names, in the sentence that names them."""
    names = "push,t,x,y,theta,finger_x,finger_y"
    for text in (f"{names}\n0,{'9' * 100_000},0,0,0,0,0\n", ",".join(map(str, range(10_000)))):
        path = tmp_path / "log.csv"
        path.write_text(text)
        for read in (pw.PushLog.load, pw.read_recordings):
            with pytest.raises(PushwiseError) as refusal:
                read(path)
            assert len(str(refusal.value)) < 700


def test_clouds_of_fifty_million_points_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refuse too many points, in memory and in files, and say what to do."""
    nothing = np.broadcast_to(np.zeros(1, dtype=np.float32), (50_000_000, 3))
    with pytest.raises(PushwiseError, match="at most 10,000,000 points; this one has 50,000,000"):
        pw.CellGrid.from_points(nothing)
    depth = np.broadcast_to(np.ones(1, dtype=np.uint16), (5_000, 10_000))
    with pytest.raises(PushwiseError, match="50,000,000"):
        depth_points(depth, (500, 500, 5000, 2500), mask=None, scale=1e-3)
    monkeypatch.setattr(cloud_limits, "MOST_POINTS", 99)
    points = np.zeros((100, 3), dtype=np.float32)
    np.save(tmp_path / "cloud.npy", points)
    np.savetxt(tmp_path / "cloud.xyz", points)
    for name in ("cloud.npy", "cloud.xyz"):
        said = pushwise("scan", tmp_path / name)
        assert (said.code, "this one has 100" in said.err) == (1, True)


def test_large_files_are_refused_by_their_size(tmp_path: Path) -> None:
    """Refuse files beyond the limits without reading them to the end; sparse ones are quick."""
    for name, size, read in (
        ("grid.json", 60_000_000, pw.load),
        ("log.csv", 300_000_000, pw.PushLog.load),
        ("depth.png", 2_000_000_000, read_image),
    ):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
        with pytest.raises(PushwiseError, match=rf"{name} is too large: at most"):
            read(tmp_path / name)


def test_pictures_that_unpack_to_gigabytes_are_refused(tmp_path: Path) -> None:
    """Refuse a picture of 400 million pixels in a small file."""
    buffer = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(buffer, "PNG")
    (tmp_path / "depth.png").write_bytes(buffer.getvalue())
    with pytest.raises(PushwiseError, match="not a readable image"):
        read_image(tmp_path / "depth.png")


def test_recordings_that_unpack_to_gigabytes_are_refused(tmp_path: Path) -> None:
    """Refuse a small HDF5 file with a table of 3 GB, of which nothing is written."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "push.h5", "w") as file:
        for name in ("object_pose", "tip_pose", "ft_wrench"):
            file.create_dataset(name, (400_000_000,), "f8", chunks=(1000,))
    with pytest.raises(PushwiseError, match=r"push\.h5: object_pose has 3,200 MB; at most"):
        pw.read_recordings(tmp_path / "push.h5")


def test_numbers_that_json_does_not_have_are_refused(tmp_path: Path) -> None:
    """Let NaN and infinity in through no file."""
    document = {**documents.header("goal"), "goals": [float("nan")]}
    (tmp_path / "goal.json").write_text(json.dumps(document))
    with pytest.raises(PushwiseError, match=r"goal\.json: not a JSON file \(NaN is not a number"):
        documents.read_document(tmp_path / "goal.json", "goal")


def test_damaged_numbers_are_lost_points(tmp_path: Path) -> None:
    """Count points that are not finite, damaged or too far away as lost, without a warning."""
    points = pw.objects.load("box").points(np.random.default_rng(0))[:, :3].astype(np.float32)
    points[:3] = np.inf, 1e38, np.array(0x7FA00000, dtype=np.uint32).view(np.float32)
    np.save(tmp_path / "cloud.npy", points)
    head = (
        "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nWIDTH {0}\nHEIGHT 1\nPOINTS {0}\n"
        "DATA binary\n"
    )
    (tmp_path / "cloud.pcd").write_bytes(head.format(len(points)).encode() + points.tobytes())
    for name in ("cloud.npy", "cloud.pcd"):
        scan = pw.Scan.from_points(read_shape(tmp_path / name).points)
        assert sum(group.points for group in scan.dropped if "finite" in group.what) == 3
