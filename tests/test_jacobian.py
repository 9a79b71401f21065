"""Forward derivatives of a rollout against the adjoint, which is checked by finite differences."""

import numpy as np
import pytest

from pushwise import Finger, Physics
from pushwise.physics.constants import GRAVITY
from pushwise.physics.prepared import MOMENTS, PreparedObject, action_of, clock_of, time_step
from random_pushes import library_model, random_push


@pytest.mark.parametrize(
    ("height", "anisotropy"), [(0.0, None), (0.02, None), (0.02, [[1.4, -0.3], [-0.3, 0.7]])]
)
def test_jacobian_agrees_with_the_adjoint(
    height: float, anisotropy: list[list[float]] | None
) -> None:
    """Contract the Jacobian with random weights: the adjoint's gradient, to rounding."""
    rng = np.random.default_rng(0)
    physics = Physics(anisotropy=anisotropy)
    for _ in range(10):
        model = library_model(rng)
        n = model.grid.n_cells
        finger = Finger(0.008, 0.4, height)
        push = random_push(rng, model, finger, length=0.05, speed=0.1)
        prepared = PreparedObject.of(model, None, physics)
        action = action_of(model, push, finger)
        dt = time_step(push, finger, physics)
        clock = clock_of(action, dt, push.duration, settle=False)
        track = prepared.roll(action, np.zeros(3), clock).track
        by_pose = rng.normal(size=track.pose.shape)
        by_impulse = rng.normal(size=track.impulse.shape)
        size = model.grid.cell_size
        bar = prepared.adjoint(action, track, model.grid, by_pose, by_impulse)
        assert bar is not None
        J = prepared.jacobian(action, track, n, impulse=True, knots=True)
        share = np.clip(track.t / push.duration, 0.0, 1.0)
        knots = np.stack([1.0 - share, share]) @ bar.finger
        z = np.einsum("tip,ti->p", J.pose, by_pose) + np.einsum("tip,ti->p", J.impulse, by_impulse)
        assert z[:n] * model.mass * GRAVITY == pytest.approx(
            bar.friction, abs=1e-9 * np.abs(bar.friction).max()
        )
        arm = model.grid.centres - model.centre_of_mass
        square = np.sum(model.grid.centres**2, axis=1) + size**2 / 6.0
        m, cx, cy, second = z[n : n + MOMENTS]
        mass = z[:n] * model.friction * GRAVITY + m + arm @ (cx, cy) / model.total_mass
        mass += second * square
        assert mass == pytest.approx(bar.mass, abs=1e-9 * np.abs(bar.mass).max())
        others = [*bar.disc[::-1], *bar.pose, *bar.twist, *knots.ravel()]
        # The adjoint has no derivatives in the heights of finger and centre of mass.
        found = np.delete(z[n + MOMENTS :], [2, 3])
        assert found == pytest.approx(others, rel=1e-6, abs=1e-9 * np.abs(z).max())
