"""A part of `pushwise bench`: what PyTorch and JAX add to the cost of differentiable pushes."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from time import process_time

import numpy as np

from pushwise import objects
from pushwise.experiments.measurement import Measurement
from pushwise.physics.differentiable import PushInputs, PushScene, roll_scene

__all__ = ["measure_frameworks"]

_BATCH = 64
_TURNS = 12
_LIMIT = 1.3
_NAME = "{}: 64 pushes and their derivatives, over the same without it"

Call = Callable[[int], object]
"""Differentiates the batch once more; its argument counts the turns."""


def measure_frameworks() -> list[Measurement]:
    """Return what each framework costs; those that are not installed are reported as missing."""
    made = (("pushwise.torch", "torch", _with_torch), ("pushwise.jax", "jax", _with_jax))
    found = []
    for name, package, make in made:
        if find_spec(package) is None:
            found.append(Measurement(_NAME.format(name), None, f"{package} is not installed"))
            continue
        found.append(_compared(name, *_hammer_batch(), make))
    return found


def _compared(
    name: str,
    scene: PushScene,
    inputs: PushInputs,
    make: Callable[[PushScene, PushInputs], Call],
) -> Measurement:
    """Let both take turns; the least processor time of each counts, so that others do not."""

    def plain(turn: int) -> None:
        done = roll_scene(scene, inputs)
        done.pull_back(np.ones_like(done.poses))

    best = [np.inf, np.inf]
    calls = (make(scene, inputs), plain)
    for turn in range(-1, _TURNS):  # the first one compiles, and does not count
        for k, call in enumerate(calls):
            began = process_time()
            call(turn)
            if turn >= 0:
                best[k] = min(best[k], process_time() - began)
    detail = f"{1e3 * best[0]:.1f} ms against {1e3 * best[1]:.1f} ms of processor time"
    return Measurement.at_most(_NAME.format(name), best[0] / best[1], _LIMIT, detail)


def _hammer_batch() -> tuple[PushScene, PushInputs]:
    """Return 64 pushes of the hammer."""
    model = objects.load("hammer").model
    rng = np.random.default_rng(0)
    knots = np.array([(-0.05, -0.09), (-0.05, -0.03)]) + 3e-3 * rng.normal(size=(_BATCH, 1, 2))
    shared = model.mass, model.friction, np.array(0.3), np.zeros(3), np.zeros(3)
    mass, friction, finger, pose, twist = (np.repeat(x[None], _BATCH, axis=0) for x in shared)
    return PushScene(model.grid, (0.0, 0.5)), PushInputs(mass, friction, finger, pose, twist, knots)


def _with_torch(scene: PushScene, inputs: PushInputs) -> Call:
    """Return the batch as an operation of PyTorch."""
    import torch

    from pushwise.torch import simulate

    given = [torch.tensor(x, requires_grad=True) for x in inputs]
    return lambda turn: simulate(*given, scene=scene).sum().backward()  # type: ignore[no-untyped-call]


def _with_jax(scene: PushScene, inputs: PushInputs) -> Call:
    """Return the batch as an operation of JAX."""
    import jax

    from pushwise.jax import simulate

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    gradient = jax.jit(jax.grad(lambda *x: simulate(*x, scene=scene).sum(), argnums=range(6)))

    def call(turn: int) -> object:
        knots = inputs.knots + 1e-6 * turn  # new ones: the last rollouts are remembered
        done: object = jax.block_until_ready(gradient(*inputs[:5], knots))  # type: ignore[no-untyped-call]
        return done

    return call
