"""The best one or two pushes of a library towards a goal, with a value function for the rest.

The first push starts at any contact that can be reached; where the finger touches already, it costs
no new contact. The second continues at the contact where the first one ends, in another direction,
or starts at another contact. A search over coarse travels finds the best pairs for every first
contact, and `push_aiming` refines them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled, compiled_part
from pushwise.planning.near_goal import NEAR, NearGrid
from pushwise.planning.push_aiming import new_aim_work, refine
from pushwise.planning.push_library import LOCAL_DIRECTIONS, LocalPushes, PushLibrary
from pushwise.planning.search_space import (
    COLUMNS,
    STEP_COST,
    SearchSpace,
    SeenGoal,
    after,
    rest_cost,
)
from pushwise.planning.value import TRAVELS, ValueFunction, ValueGrid
from pushwise.typing import Array

__all__ = ["PlannedPush", "PushChoice", "PushSearch"]

_OFFSET = 0.002  # m by which the finger may touch elsewhere than planned
_DOUBT, _MOST_DOUBT = 0.25, 1.0  # s for an end that moves by `NEAR` then, and at most
_BEAM = 24  # first pushes that are continued at another contact
_SLACK = 3.0  # s above the best single push up to which pairs are of interest
_ONE, _CHANGE, _PAIRS = 0, 1, 2  # rows of a contact: one push, two at two contacts, two at one


class _First(NamedTuple):
    """A first push."""

    contact: int
    direction: int
    travel: int
    spent: float  # on it [s]


@compiled
def _search(
    space: SearchSpace, x: float, y: float, theta: float, begin: Array, rows: Array, firsts: Array
) -> None:
    """Fill in the best rows (C, 2 + D, 8) of each first contact for a goal seen at a pose.

    Of two pushes at one contact there is a row for each direction of the first.

    Args:
        space: Library and values.
        x: The goal as the object sees it [m].
        y: Likewise.
        theta: Likewise [rad].
        begin: Cost of beginning at each contact [s], shape (C,); infinite where it is impossible.
        rows: To fill in.
        firsts: Work space, shape (C,).

    """
    q = SeenGoal(x=x, y=y, theta=theta)
    contacts, directions = space.counts.shape
    best = np.inf
    # Literals would compile what they are passed to once more.
    one, other_contact = int(np.int64(_ONE)), int(np.int64(_CHANGE))
    first_contact = int(np.int64(0))
    for c in range(contacts):
        for k in range(rows.shape[1]):
            rows[c, k, 0] = np.inf
        firsts[c] = np.inf
        if begin[c] == np.inf:
            continue
        for d in range(directions):
            for i in range(space.travels.size):
                t = space.travels[i]
                if t >= space.counts[c, d]:
                    break
                spent = begin[c] + t * STEP_COST + space.doubts[c, d, t]
                first = _First(contact=c, direction=d, travel=t, spent=spent)
                _note(rows, first, one, spent + rest_cost(space, after(space, q, c, d, t)))
        firsts[c] = rows[c, _ONE, 0]
        best = min(best, firsts[c])
    for c in range(contacts):
        if begin[c] == np.inf:
            continue
        for d in range(directions):
            # Pairs far more expensive than what was found need not be looked at.
            rows[c, _PAIRS + d, 0] = best + _SLACK
            for i in range(space.travels.size):
                t = space.travels[i]
                if t >= space.counts[c, d]:
                    break
                spent = begin[c] + t * STEP_COST + space.doubts[c, d, t]
                first = _First(contact=c, direction=d, travel=t, spent=spent)
                q1 = after(space, q, c, d, t)
                _continue(space, q1, space.ends_at[c, d, t], first, _PAIRS + d, rows)
            if rows[c, _PAIRS + d, 0] == best + _SLACK:
                rows[c, _PAIRS + d, 0] = np.inf
    # The most promising first pushes are also continued at other contacts.
    for _ in range(min(_BEAM, contacts)):
        c = first_contact
        for other in range(contacts):
            if firsts[other] < firsts[c]:
                c = other
        if firsts[c] == np.inf:
            break
        firsts[c] = np.inf
        d = int(rows[c, _ONE, 2])
        t = int(rows[c, _ONE, 3])
        q1 = after(space, q, c, d, t)
        end = space.ends_at[c, d, t]
        spent = begin[c] + t * STEP_COST + space.doubts[c, d, t]
        for c2 in range(contacts):
            change = space.between[end, c2]
            first = _First(contact=c, direction=d, travel=t, spent=spent + change)
            _continue(space, q1, c2, first, other_contact, rows)


@compiled
def _cost_here(space: SearchSpace, x: float, y: float, theta: float) -> float:
    """Return the cost of what remains where a goal is seen at a pose [s]."""
    return rest_cost(space, SeenGoal(x=x, y=y, theta=theta))


@compiled_part
def _note(rows: Array, first: _First, k: int, cost: float) -> bool:
    """Write a first push to a row if it costs less than what is there; return whether it does."""
    c = first.contact
    if cost >= rows[c, k, 0]:
        return False
    rows[c, k, 0] = cost
    rows[c, k, 1] = c
    rows[c, k, 2] = first.direction
    rows[c, k, 3] = first.travel
    rows[c, k, 4] = -1.0
    return True


@compiled_part
def _continue(
    space: SearchSpace, q1: SeenGoal, c2: int, first: _First, k: int, rows: Array
) -> None:
    """Try all second pushes at a contact after a first one, and write a better pair to a row."""
    c = first.contact
    for d2 in range(space.counts.shape[1]):
        for i in range(space.travels.size):
            t2 = space.travels[i]
            cost = first.spent + t2 * STEP_COST
            if t2 >= space.counts[c2, d2] or cost >= rows[c, k, 0]:
                break
            cost += space.doubts[c2, d2, t2] + rest_cost(space, after(space, q1, c2, d2, t2))
            if _note(rows, first, k, cost):
                rows[c, k, 4] = c2
                rows[c, k, 5] = d2
                rows[c, k, 6] = t2


@dataclass(frozen=True)
class PlannedPush:
    """A push of a library."""

    contact: int
    """Index of the contact."""
    direction: float
    """Index of the direction, or between two of them."""
    travel: float
    """Travel of the finger in strides."""


@dataclass(frozen=True)
class PushChoice:
    """One push, or two, and their cost."""

    cost: float
    """Cost of these pushes and of the way from there [s]."""
    rest: float
    """Cost of the way from there alone [s]."""
    pushes: tuple[PlannedPush, ...]
    """The pushes."""
    lets_go: bool
    """Whether the second push starts at another contact."""

    @property
    def at_first_contact(self) -> tuple[PlannedPush, ...]:
        """The pushes before the finger lets go."""
        return self.pushes[:1] if self.lets_go else self.pushes

    @property
    def travel(self) -> float:
        """Travel of the finger before it lets go, in strides."""
        return sum(push.travel for push in self.at_first_contact)


class PushSearch:
    """Searches a library for pushes."""

    def __init__(
        self, library: PushLibrary, value: ValueFunction, near: NearGrid, between: Array
    ) -> None:
        """Prepare the library; between: cost of going from contact to contact [s], (C, C)."""
        self.library = library
        contacts, directions, travels, _ = library.displacements.shape
        # The last contact is free for pushes from where the finger is, in more directions.
        shape = contacts + 1, max(directions, len(LOCAL_DIRECTIONS)), travels
        moved = np.zeros((*shape, 3))
        moved[:contacts, :directions] = library.displacements
        doubts = np.zeros(shape)
        doubts[:contacts, :directions] = _doubts(library, value.grid)
        counts, ends_at = np.ones(shape[:2], np.int64), np.zeros(shape, np.int64)
        counts[:contacts, :directions] = library.counts
        ends_at[:contacts, :directions] = library.ends_at
        widths = np.append(np.full(contacts, directions), len(LOCAL_DIRECTIONS)).astype(np.int64)
        costs = np.full((contacts + 1, contacts + 1), np.inf)
        costs[:contacts, :contacts] = between
        self._space = SearchSpace(
            displacements=moved,
            cos=np.cos(moved[..., 2]),
            sin=np.sin(moved[..., 2]),
            doubts=doubts,
            counts=counts,
            widths=widths,
            ends_at=ends_at,
            travels=np.ascontiguousarray(TRAVELS),
            between=costs,
            grid=value.grid,
            near=near,
        )

    def on_from(
        self, local: LocalPushes, seen: Array, pair: Sequence[PlannedPush] = ()
    ) -> list[PushChoice]:
        """Return the best pushes that continue from where the finger is, cheapest first.

        Args:
            local: Pushes from there; their contact has the index after the library's last.
            seen: Pose of the goal as the object sees it, shape (3,).
            pair: What is left of the pushes under way, two at one contact, to be tried as well.

        """
        space, last = self._space, len(self.library.contacts)
        count, travels = local.displacements.shape[:2]
        space.displacements[last, :count, :travels] = local.displacements
        space.cos[last, :count, :travels] = np.cos(local.displacements[..., 2])
        space.sin[last, :count, :travels] = np.sin(local.displacements[..., 2])
        space.counts[last, :count] = local.counts
        space.ends_at[last, :count, :travels] = local.ends_at
        begin = np.full(last + 1, np.inf)
        begin[last] = 0.0
        return self._choices(seen, begin, pair)

    def cost_here(self, seen: Array) -> float:
        """Return the cost of ending a push where the goal is seen at a pose (3,) [s]."""
        x, y, theta = seen.tolist()
        return _cost_here(self._space, x, y, theta)

    def choices(self, seen: Array, begin: Array) -> list[PushChoice]:
        """Return pushes towards a goal, the best of each first contact and kind, cheapest first.

        Args:
            seen: Pose of the goal as the object sees it, shape (3,).
            begin: Cost of beginning at each contact [s], shape (C,); infinite if impossible.

        """
        return self._choices(seen, np.append(begin, np.inf))

    def _choices(
        self, seen: Array, costs: Array, pair: Sequence[PlannedPush] = ()
    ) -> list[PushChoice]:
        """Return the best pushes of each contact; costs: of beginning there [s], (C + 1,)."""
        rows = np.zeros((len(costs), _PAIRS + self._space.counts.shape[1], COLUMNS))
        x, y, theta = seen.tolist()
        _search(self._space, x, y, theta, costs, rows, np.full(len(costs), np.inf))
        if pair:
            # No push begins at the first contact here, so that its rows are free.
            first, second = pair
            rows[0, _PAIRS] = [
                *(rows[..., 0].min(), first.contact, first.direction, first.travel),
                *(second.contact, second.direction, second.travel, 0.0),
            ]
            costs[0] = 0.0
        refine(self._space, x, y, theta, costs, rows, new_aim_work())
        width = rows.shape[1]
        flat = rows.reshape(-1, COLUMNS)
        order = np.argsort(flat[:, 0], kind="stable")
        return [
            _choice(flat[i], lets_go=bool(i % width == _CHANGE))
            for i in order
            if flat[i, 0] < np.inf
        ]


def _doubts(library: PushLibrary, grid: ValueGrid) -> Array:
    """Return what it costs that an outcome is sensitive to the place of the contact, (C, D, T) [s].

    Near a point of balance, an object turns left or right depending on a millimetre.
    """
    x, y, turn = np.moveaxis(library.displacements, -1, 0)
    cos, sin = np.cos(turn), np.sin(turn)
    middle_x, middle_y = x + cos * grid.cx - sin * grid.cy, y + sin * grid.cx + cos * grid.cy
    square = np.zeros_like(x)
    for side in (1, -1):
        apart = np.hypot(*(np.roll(library.contacts, side, axis=0) - library.contacts).T)
        dx = np.roll(middle_x, side, axis=0) - middle_x
        dy = np.roll(middle_y, side, axis=0) - middle_y
        turned = 2.0 * grid.mean_square * (1.0 - np.cos(np.roll(turn, side, axis=0) - turn))
        share = _OFFSET / apart
        square = np.maximum(square, share[:, None, None] ** 2 * (dx**2 + dy**2 + turned))
    doubts: Array = np.minimum(_DOUBT * np.sqrt(square) / NEAR, _MOST_DOUBT)
    return doubts


def _choice(row: Array, *, lets_go: bool) -> PushChoice:
    """Return a row as pushes, without those of no length."""
    found = [PlannedPush(int(row[1]), float(row[2]), float(row[3]))]
    if row[4] >= 0.0 and row[6] > 0.0:
        found.append(PlannedPush(int(row[4]), float(row[5]), float(row[6])))
    return PushChoice(float(row[0]), float(row[7]), tuple(found), lets_go and len(found) == 2)
