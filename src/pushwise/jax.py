"""Pushes as a differentiable operation of JAX (extra `jax`).

`simulate` is exact Coulomb friction with exact derivatives, in double precision, on all cores. It
works under `jax.jit`, `jax.grad` and `jax.vmap`:

    jax.config.update("jax_enable_x64", True)
    scene = PushScene(model.grid, times)
    poses = simulate(mass, friction, finger_friction, pose, twist, knots, scene=scene)
"""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.extras import require
from pushwise.physics.differentiable import (
    DIMENSIONS,
    PushInputs,
    PushScene,
    SceneRollout,
    batch_shape,
    roll_scene,
)
from pushwise.typing import Array

if TYPE_CHECKING:
    from jax import Array as JaxArray
    from jax.typing import ArrayLike

__all__ = ["PushScene", "simulate"]

jax = require("jax", extra="jax", purpose="pushwise.jax")
jnp = jax.numpy

_KEPT = 4  # rollouts; a backward pass follows its forward pass closely


def simulate(
    mass: ArrayLike,
    friction: ArrayLike,
    finger_friction: ArrayLike,
    pose: ArrayLike,
    twist: ArrayLike,
    knots: ArrayLike,
    *,
    scene: PushScene,
) -> JaxArray:
    """Simulate pushes and return where the object is at the end of each, or at given times.

    Arguments and result are as in `pushwise.torch.simulate`, as arrays of JAX: leading axes of a
    batch broadcast, and all six inputs can be differentiated in, once, in reverse mode.

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
        (..., T, 3) [m, m, rad].

    Raises:
        PushwiseError: JAX computes in single precision.
        jax.errors.JaxRuntimeError: A push cannot be simulated; the message ends with that of the
            `SimulationError`. JAX raises it when the result is needed.

    """
    if not jax.config.jax_enable_x64:
        raise PushwiseError(
            "pushwise.jax needs double precision; call jax.config.update('jax_enable_x64', True) "
            "before anything else."
        )
    given = [
        jnp.asarray(x, jnp.float64) for x in (mass, friction, finger_friction, pose, twist, knots)
    ]
    batch = batch_shape(scene, [x.shape for x in given])
    full = [
        jnp.broadcast_to(x, (*batch, *x.shape[x.ndim - axes :]))
        for x, axes in zip(given, DIMENSIONS, strict=True)
    ]
    poses: JaxArray = _compiled_poses(scene, *full)
    return poses


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _poses(scene: PushScene, *inputs: JaxArray) -> JaxArray:
    """Return poses of a batch of any shape."""
    batch = inputs[2].shape
    shape = jax.ShapeDtypeStruct((*batch, *scene.result_shape), jnp.float64)
    found: JaxArray = jax.pure_callback(
        partial(_forward, scene), shape, *inputs, vmap_method="broadcast_all"
    )
    return found


def _poses_forward(scene: PushScene, *inputs: JaxArray) -> tuple[JaxArray, Any]:
    """Return poses, and what the derivatives need."""
    return _poses(scene, *inputs), inputs


def _poses_backward(scene: PushScene, inputs: Any, poses_bar: JaxArray) -> tuple[JaxArray, ...]:
    """Return the derivatives in all inputs."""
    shapes = [jax.ShapeDtypeStruct(x.shape, jnp.float64) for x in inputs]
    found = jax.pure_callback(
        partial(_backward, scene), shapes, poses_bar, *inputs, vmap_method="broadcast_all"
    )
    return tuple(found)


_poses.defvjp(_poses_forward, _poses_backward)
# Compiled once per scene: otherwise JAX would set up each callback anew.
_compiled_poses = jax.jit(_poses, static_argnums=0)


def _forward(scene: PushScene, *given: Any) -> Array:
    """Simulate arrays of any batch, outside JAX."""
    inputs = _flat(given)
    poses = _ROLLOUTS.of(scene, inputs).poses
    return poses.reshape(*np.shape(given[2]), *scene.result_shape)


def _backward(scene: PushScene, poses_bar: Any, *given: Any) -> list[Array]:
    """Carry derivatives back, outside JAX."""
    done = _ROLLOUTS.of(scene, _flat(given))
    bars = done.pull_back(np.asarray(poses_bar).reshape(done.poses.shape))
    return [bar.reshape(np.shape(x)) for bar, x in zip(bars, given, strict=True)]


def _flat(given: Any) -> PushInputs:
    """Return the inputs with one axis for the whole batch."""
    arrays = zip(map(np.asarray, given), DIMENSIONS, strict=True)
    return PushInputs(
        *(
            np.ascontiguousarray(array.reshape(-1, *array.shape[array.ndim - axes :]))
            for array, axes in arrays
        )
    )


class _Rollouts:
    """The last rollouts by their inputs: JAX carries arrays from a forward to its backward pass.

    Without them a gradient would simulate each push twice.
    """

    def __init__(self) -> None:
        """Start with none."""
        self._kept: OrderedDict[tuple[int, bytes], SceneRollout] = OrderedDict()
        self._lock = Lock()

    def of(self, scene: PushScene, inputs: PushInputs) -> SceneRollout:
        """Return a rollout, simulated now or before."""
        # A rollout holds its scene, so that no other scene has the same id while it is kept.
        key = id(scene), b"".join(array.tobytes() for array in inputs)
        with self._lock:
            done = self._kept.get(key)
        if done is None:
            done = roll_scene(scene, inputs)
            with self._lock:
                self._kept[key] = done
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
        return done


_ROLLOUTS = _Rollouts()
