"""The viewer's replay: every push as observed, the model's prediction as a ghost, and the lift."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import numpy as np
import viser

from pushwise.errors import SimulationError
from pushwise.geometry.metric import mean_cell_error
from pushwise.physics.push import Push
from pushwise.records.record import PushRecord
from pushwise.show.quantities import compared, millimetres
from pushwise.show.viewer_data import Viewed
from pushwise.show.viewer_panel import assign, note
from pushwise.show.viewer_scene import ViewerScene
from pushwise.typing import Array
from pushwise.worlds.gripper import Grasp

__all__ = ["FRAME", "Clip", "ReplayMode", "clip", "lift"]

FRAME = 0.04
"""Time between two frames [s]."""

_SPEEDS = {"0.25 ×": 0.25, "0.5 ×": 0.5, "1 ×": 1.0, "2 ×": 2.0, "4 ×": 4.0}
_LIFT = 1.0  # s


@dataclass(frozen=True, eq=False)
class Clip:
    """A push or the lift, frame by frame."""

    observed: Array
    """Observed poses [m, m, rad], shape (frames, 3)."""
    predicted: Array | None
    """Predicted poses [m, m, rad], shape (frames, 3); None when there is no prediction."""
    finger: Array | None
    """The finger's centre [m], shape (frames, 2), NaN once it is raised; None when a force pushed.
    """
    height: Array | None = None
    """How far the object is raised [m], shape (frames,); None where it stays on the table."""


def clip(viewed: Viewed, record: PushRecord) -> Clip:
    """Return a push with its prediction, one frame per 40 ms."""
    t = np.append(np.arange(0.0, record.t[-1], FRAME), record.t[-1])
    try:
        said = compared(viewed.model, record, viewed.finger, viewed.table).path.pose_at(t)
    except SimulationError:
        said = None  # the finger starts inside the object as observed: nothing can be predicted
    return Clip(
        _at(t, record.t, record.pose),
        said,
        _finger(record.push, t) if isinstance(record.push, Push) else None,
    )


def lift(pose: Array, grasp: Grasp) -> Clip:
    """Return the object at a pose (3,) being raised as far as a grasp raised it.

    The gripper's world reports that height alone; so the object is shown level.
    """
    frames = round(_LIFT / FRAME)
    height = max(grasp.raised, 0.0) * np.linspace(0.0, 1.0, frames)
    return Clip(np.tile(pose, (frames, 1)), None, None, height)


def _finger(push: Push, t: Array) -> Array:
    """Return where the finger is at times t [s], shape (frames, 2); NaN once it is raised."""
    places = push.at(t)
    if push.raised:
        places[t > push.duration] = np.nan
    return places


class ReplayMode:
    """The controls of the replay, and its current frame."""

    def __init__(self, server: viser.ViserServer, scene: ViewerScene, viewed: Viewed) -> None:
        """Prepare the frames of all pushes, and the controls."""
        self._scene, self._viewed = scene, viewed
        self.clips = [clip(viewed, record) for record in viewed.records]
        if self.clips and viewed.grasp is not None:
            self.clips.append(lift(self.clips[-1].observed[-1], viewed.grasp))
        self.starts = np.cumsum([0, *(len(each.observed) for each in self.clips)])
        """The first frame of each push, and the number of frames."""
        self._turn = 0  # counts starts and stops: a thread of an earlier turn ends
        self._plays = False
        last = max(int(self.starts[-1]) - 1, 1)
        gui = server.gui
        self.folder = gui.add_folder("Replay")
        with self.folder:
            self.said = gui.add_html("")
            self.slider = gui.add_slider(
                "Frame",
                min=0,
                max=last,
                step=1,
                initial_value=0,
                marks=tuple(int(start) for start in self.starts[:-1]),
                hint="Each mark is the start of a push; there are 25 frames per second.",
            )
            self.button = gui.add_button("Play", icon=viser.Icon.PLAYER_PLAY)
            self.jump = gui.add_button_group("Push", ("Previous", "Next"))
            self.speed = gui.add_dropdown("Speed", tuple(_SPEEDS), initial_value="1 ×")
            self.ghost = gui.add_checkbox("Show the prediction", True)
        self.slider.on_update(lambda _: self.show())
        self.ghost.on_update(lambda _: self.show())
        self.button.on_click(lambda _: self.pause() if self._plays else self.play())
        self.jump.on_click(lambda _: self.step(1 if self.jump.value == "Next" else -1))

    @property
    def pose(self) -> Array:
        """Where the object was observed in the current frame [m, m, rad], shape (3,)."""
        push, at = self._current()
        seen: Array = self.clips[push].observed[at]
        return seen

    def enter(self, pose: Array) -> None:
        """Begin with the current frame."""
        self.folder.visible = True
        self.show()

    def leave(self) -> None:
        """End the mode."""
        self.folder.visible = False
        self.pause()
        self._scene.show_ghost(None)
        self._scene.show_finger(None)

    def show(self) -> None:
        """Show the frame that the slider is at."""
        with self._scene.changing:
            self._show()

    def _show(self) -> None:
        push, at = self._current()
        film = self.clips[push]
        seen = film.observed[at]
        self._scene.object.place(seen, 0.0 if film.height is None else float(film.height[at]))
        finger = None if film.finger is None else film.finger[at]
        self._scene.show_finger(None if finger is None or np.isnan(finger).any() else finger)
        said = None if film.predicted is None else film.predicted[at]
        self._scene.show_ghost(said if self.ghost.value else None)
        self.said.content = note(self._words(push, at, seen, said))

    def step(self, by: int) -> None:
        """Go to the start of the next push, or to that of this or the previous one."""
        push, at = self._current()
        to = push + by if by > 0 or at == 0 else push
        assign(self.slider, int(self.starts[min(max(to, 0), len(self.clips) - 1)]))

    def play(self) -> None:
        """Play from the current frame, or from the start when at the end."""
        if self.slider.value >= self.slider.max:
            assign(self.slider, 0)
        self._turn, self._plays = self._turn + 1, True
        self.button.label, self.button.icon = "Pause", viser.Icon.PLAYER_PAUSE
        threading.Thread(target=self._run, args=(self._turn,), daemon=True).start()

    def pause(self) -> None:
        """Stop at the current frame."""
        self._turn, self._plays = self._turn + 1, False
        self.button.label, self.button.icon = "Play", viser.Icon.PLAYER_PLAY

    def _current(self) -> tuple[int, int]:
        """Return which push the slider is at, and which frame of it."""
        frame = int(self.slider.value)
        push = int(np.searchsorted(self.starts, frame, side="right")) - 1
        push = min(push, len(self.clips) - 1)
        return push, min(frame - int(self.starts[push]), len(self.clips[push].observed) - 1)

    def _run(self, turn: int) -> None:
        """Advance with the clock, leaving out frames that come too late, until it is stopped."""
        began, first, speed = time.monotonic(), int(self.slider.value), self.speed.value
        while self._turn == turn and self.slider.value < self.slider.max:
            time.sleep(FRAME)
            if speed != self.speed.value:
                began, first, speed = time.monotonic(), int(self.slider.value), self.speed.value
            played = int((time.monotonic() - began) * _SPEEDS[speed] / FRAME)
            if self._turn == turn and first + played > self.slider.value:
                assign(self.slider, min(first + played, int(self.slider.max)))
        if self._turn == turn:
            self.pause()

    def _words(self, push: int, at: int, seen: Array, said: Array | None) -> str:
        """Describe the current frame."""
        learned, grasp = self._viewed.learned, self._viewed.grasp
        if push == len(self._viewed.records) and grasp is not None:
            raised = f"raised by {1e3 * grasp.raised:.0f} mm"
            return f"Lift: {'held by' if grasp.held else 'slipped out of'} the gripper, {raised}."
        which = (
            f"Push {push + 1} to learn from"
            if push < learned
            else f"Push {push - learned + 1} to the goal"
        )
        apart = "The model cannot predict this push."
        if said is not None:
            error = millimetres(mean_cell_error(self._viewed.model.grid, seen, said))
            apart = f"Predicted (orange) and observed are {error} apart."
        return f"{which}, {at * FRAME:.1f} s. {apart}"


def _at(t: Array, times: Array, values: Array) -> Array:
    """Return values (T, k), interpolated at times t (frames,)."""
    return np.stack([np.interp(t, times, column) for column in values.T], axis=1)
