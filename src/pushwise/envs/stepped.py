"""`Stepped`: what gymnasium wants from a step, by name."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Stepped"]


class Stepped(NamedTuple):
    """The result of a step of an environment; of a vector of them, arrays with B entries."""

    observation: Any
    reward: Any
    terminated: Any
    truncated: Any
    info: dict[str, Any]
