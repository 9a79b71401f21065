"""`PushController` and `drive`: goals reached with feedback, without touching or falling."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import ArrayLike

import pushwise as pw
from push_shapes import shape
from pushwise.errors import PushwiseError, SimulationError
from pushwise.geometry.metric import mean_cell_error
from pushwise.geometry.polygon import outline_distance
from pushwise.planning.free_space import FreeSpace
from pushwise.planning.stability import Balance
from pushwise.sliding.control_options import Doing
from pushwise.sliding.moved import End
from pushwise.sliding.pose_tracker import PoseTracker
from pushwise.sliding.push_guard import PushGuard
from pushwise.typing import Array

TABLE = pw.Table.rectangle(1.6, 1.2)
NOISE = pw.Noise(position=1e-3, angle=5e-3)


@cache
def controller(name: str) -> pw.PushController:
    """Return a controller of a shape that is known."""
    return pw.PushController(pw.Belief.certain(shape(name)), TABLE)


def world_of(name: str, seed: int = 0) -> pw.worlds.Ideal:
    """Return a noisy world with a shape."""
    return pw.worlds.Ideal(shape(name), TABLE, seed=seed, sensing=pw.worlds.Sensing(NOISE))


def true_pose(world: pw.worlds.Ideal) -> Array:
    """Return the pose without noise."""
    return np.array(world.state()["pose"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["square", "L", "T", "slot"])
@pytest.mark.parametrize("goal", [(0.25, 0.1, 0.7), (-0.2, 0.15, np.pi), (0.03, 0.0, -0.3)])
def test_goals_are_reached(name: str, goal: tuple[float, float, float]) -> None:
    """Be within 5 mm in the end, turned by half a turn or nearly there from the start."""
    world = world_of(name)
    done = pw.drive(world, controller(name), goal, noise=NOISE)
    assert done.end is End.REACHED
    assert mean_cell_error(shape(name).grid, true_pose(world), np.array(goal)) < 0.005
    assert len(done.records) <= done.contacts <= 8
    assert done.seconds < 30.0
    for record in done.records:
        assert record.noise == NOISE
        assert np.abs(np.diff(record.pose[:, 2])).max() < 0.5


@pytest.mark.slow
def test_approaches_touch_nothing() -> None:
    """Keep the finger off the object, as it truly is, and off an obstacle on every approach."""
    model = shape("T")
    wall = np.array([(0.12, -0.05), (0.16, -0.05), (0.16, 0.25), (0.12, 0.25)])
    control = pw.PushController(pw.Belief.certain(model), TABLE, [wall])
    world, goal = world_of("T"), np.array([0.35, 0.1, 2.5])
    seen, approached = world.observe(), 0
    free = FreeSpace(Balance(pw.Belief.certain(model), TABLE), [wall])
    for _ in range(3000):
        going = control.doing is Doing.APPROACHING
        finger = control.step(seen, goal)
        if control.doing is Doing.ARRIVED:
            break
        assert finger is not None
        assert outline_distance(wall, finger) > 0.01
        if going and control.doing is Doing.APPROACHING:
            approached += 1
            outline = pw.placed(model.grid.outline, true_pose(world))
            assert outline_distance(outline, finger) > 0.01
        seen = world.move(finger, 0.02)
        assert free(true_pose(world)[None])[0]
    assert control.doing is Doing.ARRIVED
    assert approached > 20


@pytest.mark.slow
def test_objects_stay_on_the_table() -> None:
    """Go to a goal over the edge without a fall probability above the limit on the way."""
    model = shape("L")
    table = pw.Table.rectangle(0.5, 0.4)
    belief = pw.Belief(
        model, pw.Finger(), np.diag([4e-6, 4e-6]), None, np.array([1e-3, 1e-3, 0.01])
    )
    goal = pw.choose_goal(belief, table, overhang=0.03, space=pw.GoalSpace(start=np.zeros(3))).pose
    control = pw.PushController(belief, table)
    world = pw.worlds.Ideal(model, table, sensing=pw.worlds.Sensing(NOISE))
    done = pw.drive(world, control, goal)
    assert done.end is End.REACHED
    assert not world.fell
    balance = Balance(belief, table)
    # Observed poses scatter by the noise; where the object is, it is safer than that.
    assert np.mean(balance.fall_probabilities(done.poses)) < 0.01


@pytest.mark.slow
def test_the_same_seed_has_the_same_result() -> None:
    """Repeat a drive to the last bit, and differ with other noise."""
    runs = [
        pw.drive(world_of("square", seed), controller("square"), (0.2, 0.1, 1.0)).poses
        for seed in (3, 3, 4)
    ]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_the_time_limit_holds() -> None:
    """End after the time of the world that is allowed, not reached."""
    done = pw.drive(world_of("square"), controller("square"), (0.4, 0.3, 2.0), time_limit=0.5)
    assert done.end is End.OUT_OF_TIME
    assert done.seconds == pytest.approx(0.5)
    assert not done.reached
    shorter = pw.drive(world_of("square"), controller("square"), (0.4, 0.3, 2.0), time_limit=1e-3)
    assert shorter.end is End.OUT_OF_TIME


class Refusing(pw.worlds.Ideal):
    """Refuses to set the finger down a number of times, as over an object nearer than seen."""

    refusals = 0
    error: type[PushwiseError] = SimulationError

    def move(self, finger: ArrayLike | None, dt: float) -> pw.worlds.Observation:
        """Refuse, or move."""
        if finger is not None and self.refusals:
            self.refusals -= 1
            raise self.error("the finger starts inside the object.")
        return super().move(finger, dt)


@pytest.mark.parametrize(
    ("refusals", "error", "end"),
    [
        (1, SimulationError, End.REACHED),
        (4, SimulationError, End.REACHED),
        (50, SimulationError, End.LOST),
        (1, PushwiseError, End.REACHED),
        (50, PushwiseError, End.REFUSED),
    ],
)
def test_a_finger_that_does_not_fit_is_set_down_elsewhere(
    refusals: int, error: type[PushwiseError], end: End
) -> None:
    """Try another contact, also where an arm cannot go; give up after many refusals."""
    world = Refusing(shape("square"), TABLE, sensing=pw.worlds.Sensing(NOISE))
    world.refusals, world.error = refusals, error
    done = pw.drive(world, controller("square"), (0.1, 0.05, 0.4))
    assert done.end is end
    assert done.detail == ("" if done.reached else "the finger starts inside the object.")


def test_bad_input_is_refused() -> None:
    """Say in one sentence what is wrong."""
    control = controller("square")
    control.reset()
    with pytest.raises(PushwiseError, match="has not seen the object yet"):
        _ = control.pose
    seen = world_of("square").observe()
    control.step(seen, seen.pose)
    control.refused()  # before anything was chosen
    with pytest.raises(PushwiseError, match=r"goal must have shape \(3,\)|goal"):
        control.step(seen, (0.1, 0.2))
    with pytest.raises(
        PushwiseError, match=r"goal \(2.000 m, .*is not free: that is off the table"
    ):
        control.step(seen, (2.0, 0.0, 0.0))
    with pytest.raises(PushwiseError, match="belief must be a Belief"):
        pw.PushController(shape("square"), TABLE)  # type: ignore[arg-type]
    with pytest.raises(PushwiseError, match="period"):
        pw.ControlOptions(period=0.0)
    with pytest.raises(PushwiseError, match="max_fall_probability"):
        pw.ControlOptions(max_fall_probability=2.0)


def test_the_guard_stops_a_push_over_the_edge() -> None:
    """Refuse a step towards the edge that would tip the object, and allow one back."""
    model = shape("square")
    belief, table = pw.Belief.certain(model), pw.Table.rectangle(0.6, 0.4)
    guard = PushGuard(belief, FreeSpace(Balance(belief, table)), seed=0)
    centre = float(model.centre_of_mass[0])
    pose = np.array([0.3 - centre - 0.002, 0.0, 0.0])
    low, high = model.grid.outline[:, 0].min(), model.grid.outline[:, 0].max()
    left, right = pose[:2] + np.array([[low - 0.01, 0.0], [high + 0.01, 0.0]])
    step = np.array([0.004, 0.0])
    assert not guard.allows_step(pose, np.zeros(3), left, left + step, 0.02)
    assert guard.allows_step(pose, np.zeros(3), right, right - step, 0.02)
    inland = np.zeros(3)
    assert guard.allows_step(inland, np.zeros(3), left - pose[:2], left - pose[:2] + step, 0.02)


def test_an_object_too_near_the_edge_is_brought_back() -> None:
    """Push it inland from where it rests although it was likely to fall, and then to its goal."""
    model, table = shape("square"), pw.Table.rectangle(0.6, 0.4)
    uncertain = pw.Belief(model, pw.Finger(), 0.01**2 * np.eye(2), None, np.zeros(3))
    centre = float(model.centre_of_mass[0])
    start = np.array([0.3 - centre - 0.015, 0.0, 0.0])
    assert Balance(uncertain, table).fall_probabilities(start[None])[0] > 0.03
    control = pw.PushController(uncertain, table)
    world = pw.worlds.Ideal(model, table, pose=start, sensing=pw.worlds.Sensing(NOISE))
    done = pw.drive(world, control, (0.1, 0.05, 0.3))
    assert done.end is End.REACHED
    assert (Balance(pw.Belief.certain(model), table).margins(done.poses) > 0.0).all()


def test_an_object_that_glides_on_does_not_rest() -> None:
    """Notice a motion that the model does not predict, within the noise of the poses."""
    rng = np.random.default_rng(1)
    noise = np.array([1e-3, 1e-3, 5e-3])
    tracker = PoseTracker(pw.Simulator(shape("square")), np.zeros(3))
    rested = []
    for step in range(100):
        # It turns for half of the time, and then stands still.
        pose = np.array([0.0, 0.0, 0.02 * min(step, 50)])
        tracker.update(pose + rng.normal(0.0, noise), None, None, 0.02)
        rested.append(tracker.resting)
    assert not any(rested[10:50])
    assert np.mean(rested[65:]) > 0.9


def test_the_tracker_averages_noise_away() -> None:
    """Be three times as accurate as an observation while the object rests."""
    rng = np.random.default_rng(0)
    tracker = PoseTracker(pw.Simulator(shape("square")), rng.normal(0.0, 1e-3, 3))
    errors = []
    for _ in range(60):
        tracker.update(rng.normal(0.0, 1e-3, 3), None, None, 0.02)
        errors.append(np.hypot(*tracker.pose[:2]))
    assert np.mean(errors[30:]) < 1.25e-3 / 3.0
