"""Pushes along any path, and objects that are already moving: closed forms and fine references."""

import numpy as np
import pytest

import pushwise as pw
from fuzz_paths import Count, simulate_many
from pushwise.geometry.metric import mean_cell_error
from random_paths import random_path
from random_pushes import library_model, random_blob

Array = np.ndarray

HAMMER = pw.objects.load("hammer").model


def disc(radius: float, cells: int) -> pw.ObjectModel:
    """Return a uniform disc."""
    angle = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)
    corners = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    grid = pw.CellGrid.from_outline(corners, cell_size=2.0 * radius / cells)
    return pw.ObjectModel(grid, np.full(grid.n_cells, 1.0 / grid.n_cells), 0.3)


def turned(points: Array, pose: Array) -> Array:
    """Return points (k, 2) of a frame that is at a pose (3,)."""
    cos, sin = np.cos(pose[2]), np.sin(pose[2])
    found: Array = points @ np.array([[cos, sin], [-sin, cos]]) + pose[:2]
    return found


@pytest.mark.parametrize("cut", [0.5, 0.8137])
def test_two_collinear_pieces_are_one_push(cut: float) -> None:
    """Add a knot where nothing changes, in the middle and anywhere: nothing changes."""
    whole = pw.Push.line((-0.06, -0.1), (0.02, 0.1), 2.0)
    pieces = pw.Push([0.0, 2.0 * cut, 2.0], whole.at([0.0, 2.0 * cut, 2.0]))
    a, b = pw.simulate(HAMMER, whole), pw.simulate(HAMMER, pieces)
    assert len(a.t) == len(b.t)
    np.testing.assert_allclose(b.pose, a.pose, rtol=0.0, atol=1e-9)


def test_a_slow_path_may_be_slower() -> None:
    """End within 0.1 mm when a slow path is traversed ten times slower."""
    points = [(-0.06, -0.03), (-0.04, 0.02), (0.0, 0.03), (0.02, 0.05)]
    ends = [pw.simulate(HAMMER, pw.Push.through(points, v)).pose[-1] for v in (0.02, 0.002)]
    assert mean_cell_error(HAMMER.grid, *ends) < 1e-4


def test_a_flick_accelerates_constantly() -> None:
    """Compare times, places and speeds with those of a constant acceleration."""
    push = pw.Push.flick((0.1, 0.2), (3.0, 4.0), 0.8, run_up=0.06)
    assert push.length == pytest.approx(0.06)
    np.testing.assert_allclose(push.end, (0.136, 0.248))
    speed = np.hypot(*push.velocities.T)
    assert speed[-1] == pytest.approx(0.8)
    # The speed of a piece is that of a constant acceleration from rest at its middle.
    middle = 0.5 * (push.times[1:] + push.times[:-1])
    np.testing.assert_allclose(speed, 0.8 * middle / middle[-1])
    gone = np.hypot(*(push.positions - push.start).T)
    np.testing.assert_allclose(gone, 0.06 * (push.times / push.duration) ** 2)
    assert push.duration == pytest.approx(2.0 * 0.06 / 0.8, rel=0.04)
    assert not push.raised


@pytest.mark.parametrize("speed", [0.3, 1.0])
def test_a_flicked_disc_slides_on_alone(speed: float) -> None:
    """Keep the finger's contact until it stops; then glide by v^2 / (2 mu g)."""
    model, push = disc(0.05, 10), pw.Push.flick((-0.06, 0.0), (1.0, 0.0), speed)
    path = pw.simulate(model, push)
    touching = path.t[1:][np.hypot(*path.force.T) > 0.0]
    assert touching[0] < 0.02 * push.duration
    assert touching[-1] == pytest.approx(push.duration)
    glide = speed**2 / (2.0 * 0.3 * 9.81)
    np.testing.assert_allclose(path.pose[-1], (0.08 + glide, 0.0, 0.0), atol=0.01 * glide)


def test_frames_do_not_matter() -> None:
    """Turn and move everything: the result turns and moves with it."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        model = random_blob(rng)
        path = random_path(rng, model, pw.Finger(0.006, 0.4))
        frame = np.array([*rng.normal(size=2), rng.uniform(-np.pi, np.pi)])
        twist = rng.normal(size=3) * (0.1, 0.1, 2.0)
        cos, sin = np.cos(frame[2]), np.sin(frame[2])
        there = np.array(
            [cos * twist[0] - sin * twist[1], sin * twist[0] + cos * twist[1], twist[2]]
        )
        finger = pw.Finger(0.006, 0.4)
        a = pw.simulate(model, path, twist=twist, finger=finger)
        moved = pw.Push(path.times, turned(path.positions, frame), raised=path.raised)
        b = pw.simulate(model, moved, frame, twist=there, finger=finger)
        back = np.column_stack([turned(a.pose[:, :2], frame), a.pose[:, 2] + frame[2]])
        np.testing.assert_allclose(b.pose, back, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("speed", [0.1, 0.5, 2.0])
def test_a_thrown_block_stops_where_friction_stops_it(speed: float) -> None:
    """Stop after v^2 / (2 mu g)."""
    grid = pw.CellGrid.from_outline([(0, 0), (0.1, 0), (0.1, 0.06), (0, 0.06)], cell_size=0.02)
    block = pw.ObjectModel(grid, np.full(grid.n_cells, 0.05), 0.3)
    away = pw.Push([0.0, 0.01], [(1.0, 1.0), (1.0, 1.0)], raised=True)
    end = pw.simulate(block, away, twist=(speed, 0.0, 0.0)).pose[-1]
    np.testing.assert_allclose(end, [speed**2 / (2 * 0.3 * 9.81), 0.0, 0.0], rtol=5e-3, atol=1e-9)


@pytest.mark.parametrize("ratio", [0.653, 1.0, 3.0])
def test_a_disc_stops_sliding_and_spinning_at_once(ratio: float) -> None:
    """Let v / (R omega) tend to 0.653 whatever it is at first (Farkas et al., PRL 2003)."""
    radius, spin = 0.05, 20.0
    away = pw.Push([0.0, 0.01], [(1.0, 1.0), (1.0, 1.0)], raised=True)
    path = pw.simulate(disc(radius, 24), away, twist=(ratio * radius * spin, 0.0, spin))
    v, turn = np.hypot(*path.twist[:, :2].T), radius * np.abs(path.twist[:, 2])
    assert v[-1] + turn[-1] < 1e-4
    late = [np.flatnonzero(turn > share * radius * spin)[-1] for share in (0.1, 0.01, 0.001)]
    off = np.abs(v[late] / turn[late] - 0.653)
    assert off[-1] < 0.02
    assert ratio == 0.653 or (np.diff(off) < 0.0).all()


def test_a_raised_finger_lets_go() -> None:
    """Slide on freely where the finger is raised at full speed, and stop where it stays."""
    grid = pw.CellGrid.from_outline([(0, 0), (0.1, 0), (0.1, 0.06), (0, 0.06)], cell_size=0.02)
    block = pw.ObjectModel(grid, np.full(grid.n_cells, 0.05), 0.3)
    back = [(0.0, (-0.0101, 0.03)), (0.5, (0.1899, 0.03)), (0.6, (0.0, 0.03))]
    times, places = zip(*back, strict=True)
    gone = pw.simulate(block, pw.Push(times[:2], places[:2], raised=True))
    away = pw.simulate(block, pw.Push(times, places))
    assert gone.pose[-1, 0] == pytest.approx(0.2 + 0.4**2 / (2 * 0.3 * 9.81), rel=0.01)
    np.testing.assert_allclose(away.pose[-1], gone.pose[-1], atol=1e-4)
    after = gone.t[1:] > 0.5
    assert (gone.mode[after] == pw.Mode.SEPARATE).all() and not gone.force[after].any()


@pytest.mark.slow
def test_random_paths_agree_with_short_steps() -> None:
    """Push around corners, let go and push again: within 0.2 mm of steps 64 times shorter.

    That is, where these are a reference: where steps 16 times shorter do not agree with them
    either, the push turns one way or the other by tiny differences. Such paths are few.
    """
    rng = np.random.default_rng(17)
    finger = pw.Finger(0.008, 0.4)
    errors: list[float] = []
    undecided = 0
    while len(errors) < 200:
        name = str(rng.choice(["hammer", "crimp", "wrench"]))
        model = library_model(rng, name, uneven=False)
        path = random_path(rng, model, finger)
        usual = pw.simulate(model, path, finger=finger)
        dt = float(np.diff(usual.t).max())
        short, shorter = (
            pw.simulate(model, path, finger=finger, physics=pw.Physics(dt=dt / parts)).pose[-1]
            for parts in (16, 64)
        )
        if mean_cell_error(model.grid, short, shorter) > 2e-4:
            undecided += 1
            continue
        errors.append(mean_cell_error(model.grid, usual.pose[-1], shorter))
    assert np.median(errors) < 3e-5
    assert max(errors) < 2e-4
    assert undecided <= 4


@pytest.mark.slow
def test_no_random_path_is_a_dead_end() -> None:
    """Simulate paths that start anywhere, wedged and moving, as `fuzz_paths` does."""
    total = Count()
    for seed in range(10_000, 10_010):
        total = total.plus(simulate_many(seed, 250))
    assert total.paths == 2500
    assert total.failed == 0
    assert total.deep == 0
    assert total.jammed < 50
