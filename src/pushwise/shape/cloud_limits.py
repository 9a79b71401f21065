"""How many points a cloud may have: what can be scanned in some 20 s and 3 GB of memory."""

from __future__ import annotations

from pushwise.errors import PushwiseError

__all__ = ["MOST_POINTS", "check_count"]

MOST_POINTS = 10_000_000


def check_count(points: int) -> None:
    """Refuse a cloud with too many points, before memory is spent on them."""
    if points > MOST_POINTS:
        raise PushwiseError(
            f"a cloud must have at most {MOST_POINTS:,} points; this one has {points:,}: keep "
            "every few of them, or the average of those in each millimetre."
        )
