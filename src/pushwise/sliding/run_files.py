"""How the result of each phase is written to a run's folder, and read back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pushwise.documents import read_arrays, read_document, write_arrays, write_document
from pushwise.errors import PushwiseError, reason
from pushwise.identification.free_slide import free_slide
from pushwise.identification.noise import Errors
from pushwise.identification.objective import Refined
from pushwise.identification.posterior import Posterior
from pushwise.identification.prior import Prior
from pushwise.identification.problem import Problem
from pushwise.identification.result import Identification, Step
from pushwise.model_files import load_belief, load_grid, save
from pushwise.physics.push import Finger
from pushwise.planning.goals import Goal
from pushwise.planning.plan import Plan
from pushwise.records.log import PushLog
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.sliding.follow import AbandonedGoal, Followed
from pushwise.sliding.moved import End
from pushwise.sliding.outcome import Learned, Outcome, Phase, Target
from pushwise.worlds.gripper import Grasp
from pushwise.worlds.world import Observation

__all__ = ["Read", "read_phase", "write_phase"]


class Read(NamedTuple):
    """The result of a phase."""

    value: Any
    """As the phase returns it."""
    fields: Mapping[str, Any]
    """As fields of an `Outcome`."""


def _write_look(folder: Path, found: tuple[Observation, CellGrid], done: Outcome) -> None:
    seen, grid = found
    save(grid, folder / "grid.json")
    cloud = {"points": seen.points.astype(np.float32), "pose": seen.pose}
    write_arrays(folder / "cloud.npz", "cloud", cloud)


def _read_look(folder: Path, done: Outcome) -> Read:
    grid = load_grid(folder / "grid.json")
    cloud = read_arrays(folder / "cloud.npz", "cloud")
    seen = Observation(cloud["points"], cloud["pose"])
    return Read((seen, grid), {"seen": seen, "grid": grid})


def _write_explore(folder: Path, found: tuple[PushRecord, ...], done: Outcome) -> None:
    """Do nothing: the log was written push by push."""


def _read_explore(folder: Path, done: Outcome) -> Read:
    records = PushLog.load(folder / "log.csv").records if done.options.explore else ()
    return Read(records, {"records": records})


def _write_identify(folder: Path, found: Learned, done: Outcome) -> None:
    save(found.belief, folder / "model.json")
    if found.found is not None:
        steps = [[step.simulations, step.seconds, step.error] for step in found.found.history]
        how = {"history": steps, "method": found.found.method}
        _write_posterior(folder / "posterior.npz", found.found.posterior, done, (), how)


def _read_identify(folder: Path, done: Outcome) -> Read:
    if not done.records:
        learned = Learned(None, load_belief(folder / "model.json"))
        return Read(learned, learned._asdict())
    path = folder / "posterior.npz"
    posterior = _read_posterior(path, done, ())
    problem, u = posterior.problem, posterior.refined.u
    saved = read_arrays(path, "posterior")
    found = Identification(
        problem.model(u),
        problem.finger_at(u),
        posterior,
        tuple(Step(round(n), *rest) for n, *rest in saved["history"].tolist()),
        str(saved["method"]),
    )
    learned = Learned(found, found.belief)
    return Read(learned, learned._asdict())


def _write_posterior(
    path: Path,
    posterior: Posterior,
    done: Outcome,
    more: tuple[PushRecord, ...],
    how: Mapping[str, Any],
) -> None:
    """Write a posterior from the exploring pushes and some of `more`."""
    problem, refined = posterior.problem, posterior.refined
    since = problem.records[len(done.records) :]
    indices = {
        "left_out": sorted(refined.left_out),
        "flawed": list(problem.flaws),
        "used": [i for i, record in enumerate(more) if _is_among(since, record, problem)],
    }
    arrays = {
        "u": refined.u,
        "sigma": refined.errors.sigma,
        "drift": refined.errors.drift,
        "weight": refined.weight,
        "information": refined.information,
        "evidence": refined.evidence,
        # Not always those of the run: the identification may have doubted the set-up, or found that
        # the load rests on spots.
        "prior": json.dumps(asdict(problem.prior)),
        "finger": json.dumps(asdict(problem.finger)),
        "flaws": np.array(list(problem.flaws.values()), dtype=np.str_),
        **{name: np.array(each, dtype=np.int64) for name, each in indices.items()},
        **how,
    }
    write_arrays(path, "posterior", arrays)


def _is_among(some: Sequence[PushRecord], record: PushRecord, problem: Problem) -> bool:
    """Return whether a push is among some of a problem, as a copy or as the free slide in it."""
    seen = free_slide(problem.grid, record, problem.finger.radius) or record
    return any(
        np.array_equal(seen.t, one.t) and np.array_equal(seen.pose, one.pose) for one in some
    )


def _read_posterior(path: Path, done: Outcome, more: tuple[PushRecord, ...]) -> Posterior:
    """Read a posterior from the exploring pushes and some of `more`."""
    assert done.grid is not None
    saved = read_arrays(path, "posterior")
    prior = Prior(**json.loads(str(saved["prior"])))
    finger = Finger(**json.loads(str(saved["finger"])))
    records = [
        # What the identification made of each: of a flick, it keeps the free slide alone.
        free_slide(done.grid, record, finger.radius) or record
        for record in (*done.records, *(more[i] for i in saved["used"].tolist()))
    ]
    left_out = frozenset(saved["left_out"].tolist())
    flaws = dict(zip(saved["flawed"].tolist(), saved["flaws"].tolist(), strict=True))
    problem = Problem(done.grid, records, finger, prior, left_out=left_out, flaws=flaws)
    errors = Errors(saved["sigma"], saved["drift"])
    refined = Refined(
        saved["u"],
        problem.fit(saved["u"], errors.sigma),
        errors,
        saved["weight"],
        saved["information"],
        float(saved["evidence"]),
        left_out,
    )
    return Posterior(problem, refined)


def _write_plan(folder: Path, found: Target, done: Outcome) -> None:
    goals = [found.goal, *found.goal.alternatives]
    each = [{**asdict(goal), "pose": goal.pose.tolist(), "alternatives": None} for goal in goals]
    for goal in each:
        del goal["alternatives"]
    write_document(folder / "goal.json", "goal", {"goals": each})
    if found.plan is not None:
        found.plan.save(folder / "plan.json")


def _read_plan(folder: Path, done: Outcome) -> Read:
    first, *others = (
        Goal(**{**goal, "pose": np.array(goal["pose"])})
        for goal in read_document(folder / "goal.json", "goal")["goals"]
    )
    best = Goal(**{**vars(first), "alternatives": tuple(others)})
    path = folder / "plan.json"
    plan = Plan.load(path) if path.exists() else None
    return Read(Target(best, plan), {"goal": best, "plan": plan})


def _write_follow(folder: Path, found: Followed, done: Outcome) -> None:
    how = {
        "end": found.end.name,
        "detail": found.detail,
        "goal": found.goal.tolist(),
        "pose": found.pose.tolist(),
        "error": found.error,
        "simulations": found.simulations,
        "fell": [record.fell for record in found.records],
        "abandoned": [{**vars(each), "pose": each.pose.tolist()} for each in found.abandoned],
    }
    for name in ("followed.csv", "followed.json"):  # of a run interrupted while writing them
        (folder / name).unlink(missing_ok=True)
    # The log holds what the object did on the table, even if it fell in the end.
    kept = [_marked(record, fell=False) for record in found.records]
    noise = kept[0].noise if kept else None
    log = PushLog(tuple(kept), done.grid, done.finger.radius, noise, provenance=how)
    log.save(folder / "followed.csv")
    save(found.belief, folder / "followed_model.json")
    if found.belief.posterior is not None:
        path = folder / "followed_posterior.npz"
        _write_posterior(path, found.belief.posterior, done, found.records, {})


def _read_follow(folder: Path, done: Outcome) -> Read:
    log = PushLog.load(folder / "followed.csv")
    how = log.provenance
    records = tuple(
        _marked(record, fell=fell) for record, fell in zip(log.records, how["fell"], strict=True)
    )
    belief = load_belief(folder / "followed_model.json")
    if done.records:
        posterior = _read_posterior(folder / "followed_posterior.npz", done, records)
        belief = replace(belief, posterior=posterior)
    followed = Followed(
        End[how["end"]],
        how["detail"],
        np.array(how["goal"]),
        np.array(how["pose"]),
        how["error"],
        records,
        belief,
        how["simulations"],
        tuple(
            AbandonedGoal(np.array(each["pose"]), each["pushes"], each["reason"])
            for each in how["abandoned"]
        ),
    )
    return Read(followed, {"followed": followed})


def _marked(record: PushRecord, *, fell: bool) -> PushRecord:
    """Return a record that says whether the object fell."""
    marked = PushRecord(
        record.push,
        record.t,
        record.pose,
        record.force,
        twist=record.twist,
        noise=record.noise,
        fell=fell,
        source=record.source,
    )
    return marked.with_lift(record.lift)


def _write_grasp(folder: Path, found: Grasp, done: Outcome) -> None:
    write_document(folder / "grasp.json", "grasp", asdict(found))


def _read_grasp(folder: Path, done: Outcome) -> Read:
    read = read_document(folder / "grasp.json", "grasp")
    grasp = Grasp(read["held"], read["raised"])
    return Read(grasp, {"grasp": grasp})


_WRITERS: Mapping[Phase, Callable[[Path, Any, Outcome], None]] = {
    Phase.LOOK: _write_look,
    Phase.EXPLORE: _write_explore,
    Phase.IDENTIFY: _write_identify,
    Phase.PLAN: _write_plan,
    Phase.FOLLOW: _write_follow,
    Phase.GRASP: _write_grasp,
}

_READERS: Mapping[Phase, Callable[[Path, Outcome], Read]] = {
    Phase.LOOK: _read_look,
    Phase.EXPLORE: _read_explore,
    Phase.IDENTIFY: _read_identify,
    Phase.PLAN: _read_plan,
    Phase.FOLLOW: _read_follow,
    Phase.GRASP: _read_grasp,
}


def write_phase(folder: Path, phase: Phase, found: Any, done: Outcome) -> None:
    """Write the result of a phase to a folder, given the outcome of the previous ones."""
    _WRITERS[phase](folder, found, done)


def read_phase(folder: Path, phase: Phase, done: Outcome) -> Read:
    """Read the result of a phase, given the outcome of the previous ones."""
    try:
        return _READERS[phase](folder, done)
    except PushwiseError:
        raise
    except (IndexError, KeyError, OSError, TypeError, ValueError) as error:
        raise PushwiseError(
            f"{folder}: what the phase {phase} left is damaged, or of another version "
            f"({reason(error)}); slide again with --force."
        ) from None
