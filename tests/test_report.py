"""The report: it says what happened, needs nothing but itself, and fits any screen."""

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import pushwise as pw
from browser import Page, needs_chromium
from pushwise.errors import PushwiseError
from pushwise.identification.holdout import uniform_model
from pushwise.show.html import SvgDrawing
from pushwise.show.quantities import ellipse
from pushwise.show.report import report, write_report
from pushwise.show.status_line import summary
from pushwise.sliding.outcome import Outcome
from pushwise.sliding.run_folder import facts, load_run


@pytest.fixture(scope="module")
def outcome(finished_run: Path) -> Outcome:
    """Return a run that ended well."""
    return load_run(finished_run)


def words(page: str) -> str:
    """Return the text of a page, without tags."""
    body = page.split("<main>")[1]
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body)))


class Balanced(HTMLParser):
    """Follows a page's elements down and up again."""

    def __init__(self) -> None:
        """Begin outside."""
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Go in."""
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Go out of the element one is in."""
        assert self.open.pop() == tag


def test_it_says_what_happened(outcome: Outcome) -> None:
    """Tell the verdict, the statements, the goal, the pushes and the times in words."""
    page = report(outcome, name="pair of pliers")
    said = words(page)
    assert outcome.found is not None and outcome.goal is not None and outcome.followed is not None
    assert outcome.verdict in said
    for statement in outcome.found.statements():
        assert statement[1:] in said
    assert f"{1e3 * outcome.goal.overhang:.0f} mm are over the edge" in said
    pushes = len(outcome.records) + len(outcome.followed.records)
    assert page.count(">Observed<") == page.count(">Predicted<") == pushes
    assert said.count(" s ") >= len(outcome.seconds)


def test_it_needs_nothing_else(outcome: Outcome) -> None:
    """Be one well-formed file without an address, a script or a picture from elsewhere."""
    page = report(outcome)
    assert not re.search(r"https?:|//[a-z]|<script|@import|<img", page)
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert len(page) < 1_000_000


def test_names_are_text(outcome: Outcome) -> None:
    """Write a name with angle brackets as they are."""
    assert "<h1>Sliding the &lt;b&gt; to" in report(outcome, name="<b>")


def test_runs_that_ended_early_have_a_report(outcome: Outcome) -> None:
    """Leave out what it did not come to, and say that nothing was learned when nothing was."""
    assert outcome.grid is not None
    early = replace(
        outcome,
        goal=None,
        plan=None,
        followed=None,
        grasp=None,
        success=False,
        verdict="Not moved.",
    )
    said = words(report(early))
    assert "Not moved." in said
    assert "Fall risk" not in said
    stopped = words(report(replace(early, found=None, belief=None)))
    assert "What was seen" in stopped and "What was learned" not in stopped
    assumed = pw.Belief.assuming(uniform_model(outcome.grid, outcome.prior))
    ignorant = replace(early, records=(), found=None, belief=assumed, seconds={})
    assert "there were no pushes to learn from" in words(report(ignorant))
    looking = replace(ignorant, belief=None, seen=None)
    assert "ended before the first look" in words(report(looking))


def test_what_was_assumed_is_not_told_as_known(outcome: Outcome) -> None:
    """Give no chance of a fall where nothing was learned, in the page, in words and in facts."""
    assert outcome.grid is not None
    assert facts(outcome)["fall_probability"] is not None
    uniform = pw.Belief.assuming(uniform_model(outcome.grid, outcome.prior))
    assumed = replace(outcome, records=(), found=None, belief=uniform)
    page = words(report(assumed))
    assert "Fall risk at the goal unknown: nothing was learned" in page
    assert "Red: the assumed centre of mass." in page and "95 %" not in page
    assert "over the edge, fall risk unknown; " in summary(assumed, Path("run"))
    assert facts(assumed)["fall_probability"] is None


def test_another_goal_is_told_apart_from_the_first(outcome: Outcome) -> None:
    """Tell the goal that counted in the end, and no chance of a fall at another one as its own."""
    assert outcome.goal is not None and outcome.followed is not None
    assert facts(outcome)["goal"] == outcome.goal.pose.tolist()
    there = outcome.goal.pose + np.array([0.1, 0.0, 0.0])
    other = replace(outcome, followed=replace(outcome.followed, goal=there))
    assert facts(other)["goal"] == there.tolist()
    assert facts(other)["fall_probability"] is None
    page = words(report(other))
    assert "Fall risk at the first goal" in page
    assert "Distance from the last goal" in page
    assert "Another goal was chosen on the way" in page and "unsafe" not in page
    assert "mm from another goal, chosen on the way" in summary(other, Path("run"))
    assert "nother goal" not in words(report(outcome)) + summary(outcome, Path("run"))


def test_a_file_that_cannot_be_written_is_named(outcome: Outcome, tmp_path: Path) -> None:
    """Say which."""
    with pytest.raises(PushwiseError, match=r"cannot write .*report\.html"):
        write_report(outcome, tmp_path / "none" / "report.html")


def test_drawings_are_millimetres_with_y_up() -> None:
    """Flip y, keep the frame, and draw a scale bar of a round length."""
    drawing = SvgDrawing([(0.0, 0.0), (0.2, 0.1)])
    drawing.polygon([(0.0, 0.0), (0.1, 0.0), (0.1, 0.05)], "object")
    picture = drawing.svg("A triangle.")
    assert 'points="0.0,-0.0 100.0,-0.0 100.0,-50.0"' in picture
    assert 'viewBox="-10.0 -110.0 220.0 ' in picture
    assert ">50 mm<" in picture


def test_an_arrow_follows_the_bends_of_a_path() -> None:
    """Draw a line through all points and a head where it ends; nothing for a point."""
    drawing = SvgDrawing([(0.0, 0.0), (0.2, 0.2)])
    drawing.arrow([(0.0, 0.0), (0.1, 0.0), (0.1, 0.1)], "finger", head=0.01)
    drawing.arrow([(0.1, 0.1), (0.1, 0.1)], "rest")
    picture = drawing.svg("A path.")
    assert 'class="finger" points="0.0,-0.0 100.0,-0.0 100.0,-95.0"' in picture
    assert 'class="finger head" points="100.0,-100.0 ' in picture
    assert "rest" not in picture


def test_the_ellipse_holds_95_percent() -> None:
    """Count samples of the Gaussian inside."""
    covariance = np.array([[4.0, 1.0], [1.0, 2.0]])
    ring = ellipse(np.zeros(2), covariance)
    assert np.allclose(
        np.einsum("ij,jk,ik->i", ring, np.linalg.inv(covariance), ring), 5.9915, 1e-3
    )


@needs_chromium
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_the_screen(
    outcome: Outcome, tab: Page, tmp_path: Path, width: int, dark: bool
) -> None:
    """Show every picture, scroll only down, ask for nothing and log no error."""
    file = tmp_path / "report.html"
    write_report(outcome, file)
    tab.errors.clear()
    tab.requests.clear()
    tab.resize(width, 800, mobile=width < 600, dark=dark)
    tab.open(file.as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    pictures = tab.evaluate(
        "[...document.querySelectorAll('svg')].map(s => {"
        "const b = s.getBoundingClientRect();"
        "return [b.width, b.height, b.right, (s.getAttribute('aria-label') || '').length]})"
    )
    assert len(pictures) > 10
    for wide, high, right, label in pictures:
        assert wide > 100 and high > 40
        assert right <= width
        assert label > 20
    background = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(18, 22, 27)") == dark
    assert tab.errors == []
    assert tab.requests == [file.as_uri()]
