"""Identification from fingers that bend, stop, speed up and retreat, and from moving objects."""

from pathlib import Path

import numpy as np
import pytest

import pushwise as pw
from pushed import EVEN, NOISE, SIGMA
from pushwise.errors import PushwiseError
from pushwise.identification.calibration import Calibration
from pushwise.identification.holdout import end_distance
from pushwise.identification.methods.convex import convex_model
from pushwise.identification.observations import Touches
from pushwise.identification.problem import Problem
from pushwise.identification.record_quality import check_moved, flaw_of
from pushwise.objects import Thing
from pushwise.records.finger_path import kept_up_speed
from pushwise.sliding.random_push import draw_push
from pushwise.typing import Array

FINGER = pw.Finger()
BOX = pw.CellGrid.from_outline([(0.0, 0.0), (0.1, 0.0), (0.1, 0.1), (0.0, 0.1)], cell_size=0.02)
SIDE = (-0.011, 0.05)  # where a finger nearly touches the box


def bent_pushes(rng: np.random.Generator, thing: Thing, count: int) -> list[pw.PushRecord]:
    """Push an object along arcs, with stops and at changing speed; raise every other finger."""
    records = []
    for k in range(count):
        line = draw_push(rng, thing.grid, np.zeros(3), pw.Table(), FINGER)
        angle = np.linspace(0.0, rng.uniform(-1.0, 1.0), 9)
        s = np.linspace(0.0, 1.0, 9) * np.hypot(*line.velocity) * line.duration
        heading = np.arctan2(line.velocity[1], line.velocity[0]) + angle
        steps = np.diff(s)[:, None] * np.column_stack([np.cos(heading[1:]), np.sin(heading[1:])])
        places = np.vstack([line.start, line.start + np.cumsum(steps, axis=0)])
        times = np.concatenate([[0.0], np.cumsum(rng.uniform(0.1, 0.5, 8))])
        # A stop on the way.
        places, times = np.insert(places, 5, places[4], axis=0), np.insert(times, 5, times[4] + 0.2)
        times[6:] += 0.2
        push = pw.Push(times, places, raised=bool(k % 2))
        path = pw.simulate(thing.model, push, finger=FINGER)
        t = np.linspace(0.0, float(path.t[-1]), 40)
        pose = path.pose_at(t) + SIGMA * rng.standard_normal((40, 3))
        records.append(pw.PushRecord(push, t, pose, noise=NOISE))
    return records


@pytest.mark.slow
def test_bent_pushes_predict_others(tmp_path: Path) -> None:
    """Learn from paths with bends and stops as well as from straight ones, also through a log."""
    rng = np.random.default_rng(7)
    thing = pw.objects.load("hammer").sample(rng, uneven=False)
    records = bent_pushes(rng, thing, 10)
    found = pw.identify(thing.grid, records[:5], prior=EVEN)
    assert found.outliers == ()
    error = end_distance(found.model, records[5:], found.finger)
    assert error <= 6e-3
    off = found.model.centre_of_mass - thing.model.centre_of_mass
    assert np.hypot(*off) < 0.01
    pw.PushLog(tuple(records[:5]), thing.grid, FINGER.radius, NOISE).save(tmp_path / "log.csv")
    again = pw.identify(thing.grid, pw.PushLog.load(tmp_path / "log.csv"), prior=EVEN)
    # Bends between two samples are lost.
    assert end_distance(again.model, records[5:], again.finger) <= error + 2e-3
    candidates = [r.push for r in records[5:] if isinstance(r.push, pw.Push)]
    ranked = pw.next_push(found.belief, candidates)
    assert len(ranked) == 5
    before = float(np.sqrt(np.trace(found.posterior.centre_of_mass_covariance)))
    assert ranked[0].centre_std < before


def moving_records(calibration: Calibration, seed: int) -> list[pw.PushRecord]:
    """Throw a box, spinning, and push it on along a bend; see it through a set-up with errors."""
    rng = np.random.default_rng(seed)
    model = pw.ObjectModel(BOX, np.full(25, 0.02), 0.3)
    records = []
    for _ in range(3):
        places = np.array([SIDE, (0.03, 0.06), (0.05, 0.03)]) + rng.uniform(-2e-3, 0.0, (3, 2))
        push = pw.Push([0.0, 0.3, 0.5], places)
        twist = np.array([0.2, rng.uniform(-0.05, 0.05), rng.uniform(1.0, 3.0)])
        path = pw.simulate(model, push, twist=twist, finger=FINGER, until=0.5)
        t = np.linspace(0.0, 0.5, 6)
        seen = calibration.tracked(path.pose_at(t))
        arm = seen[0, :2] - path.pose[0, :2]
        seen_twist = twist + twist[2] * np.array([-arm[1], arm[0], 0.0])
        said = push.moved(-calibration.offset(push))
        records.append(pw.PushRecord(said, t, seen, twist=seen_twist))
    return records


SETUP = Calibration(
    np.array([0.4e-3, -0.3e-3]), np.array([0.2e-3, 0.1e-3]), np.array([8e-3, -5e-3, 0.02])
)
DOUBTS = pw.Prior(
    radius_doubt=0.05, tip_doubt=1e-3, tool_doubt=1e-3, frame_doubt=5e-3, frame_angle_doubt=0.02
)


def test_a_set_up_moves_the_twist_with_the_frame() -> None:
    """Correct a record of a spinning object: no residual is left with the true model."""
    model = pw.ObjectModel(BOX, np.full(25, 0.02), 0.3)
    for record in moving_records(SETUP, 0):
        true = SETUP.record(record)
        path = pw.simulate(model, true.push, true.pose[0], twist=true.twist, finger=FINGER)
        np.testing.assert_allclose(path.pose_at(true.t), true.pose, atol=2e-5)


def test_derivatives_with_a_twist_agree_with_finite_differences() -> None:
    """Move each number of the set-up and of the starts: poses of thrown boxes follow."""
    problem = Problem(BOX, moving_records(SETUP, 1), FINGER, DOUBTS)
    sigma = np.array([5e-4, 5e-4, 2.5e-3])
    u = 0.2 * np.random.default_rng(1).normal(size=problem.unknowns)
    fit = problem.fit(u, sigma)
    h = 1e-6
    for j in range(2 * BOX.n_cells, problem.unknowns):
        step = np.zeros(problem.unknowns)
        step[j] = h
        up, down = problem.fit(u + step, sigma), problem.fit(u - step, sigma)
        scale = np.abs(fit.jacobian).max()
        expected = (up.residual - down.residual) / (2 * h)
        assert fit.jacobian[..., j] == pytest.approx(expected, abs=1e-4 * scale)


def test_a_tool_is_turned_once_for_a_push() -> None:
    """Take the direction to the farthest knot, or the table's axes for a finger at rest."""
    tool = Calibration(tool=np.array([1e-3, 2e-3]))
    there_and_back = pw.Push([0.0, 1.0, 2.0], [(0.0, 0.0), (0.0, 0.1), (0.0, 0.0)])
    assert tool.offset(there_and_back) == pytest.approx([-2e-3, 1e-3])
    bent = pw.Push([0.0, 1.0, 2.0], [(0.0, 0.0), (0.1, 0.0), (0.1, 0.1)])
    turn = np.sqrt(0.5) * np.array([[1.0, -1.0], [1.0, 1.0]])
    assert tool.offset(bent) == pytest.approx(turn @ tool.tool)
    still = pw.Push([0.0, 1.0], [(0.0, 0.0), (0.0, 0.0)])
    assert tool.offset(still) == pytest.approx(tool.tool)


def record_of(push: pw.Push, t: Array, x: Array) -> pw.PushRecord:
    """Return a record of the box moving along x."""
    return pw.PushRecord(push, t, np.column_stack([x, np.zeros((len(t), 2))]))


def test_contacts_are_those_of_a_finger_that_is_there() -> None:
    """Count a contact at the end while the finger pushes, not when it retreats or is raised."""
    t = np.array([0.0, 1.0, 2.0, 3.0])
    x = np.array([0.0, 0.1, 0.1, 0.1])
    ahead = pw.Push.line((-0.01, 0.05), (0.1, 0.0), 1.0)
    back = pw.Push([0.0, 1.0, 2.0], [(-0.01, 0.05), (0.09, 0.05), (0.089, 0.05)])
    assert len(Touches(BOX, [record_of(ahead, t, x)], 0.01, starts=False)) == 1
    assert len(Touches(BOX, [record_of(back, t, x)], 0.01, starts=False)) == 0
    assert len(Touches(BOX, [record_of(back, t, x)], 0.01, starts=True)) == 1
    # The box slides on by 1 mm when the finger is raised.
    raised = pw.Push(ahead.times, ahead.positions, raised=True)
    on = np.array([0.0, 0.1, 0.101, 0.101])
    touches = Touches(BOX, [record_of(raised, t, on)], 0.01, starts=False)
    assert touches.fit(Calibration(), 0.01)[0] == pytest.approx([0.0], abs=1e-12)


def test_the_least_squares_pass_over_what_friction_does_not_balance() -> None:
    """Find a uniform load where the object slides by itself, whatever its motion is."""
    t = np.linspace(0.0, 1.0, 11)
    pose = np.column_stack([0.1 * t, 0.02 * t, 0.5 * t])
    stops = pw.Push([0.0, 1.0], [(-0.011, 0.01), (-0.011, 0.01)])
    follows = pw.Push.line((-0.011, 0.01), (0.1, 0.02), 1.0)
    for push, twist, uniform in (
        (follows, (0.0, 0.0, 0.0), False),
        (follows, (0.1, 0.02, 0.5), True),
        (stops, (0.0, 0.0, 0.0), True),
    ):
        problem = Problem(BOX, [pw.PushRecord(push, t, pose, twist=twist)], FINGER, pw.Prior())
        mass = convex_model(problem).mass
        assert bool(np.ptp(mass) < 1e-9) == uniform


def test_an_object_may_return_to_where_it_was() -> None:
    """Learn from there and back, and see a finger that comes near late or after the object."""
    t = np.array([0.0, 1.0, 2.0])
    back = record_of(pw.Push.line(SIDE, (0.1, 0.0), 2.0), t, np.array([0.0, 0.1, 0.0]))
    check_moved(BOX, [back])
    still = record_of(pw.Push.line(SIDE, (0.1, 0.0), 2.0), t, np.zeros(3))
    with pytest.raises(PushwiseError, match="did not move the object by more than 2 mm"):
        check_moved(BOX, [still])
    # A detour that first and last position do not show.
    detour = pw.Push(t, [(-0.3, 0.05), (0.05, 0.05), (-0.3, 0.05)])
    moved = np.array([0.0, 0.07, 0.07])
    assert flaw_of(BOX, record_of(detour, t, moved), FINGER, "push 0") == ""
    away = record_of(detour.moved((0.0, 0.5)), t, moved)
    assert "although the finger stays at least 44" in flaw_of(BOX, away, FINGER, "push 0")
    thrown = pw.PushRecord(away.push, t, away.pose, twist=(0.1, 0.0, 0.0))
    assert flaw_of(BOX, thrown, FINGER, "push 0") == ""


def test_jitter_is_no_speed() -> None:
    """Take the speed that a finger keeps up: of a straight push its own."""
    assert kept_up_speed(pw.Push.line((0.0, 0.0), (0.3, 0.4), 2.0)) == pytest.approx(0.5)
    assert kept_up_speed(pw.Push.line((0.0, 0.0), (0.3, 0.4), 0.01)) == pytest.approx(0.5)
    faster = pw.Push([0.0, 1.0, 1.1], [(0.0, 0.0), (0.01, 0.0), (0.11, 0.0)])
    assert kept_up_speed(faster) == pytest.approx(1.0)
    t = np.linspace(0.0, 1.0, 1001)
    jitter = np.random.default_rng(0).normal(0.0, 3e-4, (1001, 2))
    noisy = pw.Push(t, np.column_stack([0.1 * t, 0.0 * t]) + jitter)
    assert noisy.top_speed > 0.5
    assert kept_up_speed(noisy) < 0.15
