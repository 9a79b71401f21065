"""Damage files of every kind in many ways, and read them with every reader and command.

    python tests/fuzz_files.py --seconds 600

Whatever is in a file, a reader returns or raises `PushwiseError` with one short sentence, and a
command ends with a code and one line, within 20 s and 4 GB of memory. A file that breaks this is
kept, and its path printed. tests/test_fuzz.py does the same for some seconds, with Hypothesis.
"""

import argparse
import atexit
import json
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import trimesh
from PIL import Image

import pushwise as pw
from command import pushwise
from pushwise.errors import PushwiseError, PushwiseWarning
from pushwise.experiments.rows import read_rows, write_rows
from pushwise.planning.plan import Plan
from pushwise.shape.files import read_image, read_shape
from pushwise.sliding.run_folder import load_run

LONGEST = 20  # s for one file
MEMORY = 4_000_000_000  # bytes
SENTENCE = 1000  # characters
INTRINSICS = ("--intrinsics", 60, 60, 40, 30)
TOPICS = pw.BagTopics("/box", "/tip")


class Specimen(NamedTuple):
    """A whole file, and what reads it."""

    path: Path
    """The file to damage; files next to it that it needs stay as they are."""
    reads: tuple[Callable[[Path], object], ...]
    """Readers, given the damaged file in a copy of its folder."""
    commands: tuple[tuple[object, ...], ...]
    """Words of commands; Path("@") stands for the damaged file, and "-o" adds an output."""


IT = Path("@")


@cache
def corpus() -> dict[str, Specimen]:
    """Return whole files of every kind by name, each in a folder of its own."""
    home = Path(tempfile.mkdtemp(prefix="fuzz-corpus-"))
    atexit.register(shutil.rmtree, home)
    thing = pw.objects.load("box").sample(np.random.default_rng(0))
    world = pw.worlds.Ideal(thing, seed=0)
    log = pw.record(world, home / "log.csv", grid=thing.grid, pushes=2, seed=1)
    model = pw.ObjectModel(thing.grid, thing.model.mass, thing.model.friction)
    belief = pw.identify(log.grid or thing.grid, log, method="convex").belief
    specimens: dict[str, Specimen] = {}

    def add(
        name: str,
        write: Callable[[Path], object],
        *reads: Callable[[Path], object],
        commands: tuple[tuple[object, ...], ...] = (),
    ) -> None:
        folder = home / name.replace("/", "-")
        folder.mkdir(exist_ok=True)
        path = folder / name.rpartition("/")[2]
        write(path)
        specimens[name] = Specimen(path, reads, commands)

    cloud = _cloud(thing)
    goal = ("--goal", 0.1, 0.0, 0.2, "--time-limit", 1)
    identify = ("--method", "convex", "--time-limit", 2, "-o")
    learn = (("identify", IT, home / "log.csv", *identify),)
    grid_commands = (*learn, ("convert", home / "log.csv", "--grid", IT))
    add("grid.json", lambda p: pw.save(thing.grid, p), pw.load, commands=grid_commands)
    scan = pw.Scan.from_points(cloud)
    add("scan.json", lambda p: pw.save(scan, p), pw.load, commands=learn)
    add("model.json", lambda p: pw.save(model, p), pw.load, commands=(("plan", IT, *goal, "-o"),))
    exports = tuple(("export", IT, "-o", ending) for ending in (".xml", ".urdf", ".sdf"))
    add("belief.json", lambda p: pw.save(belief, p), pw.load_belief, commands=exports)
    scene = pw.Scene.from_points(cloud)
    add("scene.json", lambda p: pw.save(scene, p), pw.load, commands=(("plan", IT, *goal, "-o"),))
    plan = pw.plan(pw.Belief.certain(model), (0, 0, 0), (0.1, 0, 0.2), pw.Table())
    add("plan.json", plan.save, Plan.load)
    add("log/log.csv", log.save, pw.PushLog.load, commands=(("identify", IT, *identify),))
    specimens["log/log.json"] = Specimen(
        specimens["log/log.csv"].path.with_suffix(".json"),
        (lambda path: pw.PushLog.load(path.with_suffix(".csv")),),
        (),
    )
    convert = (("convert", IT),)
    add("recording.csv", log.save, pw.read_recordings, commands=convert)
    add("mit.json", _write_mit, pw.read_recordings, commands=convert)
    table = [[-0.5, -0.4], [0.5, -0.4], [0.5, 0.4], [-0.5, 0.4]]
    slide = ("slide", "box", "--world", "ideal", "--explore", 0, "--grasp-width", 0.001)
    tables = ((*slide, "--table", IT, "-o"), (*slide, "--obstacles", IT, "-o"))
    add("table.json", lambda p: p.write_text(json.dumps(table)), commands=tables)
    add("rows.csv", lambda p: write_rows(p, [{"a": 1, "b": 2.5, "c": None}] * 3), read_rows)
    _add_shapes(add, cloud)
    _add_bags(add, log)
    _add_run(specimens, home)
    return specimens


def _cloud(thing: Any) -> np.ndarray:
    """Return a small cloud of an object on a table."""
    rng = np.random.default_rng(0)
    points = thing.points(rng)
    chosen: np.ndarray = points[rng.choice(len(points), 4000, replace=False)]
    return chosen.astype(np.float32)


def _write_mit(path: Path) -> None:
    """Write a file of the MIT push dataset as JSON."""
    t = np.linspace(0.0, 3.0, 60)
    x = np.clip(0.05 * (t - 1.0), 0.0, 0.1)
    pose = np.column_stack([t, x, 0 * t, 0 * t])
    tip = np.column_stack([t, x - 0.06, 0 * t, 0 * t])
    tables = {"object_pose": pose, "tip_pose": tip, "ft_wrench": pose}
    path.write_text(json.dumps({name: table.tolist() for name, table in tables.items()}))


def _add_shapes(add: Callable[..., None], cloud: np.ndarray) -> None:
    """Add clouds, meshes and depth images in every format."""
    scan = (("scan", IT), ("scan", IT, "--all"))
    points: Any = trimesh.PointCloud(cloud[:500])  # type: ignore[no-untyped-call]
    for encoding in ("ascii", "binary"):
        data = points.export(file_type="ply", encoding=encoding)
        content = data if isinstance(data, bytes) else data.encode()
        add(f"{encoding}/cloud.ply", lambda p, c=content: p.write_bytes(c), read_shape)
    head = (
        "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH {0}\nHEIGHT 1\n"
        "POINTS {0}\nDATA {1}\n"
    )
    binary = head.format(len(cloud), "binary").encode() + cloud.tobytes()
    add("cloud.pcd", lambda p: p.write_bytes(binary), read_shape, commands=scan)
    add("cloud.xyz", lambda p: np.savetxt(p, cloud[:300]), read_shape)
    add("cloud.npy", lambda p: np.save(p, cloud), read_shape, commands=scan)
    add("cloud.npz", lambda p: np.savez_compressed(p, points=cloud), read_shape, commands=scan)
    box = trimesh.creation.box((0.2, 0.1, 0.05))
    for kind in ("obj", "stl", "ply"):
        add(f"mesh/box.{kind}", lambda p: box.export(p), read_shape, commands=scan[:1])
    depth = np.full((60, 80), 800, dtype=np.uint16)
    depth[20:40, 30:55] = 750
    image = Image.fromarray(depth)
    depths = (("scan", IT, *INTRINSICS),)
    for ending in ("png", "tiff", "pgm"):
        add(f"depth.{ending}", lambda p: image.save(p), read_image, commands=depths)


def _add_bags(add: Callable[..., None], log: pw.PushLog) -> None:
    """Add ROS bags and an HDF5 file, where their packages are installed."""
    try:
        import h5py

        from recorded import Bag
    except ImportError:
        return

    def write_bag(path: Path, kind: str) -> None:
        bag = Bag(kind)
        for at, (x, y, theta) in zip(log[0].t[::5], log[0].pose[::5], strict=True):
            bag.pose("/box", at, x, y, theta)
            push = log[0].push
            assert isinstance(push, pw.Push)
            tip = push.at(np.array([at]))[0].tolist()
            bag.pose("/tip", at, tip[0], tip[1], 0.0)
        written = bag.write(path.parent)
        if kind == "ros1":
            written.rename(path)
        else:
            next(written.glob(f"*{path.suffix}")).rename(path)
            shutil.rmtree(written)

    def read(path: Path) -> object:
        return pw.cut_pushes(pw.read_recordings(path, TOPICS))

    convert = (("convert", IT, "--object", "/box", "--finger", "/tip"),)
    for kind, name in (("ros1", "run.bag"), ("sqlite3", "run.db3"), ("mcap", "run.mcap")):
        add(name, lambda p, k=kind: write_bag(p, k), read, commands=convert)

    def write_hdf5(path: Path) -> None:
        with h5py.File(path, "w") as file:
            for name in ("object_pose", "tip_pose", "ft_wrench"):
                file[name] = np.random.default_rng(0).uniform(0, 1, (30, 4))

    add("push.h5", write_hdf5, pw.read_recordings)


def _add_run(specimens: dict[str, Specimen], home: Path) -> None:
    """Add the files of a run of `slide`, each to be damaged in turn."""
    from a_run import a_run

    run = shutil.copytree(a_run(), home / "run")
    for file in sorted(run.iterdir()):
        if file.suffix in (".json", ".npz", ".csv"):
            specimens[f"run/{file.name}"] = Specimen(file, (lambda p: load_run(p.parent),), ())


TOKENS = [
    *(b"nan", b"NaN", b"Infinity", b"-inf", b"1e400", b"-1", b"0", b"1e-320", b"9" * 5000, b"1.5"),
    *(b"null", b"true", b"[]", b"{}", b'""', b"[[[[]]]]", b'"x"', b",", b"\n", b"\x00", b"\xff"),
    *("é".encode(), b"[" * 3000, b'"' + b"a" * 200_000 + b'"'),
]


ODD: list[Any] = [None, True, -1, 0, 1e308, 1e-308, 2**70, "", "x", [], {}, [[]], [1, [2]]]


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Return the content of a file with some random damage."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        how = rng.randrange(6)
        at = rng.randrange(len(content) + 1)
        size = min(rng.choice([1, 1, 2, 8, 100, 5000]), len(content))
        if how == 0:  # cut short
            content = content[:at]
        elif how == 1:  # bytes changed
            content = content[:at] + rng.randbytes(size) + content[at + size :]
        elif how == 2:  # a part missing
            content = content[:at] + content[at + size :]
        elif how == 3:  # a part twice
            content = content[:at] + content[max(at - size, 0) : at] * 2 + content[at:]
        elif how == 4:  # a value replaced
            values = list(re.finditer(rb"-?\d+\.?\d*(?:e-?\d+)?|\w+", content[at : at + 400]))
            if values:
                one = rng.choice(values)
                token = rng.choice(TOKENS)
                content = content[: at + one.start()] + token + content[at + one.end() :]
        else:
            content = _damaged_json(content, rng)
    return content


def _damaged_json(content: bytes, rng: random.Random) -> bytes:
    """Return a JSON document with one of its values replaced or removed; others as they are."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return content
    node: Any = document
    while isinstance(node, dict | list) and node:
        key = rng.choice(list(node) if isinstance(node, dict) else range(len(node)))
        if not isinstance(node[key], dict | list) or not node[key] or rng.random() < 0.3:
            if rng.random() < 0.2:
                del node[key]
            else:
                node[key] = rng.choice(ODD)
            break
        node = node[key]
    return json.dumps(document).encode()


@contextmanager
def limited() -> Iterator[None]:
    """Let nothing take longer than it may."""

    def late(*_: object) -> None:
        raise TimeoutError(f"took more than {LONGEST} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def try_damage(name: str, content: bytes) -> None:
    """Read a damaged specimen with its readers and commands; raise what is not an error of ours."""
    specimen = corpus()[name]
    with tempfile.TemporaryDirectory() as made, warnings.catch_warnings(), limited():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PushwiseWarning)
        folder = Path(shutil.copytree(specimen.path.parent, Path(made) / "copy"))
        path = folder / specimen.path.name
        path.write_bytes(content)
        for read in specimen.reads:
            try:
                read(path)
            except PushwiseError as error:
                assert "\n" not in str(error), error
                assert len(str(error)) < SENTENCE, error
        for number, words in enumerate(specimen.commands):
            _try_command(path, folder / f"output-{number}", words)


def _try_command(path: Path, output: Path, words: tuple[object, ...]) -> None:
    """Run a command on a damaged file."""
    given = [path if word == IT else word for word in words]
    ending = ".json"
    if isinstance(given[-1], str) and given[-1].startswith("."):
        ending = str(given.pop())
    if given[-1] == "-o":
        given.append(output if given[0] == "slide" else output.with_suffix(ending))
    said = pushwise(*given)
    assert said.code in (0, 1), said
    lines = [line for line in said.err.splitlines() if line.startswith("pushwise: ")]
    errors = [line for line in lines if not line.startswith("pushwise: note: ")]
    assert len(errors) == said.code, said
    assert all(len(line) < SENTENCE for line in lines), said
    assert "Traceback" not in said.err, said


def main() -> None:
    """Damage files for as long as asked; print how many, and keep those that break something."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="only files whose name contains this")
    asked = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
    names = [name for name in corpus() if asked.only in name]
    for name in names:
        try_damage(name, corpus()[name].path.read_bytes())
    begin, count, broken = time.monotonic(), 0, 0
    kept = Path(tempfile.mkdtemp(prefix="fuzz-broken-"))
    while time.monotonic() - begin < asked.seconds:
        rng = random.Random(f"{asked.seed} {count}")
        name = names[count % len(names)]
        content = damaged(corpus()[name].path.read_bytes(), rng)
        count += 1
        try:
            try_damage(name, content)
        except Exception:
            broken += 1
            path = kept / f"{count}-{name.replace('/', '-')}"
            path.write_bytes(content)
            print(f"{name}, kept as {path}:\n{traceback.format_exc()}", flush=True)
    print(f"{count} damaged files of {len(names)} kinds: {broken} broke a reader or a command")
    sys.exit(broken > 0)


if __name__ == "__main__":
    main()
