"""Draw the pictures of the page on identifiability into docs/pictures.

python docs/pictures.py
"""

from pathlib import Path

import matplotlib
import numpy as np
from numpy.typing import NDArray

import pushwise as pw

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.axes import Axes

FOLDER = Path(__file__).resolve().parent / "pictures"
COLOURS = ("#004488", "#dd7733")


def same_load() -> None:
    """Push two hammers whose masses differ and whose friction loads do not, slowly and fast."""
    hammer = pw.objects.load("hammer").model
    # The head is where x is small; friction takes over what its mass gives up.
    factor = 1.0 + 0.9 / (1.0 + np.exp((hammer.grid.centres[:, 0] + 0.08) / 0.01))
    other = pw.ObjectModel(hammer.grid, hammer.mass / factor, hammer.friction * factor)
    figure, panels = pyplot.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for panel, speed in zip(panels, (0.1, 1.5), strict=True):
        push = pw.Push.line(start=(0.08, -0.1), velocity=(0.0, speed), duration=0.2 / speed)
        panel.fill(*(1e3 * hammer.grid.outline.T), color="0.93")
        for model, colour, style, name in (
            (hammer, COLOURS[0], "-", "one hammer"),
            (other, COLOURS[1], "--", "lighter, rougher head"),
        ):
            end = pw.simulate(model, push).pose[-1]
            _outline(panel, model, end, colour, style, name)
        tip = 1e3 * (push.start + push.duration * push.velocity)
        panel.plot(*np.array([1e3 * push.start, tip]).T, color="none")  # make room for the arrow
        panel.annotate("", tip, 1e3 * push.start, arrowprops={"arrowstyle": "->", "color": "0.4"})
        panel.set_title(f"pushed 0.2 m at {speed:g} m/s", fontsize=10)
        _axes(panel)
    panels[0].legend(loc="upper left", fontsize=8)
    figure.savefig(FOLDER / "same_load.png", dpi=110)
    pyplot.close(figure)


def pushes() -> None:
    """Draw where the centre of mass is, after more and more pushes."""
    seed = [1, 1]
    rng = np.random.default_rng(seed)
    truth = pw.objects.load("hammer").sample(rng)
    table, finger, noise = pw.Table.rectangle(2.0, 2.0), pw.Finger(), pw.Noise(1e-3, 5e-3)
    world = pw.worlds.Ideal(truth, table, finger=finger)
    records = []
    for i in range(5):
        push = pw.draw_push(rng, truth.grid, np.zeros(3), table, finger)
        world.reset(0)
        seen = world.push(push)
        error = np.random.default_rng([*seed, i]).standard_normal(seen.pose.shape)
        pose = seen.pose + error * [noise.position, noise.position, noise.angle]
        records.append(pw.PushRecord(push, seen.t, pose, noise=noise))
    figure, panel = pyplot.subplots(figsize=(8, 3.6), layout="constrained")
    _outline(panel, truth.model, np.zeros(3), "0.3", "-", None)
    for count, colour in zip(
        (1, 2, 3, 5), ("#bb5566", "#ddaa33", "#44aa99", "#004488"), strict=True
    ):
        found = pw.identify(truth.grid, records[:count])
        values, axes = np.linalg.eigh(found.posterior.centre_of_mass_covariance)
        angle = np.linspace(0.0, 2.0 * np.pi, 200)
        ring = axes @ (np.sqrt(5.991 * values)[:, None] * np.stack([np.cos(angle), np.sin(angle)]))
        at = found.model.centre_of_mass[:, None] + ring
        label = "1 push" if count == 1 else f"{count} pushes"
        panel.plot(*(1e3 * at), color=colour, label=label, linewidth=2)
    panel.set_xlim(-230, 230)
    panel.set_ylim(-110, 110)
    panel.legend(loc="lower right")
    _axes(panel)
    figure.savefig(FOLDER / "pushes.png", dpi=110)
    pyplot.close(figure)


def _outline(
    panel: Axes,
    model: pw.ObjectModel,
    pose: NDArray[np.float64],
    colour: str,
    style: str,
    name: str | None,
) -> None:
    """Draw an object at a pose, and its centre of mass as a cross."""
    loop = pw.placed(np.vstack([model.grid.outline, model.grid.outline[:1]]), pose)
    panel.plot(*(1e3 * loop.T), style, color=colour, label=name)
    panel.plot(
        *(1e3 * pw.placed(model.centre_of_mass[None], pose)[0]), "+", color=colour, ms=13, mew=2
    )


def _axes(panel: Axes) -> None:
    """Label the axes in millimetres."""
    panel.set_aspect("equal")
    panel.set_xlabel("x [mm]")
    panel.set_ylabel("y [mm]")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    same_load()
    pushes()
