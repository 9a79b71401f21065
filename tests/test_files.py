"""Clouds, meshes and images from files, whole and damaged."""

import io
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from pushwise.errors import PushwiseError
from pushwise.shape.files import read_image, read_shape

POINTS = np.random.default_rng(0).uniform(-1.0, 1.0, (50, 3)).astype(np.float32)
PCD_HEADER = (
    "# .PCD v0.7\nVERSION 0.7\nFIELDS {fields}\nSIZE {size}\nTYPE {type}\nCOUNT {count}\n"
    "WIDTH {n}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {n}\nDATA {data}\n"
)


def pcd(data: str, body: bytes, *, n: int = len(POINTS), rgb: bool = False) -> bytes:
    """Return a PCD file of points, and perhaps a colour before them."""
    more = ("rgb ", "4 ", "U ", "1 ") if rgb else ("", "", "", "")
    header = PCD_HEADER.format(
        fields=more[0] + "x y z",
        size=more[1] + "4 4 4",
        type=more[2] + "F F F",
        count=more[3] + "1 1 1",
        n=n,
        data=data,
    )
    return header.encode() + body


def lzf(data: bytes) -> bytes:
    """Compress with literals, and one copy for a run of zeros at the end."""
    body = data.rstrip(b"\0")
    body += data[len(body) : len(body) + 1]
    zeros = len(data) - len(body)
    parts = [bytes([len(body[i : i + 32]) - 1]) + body[i : i + 32] for i in range(0, len(body), 32)]
    while zeros >= 3:
        count = min(zeros, 264)
        low = bytes([(count - 2) << 5, 0]) if count < 9 else bytes([7 << 5, count - 9, 0])
        parts.append(low)
        zeros -= count
    parts += [b"\0\0"] * zeros
    return b"".join(parts)


def text(points: np.ndarray, between: str) -> bytes:
    """Return rows of numbers."""
    return "\n".join(between.join(repr(float(v)) for v in row) for row in points).encode()


def saved(write: object, *arrays: object, **named: object) -> bytes:
    """Return what a NumPy writer writes."""
    buffer = io.BytesIO()
    write(buffer, *arrays, **named)  # type: ignore[operator]
    return buffer.getvalue()


def exported(encoding: str) -> bytes:
    """Return a PLY file by trimesh."""
    cloud: Any = trimesh.PointCloud(POINTS)  # type: ignore[no-untyped-call]
    content = cloud.export(file_type="ply", encoding=encoding)
    return content if isinstance(content, bytes) else content.encode()


def packed(points: np.ndarray) -> bytes:
    """Return the body of a compressed PCD file."""
    plain = points.T.tobytes()
    small = lzf(plain)
    return struct.pack("<II", len(small), len(plain)) + small


ROWS_RGB = np.array(
    [(7, *row) for row in POINTS.tolist()],
    dtype=[("rgb", "<u4"), ("x", "<f4"), ("y", "<f4"), ("z", "<f4")],
)
CLOUDS = {
    "ascii.ply": exported("ascii"),
    "binary.ply": exported("binary"),
    "ascii.pcd": pcd("ascii", text(POINTS, " ")),
    "binary.pcd": pcd("binary", POINTS.tobytes()),
    "colour.pcd": pcd("binary", ROWS_RGB.tobytes(), rgb=True),
    "compressed.pcd": pcd("binary_compressed", packed(POINTS)),
    "plain.xyz": text(POINTS, " "),
    "named.csv": b"x,y,z\n" + text(POINTS, ","),
    "turned.csv": b"z, Y,x\n" + text(POINTS[:, ::-1], ","),
    "indexed.csv": b'"","x","y","z"\n' + text(np.hstack([POINTS[:, :1], POINTS]), ";"),
    "semicolons.csv": b"# a remark\n" + text(np.hstack([POINTS, POINTS]), ";"),
    "array.npy": saved(np.save, POINTS),
    "organised.npy": saved(np.save, POINTS.reshape(5, 10, 3)),
    "one.npz": saved(np.savez, POINTS),
    "named.npz": saved(np.savez_compressed, points=POINTS, other=np.zeros(2)),
}


@pytest.mark.parametrize("name", CLOUDS)
def test_clouds_are_read(name: str, tmp_path: Path) -> None:
    """Read the same points from every format."""
    path = tmp_path / name
    path.write_bytes(CLOUDS[name])
    shape = read_shape(path)
    assert shape.faces is None
    assert shape.points == pytest.approx(POINTS, abs=1e-6)


def test_compressed_runs_are_repeated(tmp_path: Path) -> None:
    """Undo copies that run into what they write."""
    points = np.zeros((200, 3), dtype=np.float32)
    points[:5] = 1.5
    path = tmp_path / "runs.pcd"
    path.write_bytes(pcd("binary_compressed", packed(points), n=200))
    assert read_shape(path).points.tolist() == points.tolist()


@pytest.mark.parametrize("kind", ["ply", "obj", "stl"])
def test_meshes_are_read(kind: str, tmp_path: Path) -> None:
    """Read vertices and triangles of a mesh."""
    path = tmp_path / f"box.{kind}"
    trimesh.creation.box((0.2, 0.1, 0.05)).export(path)
    shape = read_shape(path)
    assert shape.faces is not None
    assert len(shape.faces) == 12
    assert np.ptp(shape.points, axis=0) == pytest.approx((0.2, 0.1, 0.05))


def test_depth_images_are_read(tmp_path: Path) -> None:
    """Read all 16 bits of a depth image."""
    depth = np.arange(600, dtype=np.uint16).reshape(20, 30) * 100
    Image.fromarray(depth).save(tmp_path / "depth.png")
    assert read_image(tmp_path / "depth.png").tolist() == depth.tolist()
    Image.new("RGB", (4, 3)).save(tmp_path / "colour.png")
    with pytest.raises(PushwiseError, match="one number per pixel"):
        read_image(tmp_path / "colour.png")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.ply", CLOUDS["binary.ply"][:-300], "."),
        ("a.ply", CLOUDS["ascii.ply"][:-1500], "truncated: its header promises 50"),
        ("a.ply", b"solid", "not a PLY file"),
        ("a.pcd", pcd("ascii", text(POINTS, " "), n=49), "POINTS is 49, but 50 rows"),
        ("a.pcd", pcd("binary", POINTS.tobytes(), n=51), "truncated: POINTS is 51"),
        ("a.pcd", pcd("binary_compressed", packed(POINTS), n=51), "POINTS is 51, which takes 612"),
        ("a.pcd", b"VERSION 0.7\n", "no DATA line"),
        ("a.pcd", pcd("zip", b""), "DATA must be ascii, binary or binary_compressed"),
        ("a.xyz", b"1 2\n3 4\n", "each row must have x, y and z"),
        ("a.xyz", b"1 2 3\n4 5 six\n", "each row must have x, y and z"),
        ("a.csv", b"push,t,x,y\n0,0,1,1\n", "named x, y and z, .* this file has push, t, x, y"),
        ("a.csv", b"x;y;z\n0,1;0,2;0,3\n", "each row must have x, y and z"),
        ("a.csv", b"x y z\n0 1 2 3\n", "there are 3 column names, but 4 values in the first row"),
        ("a.csv", b"x,y,z\n", "no points in this file"),
        ("a.csv", b"\xff\xfe\x00", "must be a text file"),
        ("a.npy", saved(np.save, np.zeros((4, 2))), r"points of shape \(n, 3\)"),
        ("a.npz", saved(np.savez, a=POINTS, b=POINTS), "one named points; it has a, b"),
        ("a.npy", b"no", "not a readable NumPy file"),
        ("a.obj", b"", "OBJ file"),
        ("a.stl", b"", "STL file"),
        ("a.doc", b"", "valid suffixes are ply, obj, stl, pcd, xyz"),
    ],
)
def test_damage_is_named(name: str, content: bytes, sentence: str, tmp_path: Path) -> None:
    """Say in one sentence, with the file's name, what is wrong with it."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(PushwiseError, match=sentence) as refusal:
        read_shape(path)
    assert name in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_missing_files_are_named(tmp_path: Path) -> None:
    """Say that there is no such file."""
    for read in (read_shape, read_image):
        with pytest.raises(PushwiseError, match=r"a\.ply: there is no such file"):
            read(tmp_path / "a.ply")
    with pytest.raises(PushwiseError, match=r"cannot read .*b\.ply"):
        (tmp_path / "b.ply").mkdir()
        read_shape(tmp_path / "b.ply")


def reads_or_refuses(path: Path, content: bytes) -> None:
    """Read a file that may be damaged: points, or an error of ours."""
    path.write_bytes(content)
    try:
        shape = read_shape(path)
    except PushwiseError as error:
        assert "\n" not in str(error)
    else:
        assert shape.points.ndim == 2
        assert shape.points.shape[1] == 3


FUZZ = settings(
    max_examples=400,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
ENDINGS = ["ply", "pcd", "xyz", "csv", "npy", "npz", "obj", "stl"]


def box(kind: str) -> bytes:
    """Return a box mesh by trimesh."""
    content = trimesh.creation.box().export(file_type=kind)
    return content if isinstance(content, bytes) else content.encode()


MESHES = {f"box.{kind}": box(kind) for kind in ("obj", "stl", "ply")}


@pytest.mark.slow
@FUZZ
@given(st.sampled_from(ENDINGS), st.binary(max_size=400))
def test_random_bytes_never_break_a_reader(tmp_path: Path, ending: str, content: bytes) -> None:
    """Refuse any bytes in any format with an error of ours."""
    reads_or_refuses(tmp_path / f"fuzz.{ending}", content)


@pytest.mark.slow
@FUZZ
@given(
    st.sampled_from(sorted(CLOUDS | MESHES)),
    st.floats(0.0, 1.0),
    st.lists(st.tuples(st.floats(0.0, 1.0), st.integers(0, 255)), max_size=4),
)
def test_damaged_files_never_break_a_reader(
    tmp_path: Path, name: str, share: float, changes: list[tuple[float, int]]
) -> None:
    """Refuse or read files that are cut short or have bytes changed."""
    content = bytearray((CLOUDS | MESHES)[name])
    for where, value in changes:
        content[min(int(where * len(content)), len(content) - 1)] = value
    reads_or_refuses(tmp_path / name, bytes(content[: int(share * len(content)) + 1]))


@pytest.mark.slow
@FUZZ
@given(st.binary(max_size=300), st.integers(0, 400))
def test_damaged_images_never_break_a_reader(tmp_path: Path, content: bytes, keep: int) -> None:
    """Refuse or read images that are cut short or hold anything."""
    buffer = io.BytesIO()
    Image.fromarray(np.arange(300, dtype=np.uint16).reshape(15, 20)).save(buffer, "PNG")
    path = tmp_path / "fuzz.png"
    for data in (content, buffer.getvalue()[:keep], buffer.getvalue()[:keep] + content):
        path.write_bytes(data)
        try:
            assert read_image(path).ndim == 2
        except PushwiseError as error:
            assert "\n" not in str(error)
