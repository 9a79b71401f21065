"""`bring`: an object to a goal, with feedback if the world streams, otherwise push by push."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from pushwise.identification.belief import Belief
from pushwise.physics.model import Table
from pushwise.planning.options import PlanOptions
from pushwise.progress import OnProgress, Progress
from pushwise.records.record import Noise
from pushwise.sliding.control_options import ControlOptions
from pushwise.sliding.controller import PushController
from pushwise.sliding.drive import drive
from pushwise.sliding.follow import Followed, follow
from pushwise.sliding.moved import End
from pushwise.worlds.world import StreamingWorld, World

__all__ = ["bring"]

_AIM = 0.6  # of the tolerance: aim for better than needed
_TIME_LIMIT = 60.0  # s of the world


def bring(
    world: World,
    belief: Belief,
    goal: ArrayLike,
    table: Table,
    *,
    obstacles: Sequence[ArrayLike] = (),
    options: PlanOptions = PlanOptions(),
    progress: OnProgress | None = None,
) -> Followed:
    """Slide the object of a world to a goal; arguments as for `follow`.

    A world that streams is driven by a `PushController`, for a minute at most. Where that does not
    get there, whole pushes are planned from where the object is, `max_pushes` of them at most.
    """

    def by_pushes() -> Followed:
        return follow(
            world,
            belief,
            goal,
            table,
            obstacles=obstacles,
            options=options,
            progress=progress,
        )

    if not isinstance(world, StreamingWorld):
        return by_pushes()

    def report(news: Progress) -> None:
        if progress is not None:
            progress(replace(news, stage="follow"))

    control = ControlOptions(
        tolerance=_AIM * options.tolerance,
        max_fall_probability=options.max_fall_probability,
        placement_std=options.placement_std,
        seed=options.seed,
    )
    controller = PushController(belief, table, obstacles, options=control)
    driven = drive(
        world, controller, goal, time_limit=_TIME_LIMIT, noise=_noise_of(belief), progress=report
    )
    done = Followed(
        driven.end,
        driven.detail,
        driven.goal,
        driven.pose,
        driven.error,
        driven.records,
        belief,
        simulations=0,
    )
    if driven.end not in (End.OUT_OF_TIME, End.OUT_OF_REACH):
        return done
    rest = by_pushes()
    # Of the pushes driven, forces, heights and tilts are unknown, and a log has each of these for
    # all of its pushes or for none.
    made = (record.without_force().with_lift(None) for record in rest.records)
    return replace(rest, records=(*done.records, *made))


def _noise_of(belief: Belief) -> Noise | None:
    """Return the noise that the pushes state from which a belief was learned."""
    if belief.posterior is None:
        return None
    return belief.posterior.problem.records[0].noise
