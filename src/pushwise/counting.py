"""Numbers of things in sentences."""

from __future__ import annotations

__all__ = ["counted"]


def counted(count: int, one: str, many: str) -> str:
    """Return a number with what it counts: "1 push", "5 pushes"."""
    return f"{count:,} {one if count == 1 else many}"
