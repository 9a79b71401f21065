"""`slide`: from the first look to the grasp, in files that survive being stopped."""

import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pushwise as pw
from pushwise.documents import write_document
from pushwise.errors import PushwiseError
from pushwise.geometry.metric import mean_cell_error
from pushwise.geometry.polygon import contains, placed
from pushwise.planning.options import PlanOptions
from pushwise.progress import Progress
from pushwise.show.advice import advice
from pushwise.sliding import run_folder, target
from pushwise.sliding import slide as pregrasp
from pushwise.sliding.follow import follow
from pushwise.sliding.moved import End
from pushwise.sliding.options import SlideOptions
from pushwise.sliding.outcome import Outcome, Phase, Target
from pushwise.sliding.run_files import read_phase, write_phase
from pushwise.sliding.run_folder import RunFolder, load_run
from pushwise.sliding.target import safest
from pushwise.typing import Array
from pushwise.worlds.random_scene import CAMERA
from pushwise.worlds.simulated import SimulatedWorld

pytestmark = pytest.mark.slow

TABLE = pw.Table()
# Plans of Algorithm 2 take a fraction of the time; README and examples slide with the usual ones.
SWIFT = SlideOptions(plan=PlanOptions(method="gradient"))
ABOUT = {"object": "crimp", "world": "ideal"}


def crimp() -> SimulatedWorld:
    """Return a world with a pair of crimping pliers."""
    return pw.worlds.random_world("crimp", TABLE, world="ideal")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome]:
    """Return the folder of a run that was not disturbed, and its outcome."""
    folder = tmp_path_factory.mktemp("runs") / "undisturbed"

    def keep(news: Progress) -> None:
        if news.stage == Phase.FOLLOW and not folder.with_name("planned").exists():
            shutil.copytree(folder, folder.with_name("planned"))

    journal = RunFolder(folder, ABOUT)
    return folder, pw.slide(crimp(), TABLE, options=SWIFT, journal=journal, progress=keep)


@pytest.fixture(scope="module")
def run(undisturbed: tuple[Path, Outcome]) -> Path:
    """Return the folder alone."""
    return undisturbed[0]


@pytest.fixture
def planned(run: Path, tmp_path: Path) -> Path:
    """Return a folder with that run as it was before the first push to the goal, to go on with."""
    return shutil.copytree(run.with_name("planned"), tmp_path / "planned")


def said(folder: Path) -> dict[str, Any]:
    """Return what outcome.json says, but how long it took."""
    told: dict[str, Any] = json.loads((folder / "outcome.json").read_text())
    del told["seconds"]
    return told


def test_a_stated_centre_is_refused() -> None:
    """Say why: nobody knows the frame of a grid that is not made yet."""
    with pytest.raises(PushwiseError, match="no centre of mass can be stated"):
        pw.slide(crimp(), TABLE, prior=pw.Prior(centre=(0.0, 0.0)))


def test_the_object_is_grasped_at_the_edge(run: Path) -> None:
    """End with the object held, everything kept, and nothing pushed off the table on the way."""
    done = load_run(run)
    assert done.success
    assert done.verdict.startswith("Grasped")
    assert done.grasp is not None and done.grasp.held
    assert done.followed is not None and done.followed.reached
    assert 2 <= len(done.records) < 5  # as many as it takes until a goal is safe
    assert done.goal is not None and done.goal.fall_probability <= 0.01
    assert set(done.seconds) == set(Phase)
    assert done.grid is not None
    for record in done.records:
        for pose in record.pose:
            assert contains(TABLE.polygon, placed(done.grid.outline, pose)).all()


def test_a_run_reads_back_as_it_was(undisturbed: tuple[Path, Outcome]) -> None:
    """Read the same posterior, goal, plan and pushes that the run went on with."""
    folder, was = undisturbed
    read = load_run(folder)
    assert isinstance(read.found, pw.Identification) and isinstance(was.found, pw.Identification)
    assert read.goal is not None and was.goal is not None
    assert read.plan is not None and was.plan is not None
    assert read.followed is not None and was.followed is not None
    assert read.verdict == was.verdict
    assert read.options == was.options
    assert np.array_equal(read.found.model.mass, was.found.model.mass)
    assert np.array_equal(
        read.found.posterior.centre_of_mass_covariance,
        was.found.posterior.centre_of_mass_covariance,
    )
    assert read.found.statements() == was.found.statements()
    for a, b in zip(
        read.records + read.followed.records, was.records + was.followed.records, strict=True
    ):
        assert np.array_equal(a.pose, b.pose)
        assert a.noise == b.noise == CAMERA.noise
    log = pw.PushLog.load(folder / "followed.csv")
    assert log.finger_radius == was.finger.radius
    assert log.grid is not None and was.grid is not None
    assert np.array_equal(log.grid.centres, was.grid.centres)
    assert np.array_equal(read.goal.pose, was.goal.pose)
    assert len(read.goal.alternatives) == len(was.goal.alternatives)
    assert np.array_equal(read.plan.poses, was.plan.poses)
    assert read.followed.end is was.followed.end
    model = pw.load(folder / "model.json")
    assert isinstance(model, pw.ObjectModel)
    assert np.allclose(read.found.model.mass, model.mass)


class Stopped(BaseException):
    """Somebody pulls the plug."""


def test_a_stopped_run_ends_as_if_it_were_not(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stop before every phase is noted and after every push, and end the same."""
    folder = tmp_path / "run"
    left = 0

    def fragile(path: Path, kind: str, content: Mapping[str, Any]) -> None:
        nonlocal left
        left -= path.name == "run.json"
        if left < 0:
            raise Stopped
        write_document(path, kind, content)

    monkeypatch.setattr(run_folder, "write_document", fragile)
    stops = 0
    for allowed in [0, 1, 1, 2, 1, 0, 1, 1, 0, 1, 1, 1, 50]:
        left = allowed
        try:
            pw.slide(crimp(), TABLE, options=SWIFT, journal=RunFolder(folder, ABOUT))
        except Stopped:
            stops += 1
    assert stops >= 8
    assert said(folder) == said(run)


def test_the_seconds_of_a_stopped_run_add_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Count the pushes of every session, by a clock that each push moves on by ten seconds."""
    now = 0.0
    monkeypatch.setattr(pregrasp, "working_clock", lambda: now)

    class Slow(RunFolder):
        last: int | None

        def explored(self, news: Progress) -> None:
            nonlocal now
            now += 10.0
            super().explored(news)
            if len(self.records) == self.last:
                raise Stopped

    options = SlideOptions(explore=3, grasp_width=0.005)  # and then there is no goal
    for last in (1, 2, None):
        now += 1000.0
        journal = Slow(tmp_path / "run", ABOUT)
        journal.last = last
        with suppress(Stopped):
            done = pw.slide(crimp(), TABLE, options=options, journal=journal)
    assert done.seconds[Phase.EXPLORE] == 30.0
    assert load_run(tmp_path / "run").seconds == done.seconds


def test_runs_that_differ_by_an_empty_name_are_different(tmp_path: Path) -> None:
    """Name what only one of two runs states, even if it states nothing."""
    start = Outcome(SlideOptions(explore=0), TABLE, pw.Finger(), pw.Prior())
    first = RunFolder(tmp_path / "run", {"robot": None})
    with first.held():
        first.begin(crimp(), start)
    second = RunFolder(tmp_path / "run", {})
    with pytest.raises(PushwiseError, match="robot None, not nothing"), second.held():
        second.begin(crimp(), start)
    with pytest.raises(PushwiseError, match="about must be what JSON can hold"):
        RunFolder(tmp_path / "run", {"folder": tmp_path})


def test_options_are_refused_before_anything_is_pushed() -> None:
    """Do not push until a preference is found to be misspelt; keep the point as plain numbers."""
    with pytest.raises(PushwiseError, match=r'prefer must be "safety" or "overhang"; got .saftey.'):
        SlideOptions(prefer="saftey")  # type: ignore[arg-type]
    with pytest.raises(PushwiseError, match=r"grasp_at must have shape \(2,\)"):
        SlideOptions(grasp_at=(0.1, 0.2, 0.3))  # type: ignore[arg-type]
    given = SlideOptions(grasp_at=np.array([0.1, 0.2]))  # type: ignore[arg-type]
    assert given.grasp_at == (0.1, 0.2)


def test_another_run_is_not_overwritten(run: Path) -> None:
    """Say in one sentence what is different."""
    before = said(run)
    with pytest.raises(PushwiseError, match="holds a run with seed 0, not 1"):
        pw.slide(
            crimp(),
            TABLE,
            options=replace(SWIFT, plan=replace(SWIFT.plan, seed=1)),
            journal=RunFolder(run, ABOUT),
        )
    with pytest.raises(PushwiseError, match="object crimp, not clamp"):
        other = RunFolder(run, {**ABOUT, "object": "clamp"})
        pw.slide(crimp(), TABLE, options=SWIFT, journal=other)
    assert said(run) == before


@pytest.mark.parametrize("force", [False, True])
def test_a_folder_with_something_else_is_left_alone(force: bool, tmp_path: Path) -> None:
    """Refuse a folder that is no run, even where a file in it has a name of ours."""
    (tmp_path / "log.csv").write_text("private")
    with pytest.raises(PushwiseError, match="holds no run of ours"):
        pw.slide(crimp(), TABLE, journal=RunFolder(tmp_path, ABOUT, force=force))
    assert [file.name for file in tmp_path.iterdir()] == ["log.csv"]
    assert (tmp_path / "log.csv").read_text() == "private"


def test_a_folder_with_a_run_of_others_is_left_alone(tmp_path: Path) -> None:
    """Delete nothing by force beside a run.json that we did not write."""
    mine = {"run.json": '{"kind": "run"}', "plan.json": "private", "log.csv": "private"}
    for name, text in mine.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(PushwiseError, match=r"run\.json: .*Pushwise did not write"):
        pw.slide(crimp(), TABLE, journal=RunFolder(tmp_path, ABOUT, force=True))
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == mine


def test_a_run_stopped_in_its_first_note_begins(tmp_path: Path) -> None:
    """Take a folder with half a note and nothing else for an empty one."""
    (tmp_path / ".run.json.half").write_text('{"format": "pushw')
    options = SlideOptions(explore=0, grasp_width=0.005)
    done = pw.slide(crimp(), TABLE, options=options, journal=RunFolder(tmp_path, ABOUT))
    assert load_run(tmp_path).verdict == done.verdict
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("run.json", {"settings": None}, "settings"),
        ("run.json", {"settings": {"colour": 1}}, "colour"),
        ("run.json", {"settings": {"explore": -1}}, "explore must"),
        ("run.json", {"phases": 3}, "int"),
        ("outcome.json", {"verdict": None}, "verdict"),
    ],
)
def test_a_run_with_other_fields_is_refused(
    name: str, change: dict[str, Any], said: str, run: Path, tmp_path: Path
) -> None:
    """Name the file, and what is wrong with it."""
    folder = shutil.copytree(run, tmp_path / "run")
    told = {**json.loads((folder / name).read_text()), **change}
    kept = {field: value for field, value in told.items() if value is not None}
    (folder / name).write_text(json.dumps(kept))
    with pytest.raises(
        PushwiseError, match=rf"{name} is damaged, or of another version \(.*{said}"
    ):
        load_run(folder)


def test_a_damaged_note_is_not_gone_on_with(run: Path, tmp_path: Path) -> None:
    """Say that the run cannot be taken up."""
    folder = shutil.copytree(run, tmp_path / "run")
    told = json.loads((folder / "run.json").read_text())
    del told["pushes"]
    (folder / "run.json").write_text(json.dumps(told))
    with pytest.raises(PushwiseError, match=r"run\.json is damaged, .*'pushes'"):
        pw.slide(crimp(), TABLE, options=SWIFT, journal=RunFolder(folder, ABOUT))


def test_a_damaged_run_is_refused(run: Path, tmp_path: Path) -> None:
    """Say in a sentence which phase left what cannot be read, or that there is no run."""
    with pytest.raises(PushwiseError, match="holds no run; give a folder that pushwise slide"):
        load_run(tmp_path)
    folder = shutil.copytree(run, tmp_path / "run")
    posterior = (folder / "posterior.npz").read_bytes()
    for damage, words in (
        ({"grasp.json": b'{"kind": "grasp"}'}, r"grasp\.json: format must be"),
        ({"goal.json": b"[]"}, r"goal\.json: format must be"),
        ({"posterior.npz": posterior[: len(posterior) // 2]}, r"posterior\.npz: not a readable"),
    ):
        for name, content in damage.items():
            (folder / name).write_bytes(content)
        with pytest.raises(PushwiseError, match=words):
            load_run(folder)


def test_what_was_learned_reads_back_with_the_pushes_it_is_from(
    undisturbed: tuple[Path, Outcome], tmp_path: Path
) -> None:
    """Keep which pushes on the way were learned from, and which were left out."""
    was = undisturbed[1]
    made = [pw.PushRecord(r.push, r.t, r.pose, noise=r.noise) for r in 3 * was.records[:2]]
    explored, way = tuple(made[:3]), tuple(made[3:])
    assert was.grid is not None and was.followed is not None
    found = pw.identify(was.grid, [*explored, way[1]], prior=was.prior)
    refined = replace(found.posterior.refined, left_out=frozenset({2}))
    belief = replace(found.belief, posterior=replace(found.posterior, refined=refined))
    before = replace(was, records=explored)
    write_phase(tmp_path, Phase.FOLLOW, replace(was.followed, records=way, belief=belief), before)
    read = read_phase(tmp_path, Phase.FOLLOW, before).value.belief
    assert len(read.posterior.problem.records) == 4
    assert np.array_equal(read.posterior.problem.records[3].pose, way[1].pose)
    assert read.posterior.problem.left_out == {2}
    assert np.array_equal(read.model.mass, belief.model.mass)
    assert read.centre_covariance is not None and belief.centre_covariance is not None
    assert np.array_equal(read.centre_covariance, belief.centre_covariance)


@pytest.mark.parametrize("falls", [(), (False,), (False, True)])
def test_a_fall_reads_back_with_the_push_that_caused_it(
    falls: tuple[bool, ...], tmp_path: Path
) -> None:
    """Read a fall without a push, after one that was too short to be recorded, and in one."""
    model = pw.objects.load("crimp").model
    push = pw.Push.line((0, 0), (0, 1), 1)
    made = tuple(pw.PushRecord(push, [0, 1], np.zeros((2, 3)), fell=fell) for fell in falls)
    belief, at = pw.Belief.certain(model), np.zeros(3)
    followed = pw.Followed(End.FELL, "", at, at, 0.1, made, belief, 0)
    done = Outcome(SlideOptions(explore=0), TABLE, pw.Finger(), pw.Prior(), grid=model.grid)
    write_phase(tmp_path, Phase.FOLLOW, followed, done)
    read = read_phase(tmp_path, Phase.FOLLOW, done).value
    assert read.end is End.FELL
    assert tuple(record.fell for record in read.records) == falls


def test_without_a_goal_it_says_why() -> None:
    """Report an object whose every part is too wide for the hand."""
    done = pw.slide(crimp(), TABLE, options=SlideOptions(explore=0, grasp_width=0.005))
    assert not done.success
    assert "wide, the grasp 5 mm" in done.verdict
    assert done.followed is None
    assert done.found is None
    assert done.belief is not None and done.belief.assumed


def test_the_grid_is_in_the_frame_of_the_poses() -> None:
    """See the same outline as the truth, up to what a camera sees."""
    done = pw.slide(crimp(), TABLE, options=SlideOptions(explore=0, grasp_width=0.005))
    truth = pw.objects.load("crimp").grid
    assert done.grid is not None
    assert np.allclose(done.grid.outline.min(axis=0), truth.outline.min(axis=0), atol=0.005)
    assert np.allclose(done.grid.outline.max(axis=0), truth.outline.max(axis=0), atol=0.005)


@pytest.mark.parametrize("learns", [True, False])
def test_another_goal_is_chosen_when_there_is_no_way_to_the_first(
    learns: bool, planned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Go to a goal that is safe for what is known and within reach after the first pushes."""
    first = load_run(planned).goal
    learned: list[pw.Belief] = []

    def surprised(
        world: SimulatedWorld, belief: pw.Belief, *rest: Any, **named: Any
    ) -> pw.Followed:
        if learned:
            assert belief is learned[0]
            return follow(world, belief, *rest, **named)
        learned.append(replace(belief) if learns else belief)
        once = replace(named["options"], max_pushes=1)
        done = follow(world, belief, *rest, **(named | {"options": once}))
        return replace(done, end=End.OUT_OF_REACH, belief=learned[0])

    monkeypatch.setattr(pregrasp, "bring", surprised)
    goals = []

    def choose(belief: pw.Belief, table: pw.Table, options: SlideOptions, pose: Array) -> pw.Goal:
        goals.append((belief, safest(belief, table, options, pose)))
        return goals[-1][1]

    journal = RunFolder(planned, ABOUT)
    done = pw.slide(crimp(), TABLE, options=SWIFT, choose=choose, journal=journal)
    ((belief, chosen),) = goals
    assert belief is learned[0]
    assert done.followed is not None
    assert done.followed.reached
    (given_up,) = done.followed.abandoned
    assert first is not None and np.array_equal(given_up.pose, first.pose)
    again = [each.pose for each in (chosen, *chosen.alternatives)]
    assert any(np.array_equal(done.followed.goal, pose) for pose in again)
    assert done.grid is not None
    assert mean_cell_error(done.grid, done.followed.goal, given_up.pose) > 0.005
    assert len(done.followed.records) >= 1


def test_goals_are_not_chosen_for_ever(planned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up when there is no way to any goal, time after time, and count all pushes."""
    made: list[int] = []

    def stuck(*args: Any, **named: Any) -> pw.Followed:
        options = replace(named["options"], max_pushes=1)
        done = follow(*args, **(named | {"options": options}))
        made.append(len(done.records))
        return replace(done, end=End.OUT_OF_REACH, detail="walls all round")

    monkeypatch.setattr(pregrasp, "bring", stuck)
    done = pw.slide(crimp(), TABLE, options=SWIFT, journal=RunFolder(planned, ABOUT))
    assert not done.success
    assert done.followed is not None
    assert len(made) == 3 and made[:2] == [1, 1]  # the third may begin at its goal
    assert len(done.followed.records) == sum(made)
    assert done.verdict.startswith(f"Goal not reached after {sum(made)} pushes: no safe pushes")


def test_a_controller_may_use_up_the_pushes(monkeypatch: pytest.MonkeyPatch) -> None:
    """End where a controller made more pushes than are allowed and got no farther."""
    belief = pw.Belief.certain(pw.objects.load("crimp").model)
    goal = pw.Goal(np.zeros(3), 0.0, 0.01, 0.05, 0.02, 0)
    made = pw.PushRecord(pw.Push.line((0, 0), (0, 1), 1), [0, 1], np.zeros((2, 3)))
    end = pw.Followed(
        End.OUT_OF_REACH, "walls all round", goal.pose, goal.pose, 0.1, (made, made), belief, 0
    )
    monkeypatch.setattr(pregrasp, "bring", lambda *_, **__: end)
    options = SlideOptions(plan=pw.PlanOptions(max_pushes=1))
    done = Outcome(options, TABLE, pw.Finger(), pw.Prior())
    followed = pregrasp._followed(
        crimp(), done, belief, Target(goal, None), safest, pregrasp.Journal()
    )
    assert followed.end is End.OUT_OF_REACH and len(followed.records) == 2


def test_a_controller_finds_the_way_where_no_plan_was_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Reach the goal without a plan, and read such a run back."""

    def nothing(*_: Any, **__: Any) -> None:
        raise PushwiseError("no plan")

    monkeypatch.setattr(target, "plan", nothing)
    run = RunFolder(tmp_path / "run", ABOUT)
    done = pw.slide(crimp(), TABLE, options=SlideOptions(explore=2), journal=run)
    assert done.success
    assert done.plan is None
    assert load_run(tmp_path / "run").plan is None


def test_a_belief_learned_from_copies_and_slides_reads_back(tmp_path: Path) -> None:
    """Recognise a push by what was seen of it: as a copy without forces, and by its free slide."""
    grid, finger, rng = crimp().truth.grid, pw.Finger(), np.random.default_rng(0)
    table = pw.Table.rectangle(3.0, 3.0)
    world = pw.worlds.Ideal(crimp().truth, table, sensing=replace(CAMERA, rate=60.0, forces=True))
    made = [
        world.push(pw.draw_push(rng, grid, world.observe().pose, table, finger)) for _ in range(4)
    ]
    pose = world.observe().pose
    (flick,) = pw.draw_flicks(rng, [world.truth], pose, table, finger)
    made.append(world.push(flick))
    explored, followed = tuple(made[:3]), tuple(made[3:])
    found = pw.identify(grid, made)
    copies = tuple(record.without_force() for record in followed)
    result = pw.Followed(End.REACHED, "", pose, pose, 0.0, copies, found.belief, simulations=0)
    done = Outcome(SlideOptions(), table, finger, pw.Prior(), grid=grid, records=explored)
    write_phase(tmp_path, Phase.FOLLOW, result, done)
    read = read_phase(tmp_path, Phase.FOLLOW, done).value.belief.posterior
    assert len(read.problem.records) == len(made)
    wanted = found.posterior.centre_of_mass_covariance
    assert np.allclose(read.centre_of_mass_covariance, wanted, rtol=1e-6)


@pytest.mark.parametrize("explore", [2, "auto"])
def test_an_object_that_never_moves_ends_in_a_verdict(explore: Any) -> None:
    """Say that nothing can be learned from the pushes, whoever chose them."""

    class Stuck:
        def __init__(self) -> None:
            self._world = crimp()

        def observe(self) -> pw.worlds.Observation:
            return self._world.observe()

        def push(self, push: pw.Push) -> pw.PushRecord:
            pose = self._world.observe().pose
            return pw.PushRecord(push, [0.0, push.duration], [pose, pose])

        def reset(self, seed: int) -> None:
            self._world.reset(seed)

    options = replace(SWIFT, explore=explore)
    outcome = pw.slide(Stuck(), TABLE, options=options)
    assert not outcome.success and "moved" in outcome.verdict
    assert outcome.verdict.startswith("Not identified: " if explore == 2 else "Not explored: ")
    found = advice(outcome)
    assert found is not None and found.tries
