"""Where the unknowns of identification are in the vector u."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pushwise.identification.calibration import NUISANCES
from pushwise.typing import Array

__all__ = ["Unknowns"]


@dataclass(frozen=True)
class Unknowns:
    """The order of the unknowns: the object first, then a start per record, the set-up last."""

    cells: int
    """Number of cells."""
    free: tuple[bool, ...]
    """Which records are free slides, whose starting twist is unknown, too."""
    calibrates: bool
    """Whether the errors of the set-up are unknowns."""

    @property
    def loads(self) -> slice:
        """What the cells carry."""
        return slice(0, self.cells)

    @property
    def frictions(self) -> slice:
        """Their coefficients of friction."""
        return slice(self.cells, 2 * self.cells)

    @property
    def finger(self) -> int:
        """The finger's friction."""
        return 2 * self.cells

    @property
    def gyration(self) -> int:
        """The radius of gyration."""
        return 2 * self.cells + 1

    @property
    def height(self) -> int:
        """The height at which the finger pushes."""
        return 2 * self.cells + 2

    @property
    def lean(self) -> int:
        """The height of the centre of mass, by which a slide shifts the load."""
        return 2 * self.cells + 3

    @property
    def of_object(self) -> slice:
        """All but the starts and the set-up."""
        return slice(0, 2 * self.cells + 4)

    @cached_property
    def starts(self) -> tuple[slice, ...]:
        """The start of each record: pose (3), and for a free slide twist (3)."""
        found, first = [], self.of_object.stop
        for free in self.free:
            last = first + (6 if free else 3)
            found.append(slice(first, last))
            first = last
        return tuple(found)

    @property
    def setup(self) -> slice:
        """The errors of the set-up; none where it is not in doubt."""
        return slice(self.count - (NUISANCES if self.calibrates else 0), self.count)

    @cached_property
    def count(self) -> int:
        """Number of unknowns."""
        starts = sum(6 if free else 3 for free in self.free)
        return int(self.of_object.stop) + starts + (NUISANCES if self.calibrates else 0)

    def start(self, u: Array, i: int) -> Array:
        """Return the part of u that is the start of record i, a view."""
        return u[self.starts[i]]
