"""How an object falls off a table in the viewer: it tips about the edge, then falls freely.

Until it has tipped by 60 degrees it is a rigid body on a hinge: where its centre of mass is a
distance d beyond the edge of its support and h above it, alpha'' = g (d cos alpha + h sin alpha)
/ rho^2, with rho its radius of gyration about that edge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from viser.transforms import SO3

from pushwise.geometry.polygon import placed
from pushwise.physics.constants import GRAVITY
from pushwise.physics.model import ObjectModel
from pushwise.typing import Array

__all__ = ["Fall", "fall"]

_STEP = 0.002  # s
_LEAVES = np.radians(60.0)  # tipped so far, it slides off the edge
_LEAST = 0.001  # m; least distance beyond the edge: with none it would balance for ever
_DEEP = 0.5  # m below the table, where it is out of sight


class Fall(NamedTuple):
    """An object falling, frame by frame."""

    position: Array
    """Of the grid frame [m], shape (frames, 3)."""
    wxyz: Array
    """Its rotation, as quaternions, shape (frames, 4)."""
    angle: Array
    """How far it has tipped [rad], shape (frames,)."""


class _Edge(NamedTuple):
    """The edge of the support that an object tips about."""

    foot: Array  # the point of it nearest to the centre of mass [m], shape (3,)
    outward: Array  # unit normal, away from the table, shape (3,)
    beyond: float  # how far the centre of mass is beyond it [m]


def fall(model: ObjectModel, pose: Array, polygon: Array, *, frame: float) -> Fall:
    """Return how an object falls that does not rest at a pose.

    Args:
        model: The object.
        pose: Where it is [m, m, rad], shape (3,).
        polygon: Its support polygon there [m], shape (h, 2); none where nothing carries it.
        frame: Time between two frames [s].

    """
    height = float(model.mass @ model.grid.heights) / (2.0 * model.total_mass)
    centre = np.append(placed(model.centre_of_mass[None], pose)[0], height)
    edge = _edge(centre, polygon)
    angles, rate = _hinged(model, pose, edge, height) if edge else (np.zeros(1), 0.0)
    outward = edge.outward if edge else np.zeros(3)
    foot = edge.foot if edge else centre
    axis = np.array([-outward[1], outward[0], 0.0])
    arm = centre - foot
    leaves = foot + SO3.exp(angles[-1] * axis).apply(arm)
    speed = np.cross(rate * axis, leaves - foot)
    t = np.arange(_STEP, np.sqrt(2.0 * (_DEEP + 2.0 * height) / GRAVITY), _STEP)[:, None]
    hinged = np.array([foot + SO3.exp(a * axis).apply(arm) for a in angles])
    free = leaves + speed * t - 0.5 * GRAVITY * t**2 * [0.0, 0.0, 1.0]
    tipped = np.append(angles, angles[-1] + rate * t[:, 0])
    every = max(round(frame / _STEP), 1)
    centres, tipped = np.vstack([hinged, free])[::every], tipped[::every]
    turned = [SO3.exp(a * axis) @ SO3.from_z_radians(pose[2]) for a in tipped]
    local = np.append(model.centre_of_mass, height)
    return Fall(
        np.array([at - turn.apply(local) for at, turn in zip(centres, turned, strict=True)]),
        np.array([turn.wxyz for turn in turned]),
        tipped,
    )


def _edge(centre: Array, polygon: Array) -> _Edge | None:
    """Return the edge that a centre of mass (3,) is farthest beyond; None without a support."""
    if len(polygon) < 3:
        return None
    along = np.roll(polygon, -1, axis=0) - polygon
    along = along / np.hypot(*along.T)[:, None]
    normal = np.column_stack([along[:, 1], -along[:, 0]])
    beyond = np.sum(normal * (centre[:2] - polygon), axis=1)
    i = int(np.argmax(beyond))
    foot = centre[:2] - beyond[i] * normal[i]
    return _Edge(np.append(foot, 0.0), np.append(normal[i], 0.0), float(beyond[i]))


def _hinged(model: ObjectModel, pose: Array, edge: _Edge, height: float) -> tuple[Array, float]:
    """Return how far it has tipped [rad] in each step, and its last rate [rad/s]."""
    grid = model.grid
    reach = (placed(grid.centres, pose) - edge.foot[:2]) @ edge.outward[:2]
    square = float(model.mass @ (reach**2 + grid.heights**2 / 3.0)) / model.total_mass
    beyond = max(edge.beyond, _LEAST)
    angle, rate, angles = 0.0, 0.0, [0.0]
    while angle < _LEAVES:
        rate += _STEP * GRAVITY * (beyond * np.cos(angle) + height * np.sin(angle)) / square
        angle += _STEP * rate
        angles.append(angle)
    return np.array(angles), rate
