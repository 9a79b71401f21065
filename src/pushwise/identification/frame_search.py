"""Which change of frame, if any, brings a finger to the object that it pushes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from pushwise.identification.contact_evidence import PushedOutline, Seen
from pushwise.typing import Array, Flags

__all__ = ["in_another_frame", "of_another_point", "search_frame"]

Change = Callable[[Seen, Array], Seen]
"""Changes a record by x, y [m] and an angle [rad], shape (3,)."""

DIRECTIONS = 24  # in which starts of the search are looked for
HOPEFUL, SHORT = 20, 80  # starts that are tried, and evaluations for each
PROMISING, LONG = 5, 300  # likewise, of those that are promising
PUSHES = 12  # of a longer log
PLACES = 12  # samples of a push that the finger must not be inside of
ENOUGH = 3  # contacts; a frame has three numbers
CAP = 0.03  # m; a contact that is farther off shows nothing, as it may be none
STEP = 0.04, 0.04, 0.2  # m, m, rad; first steps of the search


def in_another_frame(seen: Seen, frame: Array) -> Seen:
    """Return the record with the finger's positions turned about the origin, then moved."""
    x, y, angle = frame
    cos, sin = np.cos(angle), np.sin(angle)
    there = seen.finger @ np.array([[cos, sin], [-sin, cos]]) + (x, y)
    return replace(seen, finger=there)


def of_another_point(seen: Seen, frame: Array) -> Seen:
    """Return the record with poses of the frame at a pose (3,) in the recorded one."""
    x, y, angle = frame
    theta = seen.pose[:, 2]
    cos, sin = np.cos(theta), np.sin(theta)
    pose = seen.pose + np.stack(
        [cos * x - sin * y, sin * x + cos * y, np.full(len(theta), angle)], axis=1
    )
    return replace(seen, pose=pose)


def search_frame(
    log: Sequence[Seen], body: PushedOutline, change: Change
) -> list[tuple[float, Array]]:
    """Return the most promising frames, best first, each x, y [m] and an angle [rad], shape (3,).

    The number with each frame is the mean distance [m] between finger and outline that remains.
    """
    some = np.unique(np.linspace(0, len(log) - 1, min(len(log), PUSHES)).astype(int))
    thin = [_thinned(log[i], body) for i in some.tolist()]
    whole = _joined([one for one, _ in thin])
    touching = np.concatenate([touch for _, touch in thin])
    if touching.sum() < ENOUGH:
        return []

    def cost(frame: Array, cap: float) -> float:
        changed = change(whole, frame)
        gap = body.gaps(changed.pose, changed.finger)
        off = np.minimum(np.abs(gap[touching]), cap)
        return float(off.sum() + np.maximum(-gap[~touching], 0.0).clip(0.0, cap).sum())

    def searched(start: Array, evaluations: int, cap: float) -> tuple[float, Array]:
        simplex = np.vstack([start, start + np.diag(STEP)])
        options = {"maxfev": evaluations, "initial_simplex": simplex, "xatol": 1e-5, "fatol": 1e-6}
        found = minimize(cost, start, args=(cap,), method="Nelder-Mead", options=options)
        return float(found.fun), found.x

    starts = [np.zeros(3)]
    grid = 0.7 * body.gyration * np.arange(-2.0, 3.0)
    for angle in np.linspace(-np.pi, np.pi, DIRECTIONS, endpoint=False):
        turned = change(whole, np.array([0.0, 0.0, angle]))
        recorded = whole.pose[touching, 2] if change is of_another_point else None
        x, y = _offset(turned, body, touching, recorded)
        starts += [np.array([x + dx, y + dy, angle]) for dx in grid for dy in grid]
    starts[1:] = sorted(starts[1:], key=lambda start: cost(start, np.inf))[:HOPEFUL]
    short = sorted((searched(start, SHORT, np.inf) for start in starts), key=lambda one: one[0])
    ends = [searched(start, LONG, CAP) for _, start in short[:PROMISING]]
    return [(off / touching.sum(), frame) for off, frame in sorted(ends, key=lambda one: one[0])]


def _offset(turned: Seen, body: PushedOutline, touching: Flags, recorded: Array | None) -> Array:
    """Return the shift [m], shape (2,), that brings finger and object together on average.

    recorded: Angles of the recorded frames [rad], in whose axes the object is shifted; None where
        it is the finger that is shifted, in those of the table.
    """
    theta = turned.pose[touching, 2]
    cos, sin = np.cos(theta), np.sin(theta)
    x, y = body.middle
    middle = turned.pose[touching, :2] + np.stack([cos * x - sin * y, sin * x + cos * y], axis=1)
    apart = turned.finger[touching] - middle
    if recorded is not None:
        cos, sin = np.cos(recorded), np.sin(recorded)
        dx, dy = apart.T
        apart = -np.stack([cos * dx + sin * dy, cos * dy - sin * dx], axis=1)
    shift: Array = -np.median(apart, axis=0)
    return shift


def _thinned(seen: Seen, body: PushedOutline) -> tuple[Seen, Flags]:
    """Return a few instants of a record, and at which of them the finger touches the object."""
    strides = seen.strides(body)
    # An object that was pushed fast slides on alone; it was touched when it set out.
    slow = bool(strides) and seen.free_slide(body, strides) < 0.5 * sum(s.length for s in strides)
    touched = [one.last for one in (strides if slow else strides[:1])]
    if seen.record.twist.any():
        touched = []
    at = seen.sample[seen.there[seen.sample]]
    chosen = np.unique(np.linspace(0, len(at) - 1, min(len(at), PLACES)).astype(int))
    kept = np.concatenate([np.array(touched, int), at[chosen]])
    few = replace(seen, t=seen.t[kept], pose=seen.pose[kept], finger=seen.finger[kept])
    return few, np.arange(len(kept)) < len(touched)


def _joined(thin: list[Seen]) -> Seen:
    """Return the instants of several records as if they were one."""
    return replace(
        thin[0],
        t=np.concatenate([one.t for one in thin]),
        pose=np.concatenate([one.pose for one in thin]),
        finger=np.concatenate([one.finger for one in thin]),
    )
