"""What carries the object at a pose: the friction points on the table, and the load on each."""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled
from pushwise.physics.kernels.contact import nearest_feature
from pushwise.physics.kernels.load import inside_polygon, spread
from pushwise.physics.kernels.step import Board
from pushwise.physics.kernels.substep import Body
from pushwise.typing import Array, Flags


class Ground(NamedTuple):
    """Where friction comes from: own weights and coefficients of points, and the table."""

    base: Array  # own weight of each friction point [N], shape (Q,); zero in the rigid model
    mu: Array  # coefficient of friction of each point, shape (Q,)
    tx: Array  # table polygon [m], shape (k,); empty for a table without an edge
    ty: Array
    even: bool  # the load is `base` wherever everything is supported
    board: Board


@compiled
def find_support(
    body: Body, ground: Ground, x: float, y: float, th: float, supported: Flags
) -> bool:
    """Update which friction points (Q,) lie on the table at a pose; tell whether any changed."""
    changed = False
    clear = ground.tx.size == 0
    if not clear:
        _, d = nearest_feature(x, y, ground.tx, ground.ty)
        clear = -d > body.reach
    cos = np.cos(th)
    sin = np.sin(th)
    for q in range(supported.size):
        now = clear or inside_polygon(
            x + cos * body.bx[q] - sin * body.by[q],
            y + sin * body.bx[q] + cos * body.by[q],
            ground.tx,
            ground.ty,
        )
        if now != supported[q]:
            supported[q] = now
            changed = True
    return changed


@compiled
def find_load(body: Body, ground: Ground, supported: Flags, N: Array) -> bool:
    """Fill the normal loads N (Q,) of the supported points; False when the object tips."""
    whole = ground.even
    for q in range(N.size):
        N[q] = ground.base[q]
        whole = whole and supported[q]
    if whole:
        return True
    return bool(
        spread(
            body.bx,
            body.by,
            ground.base,
            supported,
            body.m,
            body.m * body.cx,
            body.m * body.cy,
            N,
        )
    )
