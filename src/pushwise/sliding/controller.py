"""`PushController`: pushes an object to a goal with feedback, one step per observation.

It searches the push library for the best contact (`planning.push_search`), goes there without
touching the object, and pushes. While it pushes, it looks for the best way on from the current
contact ten times per second: it steers, slides along the outline, or stops. Then it looks again for
the best contact, where staying at the current one costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array
from pushwise.errors import PushwiseError
from pushwise.geometry.metric import mean_cell_error
from pushwise.identification.belief import Belief, checked_belief
from pushwise.physics.model import Physics, Table
from pushwise.physics.simulator import Simulator
from pushwise.planning.free_space import FreeSpace, checked_obstacles
from pushwise.planning.prepared_pushes import prepared_pushes
from pushwise.planning.push_library import TIME_STEP, local_pushes, seen_from
from pushwise.planning.push_search import PushChoice
from pushwise.planning.search_space import STEP_COST
from pushwise.planning.stability import Balance
from pushwise.planning.value import relative_pose
from pushwise.sliding.approaches import Approaches
from pushwise.sliding.control_options import ControlOptions, Doing
from pushwise.sliding.finger_motion import NEAR, FingerMotion
from pushwise.sliding.pose_tracker import PoseTracker
from pushwise.sliding.push_bans import PushBans
from pushwise.sliding.push_guard import PushGuard
from pushwise.sliding.push_judge import PushJudge
from pushwise.sliding.push_outcomes import PushOutcomes
from pushwise.sliding.route import Route
from pushwise.typing import Array
from pushwise.worlds.world import Observation

__all__ = ["PushController"]

_STEER = 0.1  # s between two looks for the best way on while pushing
_SETTLE = 0.1  # s to look at an object after a push
_PATIENCE = 1.0  # s to wait for an object that glides on
_CONFIRM = 0.3  # s to look at it where it seems to be at the goal
_SURE = 0.9  # of the tolerance: what an estimate must be below
_BUDGET = 1.3  # times the planned travel after which a push ends, and
_EXTRA = 0.03  # m
_WORSE = 1.5  # times the risk at the start of a retreat at which it ends
_MOVED = 0.001  # m; a push that moves the object less is not tried again
_ENCLOSED = 3  # starts that cannot be reached along the table before the finger is raised
_CHECKED = 40  # choices that are checked for safety
_STEERED = 5  # and while pushing
_DETOURS = 6  # targets that are tried when no push is safe


class PushController:
    """Pushes one object on one table, whatever the goal.

    Preparing the pushes of an object takes a few seconds, and is done once per belief.
    """

    def __init__(
        self,
        belief: Belief,
        table: Table,
        obstacles: Sequence[ArrayLike] = (),
        *,
        finger_obstacles: Sequence[ArrayLike] | None = None,
        options: ControlOptions = ControlOptions(),
    ) -> None:
        """Prepare for an object on a table.

        Args:
            belief: What is believed about the object, and the finger that pushes it.
            table: The table; the object must not fall off it.
            obstacles: Polygons [m] in the table frame, shape (k, 2) each.
            finger_obstacles: The same for the finger; by default the obstacles of the object.
            options: Period, tolerance and limits.

        """
        model, finger = checked_belief(belief).model, belief.finger
        self.options = options
        """Period, tolerance and limits."""
        self._assumed = belief.assumed
        self.grid = model.grid
        """The cells of the object."""
        self._free = FreeSpace(
            Balance(belief, table, placement_std=options.placement_std, seed=options.seed),
            obstacles,
            max_fall_probability=options.max_fall_probability,
        )
        own = self._free.obstacles
        if finger_obstacles is not None:
            own = checked_obstacles("finger_obstacles", finger_obstacles)
        self._guard = PushGuard(belief, self._free, own, seed=options.seed)
        prepared = prepared_pushes(model, finger)
        self._library, self._routes = prepared.library, prepared.routes
        self._search = prepared.search()
        self._simulator, self._coarse = (
            Simulator(model, finger=finger, table=table, physics=physics)
            for physics in (Physics(), Physics(dt=TIME_STEP))
        )
        self._outcomes = PushOutcomes(self._library, self._coarse, table)
        self._finger = finger
        self._approaches = Approaches(model.grid.outline, self._library, own, finger)
        self.reset()

    def reset(self, finger: ArrayLike | None = None) -> None:
        """Forget the object, which is at rest in the next observation.

        Args:
            finger: Where the finger is [m], table frame, shape (2,); None where it is up.

        """
        self.doing = Doing.LOOKING
        """What it is doing."""
        self.contacts = 0
        """Number of contacts begun."""
        self.searched = False
        """Whether the last step searched for a contact."""
        self._tracker: PoseTracker | None = None
        self._motion = FingerMotion(self.grid.outline, self._library, self._finger)
        self._simulator.finger = self._coarse.finger = self._finger
        self._approaches.forget()
        self._motion.move_to(finger)
        self._route = Route(self._free, seed=self.options.seed)
        self._before: Array | None = None  # where the finger was a period ago
        self._goal, self._contact = np.full(3, np.nan), np.full(2, np.nan)  # none yet
        self._bans = PushBans(self._library.contacts)
        self._judge = PushJudge(self.grid, self._search, self._outcomes, doubtful=self._assumed)
        self._wait, self._confirming = 0.0, False

    @property
    def pose(self) -> Array:
        """Estimated pose of the object [m, m, rad], shape (3,)."""
        if self._tracker is None:
            raise PushwiseError("the controller has not seen the object yet; call step first.")
        return self._tracker.pose.copy()

    def step(
        self, observation: Observation, goal: ArrayLike, finger: ArrayLike | None = None
    ) -> Array | None:
        """Return where the finger should be a period later [m], shape (2,), or None for up.

        Args:
            observation: The object now, after the finger has gone where the last step sent it.
            goal: Pose to reach (x, y, theta) [m, m, rad], shape (3,); it may change.
            finger: Where the finger is [m], table frame, shape (2,); by default where the last step
                sent it.

        Raises:
            PushwiseError: The goal is not free, there is no path, or no safe push leads nearer.

        """
        there = finite_array("goal", goal, (3,))
        period = self.options.period
        self._motion.move_to(finger)
        if self._tracker is None:
            self._tracker = PoseTracker(self._simulator, observation.pose)
        else:
            place, touching = self._motion.place, self._motion.touching
            self._tracker.update(observation.pose, self._before, place, period, touching=touching)
        pose = self._tracker.pose
        if not np.array_equal(there, self._goal):
            self._route.start(pose, there)
            self._goal = np.array(there)
            self.doing, self._wait, self._confirming = Doing.LOOKING, 0.0, False
            self._judge.forget()
        self._before = self._motion.place
        self.searched = False
        if self.doing in (Doing.LOOKING, Doing.ARRIVED):
            self._look(pose, self._tracker.resting)
        if self.doing is Doing.APPROACHING and not self._tracker.resting:
            if self._motion.place is not None and self._motion.gap(pose) < NEAR:
                self._approaches.touched()
            self._end_push(pose)  # it is not where the finger goes
        elif self.doing is Doing.APPROACHING and self._motion.approach(period):
            self.doing = Doing.PUSHING
            self._approaches.arrived()
        elif self.doing is Doing.PUSHING:
            self._push(pose)
        place = self._motion.place
        return None if place is None else place.copy()

    def refused(self) -> None:
        """Note that the finger could not go where the last step sent it, and is up.

        The object may be nearer than it was seen to be, or the place out of an arm's reach. The
        object is looked at again, and the contact is left out for a while.
        """
        self._ban(self.pose)
        self._approaches.keep_away()
        self._motion.lift()
        self._before = None
        self.doing, self._wait = Doing.LOOKING, _SETTLE

    def _look(self, pose: Array, resting: bool) -> None:
        """Wait until the object rests; then it has arrived, or another push is chosen."""
        self._wait -= self.options.period
        if self._wait > 0.0 or (self._wait > -_PATIENCE and not resting):
            return
        if mean_cell_error(self.grid, pose, self._goal) < _SURE * self.options.tolerance:
            if self._confirming or self.doing is Doing.ARRIVED:
                self.doing = Doing.ARRIVED
            else:
                self._confirming, self._wait = True, _CONFIRM
            return
        self._confirming = False
        self.doing = Doing.LOOKING
        self._choose(pose)

    def _choose(self, pose: Array) -> None:
        """Choose a contact and begin to go there, or continue where the finger is."""
        self.searched = True
        begin, here = self._motion.begin_costs(pose, self._routes)
        self._bans.next_choice()
        begin[self._bans.banned] = np.inf
        risk, limit = self._guard.risk(pose[None]), self.options.max_fall_probability
        self._retreats = risk > limit
        self._permitted = _WORSE * risk if self._retreats else limit
        target = self._route.retreat(pose) if self._retreats else self._route.target(pose)
        choices = self._search.choices(relative_pose(pose, target), begin)
        if choices and self._judge.disappointed(choices[0], pose, target):
            # What the last push promised did not come true; it would not the next time either.
            self._ban(pose)
            begin[self._bans.banned] = np.inf
            choices = [one for one in choices if one.pushes[0].contact not in self._bans.banned]
        for detour in range(_DETOURS + 1):
            worth = self._judge.worth(choices, pose, target) or choices
            worth = self._outcomes.corrected(worth, self._search, pose, target)
            if self._begin_first(worth, pose, target, here):
                first = self._choice.pushes[0]
                spent = begin[first.contact] + self._choice.travel * STEP_COST
                self._detouring = self._retreats or detour > 0
                promised = np.inf if self._detouring else self._choice.cost - spent
                self._judge.promise(promised, pose, target)
                return
            target = self._route.detour(pose, 1.0 + 0.5 * detour)
            choices = self._search.choices(relative_pose(pose, target), begin)
        error = mean_cell_error(self.grid, pose, self._goal)
        raise PushwiseError(
            f"no safe push leads nearer to the goal, which is {error * 1e3:.0f} mm away; allow a "
            "higher fall probability, or choose another goal."
        )

    def _begin_first(
        self, choices: list[PushChoice], pose: Array, target: Array, here: int | None
    ) -> bool:
        """Begin the first choice that is safe; return whether there is one.

        One that can be reached along the table is preferred. Where the first few cannot, in a
        hollow of the object, the finger is raised; and so it is where it is hemmed in.
        """
        clearance = self._guard.clearance(pose, target)
        ways, may_raise = self._approaches, self.options.may_raise
        hemmed_in = ways.hemmed_in and may_raise
        enclosed: list[PushChoice] = []
        for choice in choices[:_CHECKED]:
            led = self._outcomes.way(pose, choice)
            if led is None or not self._guard.allows(*led, clearance, retreats=self._retreats):
                continue
            there = choice.pushes[0].contact == here
            path = None
            if not there and not hemmed_in:
                path = ways.path(choice.pushes[0], self._motion, pose)
            if there or path is not None:
                self._begin(choice, pose, target, path, raised=False)
                return True
            if may_raise:
                enclosed.append(choice)
                if hemmed_in or len(enclosed) == _ENCLOSED:
                    break
        if not enclosed:
            return False
        start = ways.start(enclosed[0].pushes[0], self._motion, pose)
        self._begin(enclosed[0], pose, target, start[None], raised=True)
        return True

    def _begin(
        self, choice: PushChoice, pose: Array, target: Array, path: Array | None, *, raised: bool
    ) -> None:
        """Begin a choice: go to its start along a path (w, 2), or push at once."""
        self._motion.begin(choice.at_first_contact, path, raised=raised)
        self.doing = Doing.PUSHING if path is None else Doing.APPROACHING
        self._choice, self._target, self._since = choice, target, 0.0
        self._began, self._contact = pose.copy(), self._library.contacts[choice.pushes[0].contact]
        self._budget = _EXTRA + _BUDGET * self._motion.left

    def _push(self, pose: Array) -> None:
        """Push on, steer, or end the push."""
        motion, period = self._motion, self.options.period
        assert self._tracker is not None
        touched = motion.touching
        found = motion.follow_contact(pose, moves=not self._tracker.resting)
        if not found or self._guard.risk(pose[None]) > self._permitted:
            self._end_push(pose)
            return
        self.contacts += motion.touching and not touched
        self._since += period
        if motion.touching and self._since > _STEER:
            self._since = 0.0
            if not self._steer(pose):
                self._end_push(pose)
                return
        before = motion.place
        braking = self._outcomes.braking(pose, self._tracker.twist, motion.speed)
        if not motion.advance(pose, period, braking) or motion.travelled > self._budget:
            self._end_push(pose)
            return
        after = motion.place
        assert before is not None and after is not None
        if not self._guard.allows_step(pose, self._tracker.twist, before, after, period):
            motion.stop_at(before)
            self._ban(pose)
            self._end_push(pose)

    def _steer(self, pose: Array) -> bool:
        """Look for the best way on from the current contact; return whether there is one."""
        assert self._motion.place is not None and self._tracker is not None
        if not self._detouring:
            self._target = self._route.target(pose)
        seen = relative_pose(pose, self._target)
        place = seen_from(pose, self._motion.place)
        self._coarse.finger = self._tracker.finger
        local = local_pushes(self._library, self._coarse, pose, place)
        clearance = self._guard.clearance(pose, self._target)
        pair = self._motion.pair_left(place, local)
        for choice in self._search.on_from(local, seen, pair)[:_STEERED]:
            if not self._judge.goes_on(choice, pose, self._target, local):
                return False
            led = self._outcomes.of(pose, choice.at_first_contact, local)
            if self._guard.allows(*led, clearance, retreats=self._retreats):
                self._motion.redirect(choice.at_first_contact, local)
                return True
        return False

    def _end_push(self, pose: Array) -> None:
        """Stop, and look."""
        if mean_cell_error(self.grid, pose, self._began) < _MOVED:
            self._ban(pose)
        self._motion.stop()
        self.doing, self._wait = Doing.LOOKING, _SETTLE

    def _ban(self, pose: Array) -> None:
        """Ban the contacts around the one where the last push began, and where the finger is."""
        self._bans.ban(self._contact)
        if self._motion.place is not None:
            self._bans.ban(seen_from(pose, self._motion.place))
