"""What can be tried out in the viewer: the edge, pushes, and watching it learn."""

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pushwise as pw
from browser import Page, free_port, needs_chromium
from pushwise.geometry.polygon import placed
from pushwise.identification.belief import centre_error
from pushwise.planning.overhang import overhangs
from pushwise.planning.stability import Stability
from pushwise.show.quantities import point, probability
from pushwise.show.viewer import EDGE, LEARN, PUSH, View
from pushwise.show.viewer_arrow import Arrow
from pushwise.show.viewer_data import Viewed
from pushwise.show.viewer_object import pose_of
from pushwise.show.viewer_panel import Standing, assign, standing
from pushwise.show.viewer_reveal import reveal
from pushwise.show.viewer_tipping import fall
from pushwise.typing import Array
from viewing import (
    badge,
    close_up,
    drag,
    errors,
    go_to,
    grab,
    on_screen,
    open_page,
    press,
    reading,
    until,
)

WIDTHS = ((390, 844), (1200, 700))


@pytest.fixture(scope="module")
def view(finished_run: Path) -> Iterator[View]:
    """Serve a run."""
    page = View(Viewed.load(finished_run), port=free_port())
    yield page
    page.stop()


@pytest.fixture(scope="module", params=WIDTHS, ids=["390 px", "1200 px"])
def page(request: pytest.FixtureRequest, tab: Page, view: View) -> Page:
    """Return a tab that shows it on a phone, and on a larger screen."""
    open_page(view, tab, *request.param)
    return tab


def outward(viewed: Viewed, pose: Array) -> Array:
    """Return the direction (2,) in which an object overhangs the table at a pose (3,)."""
    table = viewed.table.polygon
    part = max(overhangs(viewed.model.grid.outline, table, pose), key=lambda each: each.depth)
    along = table[(part.edge + 1) % len(table)] - table[part.edge]
    normal: Array = np.array([along[1], -along[0]]) / np.hypot(*along)
    return normal


@needs_chromium
def test_dragging_it_over_the_edge_makes_it_fall(view: View, page: Page) -> None:
    """Drag the object in the browser: green, amber, red, and it tips; dragged back, it rests."""
    go_to(view, page, EDGE)
    viewed = view.viewed
    assert viewed.waypoints is not None
    goal = viewed.waypoints[-1]

    def put() -> bool:
        # Again and again, because choosing the mode puts the object back a moment later.
        view.edge.put(goal)
        time.sleep(0.5)
        there = np.allclose(pose_of(view.scene.object.frame), goal, atol=1e-6)
        return there and float(reading(page, "Overhang").split()[0]) > 0.0

    until(put)
    page.wait_for("document.body.innerText.includes('Rests')")
    close_up(view, page)
    grid = viewed.model.grid
    heavy = int(np.argmin(np.hypot(*(grid.centres - viewed.model.centre_of_mass).T)))
    x, y = placed(grid.centres[heavy][None], goal)[0]
    grabbed = np.array([x, y, float(grid.heights[heavy])])
    away = np.append(outward(viewed, goal), 0.0)
    falls = 0.0
    while viewed.balance.at(goal + falls * away).margin >= 0.0:
        falls += 0.001
    found: dict[str, str] = {}
    margins: list[float] = []
    grab(view, page, grabbed, lambda: view.edge.held)
    for distance in np.linspace(0.0, falls + 0.01, 15):
        page.mouse("move", *on_screen(view, page, grabbed + distance * away))
        there = (goal + distance * away)[:2]
        until(lambda at=there: view.edge.fallen or np.hypot(*(view.edge.pose[:2] - at)) < 4e-3)  # type: ignore[misc]
        until(lambda: badge(page)[0] == view.edge.standing.text)
        text, colour = badge(page)
        found.setdefault(text, colour)
        if view.edge.fallen:
            break
        margins.append(float(reading(page, "Margin").split()[0]))
        assert tuple(view.scene.object.ellipse.colors.tolist()) == view.edge.standing.colour
    assert found == {
        each.text: "rgb({}, {}, {})".format(*each.colour)
        for each in (Standing.RESTS, Standing.MAY_FALL, Standing.FALLS)
    }
    assert margins == sorted(margins, reverse=True)
    until(lambda: view.scene.object.frame.position[2] < -0.2)
    assert float(reading(page, "Fall risk").split()[0]) >= 50.0
    # Dragged back while it is still held, it is on the table again.
    for distance in (0.02, 0.0):
        page.mouse("move", *on_screen(view, page, grabbed + distance * away))
        time.sleep(0.1)
    page.mouse("release", *on_screen(view, page, grabbed))
    until(lambda: not view.edge.fallen)
    until(lambda: np.allclose(pose_of(view.scene.object.frame), goal, rtol=0.0, atol=5e-3))
    until(lambda: badge(page)[0] == Standing.RESTS.text)
    press(page, "Put it back")
    until(lambda: np.allclose(pose_of(view.scene.object.frame), viewed.pose))
    assert errors(page) == []


@needs_chromium
def test_an_arrow_pushes_it(view: View, page: Page) -> None:
    """Drag the arrow's tip and the finger, see the prediction change, and push."""
    go_to(view, page, PUSH)
    press(page, "Put it back")
    until(lambda: np.allclose(pose_of(view.scene.object.frame), view.viewed.pose))
    close_up(view, page)
    before, said = view.push.arrow, reading(page, "Moves")
    there = np.array(view.push.tip.position) + np.array([0.03, 0.04, 0.0])

    def aimed() -> bool:
        drag(view, page, np.array(view.push.tip.position), there)
        return np.allclose(view.push.tip.position[:2], there[:2], atol=6e-3)

    until(aimed)
    until(lambda: reading(page, "Length") == f"{1e3 * view.push.arrow.length:.0f} mm")
    until(lambda: reading(page, "Moves") != said)

    def moved_along() -> bool:
        finger = np.array(view.scene.finger.position)
        outline = placed(view.viewed.model.grid.outline, view.viewed.pose)
        point, normal = replace(before, place=before.place + 0.02).contact(outline)
        drag(view, page, finger, np.append(point + view.viewed.finger.radius * normal, finger[2]))
        return view.push.arrow.place == pytest.approx(before.place + 0.02, abs=6e-3)

    until(moved_along)
    until(lambda: "\u00b1" in view.push.said.content)  # which it has not while it is dragged
    predicted = pose_of(view.scene.ghost)
    press(page, "Push")
    until(lambda: np.allclose(pose_of(view.scene.object.frame), predicted, atol=1e-6))
    moved = predicted - view.viewed.pose
    assert np.hypot(*moved[:2]) > 0.01 or abs(moved[2]) > 0.1
    assert errors(page) == []


@needs_chromium
def test_it_is_watched_learning(view: View, page: Page) -> None:
    """Scrub from no push to one and to all that the run learned from, and rate the next push."""
    go_to(view, page, LEARN)
    viewed = view.viewed
    for pushes in (0, 1, viewed.learned):
        assign(view.learning.slider, pushes)
        belief = viewed.believed_after(pushes)
        said = point(belief.centre_of_mass)
        page.wait_for(f"document.body.innerText.includes('{said}')")
        if belief.centre_covariance is None:
            page.wait_for("document.body.innerText.includes('are assumed')")
            assert view.scene.object.revealed is None
        else:
            assert reading(page, "Standard error") == str(centre_error(belief.centre_covariance))
            until(lambda: view.scene.object.revealed is not None)
            page.wait_for("document.body.innerText.includes('mm at best')")
    assert errors(page) == []


def test_the_fall_risk_of_the_goal_is_that_of_the_run(view: View, finished_run: Path) -> None:
    """Show the same probability at the goal as the run's JSON has."""
    outcome = json.loads((finished_run / "outcome.json").read_text())
    assign(view.mode, EDGE)
    view.edge.put(np.array(outcome["goal"]))
    assert f">{probability(outcome['fall_probability'])}<" in view.edge.readings.content


@pytest.mark.parametrize("theta", [4.7, -3.6, 0.123])
def test_a_slider_that_repeats_the_angle_turns_nothing(view: View, theta: float) -> None:
    """Keep the object where it was put, though the slider knows whole degrees within a turn."""
    assign(view.mode, EDGE)
    pose = np.array([0.05, 0.02, theta])
    view.edge.put(pose)
    repeated: Any = SimpleNamespace(client=view)
    asyncio.run(view.edge._turned(repeated))
    np.testing.assert_array_equal(view.edge.pose, pose)
    assert abs(np.exp(1j * np.radians(view.edge.angle.value)) - np.exp(1j * theta)) < 0.01


def test_pushes_start_on_the_outline(finished_run: Path) -> None:
    """Start a finger's radius and 3 mm clear, touch where the arrow says, and end at its tip."""
    viewed = Viewed.load(finished_run)
    pose, radius = np.array([0.1, 0.0, 0.3]), viewed.finger.radius
    own = viewed.model.grid.outline
    outline = placed(own, pose)
    middle, edge = 0.5 * (outline[0] + outline[1]), outline[1] - outline[0]
    arrow = Arrow(0.0).moved_to(outline, middle)
    push = arrow.push(own, pose, radius)
    assert abs(push.velocity @ edge) < 1e-12
    assert np.hypot(*(push.start - middle)) == pytest.approx(radius + 0.003)
    assert (push.start - middle) @ push.velocity < 0.0
    normal = (push.start - middle) / np.hypot(*(push.start - middle))
    touching = middle + radius * normal
    tip = touching - 0.06 * normal + 0.04 * edge / np.hypot(*edge)
    aimed = arrow.aimed_at(outline, radius, tip)
    np.testing.assert_allclose(aimed.push(own, pose, radius).positions[-1], tip, atol=1e-12)
    assert aimed.length == pytest.approx(np.hypot(0.06, 0.04))
    away = arrow.aimed_at(outline, radius, touching + 0.1 * normal)
    assert abs(away.slant) <= np.radians(70.0)


def test_what_a_push_reveals_is_what_next_push_says(finished_run: Path) -> None:
    """Rate the outline by `next_push`, and none without a posterior."""
    belief = Viewed.load(finished_run).belief
    rated = reveal(belief)
    assert rated is not None
    middle = rated.ends[rated.best].mean(axis=0)
    outline = belief.model.grid.outline
    push = Arrow(0.0).moved_to(outline, middle).push(outline, np.zeros(3), belief.finger.radius)
    (alone,) = pw.next_push(belief, [push])
    assert rated.before - rated.gain[rated.best] == pytest.approx(alone.centre_std, rel=0.02)
    assert reveal(pw.Belief.certain(belief.model)) is None


def test_it_tips_about_the_edge_and_falls(finished_run: Path) -> None:
    """Rotate about the table's edge first, then fall; straight down where nothing carries it."""
    viewed = Viewed.load(finished_run)
    assert viewed.waypoints is not None
    pose = viewed.waypoints[-1].copy()
    away = outward(viewed, pose)
    while viewed.balance.at(pose).margin >= 0.0:
        pose[:2] += 0.002 * away
    support = viewed.balance.at(pose).polygon
    film = fall(viewed.model, pose, support, frame=0.04)
    np.testing.assert_allclose(film.position[0], [pose[0], pose[1], 0.0], atol=1e-12)
    assert (np.diff(film.angle) > 0.0).all()
    assert film.position[-1, 2] < -0.2
    # While it tips, the grid's origin keeps its distance from the edge of the support.
    hinged = film.angle < 1.0
    foot = support[np.argmax(support @ away)]
    arm = (film.position[hinged, :2] - foot) @ away
    distance = np.hypot(arm, film.position[hinged, 2])
    np.testing.assert_allclose(distance, distance[0], atol=1e-9)
    dropped = fall(viewed.model, pose, np.zeros((0, 2)), frame=0.04)
    assert not dropped.angle.any()
    np.testing.assert_allclose(dropped.position[:, :2], np.tile(pose[:2], (len(dropped.angle), 1)))


def test_colours_follow_risk_and_margin(tmp_path: Path) -> None:
    """Turn amber where the risk is too high or unknown or tipping is near, red when it falls."""
    model = pw.objects.load("wrench").model
    pw.save(pw.Belief.certain(model), tmp_path / "certain.json")
    pw.save(pw.Belief.assuming(model), tmp_path / "assumed.json")
    certain, assumed = (Viewed.load(tmp_path / f"{name}.json") for name in ("certain", "assumed"))

    def at(viewed: Viewed, margin: float, risk: float, overhang: float = 0.05) -> Standing:
        return standing(viewed, Stability(np.zeros((3, 2)), margin, risk), overhang)

    assert at(certain, 0.03, 0.0) is Standing.RESTS
    assert at(certain, 0.03, 0.02) is Standing.MAY_FALL
    assert at(certain, 0.004, 0.0) is Standing.MAY_FALL
    assert at(certain, -0.001, 1.0) is Standing.FALLS
    assert at(assumed, 0.03, 0.0) is Standing.MAY_FALL
    assert at(assumed, 0.03, 0.0, 0.0) is Standing.RESTS
    page = View(assumed, port=free_port())
    try:
        assert "unknown: nothing was learned" in page.edge.readings.content
    finally:
        page.stop()
