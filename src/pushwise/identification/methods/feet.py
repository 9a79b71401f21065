"""An object on three feet: a rigid body on a rigid table stands on three points.

Eight numbers, the positions of three feet inside the outline and their shares of the weight, say
where an object rests. These are far fewer than a load per cell, which matters with ten pushes. Many
triples of feet explain a few pushes, some of them far apart, so none is chosen: a population of
them is drawn from the posterior (`tempering`), together with the finger's friction, the errors of
the set-up and the scatter of the ends, and the mean of their loads is returned. Friction is linear
in the load, so the mean load predicts the mean friction of the population for any motion.

Unknowns of a point are the positions (2 per foot) [m], the logs of the shares and the set-up in
standard deviations, and the logs of the scatter of positions and of angles. Feet are ordered by x
because they are interchangeable. Where the centre of mass is stated, statics gives the shares, and
its two errors take their place: feet believe a statement, within its uncertainty, where `refine`
would believe pushes that contradict it.
"""

from __future__ import annotations

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.geometry.compiled import nearest_feature, nearest_normals
from pushwise.identification.calibration import NUISANCES, Calibration
from pushwise.identification.methods.task import Task
from pushwise.identification.methods.tempering import tempered
from pushwise.identification.objective import Refined, linearize_with_best_drift
from pushwise.identification.observations import GAP_SIGMA
from pushwise.identification.problem import Problem
from pushwise.identification.push_start import DEEPEST
from pushwise.physics.model import ObjectModel
from pushwise.physics.prepared import DEEPEST as NOISY_SHARE
from pushwise.physics.prepared import (
    Feet,
    PreparedObject,
    action_from,
    clock_of,
    new_ends_work,
    pushes_of,
)
from pushwise.physics.push import Finger, Push
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["ThreeFeet", "feet", "load_of_feet"]


FEET = 3
SHARES = 2 * FEET  # where the shares begin in a point
SHARE_SPREAD = 0.7  # standard deviation of the log share that a foot carries
# Half of all real ends are within a millimetre of those with true feet; one in ten is off by two.
SCATTER = 5e-4  # m
SCATTER_DOUBT = 0.7  # log
DEGREES = 3.0  # of freedom of Student's t
GAP_DEGREES = 8.0  # the same for gaps, as in `refine`
CROWD = 500  # points in the population
MOVES = 5  # per point and level
TRIES = 10_000  # to find feet that balance
LEAST = 1e-3  # of the mean load: every cell carries something


def feet(task: Task) -> Refined:
    """Return the mean load and set-up of all likely triples of feet."""
    problem, noise = task.problem, task.noise.pose
    hypothesis = ThreeFeet(problem, np.zeros(3) if noise is None else noise)

    def log_likelihood(x: Array) -> float:
        task.counter.add()
        return hypothesis.log_likelihood(x)

    def after_level(points: Array) -> None:
        u = hypothesis.mean(points)
        task.improved(problem.model(u), task.error(u))

    points = tempered(
        hypothesis.draw(CROWD, task.rng),
        hypothesis.log_prior,
        log_likelihood,
        task.rng,
        moves=MOVES,
        after_level=after_level,
        expired=lambda: task.out_of_time,
    )
    u = hypothesis.mean(points)
    task.counter.add()
    return linearize_with_best_drift(problem, u, task.noise)


def load_of_feet(grid: CellGrid, places: Array, shares: Array) -> Array:
    """Return the load of each cell, shape (n,), where every foot rests on the cells around it.

    Args:
        grid: The object.
        places: Positions of the feet [m] in the grid frame, shape (k, 2).
        shares: Load of each foot, shape (k,).

    """
    load = np.zeros(grid.n_cells)
    for place, share in zip(places, shares, strict=True):
        gap = np.abs(grid.centres - place) / grid.cell_size
        near = np.prod(np.clip(1.0 - gap, 0.0, None), axis=1)
        if not near.any():  # on the rim
            near[np.argmin(np.sum(gap**2, axis=1))] = 1.0
        load += share * near / near.sum()
    return load


class ThreeFeet:
    """The hypothesis that an object stands on three feet: its prior and its likelihood."""

    def __init__(self, problem: Problem, noise: Array) -> None:
        """Collect the pushes, and what contacts reveal about the set-up.

        Args:
            problem: The pushes.
            noise: Standard deviations of poses [m, m, rad], shape (3,); zeros where not stated.

        """
        self.problem = problem
        self.noise = noise
        records = [problem.records[i] for i in problem.used]
        steps = [problem.step_of(problem.records[i]) for i in problem.used]
        pushes = [record.push for record in records if isinstance(record.push, Push)]
        assert len(pushes) == len(records)  # `Method.cannot_use` sees to it
        self.doubted = np.flatnonzero(problem.doubts)
        axes = [Calibration(tool=axis) for axis in np.eye(2)]
        self.along = np.array([[axis.offset(push) for axis in axes] for push in pushes])
        self.along = self.along.transpose(0, 2, 1)
        model = ObjectModel(problem.grid, np.ones(problem.grid.n_cells), 1.0)
        self.actions = [
            action_from(model, push, problem.finger, record.t[0])
            for push, record in zip(pushes, records, strict=True)
        ]
        self.clocks = [
            clock_of(action, dt, float(record.t[-1] - record.t[0]), settle=False)
            for action, dt, record in zip(self.actions, steps, records, strict=True)
        ]
        self.pushes = pushes_of(self.actions, self.clocks)
        self.knots = np.diff(self.pushes.knots, prepend=0)
        self.tips = np.array(
            [[np.interp(0.0, a.t, axis) for axis in (a.x, a.y)] for a in self.actions]
        )
        self.pose = np.array([record.pose[0] for record in records])
        self.seen = np.array([record.pose[-1] for record in records])
        x, y = problem.grid.outline.T
        self.outline = np.ascontiguousarray(x), np.ascontiguousarray(y)
        evenly = Feet(np.zeros((FEET, 2)), np.ones(FEET), problem.prior.friction)
        self.standing = PreparedObject.on_feet(problem.grid, evenly, problem.physics)
        self.work = new_ends_work(self.standing.body)
        self.scale = SCATTER * np.array([1.0, 1.0, 2.0 / np.sqrt(problem.grid.area)])
        self.middle, self.root = self._touching()
        self.setup = SHARES + (FEET if problem.prior.centre is None else 2)
        """Where the set-up begins in a point."""
        self.size = self.setup + len(self.middle) + 2

    def _touching(self) -> tuple[Array, Array]:
        """Return mean and root of covariance of finger and set-up, given the contacts alone."""
        v = np.zeros(1 + len(self.doubted))
        H = np.eye(len(v))
        for _ in range(5):
            finger, calibration = self._setup(v)
            gap, by_setup = self.problem.touches.fit(calibration, finger.radius)
            J = np.zeros((len(gap), len(v)))
            J[:, 1:] = (by_setup * self.problem.doubts)[:, self.doubted] / GAP_SIGMA
            weight = (GAP_DEGREES + 1.0) / (GAP_DEGREES + (gap / GAP_SIGMA) ** 2)
            H = np.eye(len(v)) + (J.T * weight) @ J
            v = v - np.linalg.solve(H, v + (J.T * weight) @ gap / GAP_SIGMA)
        return v, np.asarray(np.linalg.cholesky(np.linalg.inv(H)), np.float64)

    def _setup(self, v: Array) -> tuple[Finger, Calibration]:
        """Return finger and set-up for friction and doubted errors v in standard deviations."""
        u = np.zeros(self.problem.unknowns)
        self._place(u, v)
        return self.problem.finger_at(u), self.problem.calibration_at(u) or Calibration()

    def _place(self, u: Array, v: Array) -> None:
        """Write finger and set-up into the unknowns of the problem."""
        u[self.problem.order.finger] = v[0]
        if self.problem.calibrates:
            u[-NUISANCES + self.doubted] = v[1:]

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """Draw points of the prior, shape (count, unknowns), with feet anywhere in the outline.

        Where the centre of mass is stated it lies between them.
        """
        points = rng.standard_normal((count, self.size))
        low, high = (bound(self.problem.grid.outline, axis=0) for bound in (np.min, np.max))
        for x in points:
            for tries in range(TRIES):
                if tries:
                    x[SHARES : self.setup] = rng.standard_normal(self.setup - SHARES)
                places = np.empty((FEET, 2))
                for place in places:
                    place[:] = rng.uniform(low, high)
                    while not self._inside(place):
                        place[:] = rng.uniform(low, high)
                x[:SHARES] = places[np.argsort(places[:, 0])].ravel()
                if (self.shares(x) > 0.0).all():
                    break
            else:
                raise PushwiseError(
                    f"no three feet within the outline carry the stated centre of mass "
                    f"{self.problem.prior.centre}; does it lie on the rim?"
                )
        return points

    def _inside(self, place: Array) -> bool:
        return bool(nearest_feature(place[0], place[1], *self.outline)[1] < 0.0)

    def split(self, x: Array) -> tuple[Array, Array, Array]:
        """Return positions (feet, 2) [m], shares (feet,) and set-up of a point (unknowns,)."""
        v = self.middle + self.root @ x[self.setup : -2]
        return x[:SHARES].reshape(FEET, 2), self.shares(x), v

    def shares(self, x: Array) -> Array:
        """Return the share of the weight that each foot of a point carries, shape (feet,).

        Shares are negative only where a stated centre of mass does not lie between the feet.
        """
        prior = self.problem.prior
        if prior.centre is None:
            share = np.exp(SHARE_SPREAD * x[SHARES : self.setup])
            return np.asarray(share / share.sum())
        centre = prior.centre + prior.centre_doubt * x[SHARES : self.setup]
        # A foot's share is the area of the triangle that has the centre in place of the foot.
        # Plain numbers: drawing feet asks for it hundreds of times for every one that balances.
        ax, ay, bx, by, cx, cy = x[:SHARES].tolist()
        mx, my = centre.tolist()
        areas = (
            _area(mx, my, bx, by, cx, cy),
            _area(ax, ay, mx, my, cx, cy),
            _area(ax, ay, bx, by, mx, my),
        )
        whole = _area(ax, ay, bx, by, cx, cy)
        return np.array(areas) / whole if whole != 0.0 else np.full(FEET, -1.0)

    def log_prior(self, x: Array) -> float:
        """Return the log prior of a point (unknowns,)."""
        places = x[:SHARES].reshape(FEET, 2)
        if not x[0] <= x[2] <= x[4] or not all(self._inside(p) for p in places):
            return -np.inf
        if (self.shares(x) <= 0.0).any():
            return -np.inf
        return -0.5 * float(x[SHARES:] @ x[SHARES:])

    def log_likelihood(self, x: Array) -> float:
        """Return the log likelihood of a point (unknowns,); simulates all pushes."""
        ends = self._ends(*self.split(x))
        if ends is None:
            return -np.inf
        scale = np.hypot(self.noise, self.scale * np.exp(SCATTER_DOUBT * x[[-2, -2, -1]]))
        square = np.sum(((ends - self.seen) / scale) ** 2, axis=1)
        misfit = 0.5 * (DEGREES + 3.0) * float(np.log1p(square / DEGREES).sum())
        return -misfit - len(ends) * float(np.log(scale).sum())

    def _ends(self, places: Array, shares: Array, v: Array) -> Array | None:
        """Return the tracked ends (k, 3) of all pushes, or None if they cannot be simulated."""
        problem = self.problem
        finger, calibration = self._setup(v)
        feet = Feet(places, problem.prior.mass * shares, problem.prior.friction)
        prepared = self.standing.with_feet(feet)
        offset = calibration.tip + self.along @ calibration.tool
        each = np.repeat(offset, self.knots, axis=0)
        pushes = self.pushes._replace(
            x=self.pushes.x + each[:, 0],
            y=self.pushes.y + each[:, 1],
            radius=finger.radius,
            mu=finger.friction,
            height=finger.height,
        )
        poses = calibration.pose(self.pose)
        deepest = DEEPEST if problem.calibrates else NOISY_SHARE * finger.radius
        cos, sin = np.cos(poses[:, 2]), np.sin(poses[:, 2])
        x, y = (self.tips + offset - poses[:, :2]).T
        met = np.empty((3, len(poses)))
        nearest_normals(cos * x + sin * y, -sin * x + cos * y, *self.outline, met)
        gap = met[0] - finger.radius
        if (gap < -deepest).any():
            return None
        moves = gap < (deepest if calibration.touching else 0.0)
        if moves.any():
            _, nx, ny = met
            poses[moves, 0] += (gap * (cos * nx - sin * ny))[moves]
            poses[moves, 1] += (gap * (sin * nx + cos * ny))[moves]
        ends = prepared.ends(pushes, poses, self.work)
        return None if ends is None else calibration.tracked(ends)

    def mean(self, points: Array) -> Array:
        """Return the unknowns u of `Problem` for the mean load and set-up of points."""
        grid = self.problem.grid
        parts = [self.split(x) for x in points]
        load = np.mean([load_of_feet(grid, places, shares) for places, shares, _ in parts], axis=0)
        load = np.maximum(load, LEAST / grid.n_cells)
        mass = self.problem.prior.mass * load / load.sum()
        u = self.problem.unknowns_of(ObjectModel(grid, mass, self.problem.prior.friction))
        self._place(u, np.mean([v for _, _, v in parts], axis=0))
        return u


def _area(ax: float, ay: float, bx: float, by: float, cx: float, cy: float) -> float:
    """Return the signed area of a triangle [m^2], relative to its first corner."""
    return 0.5 * ((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))
