"""Whole pushes: the time step, the contact's cases, batches, and what is refused."""

import re

import numpy as np
import pytest

from pushwise import (
    CellGrid,
    Finger,
    ForcePush,
    ObjectModel,
    Physics,
    Push,
    SimulationError,
    objects,
    simulate,
    simulate_batch,
)
from pushwise.errors import PushwiseError
from pushwise.geometry.compiled import nearest_feature
from pushwise.physics.simulate import Mode, Trajectory
from random_pushes import library_models, random_blob, random_push

HAMMER = objects.load("hammer").model
PUSH = Push.line(start=(-0.3, 0.0), velocity=(0.1, 0.0), duration=2.0)


def gaps(model: ObjectModel, path: Trajectory, radius: float) -> np.ndarray:
    """Return the distance between finger and outline at each instant [m]."""
    ox, oy = (np.ascontiguousarray(column) for column in model.grid.outline.T)
    found = []
    for (x, y, theta), (fx, fy) in zip(path.pose, path.finger, strict=True):
        cos, sin = np.cos(theta), np.sin(theta)
        dx, dy = fx - x, fy - y
        found.append(nearest_feature(cos * dx + sin * dy, -sin * dx + cos * dy, ox, oy)[1])
    return np.array(found) - radius


@pytest.mark.slow
def test_time_step_does_not_show() -> None:
    """Halve the default step: 0.1 mm and 0.1 degree, 95th percentile of 500 pushes of 50 mm."""
    rng = np.random.default_rng(0)
    shift: list[float] = []
    turn: list[float] = []
    while len(shift) < 500:
        for model in library_models(rng):
            finger = Finger(rng.uniform(0.003, 0.015), rng.uniform(0.0, 0.8))
            speed = 10 ** rng.uniform(-2.0, -0.5)
            push = random_push(rng, model, finger, length=0.05, speed=speed)
            path = simulate(model, push, finger=finger)
            dt = float(np.median(np.diff(path.t)))
            fine = simulate(model, push, finger=finger, physics=Physics(dt=dt / 2))
            change = path.pose[-1] - fine.pose[-1]
            shift.append(np.hypot(change[0], change[1]))
            turn.append(abs(change[2]))
    assert np.percentile(shift, 95) < 1e-4
    assert np.degrees(np.percentile(turn, 95)) < 0.1


@pytest.mark.slow
def test_ten_thousand_random_pushes_have_no_nan() -> None:
    """Push random blobs in random ways; the finger never ends up inside one."""
    rng = np.random.default_rng(3)
    models, pushes = [], []
    finger = Finger(0.006, 0.5)
    for _ in range(500):
        model = random_blob(rng)
        for _ in range(20):
            speed = 10 ** rng.uniform(-2.0, 0.5)
            pushes.append(random_push(rng, model, finger, length=0.03, speed=speed))
            models.append(model)
    paths = simulate_batch(models, pushes, finger=finger)
    seen = set()
    for path in paths:
        for array in (path.t, path.pose, path.twist, path.force, path.contact, path.finger):
            assert np.isfinite(array).all()
        seen.update(path.mode.tolist())
    assert seen == {*Mode} - {Mode.JAMMED}
    for model, path in zip(models[::200], paths[::200], strict=True):
        assert gaps(model, path, finger.radius).min() > -2e-5


def test_touching_finger_neither_penetrates_nor_leaves() -> None:
    """Keep finger and outline together within a hundredth of a millimetre while they touch."""
    rng = np.random.default_rng(4)
    finger = Finger(0.005, 0.3)
    for model in library_models(rng):
        push = random_push(rng, model, finger, length=0.1, speed=0.1)
        path = simulate(model, push, finger=finger)
        touched = path.mode != Mode.SEPARATE
        assert touched.any()
        assert np.abs(gaps(model, path, finger.radius)[1:][touched]).max() < 2e-5


def test_finger_wedges_in_a_concave_corner() -> None:
    """Push an L into its inner corner: two contacts, no rotation or rubbing at both."""
    cells = [(i, 0) for i in range(6)] + [(0, j) for j in range(1, 6)]
    grid = CellGrid(np.array(cells) * 0.02, 0.02)
    model = ObjectModel(grid, np.full(grid.n_cells, 0.05), 0.4)
    finger = Finger(0.01, 0.3)
    push = Push.line(start=(0.06, 0.06), velocity=(-0.05, -0.05), duration=2.0)
    path = simulate(model, push, finger=finger)
    assert path.mode[-20] == Mode.WEDGED
    assert path.pose[-1, 2] == pytest.approx(0.0, abs=1e-3)
    assert np.abs(gaps(model, path, finger.radius)[1:][path.mode == Mode.WEDGED]).max() < 1e-5

    # Weight at the end of one arm makes it turn about the finger, and mirrored the other way.
    ends = []
    for heavy, mode in ((5, Mode.WEDGED_TURNING_LEFT), (10, Mode.WEDGED_TURNING_RIGHT)):
        mass = np.full(grid.n_cells, 0.05)
        mass[heavy] = 0.2
        path = simulate(ObjectModel(grid, mass, 0.4), push, finger=finger)
        assert mode in path.mode
        ends.append(path.pose[-1])
    assert ends[0][2] > 0.3
    assert ends[0] == pytest.approx([ends[1][1], ends[1][0], -ends[1][2]], abs=1e-6)


def test_far_finger_leaves_the_object_alone() -> None:
    """Push past the object: nothing moves, no force."""
    path = simulate(HAMMER, Push.line(start=(-0.3, 0.5), velocity=(0.3, 0.0), duration=1.0))
    assert (path.pose == 0.0).all()
    assert not path.force.any()
    assert set(path.mode.tolist()) == {Mode.SEPARATE}


def test_symmetric_push_goes_straight() -> None:
    """Push a uniform square through its centre."""
    grid = CellGrid.from_outline(
        [[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]], cell_size=0.04
    )
    model = ObjectModel(grid, np.full(grid.n_cells, 0.05), 0.5)
    path = simulate(model, Push.line(start=(-0.12, 0.0), velocity=(0.02, 0.0), duration=3.0))
    # 50 mm are left once the finger touches; at 20 mm/s the square coasts 0.04 mm.
    assert path.pose[-1] == pytest.approx([0.05, 0.0, 0.0], abs=1e-4)


def test_pose_only_moves_the_frame() -> None:
    """Push the same way in a turned and shifted frame: the same motion there."""
    theta, shift = 0.7, np.array([0.3, -0.2])
    turn = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
    push = Push.line(start=(0.02, -0.2), velocity=(0.0, 0.1), duration=2.0)
    plain = simulate(HAMMER, push)
    moved = simulate(
        HAMMER,
        Push.line(shift + turn @ push.start, turn @ push.velocity, push.duration),
        (*shift, theta),
    )
    assert moved.pose[-1, 2] - theta == pytest.approx(plain.pose[-1, 2], abs=1e-6)
    assert moved.pose[-1, :2] == pytest.approx(shift + turn @ plain.pose[-1, :2], abs=1e-6)


def test_force_push_accelerates_and_coasts() -> None:
    """Push a block with a force: F - mu m g accelerates, mu g stops it."""
    grid = CellGrid([[0.0, 0.0], [0.02, 0.0], [0.04, 0.0]], 0.02)
    model = ObjectModel(grid, [0.1, 0.1, 0.1], 0.3)
    path = simulate(model, ForcePush(cell=1, force=(3.0, 0.0), duration=0.2))
    a = 3.0 / 0.3 - 0.3 * 9.81
    speed = a * 0.2
    assert path.pose[-1, 0] == pytest.approx(
        0.5 * a * 0.2**2 + speed**2 / (2 * 0.3 * 9.81), rel=5e-3
    )
    weak = simulate(model, ForcePush(cell=1, force=(0.5, 0.0), duration=0.2))
    assert abs(weak.pose[-1, 0]) < 1e-4


@pytest.mark.slow
def test_lagged_friction_follows_the_paper_and_agrees_when_straight() -> None:
    """Compare both frictions where the direction of motion does not change."""
    push = ForcePush(cell=40, force=(4.0, 0.0), duration=0.2)
    grid = HAMMER.grid
    model = ObjectModel(grid, np.full(grid.n_cells, 0.005), 0.3)
    twist = (0.2, 0.0, 0.0)
    coulomb = simulate(model, push, twist=twist, until=0.02)
    lagged = simulate(model, push, twist=twist, until=0.02, physics=Physics(friction="lagged"))
    assert lagged.pose[-1] == pytest.approx(coulomb.pose[-1], abs=5e-5)
    with pytest.raises(PushwiseError, match="use a ForcePush"):
        simulate(model, PUSH, physics=Physics(friction="lagged"))


def test_batch_equals_one_by_one() -> None:
    """Run a batch of models, pushes and poses; each as alone, in order."""
    rng = np.random.default_rng(6)
    models = library_models(rng)
    pushes = [random_push(rng, m, Finger(), length=0.05, speed=0.1) for m in models]
    poses = np.zeros((len(models), 3))
    for path, model, push in zip(
        simulate_batch(models, pushes, poses), models, pushes, strict=True
    ):
        alone = simulate(model, push)
        assert (path.pose == alone.pose).all()
        assert (path.force == alone.force).all()
    with pytest.raises(PushwiseError, match="got 9 models, 8 pushes"):
        simulate_batch(models, pushes[:8])


def test_path_is_read_between_its_instants() -> None:
    """Ask for poses at times on, between and after the instants."""
    path = simulate(HAMMER, PUSH)
    assert (path.pose_at(path.t) == path.pose).all()
    middle = path.pose_at(0.5 * (path.t[100] + path.t[101]))
    assert middle == pytest.approx(0.5 * (path.pose[100] + path.pose[101]))
    assert (path.pose_at(99.0) == path.pose[-1]).all()


def test_finger_that_starts_inside_is_refused() -> None:
    """Name the push, the time and the place."""
    inside = Push.line(start=HAMMER.grid.centres[0], velocity=(0.1, 0.0), duration=1.0)
    with pytest.raises(SimulationError, match=r"push: at t = 0 s the finger, .* is inside"):
        simulate(HAMMER, inside)
    whole, failed = simulate_batch(HAMMER, [PUSH, inside])
    assert whole.failure is None and len(whole.t) > 100
    assert failed.failure is not None and "is inside the object" in failed.failure
    assert len(failed.t) == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"dt": 0.0}, "dt must be a positive number of seconds; got 0.0."),
        ({"dt": "0.1"}, "dt must be a positive number of seconds; got '0.1'."),
        ({"dt": True}, "dt must be a positive number of seconds; got True."),
        ({"dt": float("nan")}, "dt must be a positive number of seconds; got nan."),
        ({"load": "heavy"}, "load must be 'own' or 'rigid'; got 'heavy'."),
        ({"friction": "dry"}, "friction must be 'coulomb' or 'lagged'; got 'dry'."),
        ({"points": 0}, "points must be a whole number from 1; got 0."),
    ],
)
def test_bad_physics_is_refused(options: dict[str, object], sentence: str) -> None:
    """Say which value is wrong and what would be right."""
    with pytest.raises(PushwiseError, match=re.escape(sentence)):
        Physics(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"until": -1.0}, "until must be"),
        ({"pose": (0.0, 0.0)}, "pose must"),
        ({"twist": (0.0, 0.0, np.inf)}, "twist must"),
    ],
)
def test_bad_settings_are_refused(options: dict[str, object], sentence: str) -> None:
    """Say which value is wrong and what would be right."""
    with pytest.raises(PushwiseError, match=re.escape(sentence)):
        simulate(HAMMER, PUSH, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"poses": [(0.0, 0.0)] * 2}, "poses must have shape (B, 3); got shape (2, 2)."),
        ({"poses": [(0.0, 0.0, 0.0), (0.0,)]}, "poses must be an array of shape (B, 3); got rows"),
        ({"twists": (0.0, 0.0)}, "twists must have shape (3,); got shape (2,)."),
        ({"poses": [(0.0, 0.0, 0.0)] * 2}, "got 3 pushes, 2 poses"),
    ],
)
def test_bad_batches_are_refused(options: dict[str, object], sentence: str) -> None:
    """Say which value is wrong and what would be right."""
    with pytest.raises(PushwiseError, match=re.escape(sentence)):
        simulate_batch(HAMMER, [PUSH] * 3, **options)  # type: ignore[arg-type]


def test_a_model_is_an_object_model() -> None:
    """Name what was given instead, such as a belief."""
    with pytest.raises(PushwiseError, match="model must be an ObjectModel; got CellGrid"):
        simulate(HAMMER.grid, PUSH)  # type: ignore[arg-type]


def test_cell_out_of_range_is_refused() -> None:
    """Name the number of cells."""
    with pytest.raises(PushwiseError, match="below the number of cells, 88; got 88"):
        simulate(HAMMER, ForcePush(cell=88, force=(1.0, 0.0), duration=0.1))


def test_numbers_that_overflow_never_become_nan() -> None:
    """Push so hard that numbers overflow: mark the steps, and go on."""
    push = ForcePush(cell=0, force=(1e308, 0.0), duration=0.01)
    alone = simulate(HAMMER, push)
    assert alone.jammed.any()
    assert np.isfinite(alone.pose).all()
    path, _ = simulate_batch(HAMMER, [PUSH, push])
    assert not path.jammed.any()
