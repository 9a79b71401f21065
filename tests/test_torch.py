"""`pushwise.torch`: pushes as a differentiable operation of PyTorch."""

import sys
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import pushwise as pw
from push_cases import (
    FRICTION,
    GRID,
    MASS,
    NAMES,
    case_of,
    poses_of,
)
from pushwise.physics.differentiable import PushScene

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed (extra 'torch')")


def simulate(*given: Any, scene: PushScene) -> Any:
    """Simulate by PyTorch; the module is imported here, since it needs the extra."""
    from pushwise.torch import simulate

    return simulate(*given, scene=scene)


def tensors(name: str, *, grad: bool = True) -> list[Any]:
    """Return the inputs of a case as tensors."""
    return [torch.tensor(np.array(x), requires_grad=grad) for x in case_of(name).inputs]


@pytest.mark.parametrize("name", ["stick", "slip", "separated"])
def test_gradcheck_in_every_input(name: str) -> None:
    """Pass PyTorch's own check of derivatives, one input at a time."""
    scene = case_of(name).scene
    for i, label in enumerate(NAMES):
        given = tensors(name, grad=False)
        given[i].requires_grad_()
        assert torch.autograd.gradcheck(
            lambda *x: simulate(*x, scene=scene), given, eps=1e-7, atol=2e-5, rtol=1e-4
        ), label


def test_poses_and_batches() -> None:
    """Return the bits of the operation without PyTorch, in the shape of the batch."""
    case = case_of("stick")
    given = tensors("stick")
    one = simulate(*given, scene=case.scene)
    np.testing.assert_array_equal(one.detach().numpy(), poses_of(case))
    given[2] = torch.tensor([[0.1], [0.8]], dtype=torch.float64)
    given[3] = given[3].expand(3, 3)
    many = simulate(*given, scene=case.scene)
    assert many.shape == (2, 3, 2, 3) and many.dtype == torch.float64
    torch.testing.assert_close(many[1, 2], one)
    model = pw.ObjectModel(GRID, MASS, FRICTION)  # its arrays are read-only
    arrays = simulate(model.mass, model.friction, *case.inputs[2:], scene=case.scene)
    torch.testing.assert_close(arrays, one.detach())
    last = simulate(*given, scene=PushScene(case.scene.grid, case.scene.times))
    torch.testing.assert_close(last, many[:, :, -1])


def test_what_a_batch_shares_has_the_sum_of_its_derivatives() -> None:
    """Add up derivatives over the batch for inputs without one, in single precision as well."""
    case = case_of("slip")
    whole, single = tensors("slip"), tensors("slip")
    simulate(*whole, scene=case.scene).sum().backward()
    mass = single[0].detach().float().requires_grad_()
    batch = [mass, *single[1:5], single[5].expand(4, 3, 2)]
    simulate(*batch, scene=case.scene).sum().backward()
    assert mass.grad.dtype == torch.float32
    torch.testing.assert_close(mass.grad.double(), 4.0 * whole[0].grad, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(single[5].grad, 4.0 * whole[5].grad, rtol=1e-6, atol=1e-6)


def test_without_pytorch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say in one sentence what to install."""
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "pushwise.torch", raising=False)
    with pytest.raises(pw.PushwiseError, match=r"pip install 'pushwise\[torch\]'"):
        import_module("pushwise.torch")
