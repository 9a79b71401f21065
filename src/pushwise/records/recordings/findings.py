"""`Findings`: the pushes found in recordings, and a report on the quality of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pushwise.checks import counted
from pushwise.physics.push import Push
from pushwise.records.finger_path import kept_up_speed
from pushwise.records.log import PushLog
from pushwise.records.record import Noise, PushRecord
from pushwise.records.recordings.stream import Recording, Stream
from pushwise.shape.grid import CellGrid

__all__ = ["Findings", "FoundPush"]

_LISTED = 20  # largest number of lines of one kind in a summary


@dataclass(frozen=True, eq=False)
class FoundPush:
    """A push found in a recording."""

    record: PushRecord
    """The record; the finger's path has a knot at every sample."""
    source: str
    """The recording it comes from."""
    start: float
    """Time in the recording at which it began [s]."""

    def facts(self) -> dict[str, Any]:
        """Return the push in numbers, for JSON: metres, seconds and radians."""
        record = self.record
        assert isinstance(record.push, Push)
        moved = record.pose[-1] - record.pose[0]
        return {
            "source": self.source,
            "start": self.start,
            "duration": float(record.t[-1]),
            "speed": kept_up_speed(record.push),
            "travel": record.push.length,
            "object_travel": float(np.hypot(moved[0], moved[1])),
            "object_turn": float(moved[2]),
            "samples": len(record.t),
            "longest_gap": float(np.diff(record.t).max()),
        }


@dataclass(frozen=True, eq=False)
class Findings:
    """The pushes in recordings, the quality of the data, and the assumptions made."""

    recordings: tuple[Recording, ...]
    """The recordings."""
    pushes: tuple[FoundPush, ...]
    """The pushes, in order."""
    left_out: tuple[str, ...]
    """What looked like a push but is not one, with the reason."""
    noise: Noise
    """Noise of poses and forces, measured at rest."""
    notes: tuple[str, ...]
    """What was assumed, or done to the data, one sentence each."""

    def log(
        self,
        grid: CellGrid | None = None,
        finger_radius: float | None = None,
        provenance: Mapping[str, Any] | None = None,
    ) -> PushLog:
        """Return the pushes as a log of an object with a grid, pushed by a finger."""
        records = tuple(found.record for found in self.pushes)
        return PushLog(records, grid, finger_radius, self.noise, provenance or {})

    def facts(self) -> dict[str, Any]:
        """Return everything in numbers, for JSON: metres, seconds, radians and newtons."""
        noise = self.noise
        return {
            "recordings": [
                {
                    "source": r.source,
                    "streams": [_stream_facts(s) for s in _streams(r)],
                    "clocks": r.clocks,
                }
                for r in self.recordings
            ],
            "noise": {"position": noise.position, "angle": noise.angle, "force": noise.force},
            "pushes": [found.facts() for found in self.pushes],
            "left_out": list(self.left_out),
            "notes": list(self.notes),
        }

    def summary(self) -> str:
        """Return everything in words."""
        lines = []
        for recording in self.recordings[:_LISTED]:
            lines.append(f"{recording.source}:")
            lines += [f"  {_stream_words(s, recording.source)}" for s in _streams(recording)]
            if recording.clocks:
                lines.append(f"  clocks {recording.clocks}")
        lines += _more(len(self.recordings), "recordings")
        noise = self.noise
        force = f", {_size(noise.force)} N" if self.recordings[0].force is not None else ""
        angle = _size(float(np.degrees(noise.angle)))
        lines.append(f"noise: {_size(1e3 * noise.position)} mm, {angle} degrees{force}")
        lines += [f"note: {note}" for note in self.notes]
        lines.append(counted(len(self.pushes), "push", "pushes"))
        if self.pushes:
            lines.append(
                "   push  at [s]  takes [s]  finger [mm]  top speed [mm/s]  object [mm]  "
                "turn [deg]  samples  longest gap [s]"
            )
        for i, found in enumerate(self.pushes[:_LISTED]):
            f = found.facts()
            lines.append(
                f"{i:7d} {f['start']:7.2f} {f['duration']:10.2f} {1e3 * f['travel']:12.1f} "
                f"{1e3 * f['speed']:17.1f} {1e3 * f['object_travel']:12.1f} "
                f"{np.degrees(f['object_turn']):11.1f} {f['samples']:8d} {f['longest_gap']:16.3f}"
            )
        lines += _more(len(self.pushes), "pushes")
        lines += [f"left out: {why}" for why in self.left_out[:_LISTED]]
        lines += _more(len(self.left_out), "left out")
        return "\n".join(lines)


def _streams(recording: Recording) -> list[Stream]:
    """Return the streams a recording has."""
    streams = (recording.object, recording.finger, recording.force)
    return [stream for stream in streams if stream is not None]


def _stream_facts(stream: Stream) -> dict[str, Any]:
    """Return a stream in numbers."""
    return {
        "name": stream.name,
        "origin": stream.origin,
        "samples": len(stream.t),
        "seconds": float(stream.t[-1] - stream.t[0]),
        "rate": 1.0 / stream.period,
        "gaps": [{"start": start, "seconds": length} for start, length in stream.gaps],
        "unsorted": stream.unsorted,
        "duplicates": stream.duplicates,
        "queued": stream.queued,
        "held": stream.held,
        "not_finite": stream.not_finite,
        "jumps": stream.jumps,
        "not_planar": stream.not_planar,
        "not_placed": stream.not_placed,
    }


def _size(value: float) -> str:
    """Return the size of some noise."""
    return f"{value:.2g}" if value == 0.0 or value >= 1e-3 else "below 0.001"


def _stream_words(stream: Stream, source: str) -> str:
    """Return a stream in one line, without the source, which stands above it."""
    words = [
        f"{stream.name:6} {stream.origin.removeprefix(f'{source} ')}: {len(stream.t)} samples, "
        f"{1.0 / stream.period:.4g} Hz, {stream.t[-1] - stream.t[0]:.1f} s"
    ]
    if gaps := stream.gaps:
        start, length = max(gaps, key=lambda gap: gap[1])
        many = f"{len(gaps)} gaps, the longest" if len(gaps) > 1 else "a gap of"
        words.append(f"{many} {length:.2f} s at {start:.2f} s")
    for count, what in (
        (stream.unsorted, "out of order: sorted"),
        (stream.duplicates, "with the stamp of another: dropped"),
        (stream.queued, "stamped late, just before the next: dropped"),
        (stream.held, "repeats of the one before: dropped"),
        (stream.not_finite, "without numbers: dropped"),
        (stream.jumps, "far from those before and after: dropped"),
        (stream.not_planar, "lifted or tilted: dropped"),
        (stream.not_placed, "while transforms are missing: dropped"),
    ):
        if count:
            words.append(f"{count} {what}")
    return "; ".join(words)


def _more(count: int, what: str) -> list[str]:
    """Return a line about what a summary does not list."""
    return [f"... and {count - _LISTED} more {what}"] if count > _LISTED else []
