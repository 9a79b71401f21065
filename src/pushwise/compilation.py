"""How kernels are compiled, and Ctrl-C while they run.

Numba compiles a function when it is first called, for the types it is called with. That takes a
fraction of a second per function, so that kernels keep to a few rules: no NumPy functions but
elementary ones and `np.empty`, no slices, one type for each argument (`np.array` where an array may
be read-only; no literal integers as arguments of other kernels), and `compiled_part` for whatever
only other kernels call.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from numba import njit

__all__ = ["compiled", "compiled_part", "compiled_sum", "interrupts_held"]

_F = TypeVar("_F", bound=Callable[..., object])

# Division by zero gives inf, as in NumPy: solvers test for it, and loops can be vectorised.
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
_PART: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True}
# Sums may be reordered, which is what vector registers need, but NaN must stay visible.
_REORDER = {"reassoc", "contract", "arcp", "nsz"}


def compiled(function: _F) -> _F:
    """Compile a kernel that Python calls: cached on disk, free of the interpreter's lock."""
    kernel: _F = njit(**_OPTIONS)(function)
    return kernel


def compiled_part(function: _F) -> _F:
    """Compile a function that only other kernels call: without the wrapper that Python needs."""
    part: _F = njit(**_PART)(function)
    return part


def compiled_sum(function: _F) -> _F:
    """Compile a part that is one long sum, whose terms may be added in any order."""
    part: _F = njit(**_PART, fastmath=_REORDER)(function)
    return part


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
