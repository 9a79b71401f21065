"""Free slides: found in records, differentiated, and worth more than slow pushes."""

import itertools
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import pushwise as pw
from pushed import NOISE, SIGMA
from pushwise.errors import PushwiseError, PushwiseWarning
from pushwise.identification.belief import tilted
from pushwise.identification.free_slide import free_slide, is_free
from pushwise.identification.problem import Problem
from pushwise.planning.stability import Balance
from pushwise.records.record import PushRecord
from pushwise.sliding.options import SlideOptions
from pushwise.sliding.outcome import Learned, Outcome, Phase
from pushwise.sliding.random_push import draw_push
from pushwise.sliding.run_files import read_phase, write_phase

FINGER = pw.Finger()
BOX = pw.CellGrid.from_outline([(0.0, 0.0), (0.1, 0.0), (0.1, 0.06), (0.0, 0.06)], cell_size=0.02)
MODEL = pw.ObjectModel(BOX, np.linspace(0.01, 0.04, BOX.n_cells), np.linspace(0.2, 0.4, 15))


def flick(x: float, y: float, angle: float, speed: float = 0.8) -> pw.Push:
    """Speed up over 80 mm from a point on, then stop."""
    t = np.linspace(0.0, 2.0 * 0.08 / speed, 17)
    way = 0.08 * (t / t[-1]) ** 2
    return pw.Push(t, np.array([x, y]) + way[:, None] * [np.cos(angle), np.sin(angle)])


def measured(
    model: pw.ObjectModel,
    push: pw.Push,
    rng: np.random.Generator,
    *,
    rate: float = 60.0,
    load: Literal["own", "rigid"] = "own",
) -> PushRecord:
    """Simulate a push until rest and measure poses."""
    path = pw.simulate(model, push, finger=FINGER, physics=pw.Physics(load=load))
    t = np.arange(0.0, path.t[-1] + 1.0 / rate, 1.0 / rate)
    pose = path.pose_at(t)
    return PushRecord(push, t, pose + SIGMA * rng.standard_normal(pose.shape), noise=NOISE)


def test_the_slide_begins_when_the_finger_has_let_go() -> None:
    """Find separation from the data, leave the contact out, and estimate the speed."""
    push = flick(-0.011, 0.03, 0.0)
    record = measured(MODEL, push, np.random.default_rng(0), rate=120.0)
    slide = free_slide(BOX, record, FINGER.radius)
    assert slide is not None and is_free(slide) and not is_free(record)
    path = pw.simulate(MODEL, push, finger=FINGER)
    touching = path.t[1:][path.mode != pw.Mode.SEPARATE].max()
    begins = float(record.t[np.flatnonzero(record.pose[:, 0] == slide.pose[0, 0])[0]])
    assert touching + 0.03 < begins < touching + 0.1
    at = int(np.searchsorted(path.t, begins))
    np.testing.assert_allclose(slide.twist[:2], path.twist[at, :2], atol=0.05)
    assert slide.twist[2] == pytest.approx(path.twist[at, 2], abs=0.5)
    rests = float(path.t[-1])
    assert begins + slide.t[-1] == pytest.approx(rests, abs=0.1)
    # A slow push has none, and of an object that falls nothing is kept.
    slow = pw.Push.line((-0.011, 0.03), (0.1, 0.0), 1.0)
    assert free_slide(BOX, measured(MODEL, slow, np.random.default_rng(0)), FINGER.radius) is None
    fallen = PushRecord(push, record.t, record.pose, fell=True)
    assert free_slide(BOX, fallen, FINGER.radius) is None


def test_derivatives_of_slides_agree_with_finite_differences() -> None:
    """Differentiate residuals in loads, friction, gyration, starting pose and starting twist."""
    rng = np.random.default_rng(1)
    slide = free_slide(BOX, measured(MODEL, flick(-0.011, 0.02, 0.1), rng), FINGER.radius)
    assert slide is not None
    slow = measured(MODEL, pw.Push.line((-0.011, 0.02), (0.1, 0.0), 0.5), rng, rate=10.0)
    problem = Problem(BOX, [slow, slide], FINGER, pw.Prior(tip_doubt=1e-3, frame_doubt=1e-3))
    u = 0.3 * rng.standard_normal(problem.unknowns)
    u[problem.order.starts[1]] = 0.1
    J = problem.fit(u, SIGMA).jacobian
    assert np.abs(J[..., problem.order.gyration]).max() > 1e-4
    for k in range(problem.unknowns):
        h = 1e-5 * np.eye(problem.unknowns)[k]
        ahead, back = (problem.fit(v, SIGMA).residual for v in (u + h, u - h))
        np.testing.assert_allclose(J[..., k], (ahead - back) / 2e-5, atol=2e-6, rtol=1e-4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:left out")  # a flick may turn out otherwise than predicted
@pytest.mark.parametrize("load", ["own", "rigid"])
@pytest.mark.parametrize("name", ["hammer", "spray-gun"])
def test_flicks_find_the_centre_of_mass_of_uneven_friction(
    name: str, load: Literal["own", "rigid"]
) -> None:
    """Halve the doubt that slow pushes leave, whatever the load, and stay honest."""
    rng = np.random.default_rng(5)
    thing = pw.objects.load(name).sample(rng)
    table = pw.Table.rectangle(2.0, 2.0)
    records = [
        measured(
            thing.model,
            draw_push(rng, thing.grid, np.zeros(3), table, FINGER),
            rng,
            rate=10.0,
            load=load,
        )
        for _ in range(2)
    ]
    doubts = []
    for _ in range(4):
        found = pw.identify(thing.grid, records)
        covariance = found.posterior.centre_of_mass_covariance
        off = found.model.centre_of_mass - thing.model.centre_of_mass
        assert off @ np.linalg.solve(covariance, off) < 11.8  # three standard deviations
        doubts.append(np.sqrt(np.trace(covariance)))
        models = found.belief.models(32, rng)
        flicks = pw.draw_flicks(rng, models, np.zeros(3), table, FINGER, count=10)
        best = pw.next_push(found.belief, flicks)[0].push
        records.append(measured(thing.model, best, rng, load=load))
    assert doubts[-1] < 0.5 * doubts[0]
    assert doubts[-1] < 0.02


def test_a_flick_that_tells_nothing_says_why() -> None:
    """Name the rate when it is too low, and the flick when the object does not slide on."""
    rng = np.random.default_rng(2)
    good = measured(MODEL, flick(-0.011, 0.03, 0.0), rng)
    rare = measured(MODEL, flick(-0.011, 0.03, 0.0), rng, rate=8.0)
    with pytest.warns(PushwiseWarning, match=r"push 1 is a flick, but at . Hz only \d poses of"):
        pw.identify(BOX, [good, rare])
    with pytest.raises(PushwiseError, match="is a flick, but the object does not slide on"):
        slow = PushRecord(good.push, good.t[:12], good.pose[:12])
        pw.identify(BOX, [slow])


def test_the_next_push_may_be_a_flick() -> None:
    """Prefer a flick to a slow push where friction may vary, and rank by a risk if asked to."""
    rng = np.random.default_rng(3)
    slow = [pw.Push.line((-0.011, y), (0.1, 0.0), 1.0) for y in (0.015, 0.045)]
    records = [measured(MODEL, push, rng, rate=10.0) for push in slow]
    found = pw.identify(BOX, records, prior=pw.Prior(friction_spread=0.5))
    fast = flick(-0.011, 0.02, 0.0, speed=1.0)
    ranked = pw.next_push(found.belief, [slow[0], fast])
    assert ranked[0].push is fast and ranked[0].centre_std < 0.9 * ranked[1].centre_std
    table = pw.Table.rectangle(0.3, 0.3)
    goal = (0.085, 0.0, 0.0)

    def risk(after: pw.Belief) -> float:
        return min(Balance(after, table).at(goal).fall_probability, 0.01)

    ranked = pw.next_push(found.belief, [slow[0], fast], risk=risk)
    assert ranked[0].push is fast and 0.0 < ranked[0].risk < ranked[1].risk


@pytest.mark.parametrize("beyond", [-0.02, 0.0, 0.02])
def test_a_push_is_chosen_for_what_it_may_show(beyond: float) -> None:
    """Prefer what reveals more, also where the most probable model does not allow the goal.

    Certainty about that model would be certainty of a fall: judged by it, the best push would be
    the one that reveals nothing.
    """
    rng = np.random.default_rng(3)
    slow = [pw.Push.line((-0.011, y), (0.1, 0.0), 1.0) for y in (0.015, 0.045)]
    records = [measured(MODEL, push, rng, rate=10.0) for push in slow]
    belief = pw.identify(BOX, records, prior=pw.Prior(friction_spread=0.5)).belief
    limit = belief.centre_of_mass[0] + beyond

    def risk(after: pw.Belief) -> float:
        centres = after.centres_of_mass(512, np.random.default_rng(0))
        return min(float(np.mean(centres[:, 0] > limit)), 0.01)

    fast = flick(-0.011, 0.02, 0.0, speed=1.0)
    nothing = pw.Push.line((-0.011, 0.045), (0.1, 0.0), 0.15)
    ranked = pw.next_push(belief, [nothing, slow[0], fast], risk=risk)
    assert [one.centre_std for one in ranked] == sorted(one.centre_std for one in ranked)
    assert all(one.risk <= later.risk for one, later in itertools.pairwise(ranked))
    if beyond > 0.0:
        assert ranked[0].risk < 0.9 * ranked[-1].risk


def test_models_with_another_centre_of_mass() -> None:
    """Shift the centre of mass of a model exactly, and not beyond its cells."""
    shifts = np.array([[0.0, 0.0], [0.01, -0.005], [-0.02, 0.01], [1.0, 0.0]])
    moved = tilted(MODEL, shifts)
    for shift, model in zip(shifts[:3], moved, strict=False):
        np.testing.assert_allclose(
            model.centre_of_mass, MODEL.centre_of_mass + shift, rtol=0.0, atol=1e-9
        )
        assert model.total_mass == pytest.approx(MODEL.total_mass)
    assert 0.0 < BOX.centres[:, 0].max() - moved[3].centre_of_mass[0] < BOX.cell_size


def test_what_a_flick_showed_reads_back(tmp_path: Path) -> None:
    """Read a run's posterior with the free slide that was learned from, not the whole flick."""
    rng = np.random.default_rng(5)
    slow = pw.Push.line((-0.1, 0.03), (0.1, 0.0), 1.2)
    records = tuple(measured(MODEL, push, rng) for push in (slow, flick(-0.011, 0.02, 0.1)))
    found = pw.identify(BOX, records, finger=FINGER)
    done = Outcome(SlideOptions(), pw.Table(), FINGER, pw.Prior(), grid=BOX, records=records)
    write_phase(tmp_path, Phase.IDENTIFY, Learned(found, found.belief), done)
    read = read_phase(tmp_path, Phase.IDENTIFY, done).value.found
    assert is_free(read.posterior.problem.records[1])
    np.testing.assert_array_equal(read.posterior.covariance, found.posterior.covariance)
    np.testing.assert_array_equal(read.model.mass, found.model.mass)
