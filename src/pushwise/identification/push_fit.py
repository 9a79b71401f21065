"""One push simulated with whatever is believed, compared with what was observed of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pushwise.errors import SimulationError
from pushwise.identification.calibration import NUISANCES, Calibration
from pushwise.identification.observations import at_samples, mean_force
from pushwise.identification.push_start import Believed, PushStart, start_of
from pushwise.physics.prepared import MOMENTS, START, Track, clock_of
from pushwise.physics.push import Push
from pushwise.records.record import PushRecord
from pushwise.typing import Array, Flags

if TYPE_CHECKING:
    from pushwise.identification.problem import Problem

__all__ = [
    "PushJacobians",
    "PushResiduals",
    "compare_push",
    "fit_push",
    "left_out",
    "piece_end",
    "predicted_end",
    "residual_of",
]


class PushResiduals(NamedTuple):
    """Predicted minus observed, of a push or of a window of it."""

    pose: Array  # [m, m, rad], (k, 3)
    force: Array  # mean forces [N], (f, 2)
    gap: Array  # between finger and object at the starts of later windows [m], (g, 1)


class PushJacobians(NamedTuple):
    """The derivatives of residuals in the unknowns u."""

    pose: Array  # (k, 3, unknowns)
    force: Array  # (f, 2, unknowns)
    gap: Array  # (g, 1, unknowns)


class _Simulated(NamedTuple):
    """A simulated window."""

    begin: PushStart
    track: Track
    t: Array  # times of the samples after the first one since then [s], (k,)
    predicted: Array  # tracked poses then, (k, 3)


class _ComparedWindow(NamedTuple):
    """A window of a push, compared with what was observed."""

    seen: _Simulated
    residuals: PushResiduals
    record: PushRecord
    later: bool  # whether it is not the first one
    mine: slice  # the unknowns of its start
    scale: Array  # how much a unit of them is [m, m, rad, ...], (3,) or (6,)
    steady: Flags  # at which samples forces are compared


def residual_of(problem: Problem, i: int, believed: Believed, offset: Array) -> Array:
    """Return the residuals of push i in one piece, shape (k, 3).

    offset: true minus observed starting pose [m, m, rad], shape (3,), or pose and twist (6,).
    """
    record = problem.records[i]
    seen = _simulated(problem, record, record.called(i), believed, offset, later=False)
    residual: Array = seen.predicted - record.pose[1:]
    return residual


def predicted_end(problem: Problem, i: int, believed: Believed) -> tuple[Array, bool]:
    """Return the final pose (3,) of push i from its observed start, and whether it has one.

    If the finger starts too far inside the object to simulate it, the object stays there.
    """
    record = problem.records[i]
    try:
        end: Array = record.pose[-1] + residual_of(problem, i, believed, np.zeros(3))[-1]
    except SimulationError:
        return record.pose[0], False
    return end, True


def piece_end(problem: Problem, piece: PushRecord, believed: Believed) -> Array:
    """Return the tracked pose (3,) at the end of a piece of a push, which starts in contact.

    Args:
        problem: Grid and physics.
        piece: The piece; its last observed pose is not looked at.
        believed: Object, finger and set-up.

    """
    seen = _simulated(problem, piece, "a piece of a push", believed, np.zeros(3), later=True)
    end: Array = seen.predicted[-1]
    return end


def compare_push(
    problem: Problem, i: int, believed: Believed, u: Array, start_sigma: Array
) -> PushResiduals:
    """Return the residuals of push i, window by window; arguments as for `fit_push`."""
    return _joined_residuals(_windows(problem, i, believed, u, start_sigma), u, start_sigma)


def fit_push(
    problem: Problem, i: int, believed: Believed, u: Array, start_sigma: Array, rows: Array
) -> tuple[PushResiduals, PushJacobians]:
    """Return the residuals of push i, window by window, and their derivatives.

    Args:
        problem: The pushes.
        i: Which of them.
        believed: Object, finger and set-up at u.
        u: Unknowns, shape (unknowns,).
        start_sigma: Standard deviations of the starting poses [m, m, rad], shape (3,).
        rows: What `object_rows` returns.

    """
    windows = _windows(problem, i, believed, u, start_sigma)
    parts = [_differentiated(problem, window, believed, start_sigma, rows) for window in windows]
    for before, after in zip(parts, windows[1:], strict=False):
        before.pose[-1, :, _pose(after.mine)] -= np.diag(start_sigma)
    jacobians = PushJacobians(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    return _joined_residuals(windows, u, start_sigma), jacobians


def left_out(problem: Problem, i: int) -> tuple[PushResiduals, PushJacobians]:
    """Return zero residuals and Jacobians of push i, which is left out; no forces and no gaps."""
    shapes = (len(problem.records[i].t) - 1, 3), (0, 2), (0, 1)
    return (
        PushResiduals(*(np.zeros(shape) for shape in shapes)),
        PushJacobians(*(np.zeros((*shape, problem.unknowns)) for shape in shapes)),
    )


def _windows(
    problem: Problem, i: int, believed: Believed, u: Array, start_sigma: Array
) -> list[_ComparedWindow]:
    """Simulate the windows of push i; arguments as for `fit_push`."""
    name = problem.records[i].called(i)
    found: list[_ComparedWindow] = []
    first = 0
    for k, mine in enumerate(problem.order.windows_of(i)):
        record, later = problem.windows[i][k].record, k > 0
        last = first + len(record.t) - 1
        steady = problem.steady[i][first:last]
        scale = problem.start_scale(i, start_sigma, k)
        seen = _simulated(problem, record, name, believed, scale * u[mine], later=later)
        force = np.zeros((0, 2))
        if record.force is not None and isinstance(record.push, Push):
            force = (mean_force(seen.track.impulse, seen.track, seen.t) - record.force[1:])[steady]
        gap = np.full((1, 1), seen.begin.finger_gap().gap) if later else np.zeros((0, 1))
        residuals = PushResiduals(seen.predicted - record.pose[1:], force, gap)
        found.append(_ComparedWindow(seen, residuals, record, later, mine, scale, steady))
        first = last
    return found


def _joined_residuals(
    windows: list[_ComparedWindow], u: Array, start_sigma: Array
) -> PushResiduals:
    """Return the residuals of all windows of a push; each leads to where the next one starts."""
    parts = [window.residuals for window in windows]
    for before, after in zip(parts, windows[1:], strict=False):
        before.pose[-1] -= start_sigma * u[_pose(after.mine)]
    return PushResiduals(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _pose(mine: slice) -> slice:
    """Return the unknowns of the pose among those of a start."""
    return slice(mine.start, mine.start + 3)


def _simulated(
    problem: Problem,
    record: PushRecord,
    name: str,
    believed: Believed,
    offset: Array,
    *,
    later: bool,
) -> _Simulated:
    """Simulate a push, or a later window of it."""
    begin = start_of(record, name, believed, offset, problem.physics, later=later)
    t = record.t[1:] - record.t[0]
    clock = clock_of(begin.action, problem.step_of(record), float(t[-1]), settle=False)
    # A simulation that ends early stays where it ended, and contradicts what was observed.
    _, track = begin.prepared.roll(begin.action, begin.clear.pose, clock, begin.twist)
    predicted = at_samples(track.pose, track, t)
    if later:  # the finger was moved to touch, not the object
        predicted[:, :2] -= begin.clear.pose[:2] - begin.pose[:2]
    if believed.calibration is not None:
        predicted = believed.calibration.tracked(predicted)
    return _Simulated(begin, track, t, predicted)


def _differentiated(
    problem: Problem, window: _ComparedWindow, believed: Believed, start_sigma: Array, rows: Array
) -> PushJacobians:
    """Return the derivatives of the residuals of a window; arguments as for `fit_push`."""
    begin, track, t, predicted = window.seen
    later, mine, scale = window.later, window.mine, window.scale
    forces = len(window.residuals.force)
    n = problem.grid.n_cells
    J = begin.prepared.jacobian(begin.action, track, n, impulse=forces > 0)
    into = rows.copy()
    pose, moving = _pose(mine), slice(mine.start + 3, mine.stop)
    start, thrown = slice(n + START, n + START + 3), slice(n + START + 3, n + START + 6)
    into[start, pose] = np.diag(start_sigma)
    if len(scale) > 3:
        into[thrown, moving] = np.diag(scale[3:])
    calibration = believed.calibration or (Calibration() if later else None)
    J_gap = np.zeros((int(later), 1, problem.unknowns))
    if calibration is None:
        J_pose = at_samples(J.pose, track, t) @ into
    else:
        radius, spin = believed.finger.radius, float(begin.twist[2])
        chain = calibration.chain(
            window.record.push, begin.tracked, begin.clear, predicted, radius, spin
        )
        into[start, pose] = chain.by_tracked * start_sigma
        into[thrown, pose] = chain.twist_by_tracked * start_sigma
        if len(scale) > 3:
            by_twist = [calibration.twist(begin.tracked, row) for row in np.eye(3)]
            into[thrown, moving] = np.transpose(by_twist) * scale[3:]
        if problem.calibrates:
            into[start, -NUISANCES:] = chain.by_setup * problem.doubts
            into[thrown, -NUISANCES:] = chain.twist_by_setup * problem.doubts
            into[n + MOMENTS + 1, -1] = radius * problem.doubts[-1]
        J_pose = at_samples(J.pose, track, t) @ into
        if later:
            by_shift = np.zeros((2, problem.unknowns))
            by_shift[:, pose] = chain.shift_by_tracked * start_sigma
            if problem.calibrates:
                by_shift[:, -NUISANCES:] = chain.shift_by_setup * problem.doubts
            J_pose[:, :2] -= by_shift
            J_gap[0, 0] = np.array(begin.finger_gap().normal) @ by_shift
        J_pose = chain.seen @ J_pose
        if problem.calibrates:
            J_pose[..., -NUISANCES:] += chain.direct * problem.doubts
    J_force = np.zeros((0, 2, problem.unknowns))
    if forces:
        J_force = mean_force(J.impulse, track, t)[window.steady] @ into
    return PushJacobians(J_pose, J_force, J_gap)
