"""Types of arrays, defined once; shapes and units are in the docstrings of what takes them."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Flags", "Integers"]

Array: TypeAlias = NDArray[np.float64]
"""Numbers."""

Flags: TypeAlias = NDArray[np.bool_]
"""True or False per element."""

Integers: TypeAlias = NDArray[np.int64]
"""Whole numbers."""
