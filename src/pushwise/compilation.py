"""How kernels are compiled, and how long that takes.

Numba compiles a function when it is first called, for the types it is called with. That takes a
fraction of a second per function, so that kernels keep to a few rules: no NumPy functions but
elementary ones, no new arrays, one type for each argument (`np.array` where an array may be
read-only; no literal integers as arguments of other kernels), and `compiled_part` for whatever only
other kernels call. What Python calls returns numbers, not a named tuple: making one runs Python,
where Numba does not expect Ctrl-C, and the process would die of it.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, TypeVar, get_type_hints

from llvmlite import ir
from numba import njit, types
from numba.core.cgutils import create_struct_proxy
from numba.core.event import Listener, register
from numba.extending import intrinsic

from pushwise.progress import OnProgress, Progress
from pushwise.typing import Array, Integers

__all__ = [
    "compiled",
    "compiled_allocating",
    "compiled_inline",
    "compiled_part",
    "compiled_sum",
    "compiling_reported",
    "next_turn",
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
    "forceinline": False,  # or a part would take over that of the first kernel that calls it
}
# Kernels allocate nothing: what they fill, Python gives them. They need no counts of references
# then, whose updates would take a tenth of a push and are contended for by threads.
_OPTIONS["_nrt"] = False
_PART: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True}
# Numba's types for annotations; arrays have one axis, contiguous.
_TYPES: dict[Any, types.Type] = {
    float: types.float64,
    int: types.int64,
    bool: types.boolean,
    Array: types.Array(types.float64, 1, "C"),
}
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


def compiled_inline(function: _F) -> _F:
    """Compile a part into the kernels that call it.

    For parts with many arrays or numbers among their arguments: passing those takes as long as a
    good part of a time step. Not for sums: how their terms are ordered must not depend on the
    kernel that they are in.
    """
    part: _F = njit(**{**_PART, "forceinline": True})(function)
    return part


def compiled_allocating(function: _F) -> _F:
    """Compile a function that makes arrays.

    It may call kernels and be called by them, but kernels must not be given arrays by it, nor it by
    them: they do not count references.
    """
    kernel: _F = njit(**{**_OPTIONS, "_nrt": True})(function)
    return kernel


def compiled_sum(function: _F) -> _F:
    """Compile a part that is one long sum, whose terms may be added in any order.

    Every kernel that calls a part has a copy of it, and a process uses the copy that it meets
    first. Copies of a sum may differ in the order of their terms. So that results depend neither on
    which kernel comes first nor on whether it was compiled or loaded, a sum is compiled or loaded
    when its module is imported, for the types of its annotations.
    """
    hints = get_type_hints(function)
    hints.pop("return")
    signature = tuple(_compiled_type(hint) for hint in hints.values())
    part: _F = njit(signature, **_PART, fastmath=_REORDER)(function)  # type: ignore[assignment]
    return part


def _compiled_type(hint: Any) -> types.Type:
    """Return Numba's type for an annotation: a number, numbers in a row, or a named tuple."""
    if hint in _TYPES:
        return _TYPES[hint]
    fields = [_compiled_type(field) for field in get_type_hints(hint).values()]
    if len(set(fields)) == 1:
        return types.NamedUniTuple(fields[0], len(fields), hint)  # type: ignore[no-untyped-call]
    return types.NamedTuple(fields, hint)  # type: ignore[no-untyped-call]


def _next_turn(typing: object, counter: Any) -> tuple[Any, Callable[..., Any]]:
    """Return the number in counter (1,), which counts on: to each of several threads another.

    Threads that take turns share work of unknown length evenly, without the interpreter's lock.
    """

    def count_on(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = create_struct_proxy(signature.args[0])(context, builder, args[0])  # type: ignore[no-untyped-call]
        return builder.atomic_rmw("add", array.data, ir.Constant(ir.IntType(64), 1), "monotonic")

    return types.int64(counter), count_on


next_turn: Callable[[Integers], int] = intrinsic(_next_turn)  # type: ignore[assignment]


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
