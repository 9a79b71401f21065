"""Parts of kernels, made callable from Python."""

from collections.abc import Callable
from typing import Any

from numba import njit


def from_python(part: Callable[..., Any]) -> Callable[..., Any]:
    """Return a compiled function that does nothing but call a part of a kernel."""

    def call(*arguments: Any) -> Any:
        return part(*arguments)

    compiled: Callable[..., Any] = njit(call)
    return compiled
