"""One bad push costs the others nothing: it is left out, named, and counted."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import pushwise as pw
from pushed import NOISE, SIGMA, pushed
from pushwise.errors import PushwiseError, PushwiseWarning
from pushwise.experiments.real.learning import Score
from pushwise.experiments.real.report import impossible_note
from pushwise.experiments.trials import end_error
from pushwise.geometry.polygon import outline_distance, placed
from pushwise.identification.holdout import end_distance, predicted_ends
from pushwise.identification.identify import average, stopped_at
from pushwise.sliding.outcome import Learned, Outcome, Phase
from pushwise.sliding.run_files import read_phase, write_phase

FINGER = pw.Finger()


def inside(grid: pw.CellGrid, record: pw.PushRecord, depth: float) -> pw.PushRecord:
    """Return a record whose finger starts this far inside the object [m]."""
    push = record.push
    assert isinstance(push, pw.Push)
    outline = placed(grid.outline, record.pose[0])
    ahead = push.velocity / np.hypot(*push.velocity)
    for step in np.linspace(0.0, 0.2, 2001):
        moved = push.moved(step * ahead)
        if outline_distance(outline, moved.start) - FINGER.radius < -depth:
            return pw.PushRecord(moved, record.t, record.pose, noise=record.noise)
    raise AssertionError("the finger never gets that far")


def fallen(record: pw.PushRecord) -> pw.PushRecord:
    """Return a record whose object tips and falls."""
    pose = record.pose.copy()
    pose[-3:] += (0.1, 0.1, 1.0)
    return pw.PushRecord(record.push, record.t, pose, noise=record.noise, fell=True)


def far_away(record: pw.PushRecord) -> pw.PushRecord:
    """Return a record whose finger is nowhere near the object."""
    assert isinstance(record.push, pw.Push)
    return pw.PushRecord(
        record.push.moved((1.0, 1.0)), record.t, record.pose, noise=record.noise, source="far.csv"
    )


@pytest.mark.slow
def test_a_push_that_starts_inside_or_falls_is_left_out() -> None:
    """Learn from ten good pushes what they say, whatever else is among them."""
    thing, records = pushed("box", 3)
    grid = thing.grid
    bad = [inside(grid, records[1], 8e-3), fallen(records[2]), far_away(records[3])]
    alone = pw.identify(grid, records)
    with pytest.warns(PushwiseWarning) as warned:
        found = pw.identify(grid, [*bad[:2], *records, bad[2]])
    said = [str(warning.message) for warning in warned]
    assert [text.split(" ")[3].rstrip(":") for text in said] == ["0", "1", "12"]
    assert "push 0: the finger, radius 0.01 m, starts 8." in said[0]
    assert "mm inside the object as observed" in said[0]
    assert said[1].startswith("left out: push 1 lets the object fall off the table")
    assert said[2].startswith("left out: push 12 (far.csv) moved the object")
    assert found.outliers == (0, 1, 12)
    assert set(said) <= set(found.statements())
    assert found.summary().count("left out: ") == 3
    # Minimisation ends within a tenth of a standard error of the minimum.
    std = np.sqrt(np.diag(alone.posterior.centre_of_mass_covariance))
    assert (np.abs(found.model.centre_of_mass - alone.model.centre_of_mass) < 0.1 * std).all()
    np.testing.assert_allclose(
        found.posterior.centre_of_mass_covariance,
        alone.posterior.centre_of_mass_covariance,
        rtol=0.1,
        atol=1e-7,
    )
    assert found.drift.tolist() == alone.drift.tolist()


@pytest.mark.parametrize("method", ["refine", "convex", "descent", "random", "feet"])
@pytest.mark.filterwarnings("ignore:left out")
def test_every_method_does_without_a_bad_push(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Find what the good pushes alone would have led to."""
    monkeypatch.setattr("pushwise.identification.methods.feet.CROWD", 12)
    monkeypatch.setattr("pushwise.identification.methods.feet.MOVES", 1)
    grid = pw.CellGrid.from_outline(
        [(0.0, 0.0), (0.12, 0.0), (0.12, 0.08), (0.0, 0.08)], cell_size=0.04
    )
    truth = pw.ObjectModel(grid, 0.05 * np.arange(1.0, grid.n_cells + 1.0), 0.4)
    good = [
        pw.worlds.Ideal(truth, sensing=pw.worlds.Sensing(rate=10.0)).push(
            pw.Push.line(start, velocity, 1.0)
        )
        for start, velocity in (((-0.02, 0.02), (0.1, 0.0)), ((0.03, -0.02), (0.0, 0.1)))
    ]
    bad = inside(grid, good[0], 8e-3)
    search = pw.SearchOptions(budget=6, seed=3)
    alone = pw.identify(grid, good, method=method, search=search)
    found = pw.identify(grid, [*good, bad], method=method, search=search)
    assert found.outliers == (*alone.outliers, 2)
    np.testing.assert_allclose(found.model.mass, alone.model.mass, rtol=1e-6)
    assert found.history[-1].error == pytest.approx(alone.history[-1].error, rel=1e-6)
    stopped = stopped_at(found.model, [*good, bad], finger=FINGER, prior=pw.Prior(), method=method)
    assert any(text.startswith("left out: push 2") for text in stopped.statements())
    assert 2 in average([found, found]).outliers


def test_pushes_of_which_none_can_be_used_are_refused() -> None:
    """Say what is wrong with the first."""
    thing, records = pushed("box", 3)
    bad = [fallen(record) for record in records[:2]]
    with pytest.raises(PushwiseError, match=r"no push can be used; the first: push 0 lets the obj"):
        pw.identify(thing.grid, bad)
    with pytest.raises(PushwiseError, match=r"^push 0 lets the object fall off the table"):
        pw.identify(thing.grid, bad[:1])


def test_a_finger_inside_in_every_push_is_a_matter_of_the_set_up() -> None:
    """Estimate where the tip really is, instead of refusing all pushes."""
    thing, records = pushed("box", 3)
    found = pw.identify(thing.grid, [inside(thing.grid, record, 8e-3) for record in records[:2]])
    assert found.posterior.problem.calibrates
    assert "tip" in found.summary()


def test_what_a_method_cannot_use_is_left_out() -> None:
    """Say which method it is, and what it needs."""
    thing, records = pushed("box", 3)
    first = records[0]
    moving = pw.PushRecord(first.push, first.t, first.pose, twist=(0.1, 0.0, 0.0))
    with pytest.warns(PushwiseWarning, match=r"push 1 starts with the object in motion; method c"):
        found = pw.identify(thing.grid, [first, moving], method="convex")
    assert found.outliers == (1,)
    with pytest.raises(PushwiseError, match=r"push 0 has no measured forces, which method a"):
        pw.identify(thing.grid, [first], method="autograd")


def test_predictions_count_what_cannot_be_simulated(tmp_path: Path) -> None:
    """Predict that an object stays where it is, and say for how many pushes."""
    thing, records = pushed("box", 3)
    bad = inside(thing.grid, records[1], 8e-3)
    tested: Sequence[pw.PushRecord] = [records[0], bad, records[2]]
    ends = predicted_ends(thing.model, tested, FINGER)
    assert ends.impossible == (1,)
    np.testing.assert_array_equal(ends.pose[1], bad.pose[0])
    assert end_distance(thing.model, tested, FINGER) > end_distance(
        thing.model, [records[0], records[2]], FINGER
    )
    clean = pw.simulate(thing.model, records[0].push, finger=FINGER)
    true = pw.PushRecord(records[0].push, [0.0, 2.0], clean.pose_at([0.0, 2.0]))
    assert end_error(thing.model, FINGER, [true]) == pytest.approx(0.0, abs=1e-12)
    with pytest.warns(PushwiseWarning, match=r"push 1 counts as one that moves nothing: push"):
        end_error(thing.model, FINGER, [true, bad])

    def row(impossible: int) -> Score:
        return Score("a/set", 10, 0, "identified", 1.0, 1.0, 2.0, 5, impossible, None, 0.0)

    assert impossible_note([row(0)]) == ""
    assert "| a/set | 10 | 0 | identified | 2 | 5 |" in impossible_note([row(0), row(2)])


@pytest.mark.filterwarnings("ignore:left out")
def test_a_run_remembers_why_a_push_was_left_out(tmp_path: Path) -> None:
    """Write what was identified to the folder of a run, and read the same sentences."""
    thing, records = pushed("box", 3)
    all_records = (records[0], inside(thing.grid, records[1], 8e-3), records[2])
    found = pw.identify(thing.grid, all_records)
    done = Outcome(
        pw.SlideOptions(), pw.Table(), FINGER, pw.Prior(), grid=thing.grid, records=all_records
    )
    write_phase(tmp_path, Phase.IDENTIFY, Learned(found, found.belief), done)
    again = read_phase(tmp_path, Phase.IDENTIFY, done).value.found
    assert again.statements() == found.statements()
    assert again.outliers == (1,)


def thrown(
    rng: np.random.Generator, model: pw.ObjectModel, count: int, *, twist: bool = True
) -> list[pw.PushRecord]:
    """Throw an object, spinning, past a finger that it may meet."""
    records = []
    push = pw.Push([0.0, 0.1, 0.6], [(0.3, 0.02), (0.3, 0.02), (0.25, 0.0)])
    for _ in range(count):
        start = np.array([rng.uniform(0.4, 0.6), rng.uniform(-0.2, 0.2), rng.uniform(-3.0, 3.0)])
        path = pw.simulate(model, push, twist=start, finger=FINGER, until=0.6)
        t = np.linspace(0.0, 0.6, 31)
        pose = path.pose_at(t) + 0.3 * SIGMA * rng.standard_normal((31, 3))
        records.append(
            pw.PushRecord(push, t, pose, twist=start if twist else (0.0, 0.0, 0.0), noise=NOISE)
        )
    return records


@pytest.mark.slow
def test_thrown_objects_are_learned_from() -> None:
    """Use the twist at the start: thrown objects reveal friction, and predictions use it, too."""
    rng = np.random.default_rng(5)
    thing = pw.objects.load("box").sample(rng)
    records = thrown(rng, thing.model, 8)
    found = pw.identify(thing.grid, records[:5])
    assert found.outliers == ()
    load = 9.81 * float(thing.mass @ thing.friction)
    total = 9.81 * float(found.model.mass @ found.model.friction)
    # Only friction over mass shows where nothing is pushed.
    mu, true = total / found.model.total_mass, load / thing.model.total_mass
    assert mu == pytest.approx(true, rel=0.05)
    assert end_distance(found.model, records[5:], found.finger) < 6e-3
    assert end_error(thing.model, FINGER, records) < 2e-3
