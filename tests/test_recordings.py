"""Streams, clocks, and pushes cut out of recordings."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError
from pushwise.records.recordings.findings import Findings, FoundPush
from pushwise.records.recordings.stream import Recording, Stream


def stream(name: str, t: Any, values: Any) -> Stream:
    """Return a stream of a sensor."""
    return Stream.ordered(name, f"the {name}", np.asarray(t, float), np.asarray(values, float))


def pushed(
    finger: Any, *, rate: float = 100.0, seconds: float = 3.0, pose: Any = None
) -> Recording:
    """Return a recording in which a finger at finger(t) moves an object straight on with it.

    The object lies at the origin and is touched when the finger's x is zero.
    """
    t = np.arange(0.0, seconds, 1.0 / rate)
    places = np.array([finger(s) for s in t])
    moved = np.maximum.accumulate(np.maximum(places[:, 0], 0.0))
    seen = (
        np.column_stack([moved, 0 * t, 0 * t]) if pose is None else np.array([pose(s) for s in t])
    )
    return Recording("made", stream("object", t, seen), stream("finger", t, places))


def test_streams_are_sorted_and_everything_dropped_is_counted() -> None:
    """Count samples out of order, doubled, without numbers and jumping."""
    t = [0.0, 0.2, 0.1, 0.3, 0.3, 0.4, 0.5, 0.6, np.nan]
    x = [0.0, 0.002, 0.001, 0.003, 9.0, np.nan, 3.0, 0.006, 0.0]
    made = stream("finger", t, np.column_stack([x, np.zeros(9)]))
    assert made.t.tolist() == [0.0, 0.1, 0.2, 0.3, 0.6]
    assert made.values[:, 0].tolist() == [0.0, 0.001, 0.002, 0.003, 0.006]
    counts = (made.unsorted, made.duplicates, made.not_finite, made.jumps)
    assert counts == (1, 1, 2, 1)


def test_a_few_samples_that_jump_away_together_are_dropped() -> None:
    """Drop what jumps by 0.2 m and back, at any rate, and keep angles continuous across it."""
    for rate, wrong in ((100.0, [30, 31, 32]), (15.0, [30])):
        t = np.arange(0.0, 4.0, 1.0 / rate)
        true = np.column_stack([0.1 * t, 0.0 * t, 3.0 + 0.1 * t])
        seen = true.copy()
        seen[wrong] += (0.2, 0.0, 2.0)
        seen[:, 2] = (seen[:, 2] + np.pi) % (2.0 * np.pi) - np.pi
        made = stream("object", t, seen)
        assert made.jumps == len(wrong)
        assert made.values == pytest.approx(np.delete(true, wrong, axis=0))


def test_values_repeated_while_the_object_moved_on_are_dropped() -> None:
    """Drop what a lost tracker repeats until it finds the object again, but keep real rest."""
    t = np.arange(0.0, 3.0, 0.01)
    x = 0.1 * np.clip(t - 0.5, 0.0, 0.8) + 0.1 * np.clip(t - 1.8, 0.0, 1.0)
    made = stream("object", t, np.column_stack([x, 0 * x, 0 * x]))
    assert made.held == 0
    frozen = x.copy()
    frozen[220:250] = x[220]
    made = stream("object", t, np.column_stack([frozen, 0 * x, 0 * x]))
    assert made.held == 29
    assert made.values[:, 0] == pytest.approx(np.delete(x, range(221, 250)))


def test_a_sample_that_waited_in_a_queue_is_dropped() -> None:
    """Drop a sample that is stamped just before the next one, late, and keep that one."""
    t = np.arange(0.0, 1.0, 0.01)
    x = 0.1 * t
    t[50] = t[51] - 2e-4
    made = stream("object", t, np.column_stack([x, 0 * x, 0 * x]))
    assert made.queued == 1
    assert made.values[:, 0] == pytest.approx(np.delete(x, 50))
    force = stream("force", t, np.column_stack([x, 0 * x]))
    assert (force.queued, len(force.t)) == (0, 100)


def test_angles_go_the_shorter_way() -> None:
    """Interpolate between 3.1 and -3.1 through pi, not through zero."""
    made = stream("object", [0.0, 1.0], [[0, 0, 3.1], [0, 0, -3.1]])
    assert made.at(np.array([0.5]))[0, 2] == pytest.approx(np.pi)


def test_forces_are_means_since_the_sample_before() -> None:
    """Integrate straight lines between samples exactly, whatever the two rates."""
    t = np.array([0.0, 0.4, 1.0, 1.1, 2.0])
    made = stream("force", t, np.column_stack([t**0, 3 * t]))
    mean = made.mean_between(np.array([0.2, 0.9, 1.7]))
    assert mean[0] == pytest.approx([1.0, 0.6])
    assert mean[1:, 1] == pytest.approx([3 * 0.55, 3 * 1.3])
    assert mean[:, 0] == pytest.approx(1.0)


def check_finger(push: FoundPush, recording: Recording) -> None:
    """Compare every sample with what was recorded at its own time."""
    t = push.record.t + push.start
    assert push.record.finger == pytest.approx(recording.finger.at(t), abs=1e-12)
    assert np.isin(np.round(t, 9), np.round(recording.object.t, 9)).all()
    assert push.record.pose[:, :2] == pytest.approx(recording.object.at(t)[:, :2], abs=1e-12)


def test_a_push_is_found_between_approach_and_rest() -> None:
    """Cut the push off a long approach, and keep the rest after it."""
    recording = pushed(lambda t: (min(0.1 * (t - 1.5), 0.1), 0.02), seconds=4.0)
    found = pw.cut_pushes([recording])
    (push,) = found.pushes
    record = push.record
    check_finger(push, recording)
    assert isinstance(record.push, pw.Push)
    assert record.push.start[0] == pytest.approx(-0.01, abs=0.002)
    assert record.push.end == pytest.approx([0.1, 0.02])
    assert 2.65 < push.start + record.t[-1] < 2.8
    assert record.pose[-1, 0] == pytest.approx(0.1, abs=1e-6)
    assert not record.twist.any()
    assert found.noise.position < 1e-12


@pytest.mark.parametrize(
    "finger",
    [
        # along an arc
        lambda t: (0.1 * np.sin(t / 2) - 0.01, 0.1 - 0.1 * np.cos(t / 2)),
        # from 50 to 200 mm/s
        lambda t: (0.05 * t + 0.025 * t**2 - 0.01, 0.0),
        # back by 20 mm, and on again
        lambda t: (0.1 * t - 0.01 - (0.2 * min(max(t - 0.8, 0.0), 0.2)), 0.0),
    ],
)
def test_a_push_has_the_whole_path_of_its_finger(finger: Any) -> None:
    """Keep a finger that turns, speeds up, lets go and touches again in one record, as it was."""
    recording = pushed(finger)
    (push,) = pw.cut_pushes([recording]).pushes
    check_finger(push, recording)
    assert push.start + push.record.t[-1] == pytest.approx(recording.object.t[-1])
    assert push.facts()["travel"] > 0.12


def test_a_push_around_a_corner_is_one() -> None:
    """Keep both legs of a path that turns by a right angle in one record."""

    def finger(t: float) -> tuple[float, float]:
        return (min(0.05 * t, 0.08) - 0.01, 0.05 * max(t - 1.6, 0.0))

    def pose(t: float) -> tuple[float, float, float]:
        x, y = finger(t)
        return (max(x, 0.0), y, 0.0)

    recording = pushed(finger, pose=pose)
    (push,) = pw.cut_pushes([recording]).pushes
    check_finger(push, recording)
    assert push.facts()["travel"] == pytest.approx(0.07 + 0.01 + 0.05 * 1.39, abs=2e-3)


def test_a_slide_after_a_release_is_kept() -> None:
    """Record an object that slides on for half a second after the finger stopped."""

    def pose(t: float) -> tuple[float, float, float]:
        slides = min(max(t - 1.0, 0.0), 0.5)
        return (0.5 * min(max(t - 0.8, 0.0), 0.2) + 0.5 * slides - 0.5 * slides**2, 0.0, 0.0)

    recording = pushed(lambda t: (0.5 * (min(t, 1.0) - 0.8), 0.0), pose=pose)
    (push,) = pw.cut_pushes([recording]).pushes
    check_finger(push, recording)
    assert push.record.pose[-1, 0] == pytest.approx(0.225)
    assert push.start + push.record.t[-1] > 1.6


def test_rests_divide_a_recording_into_pushes() -> None:
    """Begin a new record where the object rested for a second, not where it stopped briefly."""

    def twice(pause: float) -> Recording:
        return pushed(
            lambda t: (0.05 * (min(t, 2.0) + max(t - 2.0 - pause, 0.0)) - 0.05, 0.0), seconds=6.0
        )

    assert len(pw.cut_pushes([twice(0.2)]).pushes) == 1
    recording = twice(1.0)
    pushes = pw.cut_pushes([recording]).pushes
    assert [push.start < 2.0 for push in pushes] == [True, False]
    assert pushes[0].start + pushes[0].record.t[-1] < pushes[1].start
    for push in pushes:
        check_finger(push, recording)


def test_a_gap_in_which_an_object_rested_divides_a_recording() -> None:
    """Begin a new record after a pause of the recorder; keep one in which the object moved on."""
    t = np.arange(0.0, 4.0, 0.01)
    finger = np.column_stack([0.05 * t - 0.02, 0 * t])
    pose = np.column_stack([np.maximum(finger[:, 0], 0.0), 0 * t, 0 * t])

    def pushes(stamps: Any, kept: Any) -> int:
        seen = stream("object", stamps[kept], pose[kept])
        recording = Recording("made", seen, stream("finger", stamps[kept], finger[kept]))
        return len(pw.cut_pushes([recording]).pushes)

    assert pushes(t + 30.0 * (t > 2.0), t >= 0.0) == 2
    assert pushes(t, (t <= 2.0) | (t > 2.8)) == 1


def test_an_object_put_back_while_nothing_was_recorded_was_not_pushed() -> None:
    """Leave out a motion that is all in a pause of the recorder, as in two bags joined."""
    once = pushed(lambda t: (min(0.1 * t - 0.05, 0.1), 0.0))
    t = once.object.t

    def twice(one: Stream) -> Stream:
        return stream(one.name, np.append(t, t + 5.0), np.concatenate([one.values] * 2))

    found = pw.cut_pushes([Recording("made", twice(once.object), twice(once.finger))])
    assert [len(push.record.t) for push in found.pushes] == [
        len(push.record.t) for push in pw.cut_pushes([once]).pushes * 2
    ]
    assert "moves by 100 mm while nothing was recorded for 2.01 s" in found.left_out[0]


def test_slow_pushes_in_noise_are_whole() -> None:
    """Find one push of 10 mm/s in poses with a noise of half a millimetre, at 30 Hz."""
    rng = np.random.default_rng(0)

    def pose(t: float) -> tuple[float, ...]:
        noise = 5e-4 * rng.normal(size=2)
        return (0.01 * min(max(t - 2.0, 0.0), 5.0) + noise[0], noise[1], 0.0)

    finger = pushed(lambda t: (0.01 * (min(t, 7.0) - 2.0), 0.0), rate=30.0, seconds=9.0, pose=pose)
    (push,) = pw.cut_pushes([finger]).pushes
    check_finger(push, finger)
    assert push.record.pose[-1, 0] == pytest.approx(0.05, abs=2e-3)


def test_an_object_may_be_in_motion_when_a_recording_starts() -> None:
    """Estimate the twist with which a record starts, if nothing shows that the object rested."""
    recording = pushed(lambda t: (0.1 * t, 0.0), pose=lambda t: (0.1 * t, 0.0, 0.2 * t))
    (push,) = pw.cut_pushes([recording]).pushes
    assert push.record.twist == pytest.approx([0.1, 0.0, 0.2])
    moved = pw.cut_pushes([recording], offset=(0.0, 0.1, 0.0)).pushes[0].record
    assert moved.twist[0] == pytest.approx(0.08, abs=1e-3)


@pytest.mark.parametrize("rate", [100.0, 40.0, 15.0])
def test_a_finger_recorded_a_little_later_does_not_hide_motion(rate: float) -> None:
    """Estimate the twist at any rate, from the first sample at which the finger was seen, too."""

    def finger(t: float) -> tuple[float, float]:
        return (0.1 * t + 2e-4 * np.sin(70.0 * t), 0.0)

    recording = pushed(finger, rate=rate, pose=lambda t: (0.1 * t, 0.0, 0.2 * t))
    tip = recording.finger
    for lost in (0, 2, len(tip.t) // 3):
        later = replace(recording, finger=replace(tip, t=tip.t[lost:], values=tip.values[lost:]))
        (push,) = pw.cut_pushes([later]).pushes
        assert push.record.twist == pytest.approx([0.1, 0.0, 0.2])
        assert push.start == pytest.approx(tip.t[lost])


@pytest.mark.parametrize("late", [0.1, 0.3, -0.5])
def test_the_clocks_of_finger_and_object_are_compared_and_corrected(late: float) -> None:
    """Find how late the object is stamped from a finger that speeds up, state and correct it."""

    def finger(t: float) -> tuple[float, float]:
        s = min(max(t - 1.0, 0.0), 2.0)
        return (0.05 * s + 0.03 * s**2, 0.01)

    truth = pushed(finger, seconds=5.0)
    shifted = replace(truth, object=replace(truth.object, t=truth.object.t + late))
    found = pw.cut_pushes([shifted])
    words = "late" if late > 0.0 else "early"
    assert f"stamped {abs(late):.2f} s {words} compared" in found.recordings[0].clocks
    assert found.recordings[0].clocks in found.summary()
    (push,), (true,) = found.pushes, pw.cut_pushes([truth]).pushes
    assert push.record.pose == pytest.approx(true.record.pose, abs=1e-9)
    assert push.record.finger == pytest.approx(true.record.finger, abs=1e-9)
    assert "as stamped, within 0.04 s" in pw.cut_pushes([truth]).recordings[0].clocks
    # Whoever states a delay is believed.
    given = pw.cut_pushes([shifted], delay=0.0)
    assert (
        "stamped by the finger's clock, as stated, but the two move" in given.recordings[0].clocks
    )
    assert given.recordings[0].object.t == pytest.approx(shifted.object.t)


def test_clocks_that_may_differ_are_named_but_not_corrected() -> None:
    """Never say that clocks agree within 0.04 s and that they agree best 0.1 s apart."""

    def finger(t: float) -> tuple[float, float]:
        s = min(max(t - 1.0, 0.0), 2.0)
        return (0.02 * s + 0.004 * s**2, 0.01)

    truth = pushed(finger, seconds=5.0)
    shifted = replace(truth, object=replace(truth.object, t=truth.object.t + 0.1))
    (read,) = pw.cut_pushes([shifted]).recordings
    assert "may be stamped 0.10 s late" in read.clocks
    assert "state the delay" in read.clocks
    assert read.object.t == pytest.approx(shifted.object.t)


def test_a_sensor_that_holds_its_values_is_read_as_often_as_it_measures() -> None:
    """Drop repeats in steps, of rest all but a few, and find one push instead of many."""
    t = np.arange(0.0, 3.0, 0.01)
    fresh = np.floor(t / 0.03 + 1e-6) * 0.03
    places = np.column_stack([np.clip(0.1 * (fresh - 1.0), 0.0, 0.1), 0 * t])
    finger = stream("finger", t, places)
    assert finger.held == 200
    assert 1.0 / finger.period == pytest.approx(100.0 / 3.0)
    seen = stream("object", t, np.column_stack([places, 0 * t]))
    (push,) = pw.cut_pushes([Recording("made", seen, finger)]).pushes
    assert push.record.finger == pytest.approx(finger.at(push.record.t + push.start))
    still = stream("finger", t, np.zeros((len(t), 2)))
    assert (still.held, len(still.t)) == (0, len(t))


def test_an_object_seen_late_is_told_and_mended() -> None:
    """Notice an object that stops after its finger, and shift its stamps when asked to."""

    def late(t: float) -> tuple[float, float, float]:
        return (min(max(0.05 * (t - 1.08), 0.0), 0.05), 0.0, 0.0)

    recording = pushed(lambda t: (min(max(0.05 * (t - 1.0), 0.0), 0.05), 0.0), pose=late)
    (note,) = pw.cut_pushes([recording]).notes
    assert "0.07 to 0.08 s late" in note
    mended = pw.cut_pushes([recording], delay=0.08)
    assert mended.notes == ()
    (push,) = mended.pushes
    assert push.record.finger is not None
    assert push.record.pose[:, 0] == pytest.approx(
        np.maximum(push.record.finger[:, 0], 0), abs=1e-3
    )


def test_an_object_that_a_hand_moves_is_not_pushed() -> None:
    """Leave out motion without a moving finger, without force, or far from the finger."""
    by_hand = pushed(lambda t: (-0.3, 0.0), pose=lambda t: (0.1 * t, 0.0, 0.0))
    assert pw.cut_pushes([by_hand]).pushes == ()
    beside = pushed(lambda t: (0.05 * t, 0.5), pose=lambda t: (0.05 * t, 0.0, 0.0))
    grid = pw.CellGrid.from_outline(
        [(0, -0.05), (0.1, -0.05), (0.1, 0.05), (0, 0.05)], cell_size=0.02
    )
    assert len(pw.cut_pushes([beside]).pushes) == 1
    found = pw.cut_pushes([beside], grid=grid)
    assert found.pushes == ()
    assert "stays at least 450 mm from the object" in found.left_out[0]
    t = beside.object.t
    felt = Recording(
        "made", beside.object, beside.finger, stream("force", t, np.zeros((len(t), 2)))
    )
    found = pw.cut_pushes([felt])
    assert found.pushes == ()
    assert "moves without a force" in found.left_out[0]
    assert "in the air, so the zero of the force is unknown" in found.notes[0]


def test_a_push_without_its_force_is_left_out() -> None:
    """Make up no force where the sensor ended, or in a gap; but sensors may end a little apart."""

    def finger(t: float) -> tuple[float, float]:
        return (0.05 * (t if t < 3.0 else 6.0 - t) - 0.05, 0.0)

    def pose(t: float) -> tuple[float, float, float]:
        return (max(0.05 * (min(t, 3.0) - 1.0) - 0.05 * max(t - 4.0, 0.0), 0.0), 0.0, 0.0)

    both = pushed(finger, seconds=6.0, pose=pose)
    t = both.object.t

    def felt_at(chosen: Any) -> Findings:
        fx = np.select([(t > 1.0) & (t < 3.0), t > 4.0], [2.0, -2.0])
        force = stream("force", t[chosen], np.column_stack([fx, 0 * t])[chosen])
        return pw.cut_pushes([Recording("made", both.object, both.finger, force)])

    assert len(felt_at(t < t[-1] - 0.025).pushes) == 2
    ended = felt_at(t < 3.5)
    assert [push.start < 3.0 for push in ended.pushes] == [True]
    assert ended.left_out == (
        "made, push at 3.80 s: the force was not recorded throughout; without forces it would be "
        "kept",
    )
    assert len(felt_at((t < 2.0) | (t > 2.07)).pushes) == 2  # a few messages that were lost
    gap = felt_at((t < 2.0) | (t > 2.3))
    assert [push.start < 3.0 for push in gap.pushes] == [False]
    assert "the force was not recorded" in gap.left_out[0]


def test_a_tracker_that_flips_is_left_out() -> None:
    """Leave out a push in which the object turns by a quarter at once, and say when."""

    def pose(t: float) -> tuple[float, float, float]:
        return (max(0.05 * t - 0.01, 0.0), 0.0, 1.57 if t > 1.5 else 0.0)

    found = pw.cut_pushes([pushed(lambda t: (0.05 * t - 0.01, 0.0), pose=pose)])
    assert found.pushes == ()
    assert "jumps by 1 mm and 90 degrees at 1.51 s" in found.left_out[0]


def test_the_grid_may_have_another_frame() -> None:
    """Carry poses over to a frame at an offset in the tracked one."""

    def pose(t: float) -> tuple[float, float, float]:
        return (0.05 * t, 0.0, 0.5)

    recording = pushed(lambda t: (0.05 * t - 0.1, 0.0), pose=pose)
    plain = pw.cut_pushes([recording]).pushes[0].record
    moved = pw.cut_pushes([recording], offset=(0.1, 0.02, 0.3)).pushes[0].record
    shift = moved.pose - plain.pose
    want = [0.1 * np.cos(0.5) - 0.02 * np.sin(0.5), 0.1 * np.sin(0.5) + 0.02 * np.cos(0.5), 0.3]
    assert shift == pytest.approx(np.tile(want, (len(shift), 1)))


def test_an_offset_and_a_delay_are_numbers() -> None:
    """Refuse what is no number before it spreads."""
    recording = pushed(lambda t: (0.05 * t - 0.1, 0.0))
    with pytest.raises(PushwiseError, match="offset must be finite"):
        pw.cut_pushes([recording], offset=(np.nan, 0.0, 0.0))
    with pytest.raises(PushwiseError, match="delay must be finite"):
        pw.cut_pushes([recording], delay=np.inf)


def test_streams_that_never_meet_are_refused() -> None:
    """Suspect the clocks of streams without a common time."""
    t = np.arange(10.0)
    with pytest.raises(PushwiseError, match="never together; check their clocks"):
        Recording(
            "made",
            stream("object", t, np.zeros((10, 3))),
            stream("finger", t + 100.0, np.zeros((10, 2))),
        )


def test_slow_pushes_known_by_two_poses_are_found_with_their_forces() -> None:
    """Miss no push however slow it is, measure no zero of the force during it, guess the noise."""
    t = np.arange(0.0, 7.0, 0.01)
    jitter = 1e-4 * np.random.default_rng(0).normal(size=(len(t), 2))
    tip = stream("finger", t, np.column_stack([2.5e-3 * t, 0 * t]) + jitter)
    force = stream("force", t, np.column_stack([0 * t + 2.0, 0 * t]))

    def of(moves: float, since: float = 0.0) -> Recording:
        seen = stream("object", [since, t[-1]], [[0.0, 0.0, 0.0], [moves, 0.0, 0.0]])
        return Recording(f"moved {1e3 * moves:g} mm", seen, tip, force)

    found = pw.cut_pushes([of(0.005), of(0.012)])
    assert [push.record.pose[-1, 0] for push in found.pushes] == [0.005, 0.012]
    for push in found.pushes:
        assert push.record.force is not None
        assert push.record.force[-1] == pytest.approx([2.0, 0.0])
    assert found.noise.position == 5e-4
    assert "too rarely to show the noise of its poses" in found.notes[0]
    found = pw.cut_pushes([of(0.012), of(0.001), of(0.01, since=-1.0)])
    assert len(found.pushes) == 1
    assert found.left_out == (
        "moved 1 mm: the object moves by 1.0 mm, which is no push",
        "moved 10 mm: the object moves by 10 mm, but not between two of its samples at which the "
        "finger was recorded, too",
    )


@pytest.mark.parametrize(("rate", "jump"), [(100.0, 0.1), (30.0, 0.3)])
def test_a_finger_that_jumps_for_good_costs_its_push_only(rate: float, jump: float) -> None:
    """Leave out a push that no log could hold, and keep the one before it."""

    def finger(t: float) -> tuple[float, float]:
        if t < 2.0:
            return 0.05 * t - 0.05, 0.0
        back = (0.05 - 0.05 * (t - 2.0), 0.0) if t < 2.4 else (0.03 + 0.05 * (t - 2.4), 0.0)
        return back[0], jump if t > 3.2 else 0.0

    found = pw.cut_pushes([pushed(finger, rate=rate, seconds=5.0)])
    for each in found.pushes:
        assert each.record.finger is not None
        speed = np.hypot(*np.diff(each.record.finger, axis=0).T) / np.diff(each.record.t)
        assert speed.max() < 5.0
    assert found.pushes and any("the tracked finger jumps by" in why for why in found.left_out)


def test_no_recordings_have_no_pushes() -> None:
    """Say so."""
    with pytest.raises(PushwiseError, match="no recordings to cut pushes from"):
        pw.cut_pushes([])


def test_a_stated_delay_that_the_motion_contradicts_is_named() -> None:
    """Believe it, and say what finger and object show together."""

    def finger(t: float) -> tuple[float, float]:
        return (0.0 if t < 0.5 else 0.04 * (1.0 - np.cos(2.0 * (t - 0.5)))), 0.0

    made = pushed(finger, seconds=2.0)
    words = pw.cut_pushes([made], delay=0.5).summary()
    assert "taken to be stamped 0.50 s late compared with the finger's, as stated" in words
    assert pw.cut_pushes([made], delay=0.5).facts() is not None
