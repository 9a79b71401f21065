"""When messages were stamped, when they arrived, and whether their clocks agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pushwise.typing import Array

__all__ = ["Clocks", "clock_notes", "times"]

Clocks = Mapping[str, float | None]
"""By source, how long after its stamp a message usually arrives [s]; None without stamps."""

_LATE = 0.1  # s by which the delays of two sources may differ


def times(arrivals: list[int], headers: list[Any]) -> tuple[Array, float | None]:
    """Return the times [s] of messages that arrived [ns] with headers, and their clock.

    Without stamps the times are those of arrival, and the clock is None.
    """
    arrived = np.array([1e-9 * arrival for arrival in arrivals])
    # To a quarter of a microsecond, as far from 1970 as we are.
    stamps = np.array([float(h.stamp.sec) + 1e-9 * float(h.stamp.nanosec) for h in headers])
    if not stamps.any():
        return arrived, None
    return stamps, float(np.median(arrived - stamps))


def clock_notes(clocks: Clocks) -> list[str]:
    """Say which sources have no stamps, and which clocks do not agree."""
    notes = [
        f"{name} has no stamps: its times are those of arrival"
        for name, clock in clocks.items()
        if clock is None
    ]
    late = {name: clock for name, clock in clocks.items() if clock is not None}
    if len(late) > 1 and max(late.values()) - min(late.values()) > _LATE:
        words = ", ".join(f"{name} {clock:.3f} s" for name, clock in late.items())
        notes.append(f"messages arrive late by unequal times, are their clocks the same? {words}")
    return notes
