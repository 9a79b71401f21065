"""`PushController` with an object that is larger or smaller than it was seen to be."""

from itertools import pairwise

import numpy as np
import pytest

import pushwise as pw
from push_shapes import shape
from pushwise.geometry.metric import mean_cell_error
from pushwise.geometry.polygon import outline_distance, placed
from pushwise.physics.push import Finger
from pushwise.planning.push_search import PlannedPush
from pushwise.sliding.approaches import Approaches
from pushwise.sliding.control_options import Doing
from pushwise.sliding.finger_motion import GAP, FingerMotion
from pushwise.sliding.moved import End
from pushwise.sliding.pose_tracker import PoseTracker

TABLE = pw.Table.rectangle(1.6, 1.2)
NOISE = pw.Noise(position=1e-3, angle=5e-3)
FINGER = Finger()
HOOK = np.array([(0, 0), (16, 0), (16, 12), (11, 12), (11, 5), (8, 5), (8, 12), (0, 12)]) / 100.0


def resized(model: pw.ObjectModel, by: float) -> pw.ObjectModel:
    """Return a square whose sides are farther out than its cells say, by a distance [m]."""
    grid = model.grid
    outline = grid.outline * (1.0 + by / np.abs(grid.outline).max())
    return pw.ObjectModel(
        pw.CellGrid(grid.centres, grid.cell_size, grid.heights, outline), model.mass, model.friction
    )


@pytest.mark.slow
@pytest.mark.parametrize("by", [-0.008, 0.008])
def test_goals_are_reached(by: float) -> None:
    """Reach a goal in few contacts, and know where the object is in the end."""
    model = shape("square")
    control = pw.PushController(pw.Belief.certain(model), TABLE)
    world = pw.worlds.Ideal(resized(model, by), TABLE, sensing=pw.worlds.Sensing(NOISE))
    goal = np.array([-0.2, 0.15, 2.0])
    done = pw.drive(world, control, goal)
    assert done.end is End.REACHED
    assert mean_cell_error(model.grid, np.array(world.state()["pose"]), goal) < 0.006
    assert len(done.records) < 12
    assert done.seconds < 20.0


def test_approaches_keep_away_after_a_touch() -> None:
    """Keep farther from the object after each touch, up to a limit, and as before when reset."""
    model = shape("square")
    library = pw.PushController(pw.Belief.certain(model), TABLE)._library
    ways = Approaches(model.grid.outline, library, (), FINGER)
    motion = FingerMotion(model.grid.outline, library, FINGER)
    pose, push = np.array([0.1, 0.05, 0.4]), PlannedPush(0, 2.0, 5.0)
    motion.move_to(placed((-2.0 * library.contacts[0])[None], pose)[0])

    def kept() -> float:
        path = ways.path(push, motion, pose)
        assert path is not None
        dense = np.concatenate([np.linspace(a, b, 50) for a, b in pairwise(path)])
        outline = placed(model.grid.outline, pose)
        return min(outline_distance(outline, place) for place in dense) - FINGER.radius

    before = kept()
    assert 0.001 <= before < GAP + 1e-5
    ways.keep_away()
    ways.keep_away()
    assert 0.007 <= kept() < before + 0.0061
    for _ in range(10):
        ways.keep_away()
    assert 0.013 <= kept() < before + 0.0121
    ways.forget()
    assert kept() == before


def test_in_a_hollow_approaches_are_as_narrow_as_before() -> None:
    """Go where the finger just fits, although it keeps away elsewhere."""
    grid = pw.CellGrid.from_outline(HOOK, cell_size=0.02)
    model = pw.ObjectModel(grid, np.full(grid.n_cells, 0.01), np.full(grid.n_cells, 0.3))
    library = pw.PushController(pw.Belief.certain(model), TABLE)._library
    ways = Approaches(model.grid.outline, library, (), FINGER)
    motion = FingerMotion(model.grid.outline, library, FINGER)
    pushes = [PlannedPush(contact, 2.0, 5.0) for contact in range(len(library.contacts))]
    before = [ways.start(push, motion, np.zeros(3)) for push in pushes]
    for _ in range(4):
        ways.keep_away()
    after = [ways.start(push, motion, np.zeros(3)) for push in pushes]
    apart = [outline_distance(model.grid.outline, start) - FINGER.radius for start in after]
    assert min(apart) > 0.5 * GAP
    same = [np.array_equal(*pair) for pair in zip(before, after, strict=True)]
    assert any(same) and not all(same)


@pytest.mark.parametrize("depth", [0.0, 0.006])
def test_the_tracker_believes_what_it_sees(depth: float) -> None:
    """Do not move an object out of a finger that is seen inside its outline time and again."""
    rng = np.random.default_rng(0)
    simulator = pw.Simulator(shape("square"))
    half = np.abs(simulator.model.grid.outline).max()
    place = np.array([half + FINGER.radius - depth, 0.0])
    tracker = PoseTracker(simulator, np.zeros(3))
    for _ in range(100):
        seen = rng.normal(0.0, [1e-3, 1e-3, 5e-3])
        tracker.update(seen, place, place, 0.02, touching=True)
    assert np.hypot(*tracker.pose[:2]) < 0.0015
    assert tracker.resting
    assert (tracker.finger.radius == FINGER.radius) == (depth == 0.0)


def test_an_approach_that_touches_the_object_is_not_tried_again() -> None:
    """Raise the finger: in a hollow that is narrower than it was seen, each way out may touch."""
    box = pw.objects.load("box").model
    controller = pw.PushController(pw.Belief.certain(box), pw.Table())
    goal = np.array([-0.2, 0.0, 0.0])  # the finger is on the wrong side
    side = float(box.grid.outline[:, 0].min()) - pw.Finger().radius - 0.004
    controller.reset(finger=(side, 0.0))
    seen = np.zeros(3)
    for _ in range(40):
        place = controller.step(pw.worlds.Observation(np.empty((0, 3)), seen), goal)
        if controller.doing is Doing.APPROACHING:
            break
    assert place is not None
    for _ in range(60):
        if controller.doing is Doing.APPROACHING:
            seen = np.array([0.0, 0.008 - seen[1], 0.0])  # to and fro, next to the finger
        place = controller.step(pw.worlds.Observation(np.empty((0, 3)), seen), goal)
        if place is None:
            break
    assert place is None
