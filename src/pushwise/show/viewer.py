"""`View`: a run or a model as a 3D page in the browser, served to this machine by default."""

from __future__ import annotations

from pushwise.identification.belief import centre_error
from pushwise.show.quantities import Quantity, gradient
from pushwise.show.viewer_data import Viewed
from pushwise.show.viewer_replay import ViewerReplay
from pushwise.show.viewer_scene import ViewerScene, pose_of
from pushwise.show.viewer_server import HERE, ViewerServer
from pushwise.show.viewer_what_if import WhatIf

__all__ = ["View"]

_BRAND = (23, 105, 170)
_REPLAY, _WHAT_IF = "replay", "what if"


class View:
    """A page in the browser, served until it is stopped."""

    def __init__(self, viewed: Viewed, *, host: str = HERE, port: int = 8080) -> None:
        """Start serving on a host, and on a port or the next free one above it."""
        self.viewed = viewed
        """What is shown."""
        self.server = ViewerServer(f"Pushwise: {viewed.name}", host=host, port=port)
        gui = self.server.gui
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=_BRAND)
        gui.main_panel.dock_right()
        gui.set_panel_label(viewed.name)
        self.scene = ViewerScene(self.server, viewed)
        self.colour = gui.add_dropdown(
            "Colour by", tuple(viewed.shown), hint="What the colours of the cells show."
        )
        self._legend = gui.add_html("")
        self.centre = gui.add_markdown(_centre(viewed))
        modes = (_REPLAY, _WHAT_IF) if viewed.records else (_WHAT_IF,)
        self.mode = gui.add_dropdown(
            "Mode", modes, hint="Replay the pushes, or try out what would happen."
        )
        self.path = gui.add_checkbox(
            "Show the planned path", True, visible=viewed.waypoints is not None
        )
        self.replay = ViewerReplay(self.server, self.scene, viewed)
        self.what_if = WhatIf(self.server, self.scene, viewed)
        self.colour.on_update(lambda _: self._coloured())
        self.mode.on_update(lambda _: self._changed())
        self.path.on_update(lambda _: self._shown())
        self._coloured()
        self._changed()

    @property
    def address(self) -> str:
        """The URL of the page."""
        return self.server.address

    def wait(self) -> None:
        """Serve until interrupted."""
        self.server.sleep_forever()

    def stop(self) -> None:
        """Stop serving."""
        self.replay.pause()
        self.server.stop()

    def _coloured(self) -> None:
        name = self.colour.value
        self.scene.colour_by(name)
        self._legend.content = _legend(self.viewed.shown[name])

    def _shown(self) -> None:
        self.scene.path.visible = self.path.value

    def _changed(self) -> None:
        """Show the controls and the scene of the chosen mode."""
        trying = self.mode.value == _WHAT_IF
        self.replay.folder.visible = not trying
        self.what_if.folder.visible = trying
        self.what_if.handle.visible = trying
        if trying:
            self.replay.pause()
            self.what_if.start(pose_of(self.scene.object))
        else:
            self.replay.show()


def _centre(viewed: Viewed) -> str:
    """Return how well the centre of mass is known, in the words of the terminal and the report."""
    if viewed.assumed:
        return "Centre of mass (red): assumed, nothing was learned."
    if viewed.covariance is None:
        return "Centre of mass (red): taken as certain."
    return f"Centre of mass (red): standard error {centre_error(viewed.covariance)}."


def _legend(shown: Quantity) -> str:
    """Return the colour scale, from zero to the largest value."""
    return (
        '<div style="display:flex;align-items:center;gap:0.5em;font-size:0.8em;'
        'padding:0.2em 0.75em 0.5em"><span>0</span><span style="flex:1;height:0.7em;'
        f'border-radius:0.35em;background:{gradient(shown.scheme)}"></span>'
        f"<span>{shown.top}</span></div>"
    )
