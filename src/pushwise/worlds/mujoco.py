"""`MuJoCo`: three dimensions, a table with an edge, and objects that tip and fall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from itertools import pairwise
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from pushwise.objects.thing import Thing
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger, Push
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array
from pushwise.worlds.bystanders import Bystander, Bystanders
from pushwise.worlds.mujoco_scene import FAST, FLOOR, STEADY, TIME_STEP, Softness, object_scene
from pushwise.worlds.run_push import TILTED, Look, Motion, run_push
from pushwise.worlds.streaming import PARKED, Instant, StreamedSimulation
from pushwise.worlds.world import Sensing

__all__ = ["MuJoCo"]

_HARD_IMPEDANCE = 0.9, 0.95, 0.001  # MuJoCo's own
_HARD_TIME = 2.0 * TIME_STEP  # s; the hardest that is stable

_STATE = mujoco.mjtState.mjSTATE_INTEGRATION  # all that the next step depends on

_AT_REST = 1e-3  # m/s, and rad/s
_SLOW = 0.2  # m/s; what is faster has fast contacts
_LIE = 0.1  # s a released object must be still to count as lying safely
_PATIENCE = 5.0  # s it is watched at most


class MuJoCo(StreamedSimulation):
    """A free body with one box per cell on a table, pushed by a heavy, driven cylinder.

    `mujoco_scene` explains how its contacts are made to obey Coulomb's law; `pushwise experiment
    referee` measures how well they do. A free body rests on its table as on a stiff bed,
    `Physics(load="rigid")`; with `own_weight` it slides as `Physics(load="own")` does and never
    tips. Pushed at 0.1 to 0.3 m/s it ends within 4 mm of that, along a line or a curve. Tables are
    rectangular.
    """

    _data: mujoco.MjData | None  # what moves continue from

    def __init__(
        self,
        thing: Thing | ObjectModel,
        table: Table | None = None,
        *,
        own_weight: bool = False,
        seed: int = 0,
        pose: ArrayLike = (0.0, 0.0, 0.0),
        finger: Finger | None = None,
        sensing: Sensing | None = None,
        bystanders: Sequence[Bystander] = (),
    ) -> None:
        """Build the scene and release the object.

        Args:
            thing: The object, or only its model.
            table: The table; the default `Table` if not given.
            own_weight: Let each cell carry its own weight; only for sliding away from the edge.
            seed: Random seed of the noise.
            pose: Pose of the grid frame at the start [m, m, rad], shape (3,).
            finger: The finger; the default `Finger` if not given.
            sensing: What is measured, and how well; the default `Sensing` if not given.
            bystanders: Other objects on the table, which move when they are touched. What is
                seen is the object alone.

        """
        self._engine: mujoco.MjModel | None = None
        self._bystanders = Bystanders(bystanders)
        self._body: _FreeBody | _PlanarCells = _PlanarCells() if own_weight else _FreeBody()
        super().__init__(thing, table, seed=seed, pose=pose, finger=finger, sensing=sensing)

    def reset(self, seed: int) -> None:
        """Put the object and the bystanders back where they started.

        Args:
            seed: Random seed of the noise from here on.

        """
        self._bystanders.reset()
        super().reset(seed)

    @property
    def obstacles(self) -> tuple[Array, ...]:
        """The outlines of the bystanders at the start [m], shape (k, 2) each."""
        return self._bystanders.outlines

    def bystanders_moved(self) -> Array:
        """Return how far each bystander was moved [m], shape (k,), as a mean of its cells."""
        return self._bystanders.moved()

    def state(self) -> dict[str, Any]:
        """Return all that the world's future depends on, as JSON can hold it."""
        return {**super().state(), "bystanders": self._bystanders.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Return to a state; the same pushes and moves then have the same results."""
        super().restore(state)
        self._bystanders.restore(state.get("bystanders"))

    def _carried_out(self, push: Push, pose: Array, twist: Array) -> Motion:
        """Drive the finger along the push and step the engine until the object rests."""
        engine = self._compiled()
        data = self._laid_down(engine, pose, twist)
        motion = run_push(
            _MuJoCoEngine(engine, data, self._body, self._model.grid, push),
            push,
            pose[2],
            self._sensing.rate,
        )
        self._bystanders.note(engine, data)
        return motion

    def _streamed(self, end: Array | None, dt: float) -> Instant:
        """Step the engine on from where the last move left it."""
        engine = self._compiled()
        if self._data is None:
            self._data = self._laid_down(engine, self._pose, self._twist)
        scene = _MuJoCoEngine(engine, self._data, self._body, self._model.grid, self._path(end, dt))
        scene.advance(0.0, dt)
        self._bystanders.note(engine, self._data)
        now = scene.look(self._pose[2])
        return Instant(now.pose, self._body.twist(self._data), now.tilt > TILTED)

    def _halt(self) -> None:
        """Forget the engine's state: pushes and streams begin with an object at rest."""
        super()._halt()
        self._data = None

    def _inner_state(self) -> dict[str, Any]:
        """Return the engine's state."""
        engine = self._compiled()
        inner = np.empty(mujoco.mj_stateSize(engine, _STATE))
        mujoco.mj_getState(engine, self._data, inner, _STATE)
        return {"engine": inner.tolist()}

    def _restore_inner(self, stream: Mapping[str, Any]) -> None:
        """Return to a state of the engine."""
        engine = self._compiled()
        self._data = mujoco.MjData(engine)
        mujoco.mj_setState(engine, self._data, np.array(stream["engine"]), _STATE)

    def _falls(self, pose: Array) -> bool:
        """Release the object and watch whether it falls.

        The contacts that make sliding obey Coulomb's law are soft: standing on a few feet at the
        table's edge, an object sinks in by a millimetre, leans, and falls with its centre of mass
        up to 6 mm inside the support polygon. Nothing slides here, so the contacts are hard.
        """
        engine = copy(self._compiled())
        engine.pair_solimp[:, :3] = _HARD_IMPEDANCE
        engine.pair_solref[:] = _HARD_TIME, 1.0
        engine.pair_solreffriction[:] = 0.0
        data = self._laid_down(engine, pose, np.zeros(3))
        rest = 0.0
        while data.time < _PATIENCE and rest < _LIE:
            mujoco.mj_step(engine, data)
            if self._body.tilt(data) > TILTED or self._body.height(data) < 0.5 * FLOOR:
                return True
            rest = rest + TIME_STEP if self._body.still(data) else 0.0
        return False

    def _compiled(self) -> mujoco.MjModel:
        """Return the engine's model, built once."""
        if self._engine is None:
            own_weight = isinstance(self._body, _PlanarCells)
            scene = object_scene(
                self._model,
                self._table,
                self._finger,
                own_weight=own_weight,
                bodies=self._bystanders.bodies(),
                pairs=self._bystanders.pairs(),
            )
            self._engine = mujoco.MjModel.from_xml_string(scene)
        return self._engine

    def _laid_down(self, engine: mujoco.MjModel, pose: Array, twist: Array) -> mujoco.MjData:
        """Return a state with the object at a pose on the table and the finger out of the way."""
        engine.opt.timestep = TIME_STEP
        data = mujoco.MjData(engine)
        self._body.lay(data, pose, twist)
        at = int(engine.joint("finger").qposadr[0])
        data.qpos[at : at + 2] = PARKED
        self._bystanders.lay(engine, data)
        return data


class _FreeBody:
    """An object that moves freely: seven position coordinates, six velocities."""

    def lay(self, data: mujoco.MjData, pose: Array, twist: Array) -> None:
        """Put the object at a pose (3,) on the table, moving with a twist (3,)."""
        half = 0.5 * pose[2]
        data.qpos[:7] = [pose[0], pose[1], 0.0, np.cos(half), 0.0, 0.0, np.sin(half)]
        # The velocity is that of the body's frame, which is the grid's, not that of its centre of
        # mass; the angular velocity is in the body's axes; their z is the table's.
        data.qvel[:6] = [twist[0], twist[1], 0.0, 0.0, 0.0, twist[2]]

    def twist(self, data: mujoco.MjData) -> Array:
        """Return the twist (vx, vy, omega) of the grid origin."""
        twist: Array = data.qvel[[0, 1, 5]]
        return twist

    def pose(self, data: mujoco.MjData, near: float) -> Array:
        """Return the pose (x, y, theta) of the grid frame, theta within half a turn of `near`."""
        x, y, _, qw, qx, qy, qz = data.qpos[:7]
        theta = np.arctan2(2.0 * (qw * qz + qx * qy), 1.0 - 2.0 * (qy**2 + qz**2))
        turns = np.round((near - theta) / (2.0 * np.pi))
        return np.array([x, y, theta + 2.0 * np.pi * turns])

    def tilt(self, data: mujoco.MjData) -> float:
        """Return the angle between the object's vertical and the table's [rad]."""
        _, qx, qy, _ = data.qpos[3:7]
        return float(2.0 * np.arcsin(min(np.hypot(qx, qy), 1.0)))

    def height(self, data: mujoco.MjData) -> float:
        """Return the height above the table [m]; an object may land flat on the floor."""
        return float(data.qpos[2])

    def still(self, data: mujoco.MjData) -> bool:
        """Return whether the object is at rest."""
        return bool(np.abs(data.qvel[:6]).max() < _AT_REST)


class _PlanarCells:
    """Cells on a root that moves in the plane: three position coordinates, three velocities."""

    def lay(self, data: mujoco.MjData, pose: Array, twist: Array) -> None:
        """Put the object at a pose (3,) on the table, moving with a twist (3,)."""
        data.qpos[:3] = pose
        data.qvel[:3] = twist

    def twist(self, data: mujoco.MjData) -> Array:
        """Return the twist (vx, vy, omega) of the grid origin."""
        return np.array(data.qvel[:3])

    def pose(self, data: mujoco.MjData, near: float) -> Array:
        """Return the pose (x, y, theta) of the grid frame; the joint counts whole turns."""
        return np.array(data.qpos[:3])

    def tilt(self, data: mujoco.MjData) -> float:
        """Return zero: the root cannot tilt."""
        return 0.0

    def height(self, data: mujoco.MjData) -> float:
        """Return zero: the root stays on the table."""
        return 0.0

    def still(self, data: mujoco.MjData) -> bool:
        """Return whether the object is at rest."""
        return bool(np.abs(data.qvel[:3]).max() < _AT_REST)


class _MuJoCoEngine:
    """A MuJoCo scene in the middle of a push."""

    def __init__(
        self,
        engine: mujoco.MjModel,
        data: mujoco.MjData,
        body: _FreeBody | _PlanarCells,
        grid: CellGrid,
        push: Push,
    ) -> None:
        """Put the finger at the start of the push."""
        self._engine, self._data, self._body, self._push = engine, data, body, push
        self._n_cells, self._reach = grid.n_cells, float(np.hypot(*grid.outline.T).max())
        joint = engine.joint("finger")
        self._place = slice(joint.qposadr[0], joint.qposadr[0] + 2)
        self._speed = slice(joint.dofadr[0], joint.dofadr[0] + 2)
        data.qpos[self._place] = push.start

    def advance(self, begin: float, end: float) -> Array:
        """Step from one time to another [s]; return the finger's mean force [N], shape (2,)."""
        engine, data, push = self._engine, self._data, self._push
        steps = int(np.ceil((end - begin) / TIME_STEP - 1e-9))
        dt = (end - begin) / steps
        places = push.at(np.linspace(begin, end, steps + 1))
        if push.raised and begin >= push.duration:
            places[:] = PARKED
        total = np.zeros(2)
        soft = None
        for here, there in pairwise(places):
            before, soft = soft, self._softness(float(np.hypot(*(there - here))) / dt)
            if soft is not before:
                soft.impose(engine, self._n_cells, own_weight=isinstance(self._body, _PlanarCells))
                engine.opt.timestep = dt / soft.steps
            for i in range(soft.steps):
                # Even a heavy finger strays by micrometres; put it back on its path.
                data.qpos[self._place] = here + (there - here) * (i / soft.steps)
                data.qvel[self._speed] = (there - here) / dt
                mujoco.mj_step(engine, data)
                # The reaction on the finger, as its joints see it.
                total -= data.qfrc_constraint[self._speed] / soft.steps
        mean: Array = total / steps
        return mean

    def _softness(self, finger: float) -> Softness:
        """Return what suits the motion now: fast, or free while the finger [m/s] stands, or not."""
        vx, vy, omega = self._body.twist(self._data)
        speed = float(np.hypot(vx, vy) + abs(omega) * self._reach)
        free = finger == 0.0 and not self._body.still(self._data)
        return FAST if free or max(speed, finger) > _SLOW else STEADY

    def look(self, near: float) -> Look:
        """Return the current state, theta within half a turn of `near` [rad]."""
        body, data = self._body, self._data
        finger = data.qpos[self._place].copy()
        return Look(
            body.pose(data, near), finger, body.height(data), body.tilt(data), body.still(data)
        )
