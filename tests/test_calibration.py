"""Constant errors of a set-up: derivatives against finite differences, and found from pushes."""

import numpy as np
import pytest

from pushwise import CellGrid, Finger, ObjectModel, Prior, Push, PushRecord, identify, simulate
from pushwise.identification.calibration import Calibration
from pushwise.identification.holdout import predicted_ends
from pushwise.identification.problem import Problem

SIGMA = np.array([5e-4, 5e-4, 2.5e-3])
DOUBTS = Prior(
    radius_doubt=0.1,
    tip_doubt=1e-3,
    tool_doubt=1e-3,
    frame_doubt=1e-3,
    frame_angle_doubt=0.02,
    touching=True,
)
GRID = CellGrid.from_outline([(-0.05, -0.04), (0.09, -0.04), (-0.05, 0.08)], cell_size=0.02)
FINGER = Finger(0.005, 0.3)
TRUTH = Calibration(
    np.array([1.0e-3, -0.6e-3]), np.zeros(2), np.array([0.5e-3, -0.4e-3, 0.01]), touching=True
)


def _records(count: int, calibration: Calibration, seed: int) -> list[PushRecord]:
    """Push an object that weighs more at one corner, and see it through a set-up with errors."""
    rng = np.random.default_rng(seed)
    weight = np.exp(-np.hypot(*(GRID.centres - (0.05, -0.03)).T) / 0.05)
    model = ObjectModel(GRID, weight / weight.sum(), 0.3)
    records = []
    for k in range(count):
        side = k % 3
        a, b = GRID.outline[side], GRID.outline[(side + 1) % 3]
        inward = np.array([a[1] - b[1], b[0] - a[0]]) / np.hypot(*(b - a))
        touched = a + rng.uniform(0.2, 0.8) * (b - a)
        angle = rng.uniform(-0.7, 0.7)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        pose = np.array([*rng.uniform(-0.1, 0.1, 2), rng.uniform(-np.pi, np.pi)])
        world = np.array([[np.cos(pose[2]), -np.sin(pose[2])], [np.sin(pose[2]), np.cos(pose[2])]])
        start = pose[:2] + world @ (touched - (FINGER.radius + 1e-9) * inward)
        push = Push.line(start, 0.02 * world @ turn @ inward, 1.5)
        end = simulate(model, push, pose=pose, finger=FINGER, until=1.5).pose[-1]
        seen = calibration.tracked(np.array([pose, end]))
        said = Push.line(push.start - calibration.offset(push), push.velocity, push.duration)
        records.append(PushRecord(said, [0.0, 1.5], seen))
    return records


def test_derivatives_agree_with_finite_differences() -> None:
    """Move each number of the set-up and of the starts: poses and gaps follow their derivatives."""
    records = _records(6, TRUTH, 0)
    problem = Problem(GRID, records, FINGER, DOUBTS)
    u = 0.3 * np.random.default_rng(1).normal(size=problem.unknowns)
    fit = problem.fit(u, SIGMA)
    h = 1e-5
    for j in range(2 * GRID.n_cells, problem.unknowns):
        step = np.zeros(problem.unknowns)
        step[j] = h
        up, down = problem.fit(u + step, SIGMA), problem.fit(u - step, SIGMA)
        for ours, other in (
            (fit.jacobian, up.residual - down.residual),
            (fit.gap_jacobian, up.gap - down.gap),
        ):
            scale = np.abs(ours).max()
            assert ours[..., j] == pytest.approx(other / (2 * h), abs=1e-5 * scale)


def test_set_up_is_found_from_pushes() -> None:
    """Tell where finger and markers really are, and predict better than without."""
    records = _records(12, TRUTH, 2)
    others = _records(12, TRUTH, 3)
    found = identify(GRID, records, finger=FINGER, prior=DOUBTS)
    assert found.calibration is not None
    assert found.calibration.tip == pytest.approx(TRUTH.tip, abs=4e-4)
    assert found.calibration.frame[:2] == pytest.approx(TRUTH.frame[:2], abs=4e-4)
    plain = identify(GRID, records, finger=FINGER)
    seen = np.array([record.pose[-1] for record in others])

    def error(ends: np.ndarray) -> float:
        return float(np.mean(np.hypot(*(ends - seen)[:, :2].T)))

    calibrated = error(predicted_ends(found.model, others, found.finger, found.calibration).pose)
    assert calibrated < 0.7 * error(predicted_ends(plain.model, others, plain.finger).pose)


def test_frames_compose_and_part() -> None:
    """Go to the grid frame and back."""
    poses = np.array([[0.1, -0.2, 0.5], [0.0, 0.3, -2.0]])
    assert TRUTH.tracked(TRUTH.pose(poses)) == pytest.approx(poses, abs=1e-15)


def test_record_is_corrected_as_a_whole() -> None:
    """Undo the errors of a record: finger, push and poses are where they really were."""
    seen, true = _records(1, TRUTH, 4)[0], _records(1, Calibration(), 4)[0]
    corrected = TRUTH.record(seen)
    assert corrected.pose == pytest.approx(true.pose, abs=1e-12)
    assert corrected.finger == pytest.approx(true.finger, abs=1e-12)
