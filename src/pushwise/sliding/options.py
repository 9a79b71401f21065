"""`SlideOptions`: what a run of `slide` may be asked for, with one set of defaults."""

from __future__ import annotations

from dataclasses import dataclass, field

from pushwise.planning.options import GRASP_WIDTH, OVERHANG, PlanOptions

__all__ = ["SlideOptions"]


@dataclass(frozen=True)
class SlideOptions:
    """Options of `slide`."""

    explore: int = 5
    """Number of exploring pushes; with none, uniform mass and friction are assumed."""
    overhang: float = OVERHANG
    """How far a part must extend beyond the table's edge at the goal [m]."""
    grasp_width: float = GRASP_WIDTH
    """How wide that part may be along the edge [m].

    The gripper of the simulated worlds closes on it from above and below, so that its width hardly
    matters; for a hand that closes from the sides, this is its opening.
    """
    plan: PlanOptions = field(default_factory=PlanOptions)
    """Options of planning; its `max_pushes` limits the pushes to the goal, and its `seed` is the
    random seed of the whole run."""

    def __post_init__(self) -> None:
        """Check the values."""
        # Imported here: `pushwise --help` shows these defaults without loading NumPy.
        from pushwise.checks import non_negative_integer, positive_number

        non_negative_integer("explore", self.explore)
        for name in ("overhang", "grasp_width"):
            positive_number(name, getattr(self, name))
