"""ROS bags of every kind, in the state that laboratories keep them in."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pushwise as pw
from pushed import EVEN
from pushwise.errors import PushwiseError
from pushwise.records.recordings.findings import Findings
from recorded import FINGER, KINDS, Bag, Session, session

NOISE = np.array([3e-4, 3e-4, 2e-3])
TOPICS = pw.BagTopics("/box", "/tip")


@pytest.fixture(scope="module")
def thing() -> pw.objects.Thing:
    """Return an object whose centre of mass is off its middle."""
    return pw.objects.load("box").sample(np.random.default_rng(3), uneven=False)


@pytest.fixture(scope="module")
def truth(thing: pw.objects.Thing) -> Session:
    """Return three pushes of it."""
    return session(thing.model, 3, seed=1)


def recorded(kind: str, truth: Session, *, dirty: bool) -> Bag:
    """Return a bag of poses at 100 Hz, of two clocks 4 ms apart."""
    rng = np.random.default_rng(0)
    bag = Bag(kind)
    # A second is lost in the middle of the second push.
    lost = truth.pushes[1][0] + 0.5
    for k in range(0, len(truth.t) - 4, 10):
        t = truth.t[k]
        if dirty and lost <= t < lost + 1.0:
            continue
        x, y, theta = truth.pose[k] + NOISE * rng.normal(size=3)
        # Every twentieth message of the object overtakes the one before it.
        late = 0.015 if dirty and k % 200 == 0 else 0.002
        bag.pose("/box", t, x, y, theta, late=late)
        x, y = truth.finger[k + 4]
        bag.pose("/tip", truth.t[k + 4], x, y, 0.0)
        bag.wrench("/ft", t, np.append(truth.force[k], 5.0))
    if dirty:
        bag.messages.append(bag.messages[0])
    return bag


def check_pushes(found: Findings, truth: Session) -> None:
    """Compare pushes found with those that happened."""
    assert len(found.pushes) == len(truth.pushes)
    for push, (begin, true) in zip(found.pushes, truth.pushes, strict=True):
        # It may begin after the finger does, near the object, and ends when the object rests.
        assert -0.02 < push.start - begin < true.duration
        assert 0.0 < push.start + push.record.t[-1] - begin - true.duration < 0.4
        assert push.record.finger is not None
        there = true.at(push.record.t + push.start - begin)
        # The finger is interpolated: between two samples it cuts the corner where it stops.
        off = np.hypot(*(push.record.finger - there).T)
        assert off.max() < 1e-3
        assert np.median(off) < 1e-7
        at = np.column_stack(
            [np.interp(push.record.t + push.start, truth.t, c) for c in truth.pose.T]
        )
        error = push.record.pose - at
        error[:, 2] -= 2 * np.pi * np.round(error[0, 2] / (2 * np.pi))
        assert np.abs(error).max(axis=0) == pytest.approx(0.0, abs=6 * NOISE.max())
        assert np.sqrt(np.mean(error**2, axis=0)) == pytest.approx(NOISE, rel=0.3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_dirty_bag_imports_correctly(kind: str, truth: Session, tmp_path: Path) -> None:
    """Find three pushes despite a dropped second, a double and stamps out of order."""
    path = recorded(kind, truth, dirty=True).write(tmp_path)
    found = pw.cut_pushes(pw.read_recordings(path, replace(TOPICS, wrench="/ft")))
    check_pushes(found, truth)
    (recording,) = found.recordings
    overtaken = [k for k in range(0, len(truth.t) - 4, 200) if not _lost(truth, k)]
    assert recording.object.unsorted == len(overtaken) + 1  # the double of the first one too
    assert recording.object.duplicates == 1
    assert (recording.finger.unsorted, recording.finger.duplicates) == (0, 0)
    for stream in (recording.object, recording.finger):
        ((start, seconds),) = stream.gaps
        assert start == pytest.approx(truth.pushes[1][0] + 0.5, abs=0.011)
        assert seconds == pytest.approx(1.0, abs=0.011)
        assert 1 / stream.period == pytest.approx(100.0)
    holes = [push.facts()["longest_gap"] for push in found.pushes]
    assert holes == pytest.approx([0.01, 1.01, 0.01], abs=0.011)
    assert found.noise.position == pytest.approx(3e-4, rel=0.2)
    assert found.noise.angle == pytest.approx(2e-3, rel=0.2)
    assert not found.notes


def _lost(truth: Session, k: int) -> bool:
    """Return whether a sample is in the second that was dropped."""
    lost = truth.pushes[1][0] + 0.5
    return bool(lost <= truth.t[k] < lost + 1.0)


def test_a_bag_becomes_the_model_it_was_recorded_of(
    thing: pw.objects.Thing, tmp_path: Path
) -> None:
    """Find the centre of mass from a converted log, within its error bars."""
    truth = session(thing.model, 5, seed=1)
    path = recorded("mcap", truth, dirty=True).write(tmp_path)
    found = pw.cut_pushes(pw.read_recordings(path, replace(TOPICS, wrench="/ft")), grid=thing.grid)
    found.log(thing.grid, FINGER.radius).save(tmp_path / "log.csv")
    log = pw.PushLog.load(tmp_path / "log.csv")
    for read, cut in zip(log, found.pushes, strict=True):
        assert read.finger is not None
        # A log that is read has knots where the path needs them, to 0.2 mm.
        assert read.finger == pytest.approx(cut.record.finger, abs=2e-4)
    known = pw.identify(thing.grid, log, finger=FINGER, prior=EVEN)
    off = known.model.centre_of_mass - thing.model.centre_of_mass
    assert np.hypot(*thing.model.centre_of_mass) > 0.02
    assert np.hypot(*off) < 0.004
    assert off @ np.linalg.solve(known.posterior.centre_of_mass_covariance, off) < 9.2  # 99 %
    # Slow pushes with forces tell weight times friction; mass alone they do not.
    load = float(thing.model.mass @ thing.model.friction)
    assert float(known.model.mass @ known.model.friction) == pytest.approx(load, rel=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_frames_of_a_tree_are_followed(kind: str, truth: Session, tmp_path: Path) -> None:
    """Read object and finger from /tf, through moving, fixed and interpolated frames."""
    bag = Bag(kind)
    bag.transform("/tf_static", 0.0, "world", "table", np.array([1.0, 2.0, 0.7]), bag.spin(0.5))
    bag.transform("/tf_static", 0.0, "hand", "tip", np.array([0.1, 0.0, 0.2]), bag.spin(0.0))
    turn = np.array([[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]])
    for k in range(0, len(truth.t) - 4, 10):
        x, y, theta = truth.pose[k]
        # The box is seen in the table frame, the hand from the world.
        bag.transform(
            "/tf", truth.t[k], "table", "box", np.array([x, y, 0.02]), bag.spin(theta, 3.0)
        )
        hand = turn @ truth.finger[k + 4] + (1.0, 2.0)
        c, s = np.cos(0.3), np.sin(0.3)
        place = np.array([hand[0] - 0.1 * c, hand[1] - 0.1 * s, 0.9])
        bag.transform("/tf", truth.t[k + 4], "world", "hand", place, bag.spin(0.3))
        # The wrench is given in the tip's axes, turned by 0.3 - 0.5 in the table's.
        a = 0.3 - 0.5
        back = np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])
        bag.wrench("/ft", truth.t[k], np.append(back @ truth.force[k], 1.0), frame="tip")
    path = bag.write(tmp_path)
    topics = pw.BagTopics("/tf:box", "/tf:tip", wrench="/ft", frame="table")
    found = pw.cut_pushes(pw.read_recordings(path, topics))
    assert len(found.pushes) == 3
    for push, (begin, true) in zip(found.pushes, truth.pushes, strict=True):
        record = push.record
        assert record.finger is not None
        off = record.finger - true.at(push.start + record.t - begin)
        # Interpolation cuts the corner where the finger stops.
        assert np.hypot(*off.T).max() < 1e-3
        assert np.median(np.hypot(*off.T)) < 1e-7
        assert record.force is not None
        mid = len(record.t) // 2
        want = truth.force[round((push.start + record.t[mid]) * 1e3)]
        assert record.force[mid] == pytest.approx(want, abs=0.1 * np.hypot(*want))
    assert found.notes == ()


@pytest.mark.parametrize(
    ("late", "stamped", "note"),
    [
        (0.5, True, "are the clocks the same? /tf:box 0.000 s, /tip 0.500 s"),
        (0.05, True, None),
        (0.05, False, "/tf:box has no stamps: its times are those of arrival"),
    ],
)
def test_the_clocks_of_transforms_are_compared(
    late: float, stamped: bool, note: str | None, truth: Session, tmp_path: Path
) -> None:
    """Name a frame whose transforms arrive with another delay than a topic, or have no stamps."""
    bag = Bag("mcap")
    # Sent once, long before the recording began: its delay is none of a clock.
    bag.transform("/tf", -90.0, "table", "mark", np.zeros(3), bag.spin(0.0), late=90.0)
    for k in range(0, len(truth.t), 10):
        x, y, theta = truth.pose[k]
        place, turn = np.array([x, y, 0.0]), bag.spin(theta)
        # A clock that is exactly right is a clock.
        bag.transform("/tf", truth.t[k], "mark", "box", place, turn, late=0.0, stamped=stamped)
        bag.pose("/tip", truth.t[k], truth.finger[k, 0], truth.finger[k, 1], 0.0, late=late)
    path = bag.write(tmp_path)
    (recording,) = pw.read_recordings(path, pw.BagTopics("/tf:box", "/tip", frame="table"))
    assert len(recording.object.t) == len(truth.t) // 10
    if note is None:
        assert recording.notes == ()
    else:
        assert note in recording.notes[0]


@pytest.mark.parametrize("source", ["/tip", "/tf:tip"])
def test_stamps_ahead_of_their_arrival_are_taken_back(
    source: str, truth: Session, tmp_path: Path
) -> None:
    """Correct a finger that is stamped half a second ahead, and say so."""
    bag = Bag("mcap")
    for k in range(0, len(truth.t), 10):
        bag.pose("/box", truth.t[k], *truth.pose[k])
        t, place = truth.t[k] + 0.5, np.append(truth.finger[k], 0.0)
        bag.pose("/tip", t, place[0], place[1], 0.0, late=-0.5)
        bag.transform("/tf", t, "table", "tip", place, bag.spin(0.0), late=-0.5)
    (recording,) = pw.read_recordings(bag.write(tmp_path), pw.BagTopics("/box", source))
    (note,) = recording.notes
    assert note == (
        f"{source} is stamped 0.500 s ahead of its arrival: its stamps were taken back by that"
    )
    at = recording.finger.t
    want = np.column_stack([np.interp(at, truth.t, column) for column in truth.finger.T])
    assert recording.finger.values == pytest.approx(want, abs=1e-6)
    assert len(pw.cut_pushes([recording]).pushes) == 3


def test_a_clock_that_all_share_is_not_corrected(truth: Session, tmp_path: Path) -> None:
    """Leave stamps alone that are all ahead: it is the recorder that is late."""
    bag = Bag("mcap")
    for k in range(0, len(truth.t), 10):
        bag.pose("/box", truth.t[k], *truth.pose[k], late=-0.44)
        bag.pose("/tip", truth.t[k], truth.finger[k, 0], truth.finger[k, 1], 0.0, late=-0.5)
    (recording,) = pw.read_recordings(bag.write(tmp_path), TOPICS)
    assert recording.notes == ()
    assert recording.finger.t == pytest.approx(recording.object.t)


def test_transforms_that_never_change_need_no_stamps(truth: Session, tmp_path: Path) -> None:
    """Use a fixed frame that is repeated half a second ahead throughout, and say so."""
    bag = Bag("ros1")
    for k in range(0, len(truth.t), 10):
        t = truth.t[k]
        bag.pose("/box", t, *truth.pose[k])
        place = np.append(truth.finger[k] - (0.1, 0.0), 0.3)
        bag.transform("/tf", t, "table", "hand", place, bag.spin(0.0))
        place = np.array([0.1, 0.0, -0.3])
        bag.transform("/tf", t + 0.5, "hand", "tip", place, bag.spin(0.0), late=-0.5)
    (recording,) = pw.read_recordings(bag.write(tmp_path), pw.BagTopics("/box", "/tf:tip"))
    assert len(recording.finger.t) == len(recording.object.t) == len(truth.t) // 10
    assert recording.finger.values == pytest.approx(truth.finger[::10], abs=1e-9)
    (note,) = recording.notes
    assert "up to 0.50 s ahead of their arrival, which does not matter: tip" in note


def test_poses_without_a_frame_are_in_the_one_that_is_named(truth: Session, tmp_path: Path) -> None:
    """Take poses with an empty frame as given in --frame, and ask for it where it is missing."""
    bag = Bag("ros1")
    for k in range(0, len(truth.t), 10):
        x, y, theta = truth.pose[k]
        bag.pose("/box", truth.t[k], x - 1.0, y, theta, frame="camera")
        bag.pose("/tip", truth.t[k], truth.finger[k, 0], truth.finger[k, 1], 0.0, frame="")
        bag.pose("/bare", truth.t[k], x, y, theta, frame="")
        bag.pose("/named", truth.t[k], truth.finger[k, 0], truth.finger[k, 1], 0.0, frame="map")
    bag.transform("/tf_static", 0.0, "map", "camera", np.array([1.0, 0.0, 0.0]), bag.spin(0.0))
    path = bag.write(tmp_path)
    (recording,) = pw.read_recordings(path, replace(TOPICS, frame="map"))
    assert recording.notes == ("the poses of /tip name no frame: taken as given in 'map'",)
    assert recording.object.values[:, :2] == pytest.approx(truth.pose[::10, :2], abs=1e-9)
    assert recording.finger.values == pytest.approx(truth.finger[::10], abs=1e-9)
    for topics, name, frame in (
        (TOPICS, "/tip", "map or camera"),
        (pw.BagTopics("/bare", "/named"), "the object's topic", "map"),
    ):
        with pytest.raises(
            PushwiseError, match=rf"poses of {name} name no frame; .* --frame: {frame}\."
        ):
            pw.read_recordings(path, topics)


def test_nothing_is_filled_in_where_transforms_are_missing(truth: Session, tmp_path: Path) -> None:
    """Drop and count what is in a frame that no transform places at the time."""
    bag = Bag("mcap")
    bag.transform("/tf_static", 5.0, "world", "table", np.zeros(3), bag.spin(0.0))
    bag.transform("/tf", 6.0, "world", "base", np.zeros(3), bag.spin(0.0))
    lost = truth.pushes[1][0] + 0.5
    last = truth.t[-1] - 0.5
    missing = 0
    for k in range(0, len(truth.t), 10):
        t = truth.t[k]
        # A camera that swings by 0.2 rad, and jumps while nobody tells.
        swing = 0.1 * np.sin(t) + (0.1 if t > lost else 0.0)
        c, s = np.cos(swing), np.sin(swing)
        x, y, theta = truth.pose[k]
        bag.pose("/box", t, c * x + s * y, c * y - s * x, theta - swing, frame="camera")
        bag.pose("/tip", t, truth.finger[k, 0], truth.finger[k, 1], 0.0)
        fx, fy = truth.force[k]
        bag.wrench("/ft", t, np.array([c * fx + s * fy, c * fy - s * fx, 0.0]), frame="camera")
        if lost < t < lost + 1.0 or t > last:
            missing += 1
        else:
            bag.transform("/tf", t, "base", "camera", np.zeros(3), bag.spin(swing))
    path = bag.write(tmp_path)
    (recording,) = pw.read_recordings(path, replace(TOPICS, wrench="/ft", frame="table"))
    assert missing > 140
    for stream, values in ((recording.object, truth.pose), (recording.force, truth.force)):
        assert stream is not None
        ((start, seconds),) = stream.gaps
        assert (start, seconds) == pytest.approx((lost, 1.0), abs=0.011)
        assert stream.t[-1] == pytest.approx(last, abs=0.011)
        want = values[np.round(1e3 * stream.t).astype(int)]
        assert stream.values[:, :2] == pytest.approx(want[:, :2], abs=1e-6)
        assert (stream.not_placed, stream.not_finite) == (missing, 0)
    assert recording.finger.not_placed == 0
    words = pw.cut_pushes([recording]).summary()
    assert f"{missing} while transforms are missing: dropped" in words


def test_forces_are_dropped_where_the_finger_that_turns_them_is_not_seen(
    truth: Session, tmp_path: Path
) -> None:
    """Drop forces in the finger's axes while it is not seen; refuse transforms of another time."""
    bag = Bag("mcap")
    lost = truth.pushes[1][0] + 0.5
    for k in range(0, len(truth.t), 10):
        t = truth.t[k]
        bag.pose("/box", t, *truth.pose[k])
        bag.wrench("/ft", t, np.append(truth.force[k], 0.0), frame="sensor")
        if not lost < t < lost + 1.0:
            bag.pose("/tip", t, truth.finger[k, 0], truth.finger[k, 1], 0.0)
    for t in (100.0, 100.1):
        # It moves: a transform that never changes holds at all times.
        bag.transform("/tf", t, "world", "table", np.zeros(3), bag.spin(t - 100.0))
    path = bag.write(tmp_path)
    (recording,) = pw.read_recordings(path, replace(TOPICS, wrench="/ft"))
    assert recording.force is not None
    assert [s for s, _ in recording.force.gaps] == pytest.approx([lost], abs=0.011)
    assert recording.force.not_placed == len(truth.t) // 10 - len(recording.finger.t)
    with pytest.raises(PushwiseError, match=r"'table' to 'world' are missing at all times") as no:
        pw.read_recordings(path, replace(TOPICS, frame="world"))
    assert str(path) in str(no.value)


def test_a_frame_on_the_way_has_one_parent(truth: Session, tmp_path: Path) -> None:
    """Refuse a frame that is given in two others, but only where it is needed."""
    bag = Bag("mcap")
    for k in range(0, len(truth.t), 10):
        t, turn = truth.t[k], bag.spin(truth.pose[k, 2])
        x, y = truth.pose[k, :2]
        bag.transform("/tf", t, "table", "box", np.array([x, y, 0.0]), turn)
        bag.transform("/tf", t, "table", "seen", np.array([x, y, 0.0]), turn)
        bag.transform("/tf", t + 0.005, "camera", "seen", np.array([x, y, 0.0]), turn)
        # What is above both frames is not needed.
        bag.transform("/tf", t, ("map", "odom")[k // 10 % 2], "table", np.zeros(3), bag.spin(0.0))
        bag.pose("/tip", t, truth.finger[k, 0], truth.finger[k, 1], 0.0)
    path = bag.write(tmp_path)
    (recording,) = pw.read_recordings(path, pw.BagTopics("/tf:box", "/tip", frame="table"))
    assert len(recording.object.t) == len(truth.t) // 10
    for child, frame, refused in (
        ("seen", "table", "'seen' must be given in one frame; its transforms are in camera, table"),
        ("box", "odom", "'table' must be given in one frame; its transforms are in map, odom"),
        ("box", None, "'table' must be given in one frame; its transforms are in map, odom"),
    ):
        with pytest.raises(PushwiseError, match=refused) as no:
            pw.read_recordings(path, pw.BagTopics(f"/tf:{child}", "/tip", frame=frame))
        assert str(path) in str(no.value)


def test_the_force_may_be_the_reaction_and_have_an_offset(truth: Session, tmp_path: Path) -> None:
    """Negate the force on the finger, take off what is read in the air, and say both."""
    bag = Bag("ros1")
    for k in range(0, len(truth.t) - 4, 10):
        bag.pose("/box", truth.t[k], *truth.pose[k])
        bag.pose("/tip", truth.t[k], truth.finger[k, 0], truth.finger[k, 1], 0.0)
        bag.wrench("/ft", truth.t[k], np.append(0.25 - truth.force[k], 0.0), frame="")
    found = pw.cut_pushes(pw.read_recordings(bag.write(tmp_path), replace(TOPICS, wrench="/ft")))
    record = found.pushes[0].record
    assert record.force is not None
    mid = len(record.t) // 2
    want = truth.force[round((found.pushes[0].start + record.t[mid]) * 1e3)]
    assert record.force[mid] == pytest.approx(want, abs=0.1 * np.hypot(*want))
    words = " ".join(found.notes)
    assert "negated" in words
    assert "(0.25, 0.25) N in the air: subtracted" in words
    assert "the axes of 'table' are assumed" in words


def test_a_lifted_object_is_left_out_and_a_flying_one_refused(
    truth: Session, tmp_path: Path
) -> None:
    """Drop the samples of an object put back by hand; refuse one that is never on a table."""
    for name, height in (("put back", 0.0), ("flying", 0.3)):
        bag = Bag("ros1")
        for k in range(0, len(truth.t), 10):
            in_hand = truth.t[k] < 0.5
            z = 0.1 if in_hand else height * np.sin(truth.t[k])
            bag.pose("/box", truth.t[k], *truth.pose[k], z=z)
            x, y = truth.finger[k]
            bag.pose("/tip", truth.t[k], x, y, 0.0, orientation=bag.spin(0.0, 0.0))
        folder = tmp_path / name
        folder.mkdir()
        path = bag.write(folder)
        if height:
            with pytest.raises(PushwiseError, match=r"does not slide on a table.*z axis is up"):
                pw.read_recordings(path, TOPICS)
        else:
            (recording,) = pw.read_recordings(path, TOPICS)
            assert recording.object.not_planar == 50
            assert len(pw.cut_pushes([recording]).pushes) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_bag_lacks_is_told_with_what_it_has(
    kind: str, truth: Session, tmp_path: Path
) -> None:
    """List topics and types when one is not given, not there, or of the wrong type."""
    path = recorded(kind, truth, dirty=False).write(tmp_path)
    has = r"/box \(geometry_msgs/msg/PoseStamped, 1700\), /ft \(geometry_msgs/msg/WrenchStamped"
    for options, message in (
        (pw.BagTopics(), f"choose a topic with --object; .*{has}"),
        (pw.BagTopics("/box"), f"choose a topic with --finger; .*{has}"),
        (pw.BagTopics("/bix", "/tip"), f"no topic /bix; .*{has}"),
        (pw.BagTopics("/ft", "/tip"), f"/ft is .*WrenchStamped, which has no pose.*{has}"),
        (replace(TOPICS, wrench="/tip"), f"/tip is .*PoseStamped, which has no force.*{has}"),
        (replace(TOPICS, frame="map"), "/box is in frame 'table', not in 'map'.*: none"),
    ):
        with pytest.raises(PushwiseError, match=message) as refusal:
            pw.read_recordings(path, options)
        assert str(path) in str(refusal.value)
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_truncated_bag_is_refused(
    kind: str, share: float, truth: Session, tmp_path: Path
) -> None:
    """Refuse a bag that was cut short, with one sentence that says how to mend it."""
    path = recorded(kind, truth, dirty=False).write(tmp_path)
    file = path if path.is_file() else next(f for f in path.iterdir() if f.suffix != ".yaml")
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    with pytest.raises(PushwiseError, match=r"cannot be read as a ROS bag: .*reindex") as refusal:
        pw.read_recordings(path, TOPICS)
    assert "\n" not in str(refusal.value)


def test_an_empty_bag_and_no_bag_are_refused(tmp_path: Path) -> None:
    """Say that a bag is empty, or is none."""
    path = Bag("mcap").write(tmp_path)
    with pytest.raises(PushwiseError, match="no topic /box; the bag is empty"):
        pw.read_recordings(path, TOPICS)
    shutil.rmtree(path)
    with pytest.raises(PushwiseError, match="does not exist"):
        pw.read_recordings(path, TOPICS)
    path.mkdir()
    (path / "run_0.mcap").touch()
    with pytest.raises(PushwiseError, match=r"not the folder of a ROS 2 bag.*only run_0\.mcap"):
        pw.read_recordings(path, TOPICS)
