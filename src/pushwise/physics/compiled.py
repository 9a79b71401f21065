"""How the physics is compiled: one decorator for all kernels, one for long sums."""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

__all__ = ["compiled", "compiled_sum"]

_F = TypeVar("_F", bound=Callable[..., object])

# Division by zero gives inf, as in NumPy: solvers test for it, and loops can be vectorised.
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
# Sums may be reordered, which is what vector registers need, but NaN must stay visible.
_REORDER = {"reassoc", "contract", "arcp", "nsz"}


def compiled(function: _F) -> _F:
    """Compile a kernel: cached on disk, free of the interpreter's lock."""
    kernel: _F = njit(**_OPTIONS)(function)
    return kernel


def compiled_sum(function: _F) -> _F:
    """Compile a kernel that is one long sum, whose terms may be added in any order."""
    kernel: _F = njit(**_OPTIONS, fastmath=_REORDER)(function)
    return kernel
