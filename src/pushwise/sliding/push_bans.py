"""`PushBans`: contacts that a controller leaves out for a while after a push disappointed."""

from __future__ import annotations

import numpy as np

from pushwise.typing import Array, Integers

__all__ = ["PushBans"]

_AROUND = 0.012  # m
_FOR = 3  # choices of a push


class PushBans:
    """The contacts of a library that are banned."""

    def __init__(self, contacts: Array) -> None:
        """Start without bans; contacts: all of them [m], grid frame, shape (C, 2)."""
        self._contacts = contacts
        self._left = np.zeros(len(contacts), np.int64)  # choices for which each is banned

    @property
    def banned(self) -> Integers:
        """Indices of the contacts that are banned now."""
        return np.flatnonzero(self._left)

    def ban(self, place: Array) -> None:
        """Ban the contacts around a place (2,) of the grid frame."""
        near = np.hypot(*(self._contacts - place).T) < _AROUND
        self._left[near] = _FOR

    def next_choice(self) -> None:
        """Count down: another push is about to be chosen."""
        self._left = np.maximum(self._left - 1, 0)
