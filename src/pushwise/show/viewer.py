"""`View`: a run or a model as a page in the browser, on this machine alone."""

from __future__ import annotations

import io
from contextlib import AbstractContextManager, redirect_stdout

import viser

from pushwise.errors import PushwiseError
from pushwise.show.quantities import Quantity
from pushwise.show.svg import gradient
from pushwise.show.viewer_data import Viewed
from pushwise.show.viewer_replay import Replay
from pushwise.show.viewer_scene import Scene, pose_of
from pushwise.show.viewer_what_if import WhatIf

__all__ = ["View"]

_BRAND = (23, 105, 170)
_REPLAY, _WHAT_IF = "replay", "what if"


class View:
    """A page that is served until it is stopped."""

    def __init__(self, viewed: Viewed, *, port: int = 8080) -> None:
        """Start to serve; port: where, or the next one that is free."""
        self.viewed = viewed
        """What is shown."""
        try:
            with _silence():
                self.server = viser.ViserServer(
                    host="127.0.0.1", port=port, label=f"Pushwise: {viewed.name}", verbose=False
                )
        except OSError as error:
            raise PushwiseError(f"cannot serve at port {port} ({error.strerror}).") from None
        gui = self.server.gui
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=_BRAND)
        gui.main_panel.dock_right()
        gui.set_panel_label(viewed.name)
        self.scene = Scene(self.server, viewed)
        self.colour = gui.add_dropdown(
            "Colour by", tuple(viewed.shown), hint="What the colours of the cells mean."
        )
        self._legend = gui.add_html("")
        modes = (_REPLAY, _WHAT_IF) if viewed.records else (_WHAT_IF,)
        self.mode = gui.add_dropdown(
            "Mode", modes, hint="Replay what happened, or try what would happen."
        )
        self.way = gui.add_checkbox(
            "Show the planned way", True, visible=viewed.waypoints is not None
        )
        self.replay = Replay(self.server, self.scene, viewed)
        self.what_if = WhatIf(self.server, self.scene, viewed)
        self.colour.on_update(lambda _: self._coloured())
        self.mode.on_update(lambda _: self._changed())
        self.way.on_update(lambda _: self._shown())
        self._coloured()
        self._changed()

    @property
    def address(self) -> str:
        """Where a browser finds the page."""
        return f"http://localhost:{self.server.get_port()}"

    def wait(self) -> None:
        """Serve until interrupted."""
        self.server.sleep_forever()

    def stop(self) -> None:
        """Serve no longer."""
        self.replay.pause()
        with _silence():
            self.server.stop()

    def _coloured(self) -> None:
        name = self.colour.value
        self.scene.colour_by(name)
        self._legend.content = _legend(self.viewed.shown[name])

    def _shown(self) -> None:
        self.scene.way.visible = self.way.value

    def _changed(self) -> None:
        """Show the controls of the mode, and what it shows."""
        trying = self.mode.value == _WHAT_IF
        self.replay.folder.visible = not trying
        self.what_if.folder.visible = trying
        self.what_if.handle.visible = trying
        if trying:
            self.replay.pause()
            self.what_if.start(pose_of(self.scene.object))
        else:
            self.replay.show()


def _silence() -> AbstractContextManager[object]:
    """Keep Viser from printing a banner: standard output is the command's."""
    return redirect_stdout(io.StringIO())


def _legend(shown: Quantity) -> str:
    """Return the scale of the colours, from zero to the largest value."""
    return (
        '<div style="display:flex;align-items:center;gap:0.5em;font-size:0.8em;'
        'padding:0.2em 0.75em 0.5em"><span>0</span><span style="flex:1;height:0.7em;'
        f'border-radius:0.35em;background:{gradient(shown.scheme)}"></span>'
        f"<span>{shown.top}</span></div>"
    )
