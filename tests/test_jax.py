"""`pushwise.jax`: pushes as a differentiable operation of JAX."""

import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import pushwise as pw
from push_cases import NAMES, case_of, poses_of

jax: Any = pytest.importorskip("jax", reason="JAX is not installed (extra 'jax')")


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    """Compute in double precision in these tests, and leave it as it was."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("name", ["stick", "slip", "separated"])
def test_check_grads_in_every_input(name: str) -> None:
    """Pass JAX's own check of derivatives in reverse mode, one input at a time."""
    check_grads = import_module("jax.test_util").check_grads
    from pushwise.jax import simulate

    case = case_of(name)
    for i in range(len(NAMES)):

        def of_one(x: Any, i: int = i) -> Any:
            given = [*case.inputs[:i], x, *case.inputs[i + 1 :]]
            return simulate(*given, scene=case.scene)

        given = (np.asarray(case.inputs[i]),)
        check_grads(of_one, given, order=1, modes=["rev"], eps=1e-6, atol=2e-5, rtol=1e-4)


def test_poses_jit_and_vmap() -> None:
    """Return the bits of the operation without JAX, compiled and mapped over any input."""
    from pushwise.jax import simulate

    case = case_of("stick")
    run = jax.jit(lambda *x: simulate(*x, scene=case.scene))
    np.testing.assert_array_equal(run(*case.inputs), poses_of(case))
    frictions = np.array([0.1, 0.8, 0.3])
    mapped = jax.vmap(
        lambda mu: simulate(*case.inputs[:2], mu, *case.inputs[3:], scene=case.scene)
    )(frictions)
    batched = simulate(*case.inputs[:2], frictions, *case.inputs[3:], scene=case.scene)
    assert batched.shape == (3, 2, 3) and batched.dtype == np.float64
    np.testing.assert_array_equal(mapped, batched)
    np.testing.assert_array_equal(batched[1], poses_of(case))


def test_mapped_gradients_are_those_of_each_push() -> None:
    """Differentiate under `vmap` as one by one."""
    from pushwise.jax import simulate

    case = case_of("slip")
    loss = jax.grad(
        lambda knots: simulate(*case.inputs[:5], knots, scene=case.scene)[-1] @ np.ones(3)
    )
    paths = case.inputs.knots + 1e-4 * np.random.default_rng(0).normal(size=(3, 3, 2))
    np.testing.assert_array_equal(jax.vmap(loss)(paths), [loss(path) for path in paths])


def test_single_precision_is_refused() -> None:
    """Say how to switch double precision on."""
    from pushwise.jax import simulate

    case = case_of("stick")
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(pw.PushwiseError, match="jax_enable_x64"):
        simulate(*case.inputs, scene=case.scene)


def test_without_jax_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say in one sentence what to install."""
    monkeypatch.setitem(sys.modules, "jax", None)
    monkeypatch.delitem(sys.modules, "pushwise.jax", raising=False)
    with pytest.raises(pw.PushwiseError, match=r"pip install 'pushwise\[jax\]'"):
        import_module("pushwise.jax")
