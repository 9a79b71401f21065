"""`explore_until_safe`: pushes chosen for what they do to the risk of the best goal.

After a few random pushes the object is identified, and each further push is the one after which the
best goal would fall with the lowest probability: a slow push, or a flick if poses are measured
often enough. It ends when a goal with the required overhang is safe. Where as much overhang as
possible is asked for, pushes are chosen for the centre of mass, until the object may go nearly as
far as if its most probable model were certain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pushwise.errors import PushwiseError, SimulationError
from pushwise.identification.belief import Belief
from pushwise.identification.free_slide import RARE
from pushwise.identification.next_push import RankedPush, next_push
from pushwise.physics.push import Push
from pushwise.planning.edge_poses import EdgePose, OverhangRequest
from pushwise.planning.goals import Goal, overhanging_poses, point_to_grasp
from pushwise.planning.stability import Balance
from pushwise.progress import OnProgress, Progress
from pushwise.records.record import PushRecord
from pushwise.sliding.explore import Unexplored, explore, safe_push
from pushwise.sliding.flick import draw_flicks
from pushwise.sliding.follow import make_push
from pushwise.sliding.learner import Learner
from pushwise.sliding.options import SlideOptions
from pushwise.typing import Array
from pushwise.worlds.world import World

__all__ = ["ExploringPolicy", "RankPushes", "explore_until_safe"]


RankPushes = Callable[..., Sequence[RankedPush]]
"""Orders pushes, with the arguments of `next_push`."""
_FIRST = 2  # random pushes before the first choice
_CANDIDATES = 6  # slow pushes to choose from, and as many flicks
_MODELS = 32  # of what is believed, for which a flick must be safe
_POSES = 60  # of the goals that the risk is computed at, the safest ones
_SAMPLES = 512  # centres of mass
_NEARLY = 0.9  # of the overhang that a certain model would allow


@dataclass(frozen=True)
class ExploringPolicy:
    """How pushes are chosen, and how many are made."""

    rank: RankPushes = next_push
    """Orders the pushes that are possible, the best one first."""
    most: int = 12
    """Pushes after which exploration ends."""


def explore_until_safe(
    world: World,
    learner: Learner,
    pose: Array,
    goal_of: Callable[[Belief, Array], Goal],
    *,
    options: SlideOptions,
    policy: ExploringPolicy = ExploringPolicy(),
    made: Sequence[PushRecord] = (),
    progress: OnProgress | None = None,
) -> tuple[PushRecord, ...]:
    """Push the object of a world until a goal is safe.

    Push k depends only on the seed, on the pushes before it and on the object's pose.

    Args:
        world: Where the pushes are made.
        learner: Learns from the pushes of an object.
        pose: Where the object was first seen [m, m, rad], shape (3,).
        goal_of: Chooses a goal for what is believed and a pose (3,); raises `PushwiseError` if
            there is none.
        options: Overhang, allowed risk and seed.
        policy: How pushes are chosen, and how many are made.
        made: Pushes made before.
        progress: Called after each push, with its record as the result.

    Raises:
        PushwiseError: If the object falls, or if no goal is safe after the last push; the message
            says what is missing.

    """
    scene, seed = learner.scene, options.plan.seed
    at = options.grasp_at
    at = None if at is None else point_to_grasp(scene.grid.outline, at)
    request = OverhangRequest(options.overhang, at, deep=False)
    # Where no pose has the overhang, whatever the masses are, not a single push is made.
    goals = overhanging_poses(scene.grid.outline, scene.table, request, options.grasp_width)

    def report(news: Progress) -> None:
        if progress is not None:
            progress(replace(news, total=policy.most))

    start = explore(
        world, scene, pose, pushes=_FIRST, seed=seed, made=made[:_FIRST], progress=report
    )
    records = [*start, *made[_FIRST:]]
    while True:
        belief = learner.learn(records).belief
        now = records[-1].pose[-1]
        try:
            goal = goal_of(belief, now)
        except PushwiseError as error:
            if len(records) >= policy.most:
                raise PushwiseError(
                    f"after {len(records)} pushes, {error} Other ways: less overhang, a larger "
                    "table, or measured forces and poses at 60 Hz."
                ) from None
        else:
            enough = options.prefer == "safety" or len(records) >= policy.most
            if enough or goal.overhang >= _NEARLY * goal_of(_certain(belief), now).overhang:
                return tuple(records)
        rng = np.random.default_rng([seed, len(records)])
        record = _pushed(world, _ranked(belief, scene, records, goals, options, policy.rank, rng))
        if record.fell:
            raise SimulationError(
                f"the object fell off the table during exploration, by push {len(records) + 1}."
            )
        records.append(record)
        report(Progress("explore", f"push {len(records)}", len(records), result=record))


def _certain(belief: Belief) -> Belief:
    """Return a belief that takes the most probable model as certain."""
    return Belief.certain(belief.model, belief.finger)


def _ranked(
    belief: Belief,
    scene: Unexplored,
    records: Sequence[PushRecord],
    goals: Sequence[EdgePose],
    options: SlideOptions,
    rank: RankPushes,
    rng: np.random.Generator,
) -> list[Push]:
    """Return pushes that are safe, those first that make the best goal safest."""
    now = records[-1].pose[-1]
    pushes = [safe_push(rng, scene, now) for _ in range(_CANDIDATES)]
    last = records[-1]
    rate = (len(last.t) - 1) / float(last.t[-1] - last.t[0])
    if rate > RARE and not scene.obstacles:
        models = belief.models(_MODELS, rng)
        pushes += draw_flicks(rng, models, now, scene.table, scene.finger, count=_CANDIDATES)
    safest = options.prefer == "safety"
    poses = _goal_poses(belief, scene, goals) if safest else np.zeros((0, 3))

    def risk(after: Belief) -> float:
        balance = Balance(
            after,
            scene.table,
            placement_std=options.plan.placement_std,
            samples=_SAMPLES,
            seed=options.plan.seed,
        )
        lowest = float(balance.fall_probabilities(poses).min())
        # No object is slid to a goal that is not safe. Without this limit a push that reveals
        # nothing would be as good as any where a single goal is in question.
        return min(lowest, options.plan.max_fall_probability)

    ranked = rank(belief, pushes, now, risk=risk if safest else None, rate=rate)
    return [one.push for one in ranked] or pushes


def _goal_poses(belief: Belief, scene: Unexplored, goals: Sequence[EdgePose]) -> Array:
    """Return poses (p, 3) with the required overhang, safest first by the most probable model."""
    poses = np.array([one.pose for one in goals])
    margins = Balance(Belief.certain(belief.model), scene.table).margins(poses)
    safest: Array = poses[np.argsort(-margins, kind="stable")[:_POSES]]
    return safest


def _pushed(world: World, pushes: Sequence[Push]) -> PushRecord:
    """Make the first push for which the finger fits where it starts."""
    for push in pushes:
        try:
            return make_push(world, push)
        except SimulationError as error:
            last = error
    raise last
