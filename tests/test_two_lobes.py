"""A plate of two lobes, like a butterfly: pushes that start in and near its hollows, with noise."""

import numpy as np
import pytest

import pushwise as pw
from pushwise.geometry.compiled import nearest_feature
from pushwise.geometry.polygon import placed
from pushwise.identification.noise import stated_noise

Array = np.ndarray

FINGER = pw.Finger(0.00475, 0.3)
NOISE = pw.Noise(1e-3, 5e-3)


def lobes() -> Array:
    """Return the outline of two lobes that meet in a waist, 100 mm wide, shape (k, 2)."""
    angle = np.linspace(0.0, 2.0 * np.pi, 120, endpoint=False)
    radius = 0.05 * (0.28 + 0.72 * np.abs(np.cos(angle)) ** 0.8)
    return np.column_stack([radius * np.cos(angle), 1.2 * radius * np.sin(angle)])


def plate() -> pw.ObjectModel:
    """Return a steel plate of this shape, 13 mm thick."""
    cell = 0.0125
    grid = pw.CellGrid.from_outline(lobes(), cell_size=cell)
    return pw.ObjectModel(grid, np.full(grid.n_cells, 7850.0 * 0.013 * cell**2), 0.22)


def into_a_hollow(rng: np.random.Generator, outline: Array) -> pw.Push:
    """Draw a push that starts at one of the two hollows, touching or close, and goes in."""
    side = rng.choice([-1.0, 1.0])
    start = np.array([rng.normal(scale=0.006), side * 0.05])
    ox, oy = np.ascontiguousarray(outline.T)
    apart = FINGER.radius + rng.uniform(0.0, 1e-3)
    while nearest_feature(start[0], start[1], ox, oy)[1] > apart:
        start[1] -= side * 5e-5
    angle = rng.uniform(-0.9, 0.9)
    way = -side * np.array([np.sin(angle), np.cos(angle)])
    return pw.Push.line(start, 0.02 * way, 1.5)


def noisy(rng: np.random.Generator, pose: Array) -> Array:
    """Return poses (k, 3) as they are measured."""
    return pose + rng.normal(size=pose.shape) * (NOISE.position, NOISE.position, NOISE.angle)


def test_five_hundred_starts_in_hollows_are_simulated() -> None:
    """Simulate all of them, with poses a millimetre off, without a failure."""
    rng = np.random.default_rng(0)
    model = plate()
    pushes = [into_a_hollow(rng, model.grid.outline) for _ in range(500)]
    paths = pw.simulate_batch(model, pushes, noisy(rng, np.zeros((500, 3))), finger=FINGER)
    assert all(path.failure is None for path in paths)
    assert all(np.isfinite(path.pose).all() for path in paths)
    wedged = {pw.Mode.WEDGED, pw.Mode.WEDGED_TURNING_LEFT, pw.Mode.WEDGED_TURNING_RIGHT}
    assert sum(bool(wedged & set(path.mode.tolist())) for path in paths) > 50
    assert sum(int(path.jammed.sum()) for path in paths) == 0


@pytest.mark.slow
def test_pushes_from_hollows_are_learned_from_and_predicted() -> None:
    """Keep every one of 50 pushes, learn the friction, and predict others within their noise."""
    rng = np.random.default_rng(1)
    truth = plate()
    outline = truth.grid.outline
    records = []
    for _ in range(70):
        push = into_a_hollow(rng, outline)
        t = np.array([0.0, push.duration])
        pose = pw.simulate(truth, push, finger=FINGER).pose_at(t)
        records.append(pw.PushRecord(push, t, noisy(rng, pose), noise=NOISE))
    assert stated_noise(records).pose is not None
    found = pw.identify(truth.grid, records[:50], finger=FINGER)
    assert not found.posterior.problem.left_out
    assert not found.posterior.problem.flaws
    off = [
        placed(truth.grid.centres, path.pose[-1]) - placed(truth.grid.centres, record.pose[-1])
        for record in records[50:]
        for path in [pw.simulate(found.model, record.push, record.pose[0], finger=FINGER)]
    ]
    errors = [float(np.hypot(*one.T).mean()) for one in off]
    assert np.median(errors) < 3e-3
