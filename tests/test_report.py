"""The report: it says what happened, needs nothing but itself, and fits any screen."""

import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import pushwise as pw
from browser import Page, needs_chromium
from pushwise.errors import PushwiseError
from pushwise.geometry.metric import mean_cell_error
from pushwise.identification.belief import CentreError
from pushwise.identification.holdout import uniform_model
from pushwise.progress import Progress
from pushwise.show.advice import advice
from pushwise.show.quantities import ellipse, probability
from pushwise.show.report import RunSource, report, write_report
from pushwise.show.status_line import Sliding, next_steps, summary
from pushwise.show.svg import CellColours, SvgDrawing, transform
from pushwise.sliding.follow import AbandonedGoal
from pushwise.sliding.moved import End
from pushwise.sliding.outcome import Outcome
from pushwise.sliding.run_folder import facts, load_run
from pushwise.worlds.gripper import Grasp

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "docs" / "reports"
SCRIPT = ROOT / "src" / "pushwise" / "show" / "templates" / "report.js"


@pytest.fixture(scope="module")
def outcome(finished_run: Path) -> Outcome:
    """Return a run that ended well."""
    return load_run(finished_run)


@pytest.fixture(scope="module")
def source() -> RunSource:
    """Return what else is known about it."""
    thing = pw.objects.load("crimp").sample(np.random.default_rng(0))
    return RunSource("crimp", thing.model, "pushwise slide crimp", ("run.json", "log.csv"))


@pytest.fixture(scope="module")
def failed(outcome: Outcome) -> Outcome:
    """Return the same run as if it had ended far from its goal, after a change of goals."""
    assert outcome.goal is not None and outcome.followed is not None
    there = outcome.goal.pose + np.array([0.1, 0.0, 0.0])
    gone = AbandonedGoal(outcome.goal.pose, 1, "no push is safe there.")
    followed = replace(
        outcome.followed,
        end=End.OUT_OF_REACH,
        detail="no way was found.",
        goal=there,
        error=0.1,
        abandoned=(gone,),
    )
    return replace(outcome, followed=followed, grasp=None, success=False, verdict="Not reached.")


def words(page: str) -> str:
    """Return the text of a page, without tags."""
    body = page.split("<main>")[1].split("</main>")[0]
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body)))


class Balanced(HTMLParser):
    """Follows a page's elements down and up again."""

    def __init__(self) -> None:
        """Begin outside."""
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Go in."""
        if tag not in ("meta", "link", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Go out of the element one is in."""
        assert self.open.pop() == tag


def test_a_push_that_ended_elsewhere_is_marked_and_open(outcome: Outcome) -> None:
    """Mark one more push as unexpected once its last pose is 50 mm off, and unfold it."""
    first, *others = outcome.records
    pose = first.pose.copy()
    pose[-1] += (0.05, 0.0, 0.0)
    moved = pw.PushRecord(first.push, first.t, pose, noise=first.noise)
    source = RunSource("pair of pliers")
    before = report(outcome, source)
    after = report(replace(outcome, records=(moved, *others)), source)
    for mark in ("<mark>unexpected</mark>", "<details open>"):
        assert after.count(mark) == before.count(mark) + 1


def test_it_says_what_happened(outcome: Outcome) -> None:
    """Tell the verdict, the statements, the goal, the pushes and the times in words."""
    page = report(outcome, RunSource("pair of pliers"))
    said = words(page)
    assert outcome.found is not None and outcome.goal is not None and outcome.followed is not None
    assert outcome.verdict in said
    for statement in outcome.found.statements():
        # The pictures of a push are numbered from 1.
        own = re.sub(r"^push \d+ ", "This push ", statement)
        assert own[1:] in said
    assert said.count("does not fit the others") == len(outcome.found.outliers)
    assert page.count("<mark>unexpected</mark>") == page.count("<details open>")
    assert f"{1e3 * outcome.goal.overhang:.0f} mm are over the edge" in said
    pushes = len(outcome.records) + len(outcome.followed.records)
    assert page.count(">Observed<") == page.count(">Predicted<") == pushes
    assert page.count('<circle class="point') == pushes
    for seconds in outcome.seconds.values():
        assert f" {seconds:.1f} s " in said


def test_it_needs_nothing_else(outcome: Outcome) -> None:
    """Be one well-formed file without an address, a script or a picture from elsewhere."""
    page = report(outcome)
    assert not re.search(r"https?:|//[a-z]|<script[^>]+src|@import|<img", page)
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert len(page) < 1_000_000


def test_names_are_text(outcome: Outcome) -> None:
    """Write a name with angle brackets as they are."""
    page = report(outcome, RunSource("<b>", command="slide '</script><b>'", files=("<i>",)))
    assert "<h1>Sliding the &lt;b&gt; to" in page
    assert "<b>'" not in page and "<i>" not in page


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
    assert "Fall risk at the goal unknown nothing was learned" in page
    assert "Red: the assumed centre of mass." in page and "95 %" not in page
    assert "over the edge, fall risk unknown; " in summary(assumed)
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
    assert "The first goal" in page
    assert "mm from another goal, chosen on the way" in summary(other)
    assert "nother goal" not in words(report(outcome)) + summary(outcome)


def test_a_file_that_cannot_be_written_is_named(outcome: Outcome, tmp_path: Path) -> None:
    """Say which."""
    with pytest.raises(PushwiseError, match=r"cannot write .*report\.html"):
        write_report(outcome, tmp_path / "none" / "report.html")


def test_drawings_are_millimetres_with_y_up() -> None:
    """Flip y, keep the frame, and draw a scale bar of a round length."""
    drawing = SvgDrawing([(0.0, 0.0), (0.2, 0.1)])
    drawing.polygon([(0.0, 0.0), (0.1, 0.0), (0.1, 0.05)], "object")
    picture = drawing.svg("A triangle.")
    assert 'points="0,0 100,0 100,-50"' in picture
    assert 'viewBox="-10.0 -110.0 220.0 ' in picture
    assert ">50 mm<" in picture


def test_an_arrow_follows_the_bends_of_a_path() -> None:
    """Draw a line through all points and a head where it ends; nothing for a point."""
    drawing = SvgDrawing([(0.0, 0.0), (0.2, 0.2)])
    drawing.arrow([(0.0, 0.0), (0.1, 0.0), (0.1, 0.1)], "finger", head=0.01)
    drawing.arrow([(0.1, 0.1), (0.1, 0.1)], "rest")
    picture = drawing.svg("A path.")
    assert 'class="finger" points="0,0 100,0 100,-95"' in picture
    assert 'class="finger head" points="100,-100 ' in picture
    assert "rest" not in picture


def test_the_ellipse_holds_95_percent() -> None:
    """Count samples of the Gaussian inside."""
    covariance = np.array([[4.0, 1.0], [1.0, 2.0]])
    ring = ellipse(np.zeros(2), covariance)
    assert np.allclose(
        np.einsum("ij,jk,ik->i", ring, np.linalg.inv(covariance), ring), 5.9915, 1e-3
    )


def test_cells_are_clipped_and_carry_their_values() -> None:
    """Draw each cell as a square in the object's frame, moved to the pose, y down."""
    grid = pw.CellGrid.from_outline(
        [(0.0, 0.0), (0.04, 0.0), (0.04, 0.02), (0.0, 0.02)], cell_size=0.02
    )
    drawing = SvgDrawing()
    shown = CellColours(["#000000", "#ffffff"], np.array([1.0, 2.5]), "kg")
    drawing.cells(grid, shown, pose=(0.1, 0.2, np.pi / 2))
    picture = drawing.svg("Two cells.")
    assert transform((0.1, 0.2, np.pi / 2)) == "translate(100 -200) rotate(-90)"
    assert 'clip-path="url(#outline-clip)" transform="translate(100 -200) rotate(-90)"' in picture
    assert '<rect x="0" y="-20" width="20" height="20" fill="#000000" data-value="1"/>' in picture
    assert 'fill="#ffffff" data-value="2.5"/>' in picture


def test_a_failure_says_how_near_it_came_and_what_to_try(failed: Outcome) -> None:
    """Say it in the report and in the terminal, with the same numbers, and name the goals."""
    assert failed.followed is not None
    away = [
        mean_cell_error(failed.followed.belief.model.grid, record.pose[-1], failed.followed.goal)
        for record in failed.followed.records
    ]
    away[-1] = failed.followed.error
    page, steps = words(report(failed)), next_steps(failed, Path("run"))
    for said in (page, steps):
        assert f"came within {1e3 * min(away):.1f} mm of its goal after push " in said
        assert "no way was found." in said
        assert "ive it more room: --table 1.4x1.0" in said
    assert steps.endswith("Open run/report.html in a browser, or run: pushwise view run")
    assert "After 1 push goal 1 was given up: no push is safe there. Another goal" in page


def test_a_run_without_a_plan_has_a_path(outcome: Outcome) -> None:
    """Show where a controller steered the object, and that there was no plan."""
    steered = replace(outcome, plan=None)
    page = words(report(steered))
    assert "No plan was found before the first push." in page and "planned path" not in page
    assert "no plan found, steered on the way" in summary(steered)


def test_every_way_to_fail_has_advice(outcome: Outcome, failed: Outcome) -> None:
    """Have something to try for each end, and before a goal was chosen; nothing for a success."""
    assert failed.followed is not None
    for end in set(End) - {End.REACHED}:
        said = advice(replace(failed, followed=replace(failed.followed, end=end)))
        assert said is not None and said.tries and not any("{" in each for each in said.tries)
    early = replace(failed, followed=None, goal=None, plan=None)
    for run in (early, replace(early, belief=None, found=None)):
        said = advice(run)
        assert said is not None and "--overhang 0.04" in " ".join(said.tries)
    assert advice(outcome) is None


def test_the_truth_is_shown_where_it_is_known(outcome: Outcome, source: RunSource) -> None:
    """Mark the true centre of mass, say how far off the estimate is, and draw the true masses."""
    assert outcome.belief is not None and source.truth is not None
    off = np.hypot(*(outcome.belief.centre_of_mass - source.truth.centre_of_mass))
    page = report(outcome, source)
    assert f"the estimate is {1e3 * off:.1f} mm from the true one" in words(page)
    assert 'class="truth"' in page and page.count('data-grid="truth"') == 2
    assert " true " not in words(report(outcome)).lower()


def test_what_slips_out_of_the_gripper_is_told(outcome: Outcome, tmp_path: Path) -> None:
    """Write the outcome and the page of a grasp that failed."""
    slipped = replace(outcome, grasp=Grasp(False, 0.004), success=False, verdict="Not grasped.")
    assert json.loads(json.dumps(facts(slipped)))["raised"] == 0.004
    write_report(slipped, tmp_path / "report.html")
    assert "the object did not stay in it" in words((tmp_path / "report.html").read_text())


def test_the_same_number_is_the_same_everywhere(outcome: Outcome, source: RunSource) -> None:
    """Give centre of mass, standard error, fall probability and times alike wherever they are."""
    told = json.loads(json.dumps(facts(outcome)))
    terminal, page = summary(outcome, source.truth), words(report(outcome, source))
    assert outcome.found is not None
    x, y = (1e3 * value for value in told["centre_of_mass"])
    error = CentreError(**told["centre_of_mass_error"])
    fall = probability(told["fall_probability"])
    steps = next_steps(outcome, Path("run"))
    assert f"centre of mass at ({x:.1f}, {y:.1f}) mm" in terminal
    assert f"Centre of mass ({x:.1f}, {y:.1f}) mm standard error {error} " in page
    assert f"entre of mass at ({x:.1f}, {y:.1f}) mm, standard error {error}" in page
    assert f"entre of mass at ({x:.1f}, {y:.1f}) mm" in outcome.found.summary()
    assert f"standard error {error}\n" in terminal
    assert f"fall risk {fall}" in terminal
    assert f"Fall risk at the goal {fall}" in page.replace("\u00a0", " ")
    assert "on the way" in page
    for phase, seconds in told["seconds"].items():
        assert re.search(rf"^{phase} +{seconds:.1f} s", terminal, re.MULTILINE)
        assert f" {seconds:.1f} s " in page
    total = f"{sum(told['seconds'].values()):.1f} s"
    left_out = "without compiling and writing the report"
    assert re.search(rf"^total +{total}  {left_out}$", terminal, re.MULTILINE)
    assert f"Total time {total} {left_out}" in page
    off = f"{told['error'] * 1e3:.1f} mm from the goal"
    for number in (off, f"({x:.1f}, {y:.1f})", str(error)):
        assert f"{terminal}\n{steps}".count(number) == 1


def test_the_terminal_says_what_is_being_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Begin a line per phase; on a terminal, count the pushes in it, and leave nothing behind."""
    news = [
        Progress("look"),
        Progress("explore"),
        Progress("explore", "push 2", 2, 12),
        Progress("follow"),
        Progress("follow", "24 mm to go", 3, 40),
    ]
    with Sliding() as line:
        for each in news:
            line.update(each)
        line.say("writing the report")
    begun = ["looking at the object", "pushing to learn", "pushing to the goal"]
    assert capsys.readouterr().err.splitlines() == [*begun, "writing the report"]
    monkeypatch.setattr(Console, "is_terminal", True)
    with Sliding() as line:
        shown = []
        for each in news:
            line.update(each)
            shown.append([task.description for task in line.tasks])
    assert shown[2][-1] == "pushing to learn: push 3 of at most 12"
    assert shown[4] == [*begun[:2], "pushing to the goal: push 4 of at most 40, 24 mm to go"]


@needs_chromium
@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_the_screen(
    failed: Outcome, source: RunSource, tab: Page, tmp_path: Path, width: int, dark: bool
) -> None:
    """Show every picture, scroll only down, ask for nothing and log no error."""
    file = tmp_path / "report.html"
    write_report(failed, file, source)
    tab.errors.clear()
    tab.requests.clear()
    tab.resize(width, 800, mobile=width < 600, dark=dark)
    tab.open(file.as_uri())
    tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    pictures = tab.evaluate(
        "[...document.querySelectorAll('svg[role=img]')].map(s => {"
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


@needs_chromium
@pytest.mark.parametrize("width", [390, 1200])
def test_the_film_plays_and_scrubs(
    outcome: Outcome, source: RunSource, tab: Page, tmp_path: Path, width: int
) -> None:
    """Move the object while it plays, follow the slider and the chart, and name the cell."""
    file = tmp_path / "report.html"
    write_report(outcome, file, source)
    tab.errors.clear()
    tab.resize(width, 900, mobile=width < 600)
    tab.open(file.as_uri())
    assert outcome.followed is not None
    pushes = len(outcome.records) + len(outcome.followed.records)
    assert tab.evaluate("document.querySelectorAll('#distance-chart .point').length") == pushes
    place = "document.getElementById('film-object').getAttribute('transform')"
    caption = "document.getElementById('film-caption').textContent"
    begin = tab.evaluate(place)
    assert begin == transform(outcome.records[0].pose[0])
    assert tab.evaluate(caption) == "Push 1 to learn from, 0.0 s"
    tab.evaluate("document.getElementById('film-play').click()")
    tab.wait_for(f"{place} !== {json.dumps(begin)}", seconds=20)
    tab.evaluate("document.getElementById('film-play').click()")
    stopped = tab.evaluate(place)
    assert tab.evaluate(f"new Promise(d => setTimeout(() => d({place}), 200))") == stopped
    tab.evaluate(
        "(s => { s.value = s.max; s.dispatchEvent(new Event('input')); })"
        "(document.getElementById('film-time'))"
    )
    last = outcome.followed.records[-1]
    x, y, angle = (float(part) for part in re.findall(r"-?[\d.]+", tab.evaluate(place)))
    np.testing.assert_allclose([x, -y], 1e3 * last.pose[-1, :2], atol=0.06)
    assert abs(-angle - np.degrees(last.pose[-1, 2])) < 0.06
    goal = f"Push {len(outcome.followed.records)} to the goal, {last.t[-1] - last.t[0]:.1f} s"
    assert tab.evaluate(caption) == goal
    tab.evaluate(
        "document.querySelectorAll('#distance-chart .point')[1].dispatchEvent(new Event('click'))"
    )
    assert tab.evaluate(caption) == "Push 2 to learn from, 0.0 s"
    readout = tab.evaluate(
        "(map => { map.querySelectorAll('rect')[3].dispatchEvent("
        "new Event('pointerover', {bubbles: true}));"
        "return map.querySelector('.readout').textContent; })"
        "(document.querySelectorAll('.maps figure')[1])"
    )
    assert outcome.belief is not None
    mass = outcome.belief.model.mass
    assert readout == f"Cell 3: {mass[3] / mass.mean():.3g} times the average"
    assert tab.errors == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("success", "Grasped: the object was slid to the edge"),
        ("change-of-goal", "Another goal was chosen."),
        ("failure", "What to try next:"),
    ],
)
def test_the_examples_are_small_and_of_this_version(name: str, said: str) -> None:
    """Find what each example is an example of; `docs/example_reports.py` makes them."""
    page = (EXAMPLES / f"{name}.html").read_text(encoding="utf-8")
    assert said in words(page)
    assert len(page) < 150_000
    assert page.split("<script>")[1].split("</script>")[0].strip() == SCRIPT.read_text().strip()
