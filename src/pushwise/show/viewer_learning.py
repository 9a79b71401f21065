"""The viewer's learning mode: what is believed after each push, and what the next would reveal."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import takewhile

import numpy as np
import viser

from pushwise.checks import counted
from pushwise.errors import PushwiseError
from pushwise.identification.belief import Belief, centre_error
from pushwise.show.quantities import Quantity, millimetres, point
from pushwise.show.viewer_data import Viewed
from pushwise.show.viewer_meshes import wxyz
from pushwise.show.viewer_panel import legend, note, readings
from pushwise.show.viewer_reveal import Revealed, reveal
from pushwise.show.viewer_scene import ViewerScene
from pushwise.typing import Array

__all__ = ["LearningMode"]

_SCHEME = "plasma"  # unlike that of the cells
_NO_FIT = (0.6, 0.6, 0.6)
_BEST = (20, 90, 160)
_ARROW = 0.07  # m


class LearningMode:
    """A slider through what is believed after 0, 1, 2, ... pushes.

    Beliefs are identified in a thread of their own, when they are asked for, and kept.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        scene: ViewerScene,
        viewed: Viewed,
        show_belief: Callable[[Belief], None],
    ) -> None:
        """Add the controls; `show_belief` colours the object by a belief."""
        self._scene, self._viewed, self._show_belief = scene, viewed, show_belief
        self._turn = 0  # counts entries and exits: the thread of an earlier one ends
        self._asked = threading.Event()
        self._found: dict[int, Belief | str] = {}
        self._revealed: dict[int, Revealed | None] = {}
        stayed = takewhile(lambda record: not record.fell, viewed.records)
        self.folder = server.gui.add_folder("Watch it learn")
        with self.folder:
            self.slider = server.gui.add_slider(
                "Pushes", min=0, max=max(len(list(stayed)), 1), step=1, initial_value=0
            )
            self.said = server.gui.add_html("")
            self.reveal = server.gui.add_checkbox(
                "Rate the next push",
                True,
                hint="Colour the outline by how much a push there would reveal.",
            )
            self.rated = server.gui.add_html("")
        self._best = server.scene.add_frame("/object/best", show_axes=False, visible=False)
        server.scene.add_arrows(
            "/object/best/arrow",
            np.array([[[-_ARROW, 0.0, 0.0], [-0.005, 0.0, 0.0]]]),
            _BEST,
            shaft_radius=0.003,
            head_radius=0.008,
            head_length=0.02,
        )
        scene.add_label("/object/best/label", "best next push", (-_ARROW, 0.0, 0.0))
        self.slider.on_update(lambda _: self._ask())
        self.reveal.on_update(lambda _: self._ask())

    def enter(self, pose: Array) -> None:
        """Begin with what the slider is at."""
        self.folder.visible = True
        self._turn += 1
        threading.Thread(target=self._run, args=(self._turn,), daemon=True).start()
        self._ask()

    def leave(self) -> None:
        """End the mode."""
        self.folder.visible = False
        with self._scene.changing:
            self._turn += 1
            self._scene.object.hide_revealed()
            self._best.visible = False
        self._asked.set()
        self._show_belief(self._viewed.belief)

    @property
    def pose(self) -> Array:
        """Where the object was after the chosen number of pushes [m, m, rad], shape (3,)."""
        pushes = int(self.slider.value)
        return self._viewed.records[pushes - 1].pose[-1] if pushes else self._viewed.pose

    def _ask(self) -> None:
        """Show what the slider is at, as far as it is known, and ask for the rest."""
        self._show()
        self._asked.set()

    def _run(self, turn: int) -> None:
        """Identify and rate what the slider is at, until the mode ends."""
        while self._turn == turn:
            if not self._asked.wait(timeout=1.0):
                continue
            self._asked.clear()
            pushes = int(self.slider.value)
            if pushes not in self._found:
                self._found[pushes] = self._identified(pushes)
                self._shown_again(turn)
            belief = self._found[pushes]
            if self.reveal.value and pushes not in self._revealed and isinstance(belief, Belief):
                self._revealed[pushes] = reveal(belief)
                self._shown_again(turn)

    def _identified(self, pushes: int) -> Belief | str:
        """Return what is believed after some pushes, or why nothing can be learned from them."""
        try:
            return self._viewed.believed_after(pushes)
        except PushwiseError as error:
            return str(error)

    def _shown_again(self, turn: int) -> None:
        """Show what was found, unless the mode has ended meanwhile; there may be more to do."""
        with self._scene.changing:
            if self._turn != turn:
                return
            self._show_now()
        self._asked.set()

    def _show(self) -> None:
        """Show what is known after the chosen number of pushes; controls and thread both do."""
        with self._scene.changing:
            self._show_now()

    def _show_now(self) -> None:
        pushes = int(self.slider.value)
        self._scene.object.place(self.pose)
        found, made = self._found.get(pushes), counted(pushes, "push", "pushes")
        self._scene.object.hide_revealed()
        self._best.visible = False
        self.rated.content = ""
        if found is None:
            self.said.content = note(f"Identifying from {made} ...")
        elif isinstance(found, str):
            self.said.content = note(f"Nothing learned from {made}: {found}")
        else:
            self._show_belief(found)
            self.said.content = self._learned(pushes, found)
            if self.reveal.value:
                self._rate(pushes, found)

    def _learned(self, pushes: int, belief: Belief) -> str:
        """Say what is believed after some pushes."""
        values = {"Centre of mass": point(belief.centre_of_mass)}
        if belief.centre_covariance is not None:
            values["Standard error"] = str(centre_error(belief.centre_covariance))
        run = self._viewed.learned
        made = counted(run, "push", "pushes")
        if pushes == 0:
            said = "Before the first push, uniform mass and friction are assumed."
        elif pushes < run:
            said = f"The run went on to learn from {made}."
        elif pushes == run:
            said = "With this the run planned its path to the goal."
        else:
            said = f"The run had learned from {made}; later ones took it to its goal."
        return readings(values) + note(said)

    def _rate(self, pushes: int, belief: Belief) -> None:
        """Colour the outline by what a push would reveal, and mark the best place."""
        from matplotlib import colormaps

        if belief.posterior is None:
            self.rated.content = note("Without a first push there is nothing to rate pushes by.")
            return
        if pushes not in self._revealed:
            self.rated.content = note("Rating pushes all around the object ...")
            return
        rated = self._revealed[pushes]
        if rated is None:
            self.rated.content = note("The finger fits nowhere.")
            return
        gain = np.maximum(rated.gain, 0.0)
        top = float(np.nanmax(gain))
        colours = colormaps[_SCHEME](np.nan_to_num(gain / top if top > 0.0 else gain))[:, :3]
        colours[np.isnan(gain)] = _NO_FIT
        self._scene.object.show_revealed(rated.ends, colours)
        first, last = rated.ends[rated.best]
        x, y = (0.5 * (first + last)).tolist()
        self._best.position = (x, y, self._scene.object.top)
        along = last - first
        self._best.wxyz = wxyz(float(np.arctan2(along[0], -along[1])))  # inwards
        self._best.visible = True
        after = rated.before - top
        self.rated.content = legend(
            Quantity("Gain", 1e3 * np.nan_to_num(gain), "mm", _SCHEME)
        ) + note(
            "Outline: how much a push there would lower the standard error of the centre of mass, "
            f"both axes together: from {millimetres(rated.before)} to {millimetres(after)} at best."
        )
