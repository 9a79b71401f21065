"""`Progress`: news of work that takes a while; every `progress` callback takes one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["OnProgress", "Progress"]


@dataclass(frozen=True, eq=False)
class Progress:
    """One piece of news."""

    stage: str
    """What is being done: "compile", "explore", "identify", "plan", "follow", "record", ...."""
    text: str = ""
    """The news in a few words, such as "12 mm to go"; empty when a stage begins."""
    done: int | None = None
    """How much of it is done, in pushes or simulations; None where nothing is counted."""
    total: int | None = None
    """How much there is to do in all; None where that is not known."""
    result: object = None
    """What has just been made: the `PushRecord` of a push, the best `ObjectModel` so far."""


OnProgress: TypeAlias = Callable[[Progress], None]
"""What functions take as `progress`."""
