"""`PathBatch`: several control steps of many states in one call."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pushwise as pw
from pushwise.physics.path_batch import PathBatch, Walls
from random_pushes import library_model

FINGER = pw.Finger(0.01, 0.3)


def test_paths_are_control_steps_one_after_the_other() -> None:
    """End in the same numbers to the last bit as `step_batch`, with threads and without."""
    rng = np.random.default_rng(0)
    physics = pw.Physics(dt=0.01)
    kinds = [
        pw.Simulator(library_model(rng, name), finger=FINGER, physics=physics)
        for name in ("hammer", "crimp")
    ]
    size = 40
    simulators = [kinds[i % 2] for i in range(size)]
    start = kinds[0].start(np.zeros((size, 3)), np.repeat(np.arange(size)[:, None] < 4, 3, 1) * 0.1)
    # From everywhere around the object to near its middle, or past it, or nowhere near.
    angle = rng.uniform(0.0, 2.0 * np.pi, size)
    away = 0.3 * np.column_stack([np.cos(angle), np.sin(angle)])
    states = pw.step_batch(simulators, start, away, 0.01)
    states = pw.MotionState(np.array(states.numbers))
    goals = rng.uniform(-0.05, 0.05, (size, 2))
    goals[-10:] = 1.5 * away[-10:]
    touched = 0
    for _ in range(6):
        share = np.linspace(0.0, 1.0, 6)[1:, None, None]
        paths = states.finger + share * (goals - states.finger) * 0.4
        one_by_one = states
        for finger in paths:
            one_by_one = pw.step_batch(simulators, one_by_one, finger, 0.02)
        alone, made = PathBatch(simulators, 0.02).step(states, paths)
        with ThreadPoolExecutor(2) as pool:
            states, _ = PathBatch(simulators, 0.02, pool=pool).step(states, paths)
        np.testing.assert_array_equal(alone.numbers, one_by_one.numbers)
        np.testing.assert_array_equal(states.numbers, one_by_one.numbers)
        assert (made == 5).all()
        touched += int((states.mode != pw.Mode.SEPARATE).sum())
    assert touched > 20
    assert (states.pose[-10:] == 0.0).any()


def test_each_state_needs_a_simulator() -> None:
    """Say how many states were given, and for how many simulators."""
    simulator = square_simulator()
    batch = PathBatch([simulator], 0.1)
    with pytest.raises(pw.PushwiseError, match="got 2 for 1"):
        batch.step(simulator.start(np.zeros((2, 3))), np.zeros((3, 2, 2)))


def square_simulator() -> pw.Simulator:
    """Return a square of 40 mm that is pushed in steps of 10 ms."""
    grid = pw.CellGrid([(x, y) for x in (-0.01, 0.01) for y in (-0.01, 0.01)], 0.02)
    model = pw.ObjectModel(grid, np.full(4, 0.1), 0.3)
    return pw.Simulator(model, finger=FINGER, physics=pw.Physics(dt=0.01))


def test_a_sliding_object_stops_at_a_wall() -> None:
    """Let it touch the wall and stand still there; without walls it slides v^2 / 2 mu g further."""
    simulator = square_simulator()
    start = simulator.start([[0.05, 0.0, 0.0]], [[0.5, 0.0, 0.0]])
    away = np.full((30, 1, 2), 0.5)
    free, _ = PathBatch([simulator], 0.01).step(start, away)
    assert free.pose[0, 0] - 0.05 == pytest.approx(0.5**2 / (2 * 0.3 * 9.81), abs=1e-3)
    stopped, made = PathBatch([simulator], 0.01, Walls(-0.1, 0.1)).step(start, away)
    np.testing.assert_allclose(stopped.pose[0], [0.08, 0.0, 0.0], atol=1e-9)
    assert not stopped.twist.any() and made[0] == 30


def test_a_finger_stops_before_it_squeezes_an_object() -> None:
    """Push a square to a wall; the finger stays there, and may leave again with the next path."""
    simulator = square_simulator()
    state = simulator.step(simulator.start([[0.05, 0.0, 0.0]]), (0.0, 0.0), 0.01)
    share = np.linspace(0.0, 1.0, 41)[1:, None, None]
    path = share * np.array([0.1, 0.0])
    batch = PathBatch([simulator], 0.01, Walls(-0.1, 0.1))
    state, made = batch.step(state, path)
    assert 16 < made[0] < 30
    # It may be a quarter of its radius inside for a moment.
    np.testing.assert_allclose(state.pose[0], [0.08, 0.0, 0.0], atol=1e-9)
    assert 0.05 <= state.finger[0, 0] <= 0.05 + 0.25 * FINGER.radius
    back, made = batch.step(state, state.finger - share * np.array([0.03, 0.0]))
    assert made[0] == 40
    np.testing.assert_allclose(back.finger[0], state.finger[0] - [0.03, 0.0], atol=1e-12)


def test_a_time_step_is_needed() -> None:
    """Say what to do without one."""
    simulator = pw.Simulator(pw.objects.load("hammer").model)
    with pytest.raises(pw.PushwiseError, match=r"make the Simulator with a Physics\.dt"):
        PathBatch([simulator], 0.1)


def test_a_finger_that_does_not_move() -> None:
    """Leave the states of some fingers as they are, in contact and at rest."""
    simulator = square_simulator()
    batch = PathBatch([simulator] * 3, 0.01)
    state = simulator.step(simulator.start(np.zeros((3, 3))), (-0.04, 0.0), 0.01)
    path = np.linspace(-0.04, 0.0, 6)[1:, None, None] * np.array([1.0, 0.0]) + np.zeros((3, 2))
    state, _ = batch.step(state, path)
    after, made = batch.step(state, path + 0.01, np.array([True, False, True]))
    assert (state.mode != pw.Mode.SEPARATE).all()
    np.testing.assert_array_equal(after.numbers[1], state.numbers[1])
    np.testing.assert_array_equal(after.numbers[0], after.numbers[2])
    assert (after.numbers[0] != state.numbers[0]).any()
    assert made.tolist() == [5, 0, 5]
