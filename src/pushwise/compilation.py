"""How kernels are compiled, how long that takes, and Ctrl-C while they run.

Numba compiles a function when it is first called, for the types it is called with. That takes a
fraction of a second per function, so that kernels keep to a few rules: no NumPy functions but
elementary ones and `np.empty`, no slices, one type for each argument (`np.array` where an array may
be read-only; no literal integers as arguments of other kernels), and `compiled_part` for whatever
only other kernels call.
"""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, TypeVar

from numba import njit
from numba.core.event import Listener, register

from pushwise.progress import OnProgress, Progress

__all__ = [
    "compiled",
    "compiled_part",
    "compiled_sum",
    "compiling_reported",
    "interrupts_held",
    "seconds_compiling",
    "working_clock",
]

_F = TypeVar("_F", bound=Callable[..., object])

# Division by zero gives inf, as in NumPy: solvers test for it, and loops can be vectorised.
_OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}
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


_UNNOTICED = 0.5  # s of compiling about which nothing needs to be said


class _CompileClock(Listener):
    """Measures how long Numba compiles in this process; what the cache holds does not count."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0  # compiling a function compiles those it calls
        self._began = 0.0
        self._total = 0.0
        self._collects = True
        self.waiting: list[OnProgress] = []
        """What to call once compiling has become noticeable."""

    def seconds(self) -> float:
        """Return the time spent compiling until now [s]."""
        with self._lock:
            return self._seconds()

    def on_start(self, event: object) -> None:
        """A compilation begins."""
        with self._lock:
            if self._depth == 0:
                self._began = perf_counter()
                # Millions of small objects come and stay: looking for garbage takes a sixth of it.
                self._collects = gc.isenabled()
                gc.disable()
            self._depth += 1
            told: list[OnProgress] = []
            if self.waiting and self._seconds() >= _UNNOTICED:
                told, self.waiting[:] = list(self.waiting), []
        for progress in told:
            progress(Progress("compile", "once per installation: about 30 s"))

    def on_end(self, event: object) -> None:
        """A compilation ends."""
        with self._lock:
            if self._depth == 1:
                self._total += perf_counter() - self._began
                if self._collects:
                    gc.enable()
            self._depth = max(self._depth - 1, 0)  # it may have begun before we listened

    def _seconds(self) -> float:
        return self._total + (perf_counter() - self._began if self._depth else 0.0)


_CLOCK = _CompileClock()
register("numba:compile", _CLOCK)  # type: ignore[no-untyped-call]


def seconds_compiling() -> float:
    """Return the time this process has spent compiling [s].

    What is loaded from the cache is not compiled.
    """
    return _CLOCK.seconds()


def working_clock() -> float:
    """Return the time of a clock that stands still while functions are compiled [s].

    Only differences have a meaning: what work takes once everything is compiled.
    """
    return perf_counter() - seconds_compiling()


@contextmanager
def compiling_reported(progress: OnProgress) -> Iterator[None]:
    """Report once, while the block runs, that functions are being compiled.

    Args:
        progress: Called with the stage "compile" when compiling has taken half a second in this
            process and is not over; never when the functions are loaded from the cache.

    """
    waiting = _CLOCK.waiting
    waiting.append(progress)
    try:
        yield
    finally:
        if progress in waiting:
            waiting.remove(progress)
