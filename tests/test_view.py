"""The page in the browser: the scene, the replay, and what would happen."""

import io
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import pushwise as pw
from browser import Page, free_port, needs_chromium
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import contains, placed, signed_area
from pushwise.identification.belief import centre_error
from pushwise.show.viewer import View
from pushwise.show.viewer_data import Viewed
from pushwise.show.viewer_replay import clip
from pushwise.show.viewer_scene import pose_of, prism, triangles
from pushwise.show.viewer_what_if import push_at

PANEL = "[...document.querySelectorAll('input')].filter(e => e.getBoundingClientRect().width)"


def until(true: Callable[[], object]) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, "it never did"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def view(finished_run: Path) -> Iterator[View]:
    """Serve a run."""
    page = View(Viewed.load(finished_run), port=free_port())
    yield page
    page.stop()


@pytest.fixture(scope="module")
def tab(tab: Page, view: View) -> Page:
    """Return a tab that shows it."""
    tab.resize(960, 600)
    tab.open(view.address)
    tab.wait_for("document.querySelector('canvas') !== null")
    tab.wait_for("document.querySelector('.mantine-Slider-thumb') !== null")
    until(lambda: view.server.get_clients())
    time.sleep(1.0)  # the first pictures take a moment without a graphics card
    return tab


def seen(tab: Page, path: Path) -> NDArray[np.float64]:
    """Return what is to be seen of the scene, without the panel, shape (rows, columns, 3)."""
    tab.screenshot(path)
    with Image.open(io.BytesIO(path.read_bytes())) as picture:
        return np.asarray(picture.convert("RGB"), float)[:, :620]


def on_screen(view: View, tab: Page, point: tuple[float, float, float]) -> tuple[float, float]:
    """Return where a point of the scene [m] is on the screen [px]."""
    camera = next(iter(view.server.get_clients().values())).camera
    forward = camera.look_at - camera.position
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    offset = np.array(point) - camera.position
    canvas = "document.querySelector('canvas').getBoundingClientRect()"
    left, top, width, height = tab.evaluate(f"(b => [b.left, b.top, b.width, b.height])({canvas})")
    scale = 0.5 * height / np.tan(0.5 * camera.fov) / (offset @ forward)
    return left + 0.5 * width + scale * (offset @ right), top + 0.5 * height - scale * (offset @ up)


def choose(tab: Page, now: str, wanted: str) -> None:
    """Choose another entry of the dropdown that shows `now`."""
    x, y = tab.evaluate(
        f"(b => [b.x + b.width / 2, b.y + b.height / 2])({PANEL}"
        f".find(e => e.value === {now!r}).getBoundingClientRect())"
    )
    tab.click(x, y)
    option = "[...document.querySelectorAll('[role=option]')].find(e => e.innerText === %r)"
    x, y = tab.wait_for(
        f"(e => e && (b => b.width && [b.x + b.width / 2, b.y + b.height / 2])"
        f"(e.getBoundingClientRect()))({option % wanted})"
    )
    tab.click(x, y)


def press(tab: Page, label: str) -> None:
    """Press a button of the panel once it is there."""
    button = f"[...document.querySelectorAll('button')].find(b => b.innerText.trim() === {label!r})"
    tab.wait_for(f"{button} !== undefined")
    tab.evaluate(f"{button}.click()")


def try_it(view: View, tab: Page) -> None:
    """Go to what-if, if the page is not there yet."""
    if not view.what_if.handle.visible:
        choose(tab, "replay", "what if")
        until(lambda: view.what_if.handle.visible)


def readout(tab: Page, unit: str) -> float:
    """Return the first number of the panel with a unit, as the browser shows it."""
    value = tab.wait_for(f"({PANEL}.find(e => e.value.endsWith({unit!r})) || {{}}).value")
    return float(value.split()[0])


def test_the_standard_error_is_given_as_elsewhere(view: View) -> None:
    """Say how well the centre of mass is known in the words of the report and the terminal."""
    assert view.viewed.covariance is not None
    assert view.centre.content == (
        f"Centre of mass (red): standard error {centre_error(view.viewed.covariance)}."
    )


@needs_chromium
def test_the_page_shows_the_cells(view: View, tab: Page, tmp_path: Path) -> None:
    """Load without errors or a network, with all cells, coloured as the browser is told to."""
    cells = view.scene.cells
    assert len(cells.batched_positions) == view.viewed.model.grid.n_cells
    before, masses = seen(tab, tmp_path / "a.png"), cells.batched_colors.copy()
    choose(tab, "mass", "uncertainty")
    until(lambda: not np.array_equal(cells.batched_colors, masses))
    time.sleep(0.5)
    changed = np.abs(seen(tab, tmp_path / "b.png") - before).max(axis=2) > 20.0
    assert changed.sum() > 200
    # What changed is where the object is.
    rows, columns = np.nonzero(changed)
    corners = np.array(
        [
            on_screen(view, tab, (x, y, 0.5 * view.scene.top))
            for x, y in placed(view.viewed.model.grid.outline, pose_of(view.scene.object))
        ]
    )
    off = np.array([columns.mean(), rows.mean()]) - corners.mean(axis=0)
    assert np.hypot(*off) < 40.0
    assert tab.errors == []
    elsewhere = [r for r in tab.requests if not r.startswith((view.address, "data:", "blob:"))]
    assert elsewhere == []


@needs_chromium
def test_the_slider_moves_the_object(view: View, tab: Page, tmp_path: Path) -> None:
    """Drag it in the browser: the object goes where it was seen at that time, the ghost beside."""
    start, before = pose_of(view.scene.object), seen(tab, tmp_path / "a.png")
    x, y, width = tab.evaluate(
        "(([t, s]) => [t.x + t.width / 2, t.y + t.height / 2, s.width])"
        "(['thumb', 'root'].map(k => document.querySelector('.mantine-Slider-' + k)"
        ".getBoundingClientRect()))"
    )
    tab.drag((x, y), (x + 0.6 * width, y))
    until(lambda: view.replay.slider.value > 0.4 * view.replay.slider.max)
    time.sleep(0.5)
    moved = pose_of(view.scene.object)
    assert np.hypot(*(moved - start)[:2]) > 0.02
    poses = np.vstack([film.observed for film in view.replay.clips])
    frame = int(view.replay.slider.value)
    np.testing.assert_allclose(moved[:2], poses[frame, :2], atol=1e-6)
    assert view.scene.ghost.visible and view.scene.finger.visible
    assert (np.abs(seen(tab, tmp_path / "b.png") - before).max(axis=2) > 20.0).sum() > 200
    said = tab.evaluate("document.body.innerText")
    assert re.search(r"Predicted \(orange\) and observed are \d", said)


@needs_chromium
def test_it_plays(view: View, tab: Page) -> None:
    """Press Play in the browser, and Pause."""
    assert view.replay.slider.value < view.replay.slider.max - 20
    frame = view.replay.slider.value
    press(tab, "Play")
    until(lambda: view.replay.slider.value > frame + 5)
    press(tab, "Pause")
    until(lambda: view.replay.button.label == "Play")
    time.sleep(0.1)
    frame = view.replay.slider.value
    time.sleep(0.3)
    assert view.replay.slider.value == frame


@needs_chromium
def test_dragging_it_over_the_edge_makes_it_fall(view: View, tab: Page) -> None:
    """Drag the handle in the browser, and read margin and fall probability there."""
    try_it(view, tab)
    press(tab, "Reset")
    until(lambda: np.allclose(pose_of(view.scene.object), view.viewed.pose))
    time.sleep(1.0)
    assert readout(tab, "%") == 0.0
    assert readout(tab, "mm") > 0.0
    # The square between the arrows: its middle is 2.2 sevenths of the handle's size along both.
    x, y, theta = view.viewed.pose
    reach = 2.2 / 7.0 * view.what_if.handle.scale
    cos, sin = np.cos(theta), np.sin(theta)
    square = (x + reach * (cos - sin), y + reach * (sin + cos), view.scene.top)
    start, end = (
        on_screen(view, tab, square),
        on_screen(view, tab, (square[0], square[1] + 0.3, square[2])),
    )
    tab.mouse("move", *start, pressed=False)
    time.sleep(0.3)
    tab.drag(start, end)
    until(lambda: view.what_if.fall.value == "100.0 %")
    tab.wait_for(f"{PANEL}.some(e => e.value === '100.0 %')")
    assert pose_of(view.scene.object)[1] > y + 0.1
    assert tab.errors == []


@needs_chromium
def test_a_click_pushes_it(view: View, tab: Page) -> None:
    """Click the far end of the object: it moves as the model says."""
    try_it(view, tab)
    press(tab, "Reset")
    until(lambda: np.allclose(pose_of(view.scene.object), view.viewed.pose))
    time.sleep(0.5)
    grid = view.viewed.model.grid
    end = int(np.argmax(np.hypot(*grid.centres.T)))
    x, y = placed(grid.centres[end][None], view.viewed.pose)[0]
    at = on_screen(view, tab, (x, y, float(grid.heights[end])))
    tab.mouse("move", *at, pressed=False)
    tab.click(*at)
    tab.wait_for("document.body.innerText.includes('A push of 100 mm moves it by')")
    moved = pose_of(view.scene.object) - view.viewed.pose
    assert np.hypot(*moved[:2]) > 0.01
    assert tab.errors == []


def test_pushes_start_square_on_the_outline(finished_run: Path) -> None:
    """Start a finger's radius and 3 mm clear, and move inwards."""
    viewed = Viewed.load(finished_run)
    pose = np.array([0.1, 0.0, 0.3])
    outline = placed(viewed.model.grid.outline, pose)
    push = push_at(viewed, pose, 0.5 * (outline[0] + outline[1]))
    edge = outline[1] - outline[0]
    assert abs(push.velocity @ edge) < 1e-12
    clear = push.start - 0.5 * (outline[0] + outline[1])
    assert np.hypot(*clear) == pytest.approx(viewed.finger.radius + 0.003)
    assert clear @ push.velocity < 0.0


def test_clips_end_where_the_pushes_did(finished_run: Path) -> None:
    """Begin and end with the record, and predict from the same start."""
    viewed = Viewed.load(finished_run)
    for record in viewed.records:
        film = clip(viewed, record)
        np.testing.assert_array_equal(film.observed[[0, -1]], record.pose[[0, -1]])
        assert film.predicted is not None and film.finger is not None
        np.testing.assert_allclose(film.predicted[0], record.pose[0], atol=2e-3)


def test_a_raised_finger_disappears(finished_run: Path) -> None:
    """Show the finger on its path, bends between samples included, and not after it."""
    viewed = Viewed.load(finished_run)
    push = pw.Push([0.0, 0.2, 0.4], [(-0.5, 0.0), (-0.5, 0.1), (-0.4, 0.1)], raised=True)
    film = clip(viewed, pw.PushRecord(push, [0.0, 0.8], np.zeros((2, 3))))
    assert film.finger is not None
    assert film.finger[5] == pytest.approx([-0.5, 0.1])
    assert film.finger[10] == pytest.approx([-0.4, 0.1])
    assert np.isnan(film.finger[11:]).all()


@pytest.mark.parametrize("name", pw.objects.names)
def test_triangles_fill_the_polygon(name: str) -> None:
    """Divide each outline into triangles of the same area in all, none of them outside."""
    outline = np.asarray(pw.objects.load(name).outline)
    found = triangles(outline)
    assert len(found) == len(outline) - 2
    areas = np.array([signed_area(outline[each]) for each in found])
    assert (areas > -1e-12).all()
    assert areas.sum() == pytest.approx(signed_area(outline), rel=1e-9)
    fat = areas > 1e-8
    assert contains(outline, outline[found[fat]].mean(axis=1)).all()
    vertices, faces = prism(outline, 0.0, 0.1)
    a, b, c = vertices[faces].transpose(1, 0, 2)
    volume = np.sum(a * np.cross(b, c)) / 6.0
    assert volume == pytest.approx(0.1 * signed_area(outline), rel=1e-9)


def test_falls_of_an_assumed_model_are_not_known(tmp_path: Path) -> None:
    """Give no chance of a fall where nothing was learned."""
    model = pw.objects.load("wrench").model
    pw.save(pw.Belief.assuming(model), tmp_path / "wrench.json")
    page = View(Viewed.load(tmp_path / "wrench.json"), port=free_port())
    try:
        assert page.what_if.fall.value == "unknown"
    finally:
        page.stop()


def test_a_model_can_be_viewed_alone(tmp_path: Path) -> None:
    """Offer what is known of it, on a table of the usual size, with nothing to replay."""
    thing = pw.objects.load("wrench")
    finger, covariance = pw.Finger(0.008, 0.2), np.diag([1e-5, 1e-5])
    belief = pw.Belief(thing.model, finger, covariance, None, np.zeros(3))
    pw.save(belief, tmp_path / "wrench.json")
    viewed = Viewed.load(tmp_path / "wrench.json")
    assert list(viewed.shown) == ["mass", "friction", "load"]
    assert viewed.shown["mass"].top.endswith("% of the whole")
    assert viewed.finger.radius == 0.008
    page = View(viewed, port=free_port())
    try:
        assert page.mode.value == "what if"
        assert page.what_if.fall.value == "0.0 %"
        page.what_if.start(np.array([0.0, 2.0, 0.0]))
        assert page.what_if.margin.value == "not on the table"
        assert page.what_if.fall.value == "100.0 %"
    finally:
        page.stop()
    pw.save(thing.grid, tmp_path / "grid.json")
    with pytest.raises(PushwiseError, match="holds no model"):
        Viewed.load(tmp_path / "grid.json")


@pytest.mark.slow
def test_the_command_serves_until_it_is_stopped(tmp_path: Path) -> None:
    """Print the address, answer there, and end well on Ctrl-C; a mistake is one line."""
    pw.save(pw.objects.load("wrench").model, tmp_path / "wrench.json")
    command = [sys.executable, "-m", "pushwise", "view"]
    serving = subprocess.Popen(
        [*command, tmp_path / "wrench.json", "--json", "--port", str(free_port())],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert serving.stdout is not None
    address = json.loads(serving.stdout.readline())["address"]
    with urlopen(address) as answer:
        assert b"<html" in answer.read()
    serving.send_signal(signal.SIGINT)
    out, err = serving.communicate(timeout=30)
    assert (serving.returncode, out, err) == (0, "", "")
    done = subprocess.run([*command, tmp_path / "none.json"], capture_output=True, text=True)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "no such file" in done.stderr
