"""Set-ups that are doubted because of what the records show."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError
from pushwise.identification.calibration import Calibration
from pushwise.identification.free_slide import free_slide
from pushwise.identification.setup_doubts import contact_gaps, doubt_setup
from pushwise.sliding.options import SlideOptions
from pushwise.sliding.outcome import Learned, Outcome, Phase
from pushwise.sliding.run_files import read_phase, write_phase

FINGER = pw.Finger(radius=0.005, friction=0.3)
TIP = np.array([0.003, -0.002])
OUTLINE = [(-0.05, -0.04), (0.05, -0.04), (0.05, 0.04), (-0.05, 0.04)]
STARTS = (
    ((-0.07, 0.015), (0.05, 0.0)),
    ((0.01, -0.06), (0.0, 0.05)),
    ((0.07, -0.01), (-0.05, 0.0)),
)


@pytest.fixture(scope="module")
def grid() -> pw.CellGrid:
    """Return a plate."""
    return pw.CellGrid.from_outline(OUTLINE, cell_size=0.02)


@pytest.fixture(scope="module")
def records(grid: pw.CellGrid) -> list[pw.PushRecord]:
    """Return slow pushes of it at 30 Hz with a noise of 0.3 mm, recorded as they were."""
    rng = np.random.default_rng(0)
    model = pw.ObjectModel(grid, np.full(grid.n_cells, 0.5 / grid.n_cells), 0.3)
    made = []
    for start, velocity in STARTS:
        push = pw.Push.line(start, velocity, 1.5)
        path = pw.simulate(model, push, finger=FINGER, until=1.6)
        t = np.arange(0.0, 1.6, 1.0 / 30.0)
        pose = np.column_stack([np.interp(t, path.t, column) for column in path.pose.T])
        pose += rng.normal(size=pose.shape) * (3e-4, 3e-4, 2e-3)
        made.append(pw.PushRecord(push, t, pose, source="made"))
    return made


def misplaced(records: list[pw.PushRecord], by: np.ndarray) -> list[pw.PushRecord]:
    """Return records whose finger is put where it was not, off by (x, y) [m]."""
    return [Calibration(tip=-by).record(record) for record in records]


def test_a_good_set_up_is_not_doubted(grid: pw.CellGrid, records: list[pw.PushRecord]) -> None:
    """Leave finger and prior alone where the finger touches, or where doubts are stated."""
    prior = pw.Prior()
    assert np.abs(contact_gaps(grid, records, FINGER)).max() < 1e-3
    assert doubt_setup(grid, records, FINGER, prior) == (FINGER, prior)
    stated = pw.Prior(radius_doubt=0.01)
    off = misplaced(records, 2.0 * TIP)
    assert doubt_setup(grid, off, FINGER, stated) == (FINGER, stated)


def test_a_finger_that_is_off_is_doubted_and_estimated(
    grid: pw.CellGrid, records: list[pw.PushRecord], tmp_path: Path
) -> None:
    """Turn on doubts as large as the gap, estimate the offset, report it, and read it back."""
    off = misplaced(records, TIP)
    _, doubted = doubt_setup(grid, off, FINGER, pw.Prior())
    assert 2e-3 < doubted.tip_doubt < 4e-3
    found = pw.identify(grid, off, finger=FINGER)
    setup = found.facts()["setup"]
    assert isinstance(setup, dict)
    assert np.hypot(*(np.array(setup["tip"]["value"]) - TIP)) < 4.0 * np.hypot(*setup["tip"]["std"])
    assert found.calibration is not None
    (said,) = [words for words in found.statements() if words.startswith("set-up in doubt")]
    assert f"tip off by ({1e3 * setup['tip']['value'][0]:.1f}, " in said
    assert said in found.summary()
    done = Outcome(SlideOptions(), pw.Table(), FINGER, pw.Prior(), grid=grid, records=tuple(off))
    write_phase(tmp_path, Phase.IDENTIFY, Learned(found, found.belief), done)
    read = read_phase(tmp_path, Phase.IDENTIFY, done).value.found
    assert read.statements() == found.statements()
    known = pw.identify(grid, records, finger=FINGER)
    assert known.facts()["setup"] is None
    assert not any("set-up" in words for words in known.statements())


@pytest.mark.parametrize("behind", [0.0035, 0.005, 0.008])
def test_a_finger_that_seems_to_be_apart_throughout_is_doubted(
    grid: pw.CellGrid, records: list[pw.PushRecord], behind: float
) -> None:
    """Take no push for a free slide because the finger is recorded some millimetres behind."""
    record = records[1]
    (off,) = misplaced([record], np.array([0.0, behind]))
    assert free_slide(grid, off, FINGER.radius) is None
    assert contact_gaps(grid, [off], FINGER) == pytest.approx([behind], abs=5e-4)
    assert doubt_setup(grid, [off], FINGER, pw.Prior())[1].tip_doubt == pytest.approx(
        behind, abs=5e-4
    )


def test_a_push_seen_from_its_midst_shows_a_finger_that_is_off(
    grid: pw.CellGrid, records: list[pw.PushRecord]
) -> None:
    """Measure the gap of a record that starts in motion, as of one that starts at rest."""
    whole = misplaced(records, TIP)
    midst = []
    for record in whole:
        assert isinstance(record.push, pw.Push)
        t, pose = record.t[20:] - record.t[20], record.pose[20:]
        push = pw.Push.line(
            record.push.at(record.t[20:21])[0], record.push.velocity, record.push.duration - 20 / 30
        )
        twist = (pose[3] - pose[0]) / (t[3] - t[0])
        midst.append(pw.PushRecord(push, t, pose, twist=twist, source="made"))
    gaps = contact_gaps(grid, midst, FINGER)
    assert gaps == pytest.approx(contact_gaps(grid, whole, FINGER), abs=5e-4)
    assert doubt_setup(grid, midst, FINGER, pw.Prior())[1].tip_doubt > 1.5e-3


def test_a_radius_that_nobody_states_is_guessed(
    grid: pw.CellGrid, records: list[pw.PushRecord]
) -> None:
    """Attribute a gap to an unusual radius and to the tip, doubt both, and find the radius."""
    usual = replace(FINGER, radius=0.012)
    finger, prior = doubt_setup(grid, records, usual, pw.Prior(), radius_known=False)
    assert FINGER.radius < finger.radius < 0.5 * (FINGER.radius + usual.radius)
    assert finger.radius - FINGER.radius < prior.tip_doubt + 5e-4
    assert prior.radius_doubt == 0.5
    found = pw.identify(grid, records, finger=finger, prior=prior)
    assert found.finger.radius == pytest.approx(FINGER.radius, abs=1e-3)
    same, prior = doubt_setup(grid, records, usual, pw.Prior())
    assert (same, prior.radius_doubt) == (usual, 0.1)


def test_an_error_that_remains_says_what_to_try(
    grid: pw.CellGrid, records: list[pw.PushRecord]
) -> None:
    """Name the push and what to check where the finger starts deep inside the object."""
    push = pw.Push.line((-0.03, 0.015), (0.05, 0.0), 1.5)
    inside = pw.PushRecord(push, records[0].t, records[0].pose, source="log.csv, push 7")
    with pytest.raises(PushwiseError, match=r"push 7.*; check the finger's radius, the frame of"):
        pw.identify(grid, [inside], finger=FINGER)
