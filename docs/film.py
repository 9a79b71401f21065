"""Make the film of the README: `pushwise slide hammer` from above, with what is known so far.

python docs/film.py
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
from numpy.typing import NDArray
from PIL import Image

import pushwise as pw

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection

FILM = Path(__file__).resolve().parent / "pictures" / "slide.gif"
FRAMES_PER_PUSH, HOLD, MILLISECONDS = 22, 14, 80
CHI_SQUARE_95 = 5.991  # two degrees of freedom
WIDTH, MARGIN, STRIP = 0.7, 0.02, 0.07  # m that are shown, around the object, for words below
RADIUS = 0.007  # m; the finger, a little larger than life
TABLE, FLOOR, UNKNOWN, FINGER, CENTRE = "#f3efe7", "#cfcac0", "#b9bec6", "#d95f02", "#c1121f"


@dataclass(frozen=True)
class Shot:
    """One frame: where things are, what is known, and what to say about it."""

    pose: NDArray[np.float64]
    caption: str
    known: pw.Belief | None = None
    finger: NDArray[np.float64] | None = None
    goal: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Scene:
    """What stays the same from frame to frame."""

    grid: pw.CellGrid
    table: pw.Table
    centre: NDArray[np.float64]
    low: NDArray[np.float64]
    height: float


def shots(outcome: pw.Outcome) -> Iterator[Shot]:
    """Yield the frames of a run."""
    assert outcome.grid is not None and outcome.goal is not None and outcome.followed is not None
    known: pw.Belief | None = None
    pose = outcome.records[0].pose[0]
    yield from [Shot(pose, "Look: mass and friction are unknown.")] * HOLD
    for number, record in enumerate(outcome.records, 1):
        caption = f"Push it: push {number} of {len(outcome.records)}."
        yield from moving(record, caption, known, None)
        seen = outcome.records[:number]
        known = pw.identify(outcome.grid, seen, finger=outcome.finger, prior=outcome.prior).belief
        assert known.centre_covariance is not None
        error = 1e3 * np.sqrt(np.linalg.eigvalsh(known.centre_covariance)[-1])
        pose = record.pose[-1]
        words = f"Learn: standard error of the centre of mass {error:.0f} mm."
        yield from [Shot(pose, words, known)] * HOLD
    goal = outcome.goal.pose
    words = f"Plan: {1e3 * outcome.goal.overhang:.0f} mm over the edge, and it stays on the table."
    yield from [Shot(pose, words, known, goal=goal)] * HOLD
    for record in outcome.followed.records:
        yield from moving(record, "Slide it there, correcting on the way.", known, goal)
    last = outcome.followed.records[-1].pose[-1]
    yield from [Shot(last, outcome.verdict, known)] * (2 * HOLD)


def moving(
    record: pw.PushRecord,
    caption: str,
    known: pw.Belief | None,
    goal: NDArray[np.float64] | None,
) -> Iterator[Shot]:
    """Yield the frames of a push."""
    times = np.linspace(record.t[0], record.t[-1], FRAMES_PER_PUSH)
    assert isinstance(record.push, pw.Push)
    for t, finger in zip(times, record.push.at(times), strict=True):
        pose = np.array([np.interp(t, record.t, column) for column in record.pose.T])
        yield Shot(pose, caption, known, finger, goal)


def draw(panel: Axes, shot: Shot, scene: Scene) -> None:
    """Draw a frame from above."""
    panel.clear()
    panel.set_axis_off()
    panel.set_aspect("equal")
    panel.fill(*scene.table.polygon.T, color=TABLE, ec="#8a8172", lw=2.0)
    grid = scene.grid
    if shot.goal is not None:
        there = pw.placed(np.vstack([grid.outline, grid.outline[:1]]), shot.goal)
        panel.plot(*there.T, "--", color="0.35", lw=1.2)
    outline = pw.placed(np.vstack([grid.outline, grid.outline[:1]]), shot.pose)
    [inside] = panel.fill(*outline.T, facecolor=UNKNOWN, edgecolor="0.2", lw=1.2)
    if shot.known is not None:
        half = 0.5 * grid.cell_size * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        cells = [pw.placed(centre + half, shot.pose) for centre in grid.centres]
        mass = shot.known.model.mass
        colours = pyplot.get_cmap("viridis")(mass / mass.max())
        drawn = PolyCollection(cells, facecolors=colours, edgecolors=colours)
        panel.add_collection(drawn)
        drawn.set_clip_path(inside)
        panel.plot(*pw.placed(region(shot.known), shot.pose).T, color=CENTRE, lw=2.5)
    panel.plot(*pw.placed(scene.centre[None], shot.pose).T, "+", color="k", ms=12, mew=2.0)
    if shot.finger is not None:
        panel.add_patch(pyplot.Circle(tuple(shot.finger), RADIUS, color=FINGER, zorder=5))
    x, y = scene.low
    panel.fill([x, x + WIDTH, x + WIDTH, x], [y, y, y + STRIP, y + STRIP], color="white", zorder=8)
    panel.text(x + 0.015, y + STRIP - 0.022, shot.caption, fontsize=12, va="center", zorder=9)
    legend(panel, x + 0.015, y + 0.018)
    panel.set_xlim(x, x + WIDTH)
    panel.set_ylim(y, y + scene.height)


def legend(panel: Axes, x: float, y: float) -> None:
    """Say what the marks and colours mean."""
    words = {"fontsize": 8.5, "va": "center", "color": "0.3", "zorder": 9}
    panel.plot(x + 0.006, y, "+", color="k", ms=10, mew=2.0, zorder=9)
    panel.text(x + 0.02, y, "true centre of mass", **words)
    panel.plot(x + 0.176, y, "o", mfc="none", color=CENTRE, ms=8, mew=2.5, zorder=9)
    panel.text(x + 0.19, y, "believed to be here (95 %)", **words)
    for i in range(40):
        panel.fill(
            x + 0.395 + 0.0015 * np.array([i, i + 1, i + 1, i]),
            y + np.array([-0.006, -0.006, 0.006, 0.006]),
            color=pyplot.get_cmap("viridis")(i / 39),
            zorder=9,
        )
    panel.text(x + 0.465, y, "learned load, light to heavy", **words)


def region(known: pw.Belief) -> NDArray[np.float64]:
    """Return the outline of the region that holds the centre of mass with 95 %, grid frame [m]."""
    assert known.centre_covariance is not None
    angle = np.linspace(0.0, 2.0 * np.pi, 80)
    circle = np.sqrt(CHI_SQUARE_95) * np.stack([np.cos(angle), np.sin(angle)])
    return known.centre_of_mass + (np.linalg.cholesky(known.centre_covariance) @ circle).T


def main() -> None:
    """Run it and write the film."""
    table = pw.Table.rectangle(1.0, 0.7)
    world = pw.worlds.random_world("hammer", table, seed=0)
    outcome = pw.slide(world, table)
    assert outcome.grid is not None
    film = list(shots(outcome))
    places = np.concatenate([pw.placed(outcome.grid.outline, shot.pose) for shot in film])
    (left, bottom), (right, top) = places.min(axis=0), places.max(axis=0)
    low = np.array([0.5 * (left + right - WIDTH), bottom - MARGIN - STRIP])
    height = float(top + MARGIN - low[1])
    scene = Scene(outcome.grid, table, world.truth.centre_of_mass, low, height)
    figure = pyplot.figure(figsize=(6.4, 6.4 * height / WIDTH), dpi=100, facecolor=FLOOR)
    canvas, panel = FigureCanvasAgg(figure), figure.add_axes((0.0, 0.0, 1.0, 1.0))
    pictures = []
    for shot in film:
        draw(panel, shot, scene)
        canvas.draw()
        pictures.append(Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB"))
    # One palette for all frames, so that colours do not flicker.
    palette = pictures[-1 - 2 * HOLD].quantize(128)
    first, *rest = [each.quantize(palette=palette, dither=Image.Dither.NONE) for each in pictures]
    first.save(FILM, save_all=True, append_images=rest, duration=MILLISECONDS, loop=0)


if __name__ == "__main__":
    main()
