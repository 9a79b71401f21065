"""`draw_push`: random safe pushes, as in the paper: anywhere on the outline, against its normal."""

from __future__ import annotations

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import contains, outline_distance, placed
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger, Push
from pushwise.physics.simulate import simulate
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["draw_push", "random_contact"]

SPEED = 0.1  # m/s; this and the duration are the paper's
DURATION = 2.0  # s
_GAP = 0.005  # m between finger and object at the start
_TRIES = 1000


def draw_push(
    rng: np.random.Generator,
    grid: CellGrid,
    pose: Array,
    table: Table,
    finger: Finger,
) -> Push:
    """Return a push of 0.2 m that should leave the object, now at `pose` (3,), on the table.

    The contact point is uniform along the outline. A push is safe when an object of uniform mass
    and friction stays on the table with its whole outline.
    """
    outline = placed(grid.outline, pose)
    guess = ObjectModel(grid, mass=np.full(grid.n_cells, 1.0 / grid.n_cells), friction=0.3)
    for _ in range(_TRIES):
        start, normal = random_contact(rng, outline, finger, gap=_GAP)
        push = Push.line(start, -SPEED * normal, DURATION)
        end = simulate(guess, push, pose, finger=finger).pose[-1]
        if contains(table.polygon, placed(grid.outline, end)).all():
            return push
    raise PushwiseError(
        f"no push of {SPEED * DURATION:g} m keeps the object at ({pose[0]:.3f}, {pose[1]:.3f}) m "
        "on the table; use a larger table or start nearer to its middle."
    )


def random_contact(
    rng: np.random.Generator, outline: Array, finger: Finger, *, gap: float
) -> tuple[Array, Array]:
    """Draw where a finger starts, uniformly along an outline (k, 2) and a gap [m] away from it.

    Returns:
        The finger's centre [m], shape (2,), and the outward normal there, shape (2,).

    """
    edges = np.roll(outline, -1, axis=0) - outline
    lengths = np.hypot(*edges.T)
    for _ in range(_TRIES):
        i = int(rng.choice(len(outline), p=lengths / lengths.sum()))
        normal = np.array([edges[i, 1], -edges[i, 0]]) / lengths[i]
        start = outline[i] + rng.random() * edges[i] + (finger.radius + gap) * normal
        # In a hollow the finger may not fit.
        if outline_distance(outline, start) > finger.radius + 0.5 * gap:
            return start, normal
    raise PushwiseError(
        f"a finger of radius {1e3 * finger.radius:g} mm fits nowhere along the outline; use a "
        "thinner one."
    )
