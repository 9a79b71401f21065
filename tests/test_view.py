"""The page in the browser: the scene, the replay, and its controls."""

import io
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest
from PIL import Image

import pushwise as pw
from browser import Page, free_port, needs_chromium
from command import pushwise
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import contains, placed, signed_area
from pushwise.identification.belief import centre_error
from pushwise.show.quantities import quantities
from pushwise.show.viewer import EDGE, View
from pushwise.show.viewer_data import Viewed
from pushwise.show.viewer_meshes import Viewpoint, prism, triangles
from pushwise.show.viewer_object import pose_of
from pushwise.show.viewer_panel import assign
from pushwise.show.viewer_replay import FRAME, clip, lift
from pushwise.typing import Array
from pushwise.worlds.gripper import Grasp
from viewing import choose, errors, on_screen, open_page, press, until


@pytest.fixture(scope="module")
def view(finished_run: Path) -> Iterator[View]:
    """Serve a run."""
    page = View(Viewed.load(finished_run), port=free_port())
    yield page
    page.stop()


@pytest.fixture(scope="module")
def tab(tab: Page, view: View) -> Page:
    """Return a tab that shows it."""
    open_page(view, tab, 1200, 700)
    return tab


def seen(tab: Page, path: Path) -> Array:
    """Return what is to be seen of the scene, without the panel, shape (rows, columns, 3)."""
    tab.screenshot(path)
    with Image.open(io.BytesIO(path.read_bytes())) as picture:
        return np.asarray(picture.convert("RGB"), float)[:, :860]


def test_the_standard_error_is_given_as_elsewhere(view: View) -> None:
    """Say how well the centre of mass is known in the words of the report and the terminal."""
    covariance = view.viewed.belief.centre_covariance
    assert covariance is not None
    assert f"Centre of mass (cross): standard error {centre_error(covariance)}." in (
        view.centre.content
    )


@needs_chromium
def test_the_page_shows_the_cells(view: View, tab: Page, tmp_path: Path) -> None:
    """Load without errors or a network, with all cells, coloured as the browser is told to."""
    cells = view.scene.object.cells
    assert len(cells.batched_positions) == view.viewed.model.grid.n_cells
    before, masses = seen(tab, tmp_path / "a.png"), cells.batched_colors.copy()
    choose(tab, "mass", "uncertainty")
    until(lambda: not np.array_equal(cells.batched_colors, masses))

    def changed() -> Array:
        return np.asarray(np.abs(seen(tab, tmp_path / "b.png") - before).max(axis=2) > 20.0)

    until(lambda: changed().sum() > 200)
    # What changed is where the object is.
    rows, columns = np.nonzero(changed())
    corners = np.array(
        [
            on_screen(view, tab, (x, y, 0.5 * view.scene.object.top))
            for x, y in placed(view.viewed.model.grid.outline, pose_of(view.scene.object.frame))
        ]
    )
    off = np.array([columns.mean(), rows.mean()]) - corners.mean(axis=0)
    assert np.hypot(*off) < 40.0
    assert errors(tab) == []
    elsewhere = [r for r in tab.requests if not r.startswith((view.address, "data:", "blob:"))]
    assert elsewhere == []


@needs_chromium
def test_the_slider_moves_the_object(view: View, tab: Page, tmp_path: Path) -> None:
    """Drag it in the browser: the object goes where it was seen at that time, with the ghost."""
    start, before = pose_of(view.scene.object.frame), seen(tab, tmp_path / "a.png")
    x, y, width = tab.evaluate(
        "(([t, s]) => [t.x + t.width / 2, t.y + t.height / 2, s.width])"
        "(['thumb', 'root'].map(k => document.querySelector('.mantine-Slider-' + k)"
        ".getBoundingClientRect()))"
    )
    tab.drag((x, y), (x + 0.5 * width, y))
    until(lambda: view.replay.slider.value > 0.3 * view.replay.slider.max)
    poses = np.vstack([film.observed for film in view.replay.clips])

    def arrived() -> bool:
        at = poses[int(view.replay.slider.value), :2]
        return np.allclose(pose_of(view.scene.object.frame)[:2], at, rtol=0.0, atol=1e-6)

    until(arrived)
    assert np.hypot(*(pose_of(view.scene.object.frame) - start)[:2]) > 0.02
    until(lambda: view.scene.ghost.visible and view.scene.finger.visible)
    until(lambda: (np.abs(seen(tab, tmp_path / "b.png") - before).max(axis=2) > 20.0).sum() > 200)
    words = re.compile(r"Predicted \(orange\) and observed are \d")
    until(lambda: words.search(tab.evaluate("document.body.innerText")))


@needs_chromium
def test_it_plays_at_a_chosen_speed_and_steps(view: View, tab: Page) -> None:
    """Press Play, Pause, Next and Previous in the browser."""
    assign(view.replay.slider, 0)
    press(tab, "Play")
    until(lambda: view.replay.slider.value > 5)
    press(tab, "Pause")
    until(lambda: view.replay.button.label == "Play")

    def stands() -> bool:
        frame = view.replay.slider.value
        time.sleep(0.3)
        return bool(view.replay.slider.value == frame)

    until(stands)  # a frame that was on its way may still come
    assert view.replay.slider.value < view.replay.slider.max
    assert "Push 1 to learn from" in view.replay.said.content
    press(tab, "Next")
    until(lambda: view.replay.slider.value == view.replay.starts[1])
    press(tab, "Previous")  # at the start of a push, the one before
    until(lambda: view.replay.slider.value == 0)
    press(tab, "Previous")
    time.sleep(0.3)
    assert view.replay.slider.value == 0

    for name, speed in (("0.5 ×", 0.5), ("4 ×", 4.0)):
        assign(view.replay.slider, 0)
        assign(view.replay.speed, name)
        began = time.monotonic()
        view.replay.play()
        time.sleep(0.8)
        # A frame may be late where the machine stalls; the next one is the one of its time.
        for _ in range(20):
            played, due = view.replay.slider.value, (time.monotonic() - began) * speed / FRAME
            if 0.7 * due <= played <= 1.1 * due:
                break
            time.sleep(0.01)
        view.replay.pause()
        assert 0.7 * due <= played <= 1.1 * due


@needs_chromium
def test_it_is_seen_from_above_and_without_labels(view: View, tab: Page, tmp_path: Path) -> None:
    """Change the camera and the labels in the browser."""
    client = view.server.get_clients()[max(view.server.get_clients())]
    press(tab, "From above")
    until(lambda: client.camera.position[2] > 5.0 * abs(client.camera.position[1]))
    time.sleep(0.5)
    with_labels = seen(tab, tmp_path / "a.png")
    assign(view.labels, False)
    until(lambda: np.abs(seen(tab, tmp_path / "b.png") - with_labels).max() > 100.0)
    assign(view.labels, True)
    press(tab, "All")
    until(lambda: client.camera.position[2] < 5.0 * abs(client.camera.position[1]))
    far = np.linalg.norm(client.camera.position - client.camera.look_at)
    press(tab, "Close up")
    until(lambda: np.linalg.norm(client.camera.position - client.camera.look_at) < 0.9 * far)
    press(tab, "All")
    assert errors(tab) == []


def test_the_lift_ends_the_replay() -> None:
    """Raise the object as far as the gripper raised it, in the place it was in."""
    pose = np.array([0.1, -0.3, 0.5])
    film = lift(pose, Grasp(True, 0.098))
    assert film.height is not None
    assert film.height[0] == 0.0 and film.height[-1] == pytest.approx(0.098)
    np.testing.assert_array_equal(film.observed[-1], pose)


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


@pytest.mark.parametrize("aspect", [0.46, 1.4])
@pytest.mark.parametrize("above", [False, True])
def test_the_camera_shows_all_that_happens(aspect: float, above: bool) -> None:
    """Fit all points into the picture, and on a narrow screen into the part above the panel."""
    points = np.array([[-0.3, -0.4], [0.5, -0.4], [0.5, 0.2], [-0.3, 0.2]])
    camera = Viewpoint.showing(points, above=above, aspect=aspect)
    eye, target = np.array(camera.position), np.array(camera.look_at)
    forward = (target - eye) / np.linalg.norm(target - eye)
    right = np.array([1.0, 0.0, 0.0])
    up = np.cross(right, forward)
    offset = np.column_stack([points, np.zeros(4)]) - eye
    away = (offset @ forward) * np.tan(0.5 * camera.fov)
    across, high = offset @ right / away / aspect, offset @ up / away
    assert np.abs(across).max() < 1.0
    assert high.max() < 1.0
    assert high.min() > (-0.1 if aspect < 0.8 else -1.0)


def test_a_model_can_be_viewed_alone(tmp_path: Path) -> None:
    """Offer what is known of it, on a table of the usual size, with nothing to replay."""
    thing = pw.objects.load("wrench")
    finger, covariance = pw.Finger(0.008, 0.2), np.diag([1e-5, 1e-5])
    belief = pw.Belief(thing.model, finger, covariance, None, np.zeros(3))
    pw.save(belief, tmp_path / "wrench.json")
    viewed = Viewed.load(tmp_path / "wrench.json")
    shown = quantities(viewed.belief)
    assert list(shown) == ["mass", "friction", "load"]
    assert shown["mass"].top.endswith("% of the whole")
    assert viewed.finger.radius == 0.008
    page = View(viewed, port=free_port())
    try:
        assert page.mode.value == EDGE
        assert "below 0.1 %" in page.edge.readings.content
        page.edge.put(np.array([0.0, 2.0, 0.0]))
        assert "not on the table" in page.edge.readings.content
        assert "100 %" in page.edge.readings.content
        assert page.edge.fallen
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
    done = pushwise("view", tmp_path / "none.json")
    assert done.code == 1
    assert len(done.err.splitlines()) == 1
    assert "no such file" in done.err
