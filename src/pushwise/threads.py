"""`one_thread`: linear algebra in one thread, for Python users as for commands.

Matrices here have some hundred rows. Several threads wait for each other for longer than that
takes: on two busy cores, `identify` took twenty times as long. They also change the order of sums,
and with it the last digits of results.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread"]


@contextmanager
def one_thread() -> Iterator[None]:
    """Let NumPy and SciPy use one thread in a block, or in a function that this decorates."""
    with _pools(len(sys.modules)).limit(limits=1):
        yield


@cache
def _pools(modules: int) -> ThreadpoolController:
    """Return a controller of this process's thread pools.

    Finding them takes a millisecond, so it is repeated only after further modules were loaded.
    """
    return ThreadpoolController()
