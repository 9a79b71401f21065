"""`pushwise experiment scenes`: find the objects in labelled clouds of tables.

A labelled cloud is a PCD file whose points have a field `label`: 1 to 9 on the table, 20 to 29 on
the first object, 30 to 39 on the second and so on, 0 where nothing is known. The camera sees one
side of an object, so that its footprint is judged by its labelled points, projected onto the table
and closed by a few millimetres.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from json import dumps
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy import ndimage
from scipy.spatial import ConvexHull, Delaunay, cKDTree

from pushwise.atomic_write import make_folder, save_figure, write_text
from pushwise.documents import read_bytes
from pushwise.errors import PushwiseError
from pushwise.experiments.reporting import markdown
from pushwise.geometry.polygon import contains, placed
from pushwise.shape.files import LARGEST_SHAPE
from pushwise.shape.pcd import parse_pcd
from pushwise.shape.plane import Plane, find_table
from pushwise.shape.scan import Scan
from pushwise.shape.scan_options import ScanOptions
from pushwise.shape.scene import Scene
from pushwise.show.scene_figure import draw_scene
from pushwise.typing import Array, Flags, Integers

__all__ = ["FoundObject", "JudgedScene", "judge", "labelled_clouds", "run"]

_PIXEL = 0.002  # m
_CLOSED = 3  # pixels by which projected points are closed
_FEWEST = 800  # points of an object that is judged
_GOOD = 0.8  # intersection over union
_APART = 0.01  # m between objects that do not touch
_NOWHERE = 0.1  # share of a reported object that is on no labelled one, if it is nothing
_MARGIN = 0.1  # m around the objects


@dataclass(frozen=True)
class FoundObject:
    """How well one labelled object was found."""

    label: int
    """Its label, divided by ten."""
    points: int
    touching: bool
    """Whether it touches another object, or stands on one or under one."""
    among_all: float
    """Intersection over union with the best object of the scene."""
    near: float
    """The same with the object found near one of its points; zero if none was."""
    refusal: str
    """Why none was found there."""


@dataclass(frozen=True, eq=False)
class JudgedScene:
    """A scene and how well its objects were found."""

    name: str
    scene: Scene
    objects: tuple[FoundObject, ...]
    """The labelled objects that are large enough."""
    nowhere: int
    """Number of objects that were reported where there is none."""
    upright: bool
    """Whether the table is the labelled one, with the right side up."""


def run(folder: Path, output: Path, *, json: bool = False) -> str:
    """Judge all labelled clouds of a folder, write table and picture, and return the table."""
    clouds = labelled_clouds(folder)
    judged = [judge(path.stem, cloud, labels) for path, cloud, labels in clouds]
    table = _table(judged)
    make_folder(output)
    write_text(output / "table.md", table + "\n")
    _contact_sheet(judged, [(cloud, labels) for _, cloud, labels in clouds], output / "sheet.png")
    if json:
        return dumps(
            {
                each.name: {
                    "upright": each.upright,
                    "nowhere": each.nowhere,
                    "objects": [vars(found) for found in each.objects],
                }
                for each in judged
            }
        )
    return table


def labelled_clouds(folder: Path) -> list[tuple[Path, Array, Integers]]:
    """Return the labelled clouds below a folder: file, finite points [m] (n, 3), labels (n,)."""
    if not folder.is_dir():
        raise PushwiseError(f"{folder} is not a folder.")
    found = []
    for path in sorted(folder.rglob("*.pcd")):
        try:
            rows = parse_pcd(read_bytes(path, LARGEST_SHAPE), ("x", "y", "z", "label"))
        except PushwiseError as error:
            raise PushwiseError(f"{path}: {error}") from None
        rows = rows[np.isfinite(rows).all(axis=1)]
        found.append((path, rows[:, :3], rows[:, 3].astype(np.int64)))
    if not found:
        raise PushwiseError(f"{folder} holds no PCD file; labelled clouds have a field label.")
    return found


def judge(name: str, cloud: Array, labels: Integers) -> JudgedScene:
    """Find the objects of a labelled cloud, all at once and one by one."""
    table = _labelled_table(cloud, labels)
    scene = Scene.from_points(cloud)
    canvas = _Canvas(scene, cloud[labels >= 20])
    drawn = [
        canvas.drawn(
            [placed(loop, np.array(each.pose)) for loop in (each.grid.outline, *each.holes)]
        )
        for each in scene.objects
    ]
    kinds = [int(kind) for kind in np.unique(labels[labels >= 20] // 10)]
    every = np.zeros_like(drawn[0])
    found = []
    for kind in kinds:
        own = cloud[labels // 10 == kind]
        truth = canvas.closed(own)
        every |= truth
        if len(own) < _FEWEST:
            continue
        near, refusal = _near(canvas, cloud, own, truth)
        found.append(
            FoundObject(
                label=kind,
                points=len(own),
                touching=any(
                    _touch(canvas, own, cloud[labels // 10 == other])
                    for other in kinds
                    if other != kind
                ),
                among_all=max(_overlap(truth, each) for each in drawn),
                near=near,
                refusal=refusal,
            )
        )
    nowhere = sum((each & every).sum() < _NOWHERE * each.sum() for each in drawn)
    upright = bool(scene.table.normal @ table.normal > np.cos(np.deg2rad(3.0)))
    return JudgedScene(name, scene, tuple(found), int(nowhere), upright)


class _Canvas:
    """Pixels on the table of a scene, on which footprints are drawn."""

    def __init__(self, scene: Scene, objects: Array) -> None:
        """Choose a region around the points of objects [m], (n, 3)."""
        self._frame = scene.frame
        xy = self.along(objects)
        self._low = xy.min(axis=0) - _MARGIN
        columns, rows = np.ceil((xy.max(axis=0) + _MARGIN - self._low) / _PIXEL).astype(int)
        self._shape = (int(rows), int(columns))
        j, i = np.mgrid[: self._shape[0], : self._shape[1]].reshape(2, -1)
        self._centres = self._low + (np.stack([i, j], axis=1) + 0.5) * _PIXEL

    def along(self, points: Array) -> Array:
        """Return the places (n, 2) on the table of points of the cloud [m], (n, 3)."""
        along: Array = (points - self._frame[:3, 3]) @ self._frame[:3, :2]
        return along

    def closed(self, points: Array) -> Flags:
        """Return the pixels that points of the cloud are projected to, closed."""
        i, j = np.floor((self.along(points) - self._low) / _PIXEL).astype(int).T
        image = np.zeros(self._shape, dtype=np.bool_)
        image[j, i] = True
        y, x = np.ogrid[-_CLOSED : _CLOSED + 1, -_CLOSED : _CLOSED + 1]
        closed: Flags = ndimage.binary_closing(image, x * x + y * y <= _CLOSED**2 + 1)
        return closed

    def drawn(self, loops: Sequence[Array]) -> Flags:
        """Return the pixels inside an outline and outside its holes, in the scene's frame."""
        inside = contains(loops[0], self._centres)
        for hole in loops[1:]:
            inside &= ~contains(hole, self._centres)
        return inside.reshape(self._shape)


def _near(canvas: _Canvas, cloud: Array, own: Array, truth: Flags) -> tuple[float, str]:
    """Return how well the object at one of an object's own points was found, or why it was not."""
    middle = own[np.argmin(np.sum((own - np.median(own, axis=0)) ** 2, axis=1))]
    try:
        scan = Scan.from_points(cloud, ScanOptions(near=middle))
    except PushwiseError as error:
        return 0.0, str(error)
    loops = [
        canvas.along(
            np.column_stack([loop, np.zeros(len(loop))]) @ scan.frame[:3, :3].T + scan.frame[:3, 3]
        )
        for loop in (scan.grid.outline, *scan.holes)
    ]
    return _overlap(truth, canvas.drawn(loops)), ""


def _labelled_table(cloud: Array, labels: Integers) -> Plane:
    """Return the plane of the points labelled as table, its upper side towards the objects."""
    found = find_table(cloud[(labels > 0) & (labels < 10)])
    if found is None or not (labels >= 20).any():
        raise PushwiseError("a labelled cloud must have a table and objects on it.")
    above = np.median(found.plane.heights(cloud[labels >= 20])) > 0.0
    return found.plane if above else found.plane.flipped()


def _touch(canvas: _Canvas, one: Array, other: Array) -> bool:
    """Return whether two objects touch, or one stands on the other."""
    if cKDTree(one).query(other)[0].min() < _APART:
        return True
    a, b = canvas.along(one), canvas.along(other)
    # What stands on another object is in the middle of it, seen from above.
    over = [
        (Delaunay(p[ConvexHull(p).vertices]).find_simplex(q) >= 0).mean()
        for p, q in ((a, b), (b, a))
    ]
    return bool(max(over) > 0.5)


def _overlap(a: Flags, b: Flags) -> float:
    """Return intersection over union."""
    return float((a & b).sum() / max((a | b).sum(), 1))


def _table(judged: list[JudgedScene]) -> str:
    """Return the table in Markdown, and what it amounts to."""
    lines = [
        (
            each.name,
            found.label,
            found.points,
            "yes" if found.touching else "",
            f"{found.among_all:.2f}",
            f"{found.near:.2f}",
        )
        for each in judged
        for found in each.objects
    ]
    apart = [found for each in judged for found in each.objects if not found.touching]
    some = max(len(apart), 1)
    good = {
        name: sum(getattr(found, name) >= _GOOD for found in apart)
        for name in ("among_all", "near")
    }
    reported = sum(len(each.scene.objects) for each in judged)
    return "\n".join(
        [
            markdown(("scene", "object", "points", "touches", "IoU, --all", "IoU, --near"), lines),
            "",
            f"Of {len(apart)} objects that touch no other, {good['among_all']} "
            f"({100 * good['among_all'] / some:.0f} %) are found with an IoU of at least {_GOOD} "
            f"with --all, {good['near']} ({100 * good['near'] / some:.0f} %) with --near. "
            f"{reported} objects are reported in {len(judged)} scenes; in "
            f"{sum(each.nowhere > 0 for each in judged)} of them one where there is none. The "
            f"table's right side is up in {sum(each.upright for each in judged)}.",
        ]
    )


def _contact_sheet(
    judged: list[JudgedScene], clouds: list[tuple[Array, Integers]], path: Path
) -> None:
    """Draw all scenes from above, the labelled points in colours under what was found."""
    columns = min(5, len(judged))
    rows = -(-len(judged) // columns)
    figure = Figure(figsize=(5.0 * columns, 5.0 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax in axes.flat[len(judged) :]:
        ax.axis("off")
    for ax, each, (cloud, labels) in zip(axes.flat, judged, clouds, strict=False):
        draw_scene(ax, each.scene, cloud[(labels > 0) & (labels < 10)])
        frame = each.scene.frame
        for kind in np.unique(labels[labels >= 20] // 10):
            x, y = ((cloud[labels // 10 == kind] - frame[:3, 3]) @ frame[:3, :2]).T
            ax.plot(x, y, ".", markersize=0.6, zorder=2.5, rasterized=True)
        scores = ", ".join(f"{found.among_all:.2f}" for found in each.objects)
        ax.set_title(f"{each.name}: {scores}")
    save_figure(figure, path, dpi=70)
