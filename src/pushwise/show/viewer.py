"""`View`: a run or a model as a 3D page in the browser, served to this machine by default."""

from __future__ import annotations

import viser

from pushwise.identification.belief import Belief, centre_error
from pushwise.show.quantities import quantities
from pushwise.show.viewer_data import Viewed
from pushwise.show.viewer_edge import EdgeMode
from pushwise.show.viewer_learning import LearningMode
from pushwise.show.viewer_panel import STYLE, ViewerMode, legend, note
from pushwise.show.viewer_push import PushMode
from pushwise.show.viewer_replay import ReplayMode
from pushwise.show.viewer_scene import LookAt, ViewerScene
from pushwise.show.viewer_server import HERE, ViewerServer

__all__ = ["EDGE", "LEARN", "PUSH", "REPLAY", "View"]

REPLAY = "Replay the run"
EDGE = "Drag it over the edge"
PUSH = "Push it"
LEARN = "Watch it learn"

_BRAND = (23, 105, 170)


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
        self._shown = viewed.belief
        self.scene = ViewerScene(self.server, viewed)
        gui.add_html(STYLE)
        self.replay = ReplayMode(self.server, self.scene, viewed)
        self.edge = EdgeMode(self.server, self.scene, viewed)
        self.push = PushMode(self.server, self.scene, viewed)
        self.learning = LearningMode(self.server, self.scene, viewed, self.show_belief)
        modes: dict[str, ViewerMode] = {EDGE: self.edge, PUSH: self.push}
        if viewed.records:
            modes = {REPLAY: self.replay, **modes, LEARN: self.learning}
        for mode in (self.replay, self.edge, self.push, self.learning):
            mode.folder.visible = False
        self.mode = gui.add_dropdown("Mode", tuple(modes), order=0)
        self._modes, self._now = modes, modes[self.mode.value]
        self._add_appearance()
        self.mode.on_update(lambda _: self._changed())
        self.show_belief(viewed.belief)
        self._now.enter(viewed.pose)

    @property
    def address(self) -> str:
        """The URL of the page."""
        return self.server.address

    def wait(self) -> None:
        """Serve until interrupted."""
        self.server.sleep_forever()

    def stop(self) -> None:
        """Stop serving."""
        self._now.leave()
        with self.scene.changing:
            pass  # a film in the middle of a frame finishes it; the next one sees that it is over
        self.server.stop()

    def show_belief(self, belief: Belief) -> None:
        """Colour the object by a belief, and show its centre of mass."""
        shown = quantities(belief)
        with self.scene.changing:
            self._shown = belief
            name = self.colour.value if self.colour.value in shown else next(iter(shown))
            self.scene.object.show_belief(belief, shown[name])
            x, y = belief.centre_of_mass.tolist()
            self._pin.position = (x, y, self.scene.object.top)
            self._legend.content = legend(shown[name])
            self.centre.content = note(_centre(belief))

    def _add_appearance(self) -> None:
        """Add the controls that all modes share."""
        gui, viewed = self.server.gui, self.viewed
        with gui.add_folder("Appearance"):
            self.colour = gui.add_dropdown("Colour by", tuple(quantities(viewed.belief)))
            self._legend = gui.add_html("")
            self.centre = gui.add_html("")
            self.looks = gui.add_button_group("Look", tuple(LookAt))
            self.labels = gui.add_checkbox("Labels", True)
            self.path = gui.add_checkbox("Planned path", True, visible=viewed.waypoints is not None)
        self._pin = self.scene.add_pin("/object/pin", "centre of mass")
        self.colour.on_update(lambda _: self.show_belief(self._shown))
        self.looks.on_click(self._look)
        self.labels.on_update(lambda _: self._label())
        self.path.on_update(lambda _: self._show_path())

    def _look(self, event: viser.GuiEvent[viser.GuiButtonGroupHandle]) -> None:
        """Move the camera of the client that asked."""
        if event.client is not None:
            self.scene.look(event.client, LookAt(self.looks.value))

    def _label(self) -> None:
        self.scene.show_labels(self.labels.value)

    def _show_path(self) -> None:
        self.scene.path.visible = self.path.value

    def _changed(self) -> None:
        """Go to the chosen mode, with the object where it is."""
        with self.scene.changing:
            before, self._now = self._now, self._modes[self.mode.value]
            pose = before.pose
            before.leave()
            self._now.enter(pose)


def _centre(belief: Belief) -> str:
    """Return how well the centre of mass is known, in the words of the terminal and the report."""
    if belief.assumed:
        return "Centre of mass (cross): assumed, nothing was learned."
    if belief.centre_covariance is None:
        return "Centre of mass (cross): taken as certain."
    return f"Centre of mass (cross): standard error {centre_error(belief.centre_covariance)}."
