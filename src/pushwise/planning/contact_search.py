"""Which push brings the object closer to a waypoint (Algorithm 2, lines 2 to 20): three searches.

- `gradient_search`: the paper's Algorithm 2. It starts at the contact most aligned with the
  direction from the target to the centre of mass, moves left or right along the outer cells while
  the gap shrinks, then makes the push longer or shorter in the same way.
- `exhaustive_search`: every outer cell and every duration; the paper compares with it.
- `batch_search`: ours. Contacts all around, each in a few directions and with every duration, and
  where one push is not enough, sequences of two or three.

Each returns the push to make, or None when it finds none that helps. The first two choose among the
seven lengths of a push in the authors' released planner, and count as it does: a length at a
contact is simulated once for the whole plan (see `push_evaluation`). The paper's figure of
simulations shows the same: 280 to 650 for the exhaustive search are seven times its contacts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from pushwise.geometry.polygon import placed
from pushwise.physics.push import Push
from pushwise.planning.options import METHODS
from pushwise.planning.push_evaluation import MAX_TRAVEL, Candidate, Pusher
from pushwise.typing import Array

__all__ = [
    "LENGTHS",
    "SEARCHES",
    "Move",
    "Search",
    "batch_search",
    "exhaustive_search",
    "gradient_search",
]

Search = Callable[[Pusher, Array, Array], "Move | None"]

LENGTHS = (0.01, 0.02, 0.03, 0.05, 0.10, 0.15, 0.20)
"""Travels of the finger [m] that Algorithm 2 and the exhaustive search choose from."""

_CONTACTS = 24  # of the batch search, all around the object
_TURNS = (-0.35, 0.35)  # rad; directions of a push relative to the normal
_TURNED = 6  # contacts that are also tried in these directions
_BEAM = 3  # first pushes that are continued
_DEPTH = 3  # longest sequence of pushes
_GOOD = 0.5  # share of the gap, or of its longest travel, that a push should close
_HELPS = 1e-3  # m by which a push must shrink the gap


@dataclass(frozen=True, eq=False)
class Move:
    """A push that was chosen."""

    push: Push
    """The push."""
    approach: Array
    """Path of the finger to its start [m], shape (w, 2)."""
    end: Array
    """Pose in which the object comes to rest, shape (3,)."""
    gap: float
    """Distance of its cells to the target [m]."""


def gradient_search(pusher: Pusher, pose: Array, target: Array) -> Move | None:
    """Return the push that Algorithm 2 finds from a pose (3,) towards a target (3,)."""
    centre, there = (placed(pusher.model.centre_of_mass[None], p)[0] for p in (pose, target))
    cells = placed(pusher.grid.centres[pusher.grid.boundary], pose) - centre
    away = centre - there
    count = len(cells)
    aligned = cells @ away / (np.hypot(*cells.T) + 1e-12)
    enough = np.flatnonzero(np.array(LENGTHS) >= np.hypot(*away))
    tried: dict[tuple[int, int], Candidate | None] = {}

    def gap(at: tuple[int, int]) -> float:
        if at not in tried:
            contact, length = at
            tried[at] = pusher.for_travel(pose, target, contact, LENGTHS[length])
        found = tried[at]
        return np.inf if found is None else found.gap

    def neighbours_of(at: tuple[int, int]) -> list[tuple[int, int]]:
        contact, length = at
        return [((contact + side) % count, length) for side in (1, -1)]

    def shorter_or_longer(at: tuple[int, int]) -> list[tuple[int, int]]:
        contact, length = at
        return [(contact, k) for k in (length + 1, length - 1) if 0 <= k < len(LENGTHS)]

    first = int(np.argmax(aligned))
    length = int(enough[0]) if len(enough) else len(LENGTHS) - 1
    # Where the aligned contact does not help, one an eighth of the outline further may.
    for eighth in (0, 1, -1, 2, -2, 3, -3, 4):
        at = ((first + eighth * count // 8) % count, length)
        while gap(at) == np.inf and at[1] > 0:
            at = (at[0], at[1] - 1)  # an obstacle blocks the longer push
        for neighbours in (neighbours_of, shorter_or_longer):
            while gap(best := min([at, *neighbours(at)], key=gap)) < gap(at):
                at = best
        if found := _best(pusher, pose, target, [tried[at]]):
            return found
    return None


def exhaustive_search(pusher: Pusher, pose: Array, target: Array) -> Move | None:
    """Return the best push of any length at any outer cell, against its normal."""
    every = (
        pusher.for_travel(pose, target, contact, length)
        for contact in range(len(pusher.starts))
        for length in LENGTHS
    )
    return _best(pusher, pose, target, every)


def batch_search(pusher: Pusher, pose: Array, target: Array) -> Move | None:
    """Return the best push, or the first of the best two or three where one is not enough."""
    count = len(pusher.starts)
    around = np.unique(np.linspace(0, count, _CONTACTS, endpoint=False).astype(int)).tolist()
    now = pusher.gap(pose, target)
    beam: list[list[Candidate]] = [[]]
    best: list[Candidate] = []
    for _ in range(_DEPTH):
        longer = []
        for pushes in beam:
            at = pushes[-1].end if pushes else pose
            tried = _sorted(pusher.until_nearest(at, target, i) for i in around)
            if not pushes:
                turned = ((c.contact, turn) for c in tried[:_TURNED] for turn in _TURNS)
                tried = _sorted([*tried, *(pusher.until_nearest(at, target, *t) for t in turned)])
            longer += [[*pushes, c] for c in tried[:_BEAM]]
        beam = sorted(longer, key=lambda pushes: pushes[-1].gap)[:_BEAM]
        # One more push must pay off.
        if beam and (not best or beam[0][-1].gap < _GOOD * best[-1].gap):
            best = beam[0]
        if not beam or now - best[-1].gap > _GOOD * min(now, MAX_TRAVEL):
            break
    for pushes in (best, *beam):
        settled = pusher.settled(pose, target, pushes[0]) if pushes else None
        if found := _best(pusher, pose, target, [settled]):
            return found
    return None


SEARCHES: dict[str, Search] = dict(
    zip(METHODS, (batch_search, gradient_search, exhaustive_search), strict=True)
)


def _best(
    pusher: Pusher, pose: Array, target: Array, tried: Iterable[Candidate | None]
) -> Move | None:
    """Return the best candidate that helps and that the finger can reach."""
    now = pusher.gap(pose, target)
    for candidate in _sorted(tried):
        if candidate.gap > now - _HELPS:
            return None
        push = pusher.push(pose, candidate)
        approach = pusher.approach_to(pose, push)
        if approach is not None:
            return Move(push, approach, candidate.end, candidate.gap)
    return None


def _sorted(tried: Iterable[Candidate | None]) -> list[Candidate]:
    """Return the candidates that are not None, best first."""
    return sorted((c for c in tried if c is not None), key=lambda c: c.gap)
