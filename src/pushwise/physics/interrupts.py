"""Ctrl-C while compiled code runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["interrupts_held"]


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back until the block ends, then let it through.

    Compiled functions that return named tuples call Python to make them; an interrupt raised in
    there is not expected by Numba, and the process dies of a segmentation fault.
    """
    before = signal.getsignal(signal.SIGINT)
    # Only the main thread may set handlers, and only it is interrupted.
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    held: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if held:
        before(held[0], None)
