"""`Stepped`: what gymnasium wants from a step, by name; and why there may be no step yet."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["NO_EPISODE", "Stepped"]

NO_EPISODE = "there is no episode yet; call reset first."
"""Why a step is refused before the first reset."""


class Stepped(NamedTuple):
    """The result of a step of an environment; of a vector of them, arrays with B entries."""

    observation: Any
    reward: Any
    terminated: Any
    truncated: Any
    info: dict[str, Any]
