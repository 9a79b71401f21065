"""`RunFolder`: a run of `slide` in files, phase by phase, that can be interrupted at any moment.

    run.json       options, durations of finished phases, number and duration of the exploring
                   pushes, the state of a simulated world
    grid.json      look: the cells; cloud.npz: the point cloud they were made from, and the pose
    log.csv        explore: the pushes, each as soon as it is made; log.json: their header
    model.json     identify: the model; posterior.npz: its posterior
    goal.json      plan: the goal and the next best ones; plan.json: the plan
    followed.csv   follow: the pushes to the goal; followed.json: their header, and how it ended;
                   followed_model.json, followed_posterior.npz: the belief in the end
    grasp.json     grasp
    outcome.json   the outcome; truth.json: the true model, where a simulated world knows it
    report.html    the run as a page; maps.png, plan.png: its pictures
    object.*       the model for other simulators: MJCF (xml), URDF, SDF

`run.json` is replaced atomically once the other files are complete: a phase that it does not list
was never finished and is repeated. A run always continues with what it reads back from its files,
so that an interrupted run ends exactly as an uninterrupted one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from pushwise import __version__
from pushwise.atomic_write import is_unfinished, make_folder
from pushwise.documents import read_document, write_document
from pushwise.errors import PushwiseError, reason
from pushwise.identification.belief import centre_error
from pushwise.identification.prior import Prior
from pushwise.locking import exclusive, is_lock
from pushwise.physics.model import Table
from pushwise.physics.push import Finger
from pushwise.planning.options import PlanOptions
from pushwise.records.log import PushLog
from pushwise.records.log_writer import LogWriter
from pushwise.records.record import PushRecord
from pushwise.sliding.options import SlideOptions
from pushwise.sliding.outcome import Outcome, Phase
from pushwise.sliding.run_files import read_phase, write_phase
from pushwise.sliding.slide import Journal
from pushwise.worlds.world import World

__all__ = ["RunFolder", "facts", "files_of", "load_run"]

T = TypeVar("T")

_FILES = (  # except run.json
    "grid.json",
    "cloud.npz",
    "log.csv",
    "log.json",
    "model.json",
    "posterior.npz",
    "goal.json",
    "plan.json",
    "followed.csv",
    "followed.json",
    "followed_model.json",
    "followed_posterior.npz",
    "grasp.json",
    "outcome.json",
    "truth.json",
    "report.html",
    "maps.png",
    "plan.png",
    "object.xml",
    "object.urdf",
    "object.sdf",
)


@runtime_checkable
class Restorable(Protocol):
    """A world whose state can be restored; a real world keeps its own."""

    def state(self) -> dict[str, Any]:
        """Return everything that determines what happens next."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state."""


class RunFolder(Journal):
    """A journal of `slide` kept in a folder, so that an interrupted run can be resumed."""

    def __init__(
        self,
        path: Path | str,
        about: Mapping[str, Any],
        *,
        force: bool = False,
    ) -> None:
        """Choose a folder: a new one, or that of an interrupted run.

        Args:
            path: The folder.
            about: Names of object and world, and anything else that identifies this run and that
                JSON can hold.
            force: Overwrite a run with other options, or a finished one.

        """
        try:
            json.dumps(dict(about))
        except (TypeError, ValueError) as error:
            raise PushwiseError(f"about must be what JSON can hold ({reason(error)}).") from None
        super().__init__()
        self.path = Path(path)
        self._about = dict(about)
        self._force = force
        self._world: World | None = None
        self._done: Outcome | None = None
        self._run: dict[str, Any] = {}
        self._held = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes out of the folder during the block; blocks may be nested."""
        if self._held:
            yield
            return
        if not self.path.exists():
            make_folder(self.path)
        elif not self.path.is_dir():
            raise PushwiseError(f"{self.path} is a file; give the name of a folder.")
        with exclusive(self.path):
            self._held = True
            try:
                yield
            finally:
                self._held = False

    def begin(self, world: World, start: Outcome) -> None:
        """Resume an interrupted run, or begin a new one."""
        self._world, self._done = world, start
        self.records.clear()  # those of an earlier session are in the folder
        self.seconds.clear()
        described = _described(self._about, start)
        before = _taken(self.path, described, force=self._force)
        for file in filter(is_unfinished, self.path.iterdir()):
            file.unlink()
        if before is None:
            self._run = {**described, "phases": {}, "pushes": 0, "pushing": 0.0, "world": None}
            self._begin_anew()
            return
        self._run = before
        with _complete(self.path / "run.json"):
            self.seconds.update(before["phases"])
            pushes, pushing, state = before["pushes"], before["pushing"], before["world"]
        if isinstance(world, Restorable) and state is not None:
            world.restore(state)
        if pushes:
            self.seconds.setdefault(Phase.EXPLORE, pushing)
            self._cut_log()
            self.records.extend(PushLog.load(self.path / "log.csv"))

    def carry_out(self, phase: Phase, do: Callable[[], T]) -> T:
        """Carry out a phase and keep its result, or read the result of an earlier session."""
        assert self._done is not None
        if phase not in self._run["phases"]:
            found = super().carry_out(phase, do)
            write_phase(self.path, phase, found, self._done)
            self._run["phases"] = dict(self.seconds)
            self._commit()
        read = read_phase(self.path, phase, self._done)
        self._done = replace(self._done, **read.fields)
        return cast("T", read.value)

    def keep(self, record: PushRecord) -> None:
        """Append an exploring push to the log."""
        assert self._done is not None
        log = self.path / "log.csv"
        if len(self.records) == 1:
            for name in ("log.csv", "log.json"):  # of a run interrupted before its first push
                (self.path / name).unlink(missing_ok=True)
            PushLog((), self._done.grid, self._done.finger.radius, record.noise).save(log)
        with LogWriter(log) as writer:
            writer.append(record)
        self._run["pushes"] = len(self.records)
        self._run["pushing"] = self.elapsed()
        self._commit()

    def end(self, outcome: Outcome) -> None:
        """Write the outcome."""
        write_document(self.path / "outcome.json", "outcome", facts(outcome))

    def _cut_log(self) -> None:
        """Remove a push from the log that `run.json` does not count."""
        path = self.path / "log.csv"
        with LogWriter(path) as writer:
            more = writer.pushes > self._run["pushes"]
        if more:
            LogWriter(path, drop_last=True).close()

    def _commit(self) -> None:
        """Write what is finished, and the state of the world."""
        if isinstance(self._world, Restorable):
            self._run["world"] = self._world.state()
        write_document(self.path / "run.json", "run", self._run)

    def _begin_anew(self) -> None:
        """Remove the files of an earlier run; nothing else is touched.

        `run.json` is written first, so that an interrupted removal leaves the folder of a new run.
        """
        self._commit()
        for name in _FILES:
            (self.path / name).unlink(missing_ok=True)


def load_run(path: Path | str) -> Outcome:
    """Read a run, finished or not, as `slide` returns it."""
    path = Path(path)
    if not (path / "run.json").exists():
        raise PushwiseError(f"{path} holds no run; give a folder that pushwise slide wrote.")
    run = read_document(path / "run.json", "run")
    with _complete(path / "run.json"):
        outcome = Outcome(
            _options(run["settings"]),
            Table(run["table"]),
            Finger(**run["finger"]),
            Prior(**run["prior"]),
            verdict="Not finished.",
            seconds=dict(run["phases"]),
        )
    for phase in Phase:
        if phase not in outcome.seconds:
            break
        outcome = replace(outcome, **read_phase(path, phase, outcome).fields)
    if (path / "outcome.json").exists():
        said = read_document(path / "outcome.json", "outcome")
        with _complete(path / "outcome.json"):
            outcome = replace(outcome, verdict=said["verdict"], success=said["success"])
    return outcome


def files_of(path: Path) -> tuple[str, ...]:
    """Return the names of the files that a run left in its folder, except its report."""
    names = ("run.json", *(name for name in _FILES if name != "report.html"))
    return tuple(name for name in names if (path / name).exists())


@contextmanager
def _complete(file: Path) -> Iterator[None]:
    """Name the file whose fields are missing, unknown or of the wrong type."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise PushwiseError(
            f"{file} is damaged, or of another version ({reason(error)}); slide again with --force."
        ) from None


def facts(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome in brief, as JSON-compatible values in SI units.

    The goal is the last one. Its fall probability is null where it is unknown: where nothing was
    learned, and for a goal that was chosen later.
    """
    first, followed, grasp = outcome.goal, outcome.followed, outcome.grasp
    goal = followed.goal if followed else first.pose if first else None
    belief, learned = outcome.belief, outcome.found and outcome.found.posterior
    return {
        "success": outcome.success,
        "verdict": outcome.verdict,
        "explored": len(outcome.records),
        "centre_of_mass": belief and belief.centre_of_mass.tolist(),
        "centre_of_mass_error": learned
        and centre_error(learned.centre_of_mass_covariance)._asdict(),
        "goal": None if goal is None else goal.tolist(),
        "fall_probability": None if outcome.other_goal else outcome.fall_probability,
        "planned_pushes": outcome.plan and len(outcome.plan.pushes),
        "pushes": followed and len(followed.records),
        "end": followed and str(followed.end),
        "detail": followed and followed.detail,
        "pose": followed and followed.pose.tolist(),
        "error": followed and followed.error,
        "raised": None if grasp is None else grasp.raised,
        "seconds": dict(outcome.seconds),
    }


def _described(about: Mapping[str, Any], start: Outcome) -> dict[str, Any]:
    """Return everything that determines a run, as JSON-compatible values."""
    settings = asdict(start.options)
    settings |= settings.pop("plan")
    described = {
        "about": dict(about),
        "pushwise": __version__,
        "settings": settings,
        "table": start.table.polygon.tolist(),
        "finger": asdict(start.finger),
        "prior": asdict(start.prior),
    }
    return cast("dict[str, Any]", json.loads(json.dumps(described)))


def _options(settings: Mapping[str, Any]) -> SlideOptions:
    """Return the options that `_described` wrote, those of planning among the others."""
    names = [each.name for each in fields(PlanOptions)]
    planning = PlanOptions(**{name: settings[name] for name in names if name in settings})
    others = {name: value for name, value in settings.items() if name not in names}
    return SlideOptions(**others, plan=planning)


def _taken(path: Path, described: Mapping[str, Any], *, force: bool) -> dict[str, Any] | None:
    """Return the run that a folder holds; None to begin a new one.

    The folder of another run is refused without `force`, and one without a run always.
    """
    note = path / "run.json"
    # A run interrupted while it first wrote run.json has done nothing else.
    if all(is_unfinished(file) or is_lock(file) for file in path.iterdir()):
        return None
    if not note.exists():
        raise PushwiseError(f"{path} exists and holds no run of ours; choose another folder.")
    run = read_document(note, "run")
    if force:
        return None
    for name, want in described.items():
        have = run.get(name)
        if have == want:
            continue
        if isinstance(have, dict) and isinstance(want, dict):
            # A key that only one of them has differs, even where its value is None.
            keys = {**have, **want}
            pairs = {key: (have.get(key, "nothing"), want.get(key, "nothing")) for key in keys}
            name, (have, want) = next(one for one in pairs.items() if one[1][0] != one[1][1])
        raise PushwiseError(
            f"{path} holds a run with {name} {have}, not {want}; "
            "choose another folder, or add --force to overwrite it."
        )
    return run
