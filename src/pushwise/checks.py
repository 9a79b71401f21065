"""Checking arguments, and wording counts in messages.

Each check returns a clean value, or raises a `PushwiseError` that names the argument, what is
valid, and what was given.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.typing import Array, Flags

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

T = TypeVar("T")

__all__ = [
    "counted",
    "finite_array",
    "finite_number",
    "instance_of",
    "non_negative_integer",
    "non_negative_number",
    "positive_number",
    "probability",
    "require_all",
]


def finite_array(name: str, value: ArrayLike, shape: tuple[int | str, ...]) -> Array:
    """Return `value` as a read-only float64 copy of the given shape.

    A letter in `shape` stands for any length: `("n", 2)` accepts any array of pairs.
    """
    expected = _shape_text(shape)
    try:
        array = np.asarray(value)
    except ValueError:
        raise PushwiseError(
            f"{name} must be an array of shape {expected}; got rows of unequal length."
        ) from None
    if array.dtype.kind not in "iuf":
        given = repr(value) if array.ndim == 0 else f"an array of dtype {array.dtype}"
        raise PushwiseError(f"{name} must be an array of numbers of shape {expected}; got {given}.")
    fits = len(array.shape) == len(shape) and all(
        isinstance(size, str) or size == have for size, have in zip(shape, array.shape, strict=True)
    )
    if not fits:
        raise PushwiseError(f"{name} must have shape {expected}; got shape {array.shape}.")
    clean = np.array(array, dtype=np.float64, order="C")
    require_all(name, clean, np.isfinite(clean), "finite")
    clean.flags.writeable = False
    return clean


def require_all(name: str, array: Array, good: Flags, what: str) -> None:
    """Raise an error that names the first entry of `array` that is not `good`."""
    if good.all():
        return
    index = tuple(int(i) for i in np.argwhere(~good)[0])
    where = ", ".join(str(i) for i in index)
    label = f"{name}[{where}]" if index else name
    raise PushwiseError(f"{name} must be {what}; {label} is {array[index]:g}.")


def finite_number(name: str, value: float) -> float:
    """Return `value` as a finite float."""
    # Python's bool is an int, but never meant as a length or a mass.
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise PushwiseError(f"{name} must be a number; got {value!r}.")
    try:
        number = float(value)
    except OverflowError:  # an integer of hundreds of digits
        number = math.inf
    if not math.isfinite(number):
        raise PushwiseError(f"{name} must be finite; got {number:g}.")
    return number


def instance_of(name: str, value: T, kind: type[Any] | tuple[type[Any], ...]) -> T:
    """Return `value` if it is of the class, or of one of the classes."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        names = " or ".join(one.__name__ for one in kinds)
        raise PushwiseError(f"{name} must be of the class {names}; got {type(value).__name__}.")
    return value


def positive_number(name: str, value: float) -> float:
    """Return `value` as a finite float greater than zero."""
    number = finite_number(name, value)
    if number <= 0.0:
        raise PushwiseError(f"{name} must be greater than zero; got {number:g}.")
    return number


def probability(name: str, value: float) -> float:
    """Return `value` as a float above zero and below one."""
    number = finite_number(name, value)
    if not 0.0 < number < 1.0:
        raise PushwiseError(f"{name} must be above 0 and below 1; got {number:g}.")
    return number


def non_negative_number(name: str, value: float) -> float:
    """Return `value` as a finite float of zero or more."""
    number = finite_number(name, value)
    if number < 0.0:
        raise PushwiseError(f"{name} must be zero or more; got {number:g}.")
    return number


def non_negative_integer(name: str, value: int | np.integer[Any]) -> int:
    """Return `value` as an int of zero or more."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise PushwiseError(f"{name} must be a whole number; got {value!r}.")
    if value < 0:
        raise PushwiseError(f"{name} must be zero or more; got {value}.")
    return int(value)


def _shape_text(shape: tuple[int | str, ...]) -> str:
    """Return a shape as Python prints a tuple, but letters without quotes: (n, 2), (n,)."""
    inside = ", ".join(str(length) for length in shape)
    return f"({inside},)" if len(shape) == 1 else f"({inside})"


def counted(count: int, one: str, many: str) -> str:
    """Return a number with its noun, singular or plural: "1 push", "5 pushes"."""
    return f"{count:,} {one if count == 1 else many}"
