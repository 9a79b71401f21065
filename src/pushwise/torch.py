"""Pushes as a differentiable operation of PyTorch (extra `torch`).

`simulate` is exact Coulomb friction with exact derivatives, in double precision, on all cores:

    scene = PushScene(model.grid, times)
    poses = simulate(mass, friction, finger_friction, pose, twist, knots, scene=scene)
    ((poses - goal) ** 2).sum().backward()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pushwise.extras import require
from pushwise.physics.differentiable import (
    DIMENSIONS,
    PushInputs,
    PushScene,
    batch_shape,
    roll_scene,
)

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["PushScene", "simulate"]

torch = require("torch", extra="torch", purpose="pushwise.torch")
_Function: Any = torch.autograd.Function


def simulate(
    mass: Tensor,
    friction: Tensor,
    finger_friction: Tensor | float,
    pose: Tensor,
    twist: Tensor,
    knots: Tensor,
    *,
    scene: PushScene,
) -> Tensor:
    """Simulate pushes and return where the object is at the end of each, or at given times.

    All tensors may have leading axes of a batch, which broadcast; an input without them is the same
    for the whole batch. All six can be differentiated in, once. Computation is on the CPU in double
    precision; the result is on the device of `pose`.

    Args:
        mass: of each cell [kg], shape (..., n).
        friction: of each cell on the table, shape (..., n).
        finger_friction: between finger and object, shape (...).
        pose: of the grid frame at the start [m, m, rad], shape (..., 3).
        twist: of the grid origin at the start [m/s, m/s, rad/s], shape (..., 3).
        knots: the finger's centre at `scene.times` [m], shape (..., K, 2).
        scene: the cells, the times and all else that is not differentiated in.

    Returns:
        Poses at the end of the finger's path, shape (..., 3), or at the times `scene.at`, shape
        (..., T, 3) [m, m, rad]. Name a later time in `scene.at` to wait until the object rests.

    Raises:
        SimulationError: a push, which it names, cannot be simulated: its finger starts deep inside
            the object, or the object tips over the table's edge.

    """
    # A copy of NumPy's arrays, because those of a model are read-only.
    given = [
        torch.as_tensor(np.array(x) if isinstance(x, np.ndarray) else x, dtype=torch.float64)
        for x in (mass, friction, finger_friction, pose, twist, knots)
    ]
    batch = batch_shape(scene, [tuple(x.shape) for x in given])
    flat = [
        x.expand((*batch, *x.shape[x.ndim - axes :])).reshape((-1, *x.shape[x.ndim - axes :]))
        for x, axes in zip(given, DIMENSIONS, strict=True)
    ]
    poses: Tensor = _Simulate.apply(scene, *flat)
    return poses.reshape((*batch, *scene.result_shape)).to(given[3].device)


class _Simulate(_Function):  # type: ignore[misc]
    """B pushes; the rollouts are kept for the derivatives."""

    @staticmethod
    def forward(ctx: Any, scene: PushScene, *inputs: Tensor) -> Tensor:
        """Return the poses, shape (B, T, 3)."""
        arrays = (np.ascontiguousarray(x.detach().cpu().numpy()) for x in inputs)
        done = roll_scene(scene, PushInputs(*arrays))
        if any(x.requires_grad for x in inputs):
            ctx.rollout, ctx.devices = done, [x.device for x in inputs]
        poses: Tensor = torch.from_numpy(done.poses)
        return poses

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, poses_bar: Tensor) -> tuple[Tensor | None, ...]:
        """Return the derivatives in all inputs."""
        bar = ctx.rollout.pull_back(poses_bar.detach().cpu().numpy())
        found = zip(bar, ctx.devices, strict=True)
        return (None, *(torch.from_numpy(array).to(device) for array, device in found))
