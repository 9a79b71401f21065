"""The way to the goal: RRT* over poses, by the distance of cells (Algorithm 2, line 1).

Within the tree a pose is that of the frame at the cells' centroid: there the shortest way between
two poses is straight in x, y and theta, and its length closed. When nothing is in the way the
straight line is the optimum, and no tree is grown.

OMPL has an RRT*, too. With the hammer round a wall (`tests/test_path.py`) ours takes 0.27 s of
processor time for a way of 1.26 m (five seeds, 1.16 to 1.34); OMPL 2.0.1 with the same check of a
pose takes 0.24 s for 1.32 m and 1.2 s for 1.33 m (three seeds, 1.19 to 1.43; one of three within
0.06 s). So it saves nothing, and a check costs 14 us as a call back into Python, 7 us in here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array, non_negative_integer, positive_number
from pushwise.compilation import compiled
from pushwise.errors import PushwiseError
from pushwise.planning.free_space import Free, Rules, blocked
from pushwise.planning.options import Deadline
from pushwise.typing import Array, Integers

__all__ = ["find_path"]


_REACH = 0.15  # m; how far the tree grows at once
_CHECKED = 0.005  # m between the poses checked along a way
_GOAL_SHARE = 0.1  # of the samples are the goal
_NEAR = 1.5  # over the table's size; the radius of rewiring at the first node
_CHUNK = 20  # samples between looks at the clock
_ENOUGH = 20_000  # samples
_BETTER = 500  # samples after the first way was found
_CLEARANCES = (0.02, 0.01, 0.0)  # m kept from obstacles, where the ends and the gaps leave as much


def find_path(
    free: Free, start: ArrayLike, goal: ArrayLike, *, time_limit: float = 1.0, seed: int = 0
) -> Array:
    """Return poses (w, 3) from start to goal, both (3,), with free straight ways between them.

    time_limit: [s], kept within a tenth. Raises PushwiseError when there is no way, or none was
    found in time.
    """
    limit = positive_number("time_limit", time_limit)
    ends = []
    for name, pose in (("start", start), ("goal", goal)):
        pose = finite_array(name, pose, (3,))
        if objection := free.objection(pose):
            x, y, theta = pose
            raise PushwiseError(
                f"{name} ({x:.3f} m, {y:.3f} m, {theta:.3f} rad) is not free: {objection}."
            )
        ends.append(pose)
    centroid = free.balance.model.grid.centres.mean(axis=0)
    spread = float(np.mean(np.sum((free.balance.model.grid.centres - centroid) ** 2, axis=1)))
    rules = _moved(free.rules, centroid)
    a, b = (_at_centroid(pose, centroid) for pose in ends)
    b[2] = a[2] + np.remainder(b[2] - a[2] + np.pi, 2.0 * np.pi) - np.pi
    ways = _widest(rules, a, b, spread, limit, non_negative_integer("seed", seed))
    return np.array([_at_centroid(pose, -centroid) for pose in ways])


def _widest(
    rules: Rules, a: Array, b: Array, spread: float, limit: float, seed: int
) -> Sequence[Array]:
    """Return a way from a to b, poses of the centroid (3,), that keeps well clear if there is one.

    A gap that is too narrow for the clearance may still be the only way.
    """
    each = [rules._replace(clearance=gap) for gap in _CLEARANCES] if len(rules.ends) else [rules]
    tried = [r for r in each[:-1] if not (blocked(r, a) or blocked(r, b))] + each[-1:]
    for r in tried:
        if _passable(r, a, b, spread):
            return [a, b]
        deadline = Deadline(limit / len(tried))
        if way := _tree(r, a, b, spread, deadline, seed):
            return way
    why = "in the way are obstacles or the table's edge"
    if deadline.passed:
        raise PushwiseError(f"no path was found in {limit:g} s; {why}, or give it more time.")
    raise PushwiseError(f"no path was found with {_ENOUGH} samples; {why}.")


def _tree(
    rules: Rules, a: Array, b: Array, spread: float, deadline: Deadline, seed: int
) -> Sequence[Array]:
    """Grow a tree from a until it holds b and enough else, and return the way; else nothing."""
    table = rules.shape.table
    low, high = table.min(axis=0), table.max(axis=0)
    nodes = np.empty((_ENOUGH + 1, 3))
    parents = np.full(_ENOUGH + 1, -1)
    costs = np.zeros(_ENOUGH + 1)
    nodes[0] = a
    rng = np.random.default_rng(seed)
    count = 1
    samples = 0
    enough = _ENOUGH
    while samples < enough and not deadline.passed:
        wanted = np.column_stack(
            [rng.uniform(low, high, (_CHUNK, 2)), a[2] + rng.uniform(-np.pi, np.pi, _CHUNK)]
        )
        wanted[rng.random(_CHUNK) < _GOAL_SHARE] = b
        count = _grow(rules, nodes, parents, costs, count, wanted, spread)
        samples += _CHUNK
        if enough == _ENOUGH and (_apart(nodes[:count], b, spread) < 1e-9).any():
            enough = min(samples + _BETTER, _ENOUGH - 1)
    at_goal = np.flatnonzero(_apart(nodes[:count], b, spread) < 1e-9)
    if not len(at_goal):
        return []
    k = int(at_goal[np.argmin(costs[at_goal])])
    way = [nodes[k]]
    while parents[k] >= 0:
        k = int(parents[k])
        way.append(nodes[k])
    return _straightened(rules, way[::-1], spread)


def _straightened(rules: Rules, way: list[Array], spread: float) -> list[Array]:
    """Leave out poses of a way that can be passed by."""
    kept = [way[0]]
    i = 0
    while i < len(way) - 1:
        j = len(way) - 1
        while j > i + 1 and not _passable(rules, way[i], way[j], spread):
            j -= 1
        kept.append(way[j])
        i = j
    return kept


@compiled
def _distance(a: Array, b: Array, spread: float) -> float:
    """Return the root mean square distance of the cells between poses of their centroid (3,)."""
    dx = a[0] - b[0]
    dy = a[1] - b[1]
    return float(np.sqrt(dx * dx + dy * dy + 2.0 * spread * (1.0 - np.cos(a[2] - b[2]))))


@compiled
def _apart(nodes: Array, to: Array, spread: float) -> Array:
    """Return the distance of each node (n, 3) to a pose (3,)."""
    found = np.empty(len(nodes))
    for i in range(len(nodes)):
        found[i] = _distance(nodes[i], to, spread)
    return found


@compiled
def _towards(a: Array, b: Array, share: float) -> Array:
    """Return the pose a share of the straight way from a to b, turning the short way round."""
    turn = (b[2] - a[2] + np.pi) % (2.0 * np.pi) - np.pi
    return np.array(
        [a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2] + share * turn]
    )


@compiled
def _passable(rules: Rules, a: Array, b: Array, spread: float) -> bool:
    """Tell whether all poses on the straight way are free."""
    turn = (b[2] - a[2] + np.pi) % (2.0 * np.pi) - np.pi
    length = np.hypot(b[0] - a[0], b[1] - a[1]) + np.sqrt(spread) * abs(turn)
    steps = int(np.ceil(length / _CHECKED)) + 1
    free = True
    for i in range(steps + 1):
        free = free and not blocked(rules, _towards(a, b, i / steps))
    return free


@compiled
def _grow(
    rules: Rules,
    nodes: Array,
    parents: Integers,
    costs: Array,
    count: int,
    wanted: Array,
    spread: float,
) -> int:
    """Grow the tree of `count` nodes towards poses (m, 3), as RRT* does; return the new count."""
    table = rules.shape.table
    size = np.hypot(np.ptp(table[:, 0]), np.ptp(table[:, 1]))
    for w in range(len(wanted)):
        apart = _apart(nodes[:count], wanted[w], spread)
        nearest = int(np.argmin(apart))
        if apart[nearest] < 1e-9:
            continue
        share = min(1.0, _REACH / apart[nearest])
        new = _towards(nodes[nearest], wanted[w], share)
        if blocked(rules, new):
            continue
        radius = min(_REACH, _NEAR * size * (np.log(count + 1.0) / (count + 1.0)) ** (1.0 / 3.0))
        apart = _apart(nodes[:count], new, spread)
        parent = -1
        best = np.inf
        for i in range(count):
            near = apart[i] <= radius or i == nearest
            through = costs[i] + apart[i]
            if near and through < best and _passable(rules, nodes[i], new, spread):
                parent = i
                best = through
        if parent < 0:
            continue
        nodes[count] = new
        parents[count] = parent
        costs[count] = best
        for i in range(count):
            shorter = apart[i] <= radius and best + apart[i] < costs[i] - 1e-12
            if shorter and _passable(rules, new, nodes[i], spread):
                parents[i] = count
                # Those beyond i keep a cost that is too high, until they are rewired.
                costs[i] = best + apart[i]
        count += 1
    return count


def _moved(rules: Rules, centroid: Array) -> Rules:
    """Return the rules for a grid frame at the centroid."""
    shape = rules.shape._replace(
        centres=rules.shape.centres - centroid, corners=rules.shape.corners - centroid
    )
    return rules._replace(
        shape=shape._replace(reach=float(np.hypot(*shape.corners.T).max())),
        centres=rules.centres - centroid,
        outline=rules.outline - centroid,
    )


def _at_centroid(pose: Array, centroid: Array) -> Array:
    """Return the pose (3,) of a frame whose origin is at a point (2,) of the first one."""
    cos, sin = np.cos(pose[2]), np.sin(pose[2])
    x, y = centroid
    return np.array([pose[0] + cos * x - sin * y, pose[1] + sin * x + cos * y, pose[2]])
