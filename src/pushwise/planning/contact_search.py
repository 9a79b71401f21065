"""Which push brings the object nearer to a waypoint: three searches of one signature.

- `gradient_search`: the paper's Algorithm 2. The contact most aligned with the way from the
  target to the centre of mass, then left or right along the outer cells while the gap shrinks.
- `exhaustive_search`: every outer cell, which the paper compares with.
- `batch_search`: contacts all around, each in a few directions, and where one push is not enough,
  two or three in a row.

Each returns the pushes to make, or nothing when it knows none that helps. The duration of a push
is the best of all; see `pushing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from pushwise.planning.pushing import Candidate, Pusher
from pushwise.shape.polygon import placed

__all__ = ["SEARCHES", "Search", "batch_search", "exhaustive_search", "gradient_search"]

Array = NDArray[np.float64]
Search = Callable[[Pusher, Array, Array], list[Candidate]]

_CONTACTS = 24  # all around, in the batch
_TURNS = (-0.35, 0.35)  # rad; directions of a push about the normal
_TURNED = 6  # contacts that are also pushed in these
_BEAM = 3  # first pushes that are followed up
_DEPTH = 3  # pushes ahead at most
_GOOD = 0.5  # share of the gap, or of its longest travel, that a push should close


def gradient_search(pusher: Pusher, pose: Array, target: Array) -> list[Candidate]:
    """Return the push that Algorithm 2 finds from a pose (3,) towards a target (3,)."""
    centre, there = (placed(pusher.model.centre_of_mass[None], p)[0] for p in (pose, target))
    cells = placed(pusher.grid.centres[pusher.grid.boundary], pose) - centre
    away = centre - there
    count = len(cells)
    aligned = cells @ away / (np.hypot(*cells.T) + 1e-12)
    tried: dict[int, Candidate | None] = {}

    def gap(i: int) -> float:
        if i not in tried:
            tried[i] = pusher.attempt(pose, target, i)
        found = tried[i]
        return np.inf if found is None else found.gap

    # Where the aligned contact leads nowhere, an eighth of the way round may.
    first = int(np.argmax(aligned))
    for eighth in (0, 1, -1, 2, -2, 3, -3, 4):
        i = (first + eighth * count // 8) % count
        while True:
            best = min((i, (i + 1) % count, (i - 1) % count), key=gap)
            if gap(best) >= gap(i):
                break
            i = best
        if found := _settled(pusher, pose, target, [tried[i]]):
            return found
    return []


def exhaustive_search(pusher: Pusher, pose: Array, target: Array) -> list[Candidate]:
    """Return the best push at any outer cell, against its normal."""
    every = (pusher.attempt(pose, target, i) for i in range(len(pusher.starts)))
    return _settled(pusher, pose, target, every)


def batch_search(pusher: Pusher, pose: Array, target: Array) -> list[Candidate]:
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
            tried = _sorted(pusher.attempt(at, target, i) for i in around)
            if not pushes:
                turned = ((c.contact, turn) for c in tried[:_TURNED] for turn in _TURNS)
                tried = _sorted([*tried, *(pusher.attempt(at, target, *t) for t in turned)])
            longer += [[*pushes, c] for c in tried[:_BEAM]]
        beam = sorted(longer, key=lambda pushes: pushes[-1].gap)[:_BEAM]
        # One more push must be worth it.
        if beam and (not best or beam[0][-1].gap < _GOOD * best[-1].gap):
            best = beam[0]
        if not beam or now - best[-1].gap > _GOOD * min(now, pusher.max_travel):
            break
    return _settled(pusher, pose, target, best[:1])


SEARCHES: dict[str, Search] = {
    "batch": batch_search,
    "gradient": gradient_search,
    "exhaustive": exhaustive_search,
}


def _settled(
    pusher: Pusher, pose: Array, target: Array, tried: Iterable[Candidate | None]
) -> list[Candidate]:
    """Return the best candidate with the pose it comes to rest in, if it still helps."""
    now = pusher.gap(pose, target)
    for candidate in _sorted(tried)[:_BEAM]:
        settled = pusher.settled(pose, target, candidate)
        if settled is not None and settled.gap < now - 1e-3:
            return [settled]
    return []


def _sorted(tried: Iterable[Candidate | None]) -> list[Candidate]:
    """Return the candidates there are, best first."""
    return sorted((c for c in tried if c is not None), key=lambda c: c.gap)
