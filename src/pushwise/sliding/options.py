"""`SlideOptions`: what a run of `slide` may be asked for, with one set of defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from pushwise.errors import PushwiseError
from pushwise.planning.options import GRASP_WIDTH, OVERHANG, PlanOptions, Prefer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["SlideOptions"]


@dataclass(frozen=True)
class SlideOptions:
    """Options of `slide`."""

    explore: int | Literal["auto"] = "auto"
    """How the object is explored: "auto" chooses pushes, slow ones and flicks, until a goal is
    safe. A number is that of random pushes, as in the paper; with none, uniform mass and friction
    are assumed."""
    overhang: float = OVERHANG
    """How far a part must extend beyond the table's edge at the goal [m]."""
    grasp_width: float = GRASP_WIDTH
    """How wide that part may be along the edge [m].

    The gripper of the simulated worlds closes on it from above and below, so that its width hardly
    matters; for a hand that closes from the sides, this is its opening.
    """
    grasp_at: tuple[float, float] | None = None
    """A point of the object [m], in the frame whose pose the world reports, that must be beyond the
    edge; None for any."""
    prefer: Prefer = "safety"
    """Which goals are best: the safest, or those with the most overhang within the allowed risk."""
    obstacles: Sequence[ArrayLike] = ()
    """Polygons on the table that nothing may touch [m], shape (k, 2) each; kept as tuples."""
    plan: PlanOptions = field(default_factory=PlanOptions)
    """Options of planning; its `max_pushes` limits the pushes to the goal, except those of a
    controller in a world that streams, and its `seed` is the random seed of the whole run."""

    def __post_init__(self) -> None:
        """Check the values."""
        from pushwise.checks import finite_array, non_negative_integer, positive_number
        from pushwise.geometry.polygon import simple_polygon

        if self.explore != "auto":
            object.__setattr__(self, "explore", non_negative_integer("explore", self.explore))
        # Refused here: exploration would take it for a goal that is missing, and push on.
        if self.prefer not in get_args(Prefer):
            raise PushwiseError(f'prefer must be "safety" or "overhang"; got {self.prefer!r}.')
        if self.grasp_at is not None:
            x, y = finite_array("grasp_at", self.grasp_at, (2,)).tolist()
            object.__setattr__(self, "grasp_at", (x, y))
        checked = (simple_polygon("obstacles", polygon).tolist() for polygon in self.obstacles)
        object.__setattr__(self, "obstacles", tuple(tuple(map(tuple, p)) for p in checked))
        for name in ("overhang", "grasp_width"):
            object.__setattr__(self, name, positive_number(name, getattr(self, name)))
