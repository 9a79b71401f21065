"""Compare grids made from the paper's real depth images with the hand-drawn label masks.

    python -m pushwise.experiments.real.objects DATA -o sheet.png

DATA holds `<object>_depth.png` and `<object>_label.pgm` as published by the paper's authors
(dataset/objects of their repository); none of them is kept here. The grids are made from the depth
alone, and again with the label as the mask. A pixel of the image is on the footprint if its point,
moved straight down, is on it. The overlap is the intersection over union with the label.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer
from scipy import ndimage

from pushwise.atomic_write import save_figure
from pushwise.geometry.polygon import contains
from pushwise.shape.files import read_image
from pushwise.shape.scan import Scan
from pushwise.shape.sensors import depth_points
from pushwise.typing import Array, Flags

__all__ = ["OBJECTS", "Overlap", "draw", "measure"]

# File names as published, including the misspelt depth of the toothpaste.
OBJECTS = {
    "box": ("box", "box"),
    "hammer": ("hammer", "hammer"),
    "book": ("book", "book"),
    "clamp": ("cramp", "cramp"),
    "crimp": ("crimp", "crimp"),
    "wrench": ("ranch", "ranch"),
    "snack": ("snack", "snack"),
    "spray-gun": ("windex", "windex"),
    "toothpaste": ("toothpasted", "toothpaste"),
}
INTRINSICS = (615.0, 615.0, 320.0, 240.0)  # assumed: no calibration was published


class Overlap(NamedTuple):
    """How well a footprint found in the depth agrees with the label."""

    scan: Scan
    outline: float
    """Intersection over union of the outline and the label."""
    cells: float
    """Intersection over union of the cells and the label."""
    depth: Array
    """The depth image [m], zero where there is no reading."""
    label: Flags
    """The label, shape (rows, columns)."""
    footprint: Flags
    """The pixels on the outline's footprint."""
    covered: Flags
    """The pixels on the cells."""


def measure(data: Path, name: str, *, with_label: bool = False) -> Overlap:
    """Make the grid of one object, with or without the label, and compare it with the label."""
    depth_name, label_name = OBJECTS[name]
    depth = read_image(data / f"{depth_name}_depth.png")
    label = read_image(data / f"{label_name}_label.pgm") > 0
    scan = Scan.from_depth(depth, INTRINSICS, mask=label if with_label else None)
    xy = _straight_down(depth, scan)
    footprint = contains(scan.grid.outline, xy)
    for hole in scan.holes:
        footprint &= ~contains(hole, xy)
    footprint = footprint.reshape(label.shape)
    grid = scan.grid
    steps = np.rint((xy - grid.centres[0]) / grid.cell_size).astype(np.int64)
    cells = np.rint((grid.centres - grid.centres[0]) / grid.cell_size).astype(np.int64)
    known = {(i, j) for i, j in cells.tolist()}
    covered = np.array([(i, j) in known for i, j in steps.tolist()]).reshape(label.shape)
    return Overlap(
        scan,
        _overlap(footprint, label),
        _overlap(covered, label),
        0.001 * depth.astype(np.float64),
        label,
        footprint,
        covered,
    )


def _straight_down(depth: Array, scan: Scan) -> Array:
    """Return the position of each pixel in the grid frame [m], shape (rows * columns, 2)."""
    # A pixel without a reading has the depth of the nearest one that has a reading.
    nearest = ndimage.distance_transform_edt(
        depth == 0, return_distances=False, return_indices=True
    )
    points, _ = depth_points(depth[tuple(nearest)], INTRINSICS, mask=None, scale=0.001)
    xy: Array = ((points - scan.frame[:3, 3]) @ scan.frame[:3, :3])[:, :2]
    return xy


def _overlap(a: Flags, b: Flags) -> float:
    """Return intersection over union."""
    return float((a & b).sum() / (a | b).sum())


def draw(results: dict[str, Overlap], path: Path) -> None:
    """Draw a contact sheet: each depth image with label, outline and cells."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(3, 3, figsize=(15, 11.5), constrained_layout=True)
    for ax, (name, result) in zip(axes.flat, results.items(), strict=True):
        near = np.median(result.depth[result.depth > 0])
        image = np.where(result.depth > 0, result.depth, np.nan)
        ax.imshow(image, cmap="gray_r", vmin=near - 0.03, vmax=near + 0.01)
        ax.contourf(result.covered, levels=[0.5, 1.5], colors=["tab:blue"], alpha=0.3)
        ax.contour(result.label, levels=[0.5], colors=["tab:orange"], linewidths=1.0)
        ax.contour(result.footprint, levels=[0.5], colors=["tab:blue"], linewidths=1.0)
        ax.set_title(f"{name}: outline {result.outline:.2f}, cells {result.cells:.2f}")
        ax.set_axis_off()
    figure.suptitle("depth, label (orange), outline and cells (blue)")
    save_figure(figure, path, dpi=80)
    plt.close(figure)


def main(
    data: Annotated[Path, typer.Argument(help="Folder with the published depth images.")],
    output: Annotated[Path | None, typer.Option("-o", help="Contact sheet to draw.")] = None,
) -> None:
    """Print the overlap of each object; optionally draw a contact sheet."""
    if not (data / "box_depth.png").exists():
        typer.echo(f"skipped: the published images are not in {data}.")
        raise typer.Exit
    results = {name: measure(data, name) for name in OBJECTS}
    typer.echo(f"{'':<12}{'from the depth alone':^36}{'with the label as mask':^24}")
    typer.echo(f"{'object':<12}{'outline':>8}{'cells':>8}{'n_cells':>9}{'cell [mm]':>11}", nl=False)
    typer.echo(f"{'outline':>12}{'cells':>8}")
    for name, result in results.items():
        grid = result.scan.grid
        helped = measure(data, name, with_label=True)
        typer.echo(
            f"{name:<12}{result.outline:>8.3f}{result.cells:>8.3f}{grid.n_cells:>9}"
            f"{1000.0 * grid.cell_size:>11.1f}{helped.outline:>12.3f}{helped.cells:>8.3f}"
        )
    if output is not None:
        draw(results, output)


if __name__ == "__main__":
    typer.run(main)
