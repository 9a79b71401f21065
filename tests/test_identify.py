"""Identification in the Ideal world: what is found, how surely, and what is refused."""

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

import pushwise as pw
from pushed import EVEN, NOISE, SIGMA, pushed
from pushwise.errors import PushwiseError
from pushwise.identification.holdout import end_distance
from pushwise.identification.methods.registry import METHODS
from pushwise.objects import Thing
from pushwise.progress import Progress
from pushwise.records.record import Noise
from pushwise.sliding.random_push import draw_push

UNBOUNDED = pw.Prior(friction_spread=None)


def ends(records: Sequence[pw.PushRecord]) -> list[pw.PushRecord]:
    """Keep the first and the last pose of each record."""
    return [pw.PushRecord(r.push, r.t[[0, -1]], r.pose[[0, -1]], noise=r.noise) for r in records]


def moved(record: pw.PushRecord, first: int, by: tuple[float, float, float]) -> pw.PushRecord:
    """Return a record whose poses are wrong from a sample on."""
    pose = record.pose.copy()
    pose[first:] += by
    return pw.PushRecord(record.push, record.t, pose, noise=record.noise)


def seen(
    rng: np.random.Generator, thing: Thing, push: pw.Push | pw.ForcePush, samples: int = 30
) -> pw.PushRecord:
    """Simulate a push of an object from the origin and measure its poses."""
    path = pw.simulate(thing.model, push)
    t = np.linspace(0.0, float(path.t[-1]), samples)
    pose = path.pose_at(t) + SIGMA * rng.standard_normal((samples, 3))
    return pw.PushRecord(push, t, pose, noise=NOISE)


def fast_pushes(rng: np.random.Generator, thing: Thing) -> list[pw.PushRecord]:
    """Push an object five times over 0.1 m, at 1 m/s."""
    records = []
    for _ in range(5):
        slow = draw_push(rng, thing.grid, np.zeros(3), pw.Table(), pw.Finger())
        records.append(seen(rng, thing, pw.Push.line(slow.start, 10.0 * slow.velocity, 0.1)))
    return records


def shoves(rng: np.random.Generator, thing: Thing) -> list[pw.PushRecord]:
    """Push five cells of an object with three times the force that friction can hold."""
    load = 9.81 * float(thing.mass @ thing.friction)
    records = []
    for angle in rng.uniform(0.0, 2.0 * np.pi, 5):
        force = 3.0 * load * np.array([np.cos(angle), np.sin(angle)])
        cell = int(rng.integers(thing.grid.n_cells))
        records.append(seen(rng, thing, pw.ForcePush(cell, force, 0.15)))
    return records


def off_centre(found: pw.Identification, thing: Thing) -> tuple[float, float]:
    """Return how far the centre of mass found is off, in m and in standard deviations."""
    off = found.model.centre_of_mass - thing.model.centre_of_mass
    square = off @ np.linalg.solve(found.posterior.centre_of_mass_covariance, off)
    return float(np.hypot(*off)), float(np.sqrt(square))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), [("hammer", 2), ("box", 3), ("wrench", 1)])
def test_five_pushes_predict_five_others(name: str, seed: int) -> None:
    """Predict unseen pushes to 6 mm, from trajectories and from ends, and know the doubt."""
    thing, records = pushed(name, seed)
    for learn in (records[:5], ends(records[:5])):
        found = pw.identify(thing.grid, learn, prior=EVEN)
        assert end_distance(found.model, records[5:], found.finger) <= 6e-3
        distance, deviations = off_centre(found, thing)
        assert distance < 0.01
        assert deviations <= 3.0
        assert found.outliers == ()


@pytest.mark.slow
def test_a_heavy_end_is_found_where_the_first_guess_is_the_other() -> None:
    """Fit two pushes of a hammer for which uniform and convex starts end at false minima."""
    world = pw.worlds.random_world("hammer", pw.Table(), world="mujoco", seed=502)
    grid = pw.objects.load("hammer").grid
    records = [
        world.push(pw.Push.line((0.0730, -0.2282), (0.0186, 0.0983), 2.0)),
        world.push(pw.Push.line((0.0856, 0.0831), (0.0989, 0.0151), 2.0)),
    ]
    found = pw.identify(grid, records)
    assert end_distance(found.model, records, found.finger) < 0.015
    assert found.model.centre_of_mass[0] < -0.1


def test_the_noise_need_not_be_told() -> None:
    """Estimate the sensor's noise from the jitter of the trajectories."""
    thing, records = pushed("box", 3)
    untold = [pw.PushRecord(r.push, r.t, r.pose) for r in records[:5]]
    found = pw.identify(thing.grid, untold)
    np.testing.assert_allclose(found.posterior.refined.errors.sigma, SIGMA, rtol=0.25)
    assert end_distance(found.model, records[5:], found.finger) <= 6e-3


@pytest.mark.slow
def test_the_region_of_the_centre_of_mass_holds_the_truth() -> None:
    """Cover the true centre of mass with the 95 % ellipse in most of twenty draws."""
    names = ("box", "book", "toothpaste", "spray-gun")
    inside = []
    for seed in range(20):
        thing, records = pushed(names[seed % 4], 200 + seed, 3)
        found = pw.identify(thing.grid, ends(records), prior=EVEN)
        inside.append(off_centre(found, thing)[1] < 2.4477)
    assert 0.8 <= np.mean(inside) <= 1.0


def test_measured_forces_tell_the_load_and_claim_no_more() -> None:
    """Find the friction load to 5 % from forces of slow pushes; doubt the mass honestly."""
    rng = np.random.default_rng(4)
    thing = pw.objects.load("box").sample(rng)
    world = pw.worlds.Ideal(thing, seed=4, sensing=pw.worlds.Sensing(Noise(1e-3, 5e-3, 0.05)))
    records = []
    pose = np.zeros(3)
    for _ in range(4):
        push = draw_push(rng, thing.grid, pose, world.table, world.finger)
        records.append(world.push(push))
        pose = records[-1].pose[-1]
    found = pw.identify(thing.grid, records)
    load = 9.81 * float(thing.mass @ thing.friction)
    assert found.posterior.load.sum() == pytest.approx(load, rel=0.05)
    error = np.log(found.model.total_mass / thing.model.total_mass)
    assert abs(error) < 3.0 * found.posterior.total_mass_log_std[0]
    assert off_centre(found, thing)[1] <= 3.0
    said = found.statements()[1]
    force = found.posterior.load.sum()
    assert said.startswith(f"total friction force {force:.2f} N, standard error ")
    assert "total mass not determined" in said
    assert found.belief.total_mass_std is None
    # A method that does not fit forces knows nothing of them.
    rough = pw.identify(thing.grid, records, method="convex")
    assert "this method does not fit forces" in rough.statements()[1]
    assert rough.belief.total_mass_std is None


def test_a_log_states_the_finger() -> None:
    """Take the radius that a log states, unless a finger is given."""
    thing, records = pushed("box", 3)
    log = pw.PushLog(records[:1], finger_radius=0.008)
    assert pw.identify(thing.grid, log).finger.radius == 0.008
    assert pw.identify(thing.grid, log, finger=pw.Finger(0.01)).finger.radius == 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), [("box", 3), ("crimp", 52), ("toothpaste", 51)])
def test_slow_pushes_with_any_friction_leave_the_centre_of_mass_open(name: str, seed: int) -> None:
    """Say that weight and friction cannot be told apart; the same pushes bounded can."""
    thing, records = pushed(name, seed)
    found = pw.identify(thing.grid, records[:5], prior=UNBOUNDED)
    assert found.statements()[0].startswith("centre of mass not determined")
    assert found.statements()[1].startswith("total mass not determined")
    bounded = pw.identify(thing.grid, records[:5], prior=EVEN)
    assert bounded.statements()[0].startswith("centre of mass at")
    assert bounded.belief.total_mass_std is None


@pytest.mark.slow
def test_fast_pushes_determine_the_centre_of_mass() -> None:
    """Find the centre of mass by its inertia, whatever the friction."""
    rng = np.random.default_rng(1)
    thing = pw.objects.load("box").sample(rng)
    found = pw.identify(thing.grid, fast_pushes(rng, thing), prior=UNBOUNDED)
    assert found.statements()[0].startswith("centre of mass at")
    distance, deviations = off_centre(found, thing)
    assert distance < 4e-3
    assert deviations <= 3.0


def test_known_forces_determine_the_mass() -> None:
    """Find the total mass to 5 % and the centre of mass from the paper's pushes."""
    rng = np.random.default_rng(1)
    thing = pw.objects.load("box").sample(rng)
    found = pw.identify(thing.grid, shoves(rng, thing), prior=UNBOUNDED)
    assert found.statements()[0].startswith("centre of mass at")
    assert found.model.total_mass == pytest.approx(thing.model.total_mass, rel=0.05)
    assert found.belief.total_mass_std is not None
    assert off_centre(found, thing)[0] < 3e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "wrong"), [("hammer", (0.0, 0.03, 0.3)), ("box", (0.04, 0.0, 0.0))]
)
def test_a_wrong_pose_is_named_and_counts_little(
    name: str, wrong: tuple[float, float, float]
) -> None:
    """Keep the centre of mass within 5 mm when one push of five has a wrong pose.

    The push is left out: the answer is that of never having seen it, its doubt included.
    """
    thing, records = pushed(name, 3)
    for learn in (list(records[:5]), ends(records[:5])):
        centre = pw.identify(thing.grid, learn, prior=EVEN).model.centre_of_mass
        without = pw.identify(thing.grid, [*learn[:2], *learn[3:]], prior=EVEN)
        learn[2] = moved(learn[2], 1, wrong)
        found = pw.identify(thing.grid, learn, prior=EVEN)
        assert np.hypot(*(found.model.centre_of_mass - centre)) <= 5e-3
        assert np.hypot(*(found.model.centre_of_mass - without.model.centre_of_mass)) <= 2e-3
        np.testing.assert_allclose(
            found.posterior.centre_of_mass_covariance,
            without.posterior.centre_of_mass_covariance,
            rtol=0.3,
            atol=1e-6,
        )
        assert found.outliers == (2,)
        assert any(sentence.startswith("push 2") for sentence in found.statements())


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(method, marks=pytest.mark.slow) if method in ("autograd", "feet") else method
        for method in METHODS
    ],
)
def test_every_method_keeps_its_budget_and_repeats_itself(method: str) -> None:
    """Give each method a tiny budget, twice with the same seed."""
    if method == "autograd" and importlib.util.find_spec("torch") is None:
        pytest.skip("method autograd needs the extra: pip install 'pushwise[torch]'")
    grid = pw.CellGrid.from_outline(
        [(0.0, 0.0), (0.12, 0.0), (0.12, 0.08), (0.0, 0.08)], cell_size=0.04
    )
    truth = pw.ObjectModel(grid, 0.05 * np.arange(1.0, grid.n_cells + 1.0), 0.4)
    world = pw.worlds.Ideal(truth, sensing=pw.worlds.Sensing(rate=10.0))
    record = world.push(pw.Push.line((-0.02, 0.02), (0.1, 0.0), 1.0))
    news: list[Progress] = []
    twice = [
        pw.identify(
            grid,
            [record],
            method=method,
            search=pw.SearchOptions(budget=6, seed=3),
            progress=news.append,
        )
        for _ in range(2)
    ]
    assert isinstance(twice[0], pw.Identification)
    assert twice[0].method == method
    assert [step.simulations for one in twice for step in one.history] == [n.done for n in news]
    assert all(one.stage == "identify" and one.text.startswith("error ") for one in news)
    assert news[-1].result is twice[1].model
    if METHODS[method].needs_budget:
        assert news[0].total == 6 and twice[0].simulations <= 6
    np.testing.assert_array_equal(twice[0].model.mass, twice[1].model.mass)
    np.testing.assert_array_equal(twice[0].model.friction, twice[1].model.friction)
    assert method in twice[0].summary()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prior", "left"), [(EVEN, 0.9), (replace(EVEN, tip_doubt=2e-3, frame_doubt=1e-3), 0.95)]
)
def test_the_next_push_is_one_that_tells_something(prior: pw.Prior, left: float) -> None:
    """Rank a push at the far end above one that misses; a miss leaves the doubt as it is.

    A set-up in doubt is in doubt for the next push too, which tells less for it.
    """
    thing, records = pushed("hammer", 2)
    found = pw.identify(thing.grid, records[:1], prior=prior)
    low, high = thing.grid.outline.min(axis=0), thing.grid.outline.max(axis=0)
    far = pw.Push.line((high[0] - 0.02, low[1] - 0.02), (0.0, 0.1), 2.0)
    miss = pw.Push.line((high[0] + 0.1, low[1]), (0.0, 0.1), 2.0)
    ranked = pw.next_push(found.belief, [miss, far])
    assert [r.push for r in ranked] == [far, miss]
    doubt = float(np.sqrt(np.trace(found.posterior.centre_of_mass_covariance)))
    assert ranked[1].centre_std == pytest.approx(doubt, rel=1e-6)
    assert ranked[0].centre_std < left * doubt
    with pytest.raises(PushwiseError, match="no candidate pushes"):
        pw.next_push(found.belief, [])
    with pytest.raises(PushwiseError, match="needs a belief with a posterior"):
        pw.next_push(pw.Belief.certain(thing.model), [far])


BOX = pw.CellGrid.from_outline([(0.0, 0.0), (0.1, 0.0), (0.1, 0.1), (0.0, 0.1)], cell_size=0.02)
STILL = pw.PushRecord(pw.Push.line((-0.1, 0.5), (0.1, 0.0), 1.0), [0.0, 1.0], np.zeros((2, 3)))
FAR = pw.PushRecord(
    pw.Push.line((-0.1, 0.5), (0.1, 0.0), 1.0), [0.0, 1.0], [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0)]
)
WRAPPED = pw.PushRecord(
    pw.Push.line((-0.1, 0.5), (0.1, 0.0), 1.0), [0.0, 1.0], [(0.0, 0.0, 3.1), (0.1, 0.0, -3.1)]
)
CELL_99 = pw.PushRecord(
    pw.ForcePush(99, (1.0, 0.0), 0.1), [0.0, 0.1], [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0)]
)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: pw.identify(BOX, []), "no pushes to learn from"),
        (lambda: pw.identify(BOX, FAR), "put a single one in brackets"),  # type: ignore[arg-type]
        (lambda: pw.identify(BOX, [FAR, None]), r"records\[1\] is a NoneType"),  # type: ignore[list-item]
        (lambda: pw.Belief.certain(BOX), "model of a belief must be of the class ObjectModel; got"),  # type: ignore[arg-type]
        (lambda: pw.identify(BOX, [STILL]), "push 0 did not move the object"),
        (lambda: pw.identify(BOX, [FAR]), "log of another object, or in another frame"),
        (lambda: pw.identify(BOX, [CELL_99]), "acts on cell 99, but the grid has 25 cells"),
        (
            lambda: pw.identify(pw.CellGrid([(0.0, 0.0)], 0.1), [FAR]),
            "the object is one cell wide",
        ),
        (
            lambda: pw.identify(pw.CellGrid([(0.0, 0.0), (0.0, 0.1)], 0.1), [FAR]),
            "the object is one cell wide, .* make its grid with a smaller cell_size",
        ),
        (
            lambda: pw.identify(BOX, [WRAPPED]),
            "push 0 turns the object by 6.20 rad from sample 0 to the next; theta must be unwrap",
        ),
        (
            lambda: pw.identify(BOX, [FAR], method="magic"),
            "method must be one of refine, convex, feet, descent",
        ),
        (
            lambda: pw.identify(BOX, [FAR], physics=pw.Physics(load="rigid")),
            "takes physics with load 'own' and friction 'coulomb'; got load 'rigid'",
        ),
        (lambda: pw.SearchOptions(budget=0), "budget must be greater than zero"),
        (lambda: pw.SearchOptions(seed=-1), "seed must be zero or more"),
        (lambda: pw.Prior(max_friction=0.2), "max_friction must be above the typical friction"),
        (lambda: pw.Prior(mass=0.0), "prior mass must be greater than zero"),
        (lambda: pw.Prior(mass_smooth=1.0), "mass_smooth must be at least 0 and below 1"),
        (lambda: pw.Prior(mass_length=0.0), "prior mass_length must be greater than zero"),
        (
            lambda: pw.Prior(friction_spread=1e-7),
            "friction_spread must be at least 0.0001; got 1e-07",
        ),
        (lambda: pw.Prior(mass=None), "prior mass must be a number; got None"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_learned_from_is_refused(call: Callable[[], object], sentence: str) -> None:
    """Answer each mistake with a sentence that names it."""
    with pytest.raises(PushwiseError, match=sentence):
        call()


def test_contradictory_bounds_are_refused() -> None:
    """Refuse a largest mass of a cell below the typical one."""
    _, records = pushed("box", 3)
    with pytest.raises(PushwiseError, match="max_mass must be above the typical mass of a cell"):
        pw.identify(pw.objects.load("box").grid, records[:1], prior=pw.Prior(max_mass=1e-4))


def test_the_function_is_not_hidden_by_a_package() -> None:
    """Find `pw.identify` callable after every module of identification was imported."""
    import pushwise.identification.identify
    import pushwise.identification.methods.refine

    assert callable(pw.identify)
    assert pw.identify is pushwise.identification.identify.identify


def test_what_is_no_finger_or_prior_is_named() -> None:
    """Answer with a sentence, not with an exception of Python."""
    with pytest.raises(PushwiseError, match="finger must be of the class Finger; got float"):
        pw.identify(BOX, [FAR], finger=0.01)  # type: ignore[arg-type]
    with pytest.raises(PushwiseError, match="prior must be of the class Prior; got dict"):
        pw.identify(BOX, [FAR], prior={"mass": 1.0})  # type: ignore[arg-type]
