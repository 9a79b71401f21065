"""One push simulated with whatever is believed, compared with what was observed of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pushwise.identification.calibration import NUISANCES, Calibration
from pushwise.identification.observations import at_samples, mean_force
from pushwise.identification.push_start import Believed, PushStart, start_of
from pushwise.physics.prepared import MOMENTS, START, Track, clock_of
from pushwise.physics.push import Push
from pushwise.records.record import PushRecord
from pushwise.typing import Array, Flags

if TYPE_CHECKING:
    from pushwise.identification.problem import Problem

__all__ = ["PushFit", "fit_push", "left_out", "piece_end", "residual_of"]


class PushFit(NamedTuple):
    """Residuals of a push or of a window of it, and their derivatives in the unknowns u."""

    pose: Array  # predicted minus observed [m, m, rad], (k, 3)
    pose_jacobian: Array  # (k, 3, unknowns)
    force: Array  # likewise [N], (f, 2)
    force_jacobian: Array  # (f, 2, unknowns)
    gap: Array  # between finger and object at the starts of later windows [m], (g, 1)
    gap_jacobian: Array  # (g, 1, unknowns)


class _Simulated(NamedTuple):
    """A simulated window."""

    begin: PushStart
    track: Track
    t: Array  # times of the samples after the first one since then [s], (k,)
    predicted: Array  # tracked poses then, (k, 3)


def residual_of(problem: Problem, i: int, believed: Believed, offset: Array) -> Array:
    """Return the residuals of push i in one piece, shape (k, 3).

    offset: true minus observed starting pose [m, m, rad], shape (3,), or pose and twist (6,).
    """
    record = problem.records[i]
    seen = _simulated(problem, record, record.called(i), believed, offset, later=False)
    residual: Array = seen.predicted - record.pose[1:]
    return residual


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


def fit_push(
    problem: Problem, i: int, believed: Believed, u: Array, start_sigma: Array, rows: Array
) -> PushFit:
    """Return the residuals of push i, window by window, and their derivatives.

    Args:
        problem: The pushes.
        i: Which of them.
        believed: Object, finger and set-up at u.
        u: Unknowns, shape (unknowns,).
        start_sigma: Standard deviations of the starting poses [m, m, rad], shape (3,).
        rows: What `object_rows` returns.

    """
    parts: list[PushFit] = []
    first = 0
    for k, mine in enumerate(problem.order.windows_of(i)):
        if parts:  # the window before leads here
            here = slice(mine.start, mine.start + 3)
            parts[-1].pose[-1] -= start_sigma * u[here]
            parts[-1].pose_jacobian[-1, :, here] -= np.diag(start_sigma)
        last = first + len(problem.windows[i][k].record.t) - 1
        steady = problem.steady[i][first:last]
        parts.append(_fit_window(problem, i, k, believed, u, start_sigma, rows, steady))
        first = last
    return PushFit(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def left_out(problem: Problem, i: int) -> PushFit:
    """Return zero residuals and Jacobians of push i, which is left out."""
    record, unknowns = problem.records[i], problem.unknowns
    poses, later = len(record.t) - 1, len(problem.windows[i]) - 1
    forces = int(problem.steady[i].sum()) if isinstance(record.push, Push) else 0
    return PushFit(
        np.zeros((poses, 3)),
        np.zeros((poses, 3, unknowns)),
        np.zeros((forces, 2)),
        np.zeros((forces, 2, unknowns)),
        np.zeros((later, 1)),
        np.zeros((later, 1, unknowns)),
    )


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


def _fit_window(
    problem: Problem,
    i: int,
    k: int,
    believed: Believed,
    u: Array,
    start_sigma: Array,
    rows: Array,
    steady: Flags,
) -> PushFit:
    """Return the residuals of window k of push i; steady: at which samples forces are compared."""
    window, later = problem.windows[i][k].record, k > 0
    mine = problem.order.windows_of(i)[k]
    scale = problem.start_scale(i, start_sigma, k)
    name = problem.records[i].called(i)
    seen = _simulated(problem, window, name, believed, scale * u[mine], later=later)
    begin, track, t = seen.begin, seen.track, seen.t
    residual = seen.predicted - window.pose[1:]
    force = np.zeros((0, 2))
    if window.force is not None and isinstance(window.push, Push):
        force = (mean_force(track.impulse, track, t) - window.force[1:])[steady]
    n = problem.grid.n_cells
    J = begin.prepared.jacobian(begin.action, track, n, impulse=len(force) > 0)
    into = rows.copy()
    pose, moving = slice(mine.start, mine.start + 3), slice(mine.start + 3, mine.stop)
    start, thrown = slice(n + START, n + START + 3), slice(n + START + 3, n + START + 6)
    into[start, pose] = np.diag(start_sigma)
    if len(scale) > 3:
        into[thrown, moving] = np.diag(scale[3:])
    calibration = believed.calibration or (Calibration() if later else None)
    gap, J_gap = np.zeros((int(later), 1)), np.zeros((int(later), 1, problem.unknowns))
    if calibration is None:
        J_pose = at_samples(J.pose, track, t) @ into
    else:
        radius, spin = believed.finger.radius, float(begin.twist[2])
        chain = calibration.chain(
            window.push, begin.tracked, begin.clear, seen.predicted, radius, spin
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
            met = begin.finger_gap()
            gap[:] = met.gap
            J_gap[0, 0] = np.array(met.normal) @ by_shift
        J_pose = chain.seen @ J_pose
        if problem.calibrates:
            J_pose[..., -NUISANCES:] += chain.direct * problem.doubts
    J_force = np.zeros((0, 2, problem.unknowns))
    if len(force):
        J_force = mean_force(J.impulse, track, t)[steady] @ into
    return PushFit(residual, J_pose, force, J_force, gap, J_gap)
