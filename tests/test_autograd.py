"""PyTorch's autograd through the paper's LCP against our analytic gradients."""

import sys
from typing import Any

import numpy as np
import pytest

from pushwise.errors import PushwiseError
from pushwise.physics.paper.closed_form_gradients import closed_form_vjp, lagged_vjp
from pushwise.physics.paper.lcp_torch import lcp_twist
from random_steps import hinge_states, kind_of, random_step, solve


@pytest.mark.slow
def test_autograd_through_lcp_equals_analytic_gradient() -> None:
    """Compare ten small cases: sliding, from rest, and with hinges at their kink."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra 'torch')")
    rng = np.random.default_rng(2)
    kinks = 0
    for case in range(10):
        torsion = 0.004 if case % 4 == 0 else 0.0
        while True:
            step = random_step(rng, 6, 14)
            solution = solve(step, torsion)
            from_rest = not step.velocities.any()
            if kind_of(solution) != "sticks" and from_rest == (case % 3 == 0):
                break
        kinks += bool((hinge_states(solution)[:, 0] == 0).any())
        loss = rng.normal(size=3)
        mass = torch.tensor(step.model.mass.copy(), requires_grad=True)
        friction = torch.tensor(step.model.friction.copy(), requires_grad=True)
        twist = lcp_twist(step.model.grid, mass, friction, *step[1:], torsion=torsion)
        (twist @ torch.from_numpy(loss)).backward()
        np.testing.assert_allclose(twist.detach().numpy(), solution.twist, atol=1e-10)
        # Where hinges at their kink hold the body, the gradient is zero but for rounding, which is
        # small beside what it would be if all cells slid.
        gradients = lagged_vjp(step.model, solution, loss)
        sliding = closed_form_vjp(step.model, solution, loss)
        for leaf, ours, free in zip((mass, friction), gradients, sliding, strict=True):
            close = 1e-6 * max(np.abs(ours).max(), 1e-2 * np.abs(free).max())
            np.testing.assert_allclose(leaf.grad.numpy(), ours, rtol=0, atol=close)
    assert kinks >= 2


def test_autograd_of_a_sticking_body_is_zero() -> None:
    """Leave a body that sticks where it is, however its mass and friction change a little."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra 'torch')")
    rng = np.random.default_rng(3)
    while kind_of(solve(step := random_step(rng, 6, 14))) != "sticks":
        pass
    mass = torch.tensor(step.model.mass.copy(), requires_grad=True)
    friction = torch.tensor(step.model.friction.copy(), requires_grad=True)
    total: Any = lcp_twist(step.model.grid, mass, friction, *step[1:]).sum()
    total.backward()
    assert mass.grad.abs().max() < 1e-6
    assert friction.grad.abs().max() < 1e-8


def test_missing_torch_is_a_clear_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say how to install PyTorch when it is missing."""
    monkeypatch.setitem(sys.modules, "torch", None)
    step = random_step(np.random.default_rng(0), 2, 3)
    mass: Any = step.model.mass
    friction: Any = step.model.friction
    with pytest.raises(PushwiseError, match=r"pip install 'pushwise\[torch\]'"):
        lcp_twist(step.model.grid, mass, friction, *step[1:])
