"""`cut_pushes`: pushes cut out of continuous recordings, by contact and motion.

A push is a contact episode with the whole path of the finger as recorded; see `episodes`. If forces
are measured, there must be one; if the object's cells are known, the finger must come near them: an
object that a person puts back between two pushes is not pushed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pushwise.checks import finite_array, finite_number
from pushwise.errors import PushwiseError
from pushwise.physics.constants import GRAVITY
from pushwise.physics.push import Push
from pushwise.records.log_file import SLOW
from pushwise.records.record import Noise, PushRecord
from pushwise.records.recordings.clock_offset import clock_offset, stated_words
from pushwise.records.recordings.episodes import (
    ContactEpisode,
    at_rest_within,
    find_episodes,
    still_words,
)
from pushwise.records.recordings.findings import Findings, FoundPush
from pushwise.records.recordings.sensor_calibration import ForceCalibration, estimate_noise, felt
from pushwise.records.recordings.stream import Recording, Stream
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["cut_pushes"]


_RESTS = 1e-3  # m a finger may move after it stopped
_TAIL = 0.3  # s before and after the finger stopped that show whether the object is late
_LATE = 0.02  # s an object may move after the finger stopped,
_SLIPPERY = 0.2  # in addition to sliding by its momentum, with at least this friction


def cut_pushes(
    recordings: Sequence[Recording],
    *,
    grid: CellGrid | None = None,
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0),
    delay: float | None = None,
) -> Findings:
    """Find the pushes in recordings of one object.

    Args:
        recordings: The recordings.
        grid: The object's cells, if known; pushes whose finger never comes near them are left
            out.
        offset: Pose (x, y, theta) [m, m, rad] of the grid frame in the tracked frame.
        delay: How late the object's poses are stamped [s], as those of a camera may be. By default
            it is estimated from how finger and object move together, and corrected if it is
            beyond doubt.

    """
    if not recordings:
        raise PushwiseError("there are no recordings to cut pushes from; give at least one.")
    shift = finite_array("offset", offset, (3,))
    late = None if delay is None else finite_number("delay", delay)
    moved = [replace(r, object=_moved(r.object, shift)) for r in recordings]
    notes: list[str] = []
    recordings = [_in_time(recording, late, grid) for recording in moved]
    episodes: list[ContactEpisode] = []
    left_out: list[str] = []
    times = []
    for recording in recordings:
        found, why = find_episodes(recording, grid)
        if not found and not why and len(recordings) > 1:
            why = [f"{recording.source}: {still_words(recording)}"]
        episodes += found
        left_out += why
        times.append([(float(one.t[0]), float(one.t[-1])) for one in found])
        notes += [note for note in recording.notes if note not in notes]
    noise, assumed = estimate_noise(recordings, times)
    notes += assumed
    still = [at_rest_within(recording.object) for recording in recordings]
    forces = ForceCalibration(recordings, still)
    silent = [one for one in episodes if not _force_covers(one)]
    left_out += [
        f"{one.name}: the force was not recorded throughout; without forces it would be kept"
        for one in silent
    ]
    episodes = [one for one in episodes if one not in silent]
    forces.orient([(one.recording, one.t, one.finger) for one in episodes])
    notes += forces.notes() + _late_note(episodes)
    pushes = []
    for episode in episodes:
        force = forces.during(episode.recording, episode.t)
        if force is not None and not felt(force, noise):
            left_out.append(f"{episode.name}: the object moves without a force")
        else:
            pushes.append(_found(episode, force, noise))
    return Findings(tuple(recordings), tuple(pushes), tuple(left_out), noise, tuple(notes))


def _in_time(recording: Recording, delay: float | None, grid: CellGrid | None) -> Recording:
    """Return a recording with the object's stamps on the finger's clock.

    Args:
        recording: The recording as stamped.
        delay: How late the object's poses are [s]; estimated if None.
        grid: The object's cells, if known.

    """
    offset = clock_offset(find_episodes(recording, grid)[0])
    if delay is not None:
        clocks = stated_words(delay, offset)
    elif offset is None:
        return recording
    else:
        delay, clocks = offset.delay, offset.words
    stamps = recording.object.t - delay
    return replace(recording, object=replace(recording.object, t=stamps), clocks=clocks)


def _moved(stream: Stream, offset: Array) -> Stream:
    """Return the stream of a frame at `offset` (3,) in the tracked one."""
    x, y, theta = stream.values.T
    cos, sin = np.cos(theta), np.sin(theta)
    values = np.column_stack(
        [
            x + cos * offset[0] - sin * offset[1],
            y + sin * offset[0] + cos * offset[1],
            theta + offset[2],
        ]
    )
    return replace(stream, values=values)


def _force_covers(episode: ContactEpisode) -> bool:
    """Return whether the force was measured throughout an episode, if it is measured at all."""
    force = episode.recording.force
    return force is None or force.covers(episode.t)


def _late_note(episodes: list[ContactEpisode]) -> list[str]:
    """Return a sentence if the object moves for too long after the finger stopped.

    An object pushed at a speed v slides no farther than v^2 / (2 mu g). Any motion beyond that
    happened earlier: the poses are stamped late.
    """
    late = []
    for episode in episodes:
        t, pose, finger = episode.t, episode.pose, episode.finger
        rests = np.hypot(*(finger - finger[-1]).T) <= _RESTS
        stop = len(t) - int(np.argmin(rests[::-1]))
        if stop == len(t) or rests.all():
            continue
        t = t - t[stop]
        before = (t < 0.0) & (t >= -_TAIL)
        if before.sum() < 3:
            continue
        # A finger that slows down shows nothing: it might have lost the object on the way.
        start, velocity = _line(t[before], finger[before])
        if np.hypot(*(finger[before] - start - t[before, None] * velocity).T).max() > _RESTS:
            continue
        stops = float((finger[-1] - start) @ velocity / (velocity @ velocity))
        tail = (t >= stops) & (t <= stops + _TAIL)
        place, pace = _line(t[before], pose[before, :2])
        speed = float(np.hypot(*pace))
        if tail.sum() < 2 or speed < SLOW:
            continue
        on = float(np.median((pose[tail, :2] - place - stops * pace) @ pace)) / speed
        late.append((on / speed - speed / (2.0 * _SLIPPERY * GRAVITY), on / speed))
    least, most = np.median(late, axis=0) if late else (0.0, 0.0)
    if least < _LATE:
        return []
    return [
        "the object moves after the finger stops, farther than its momentum explains: its poses "
        f"may be {least:.2f} to {most:.2f} s late, which a delay would correct"
    ]


def _line(t: Array, place: Array) -> tuple[Array, Array]:
    """Return the position (2,) [m] at time 0 and the velocity (2,) [m/s] that fit a path best."""
    start, velocity = np.polynomial.polynomial.polyfit(t, place, 1)
    return start, velocity


def _found(episode: ContactEpisode, force: Array | None, noise: Noise) -> FoundPush:
    """Return a push as a record, with a knot of the finger's path at every sample."""
    t = episode.t - episode.t[0]
    source = episode.recording.source
    record = PushRecord(
        Push(t, episode.finger),
        t,
        episode.pose,
        force,
        twist=episode.twist,
        noise=noise,
        source=f"{source} at {episode.t[0]:.3f} s",
    )
    return FoundPush(record, source, float(episode.t[0]))
