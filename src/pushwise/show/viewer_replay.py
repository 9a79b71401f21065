"""The viewer's replay: every push as observed, with the model's prediction as a ghost."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import viser

from pushwise.errors import SimulationError
from pushwise.geometry.metric import mean_cell_error
from pushwise.physics.push import Push
from pushwise.records.record import PushRecord
from pushwise.show.quantities import compared
from pushwise.show.viewer_data import Viewed
from pushwise.show.viewer_scene import ViewerScene
from pushwise.typing import Array

__all__ = ["FRAME", "Clip", "ViewerReplay", "assign", "clip"]

T = TypeVar("T")

FRAME = 0.04  # s between two frames


@dataclass(frozen=True, eq=False)
class Clip:
    """A push, frame by frame."""

    observed: Array
    """Observed poses [m, m, rad], shape (frames, 3)."""
    predicted: Array | None
    """Predicted poses [m, m, rad], shape (frames, 3); None when there is no prediction."""
    finger: Array | None
    """The finger's centre [m], shape (frames, 2), NaN once it is raised; None when a force pushed.
    """


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


def _finger(push: Push, t: Array) -> Array:
    """Return where the finger is at times t [s], shape (frames, 2); NaN once it is raised."""
    places = push.at(t)
    if push.raised:
        places[t > push.duration] = np.nan
    return places


class ViewerReplay:
    """The controls of the replay, and its current frame."""

    def __init__(self, server: viser.ViserServer, scene: ViewerScene, viewed: Viewed) -> None:
        """Prepare the frames of all pushes, and the controls."""
        self._scene, self._viewed = scene, viewed
        self.clips = [clip(viewed, record) for record in viewed.records]
        self._starts = np.cumsum([0, *(len(each.observed) for each in self.clips)])
        self._turn = 0  # counts starts and stops: a thread of an earlier turn ends
        self._plays = False
        last = max(int(self._starts[-1]) - 1, 1)
        self.folder = server.gui.add_folder("Replay")
        with self.folder:
            self.slider = server.gui.add_slider(
                "Frame",
                min=0,
                max=last,
                step=1,
                initial_value=0,
                marks=tuple(int(start) for start in self._starts[:-1]),
                hint="Scrub through all pushes; each mark is the start of one.",
            )
            self.button = server.gui.add_button("Play", icon=viser.Icon.PLAYER_PLAY)
            self.said = server.gui.add_markdown("")
            self.ghost = server.gui.add_checkbox("Show the model's prediction", True)
        self.slider.on_update(lambda _: self.show())
        self.ghost.on_update(lambda _: self.show())
        self.button.on_click(lambda _: self.pause() if self._plays else self.play())

    def show(self) -> None:
        """Show the frame that the slider is at."""
        frame = int(self.slider.value)
        push = int(np.searchsorted(self._starts, frame, side="right")) - 1
        push = min(push, len(self.clips) - 1)
        at = min(frame - int(self._starts[push]), len(self.clips[push].observed) - 1)
        film = self.clips[push]
        seen = film.observed[at]
        self._scene.place(seen)
        finger = None if film.finger is None else film.finger[at]
        self._scene.show_finger(None if finger is None or np.isnan(finger).any() else finger)
        said = None if film.predicted is None else film.predicted[at]
        self._scene.show_ghost(said if self.ghost.value else None)
        self.said.content = self._words(push, at, seen, said)

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

    def _run(self, turn: int) -> None:
        """Advance frame by frame until the end, or until it is stopped."""
        while self._turn == turn and self.slider.value < self.slider.max:
            assign(self.slider, int(self.slider.value) + 1)
            time.sleep(FRAME)
        if self._turn == turn:
            self.pause()

    def _words(self, push: int, at: int, seen: Array, said: Array | None) -> str:
        """Describe the current frame."""
        learned = self._viewed.learned
        which = (
            f"Push {push}** to learn from"
            if push < learned
            else f"Push {push - learned}** to the goal"
        )
        apart = "The model cannot predict this push."
        if said is not None:
            error = 1e3 * mean_cell_error(self._viewed.model.grid, seen, said)
            apart = f"Predicted (orange) and observed are {error:.1f} mm apart."
        return f"**{which}, {at * FRAME:.1f} s. {apart}"


def assign(control: viser.GuiInputHandle[T], value: T) -> None:
    """Set a control as if the user had."""
    control.value = value  # type: ignore[misc]  # mypy misses a setter apart from its property


def _at(t: Array, times: Array, values: Array) -> Array:
    """Return values (T, k), interpolated at times t (frames,)."""
    return np.stack([np.interp(t, times, column) for column in values.T], axis=1)
