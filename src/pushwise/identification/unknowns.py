"""Where the unknowns of identification are in the vector u."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pushwise.identification.calibration import NUISANCES

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
    windows: tuple[int, ...]
    """Number of windows of each record, each of which has a start."""

    @property
    def frictions(self) -> slice:
        """The coefficients of friction of the cells, which follow what the cells carry."""
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
        """The start of each record: a pose (3), and for each later window a pose and twist (6).

        That of a free slide is a pose and twist, too.
        """
        found, first = [], self.of_object.stop
        for free, windows in zip(self.free, self.windows, strict=True):
            last = first + 6 * windows - (0 if free else 3)
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
        last = self.starts[-1].stop if self.starts else self.of_object.stop
        return int(last) + (NUISANCES if self.calibrates else 0)

    def windows_of(self, i: int) -> list[slice]:
        """Return the start of each window of record i."""
        ends = [self.starts[i].stop - 6 * k for k in reversed(range(self.windows[i]))]
        return [slice(a, b) for a, b in zip([self.starts[i].start, *ends], ends, strict=False)]
