"""Make the example reports in docs/reports: a success, a change of goal and a failure.

python docs/example_reports.py [success] [change-of-goal] [failure]

Planning has a time limit, so that another machine may choose other pushes: runs that change their
goal or fail are searched for, among those of a robot that cannot be steered while it pushes and has
little time to plan.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pushwise as pw
from pushwise.planning.options import PlanOptions
from pushwise.show.report import RunSource, write_report
from pushwise.sliding.options import SlideOptions
from pushwise.sliding.outcome import Outcome
from pushwise.sliding.run_folder import RunFolder, load_run
from pushwise.worlds.gripper import Grasp
from pushwise.worlds.random_scene import random_world
from pushwise.worlds.simulated import SimulatedWorld
from pushwise.worlds.world import Observation

FOLDER = Path(__file__).resolve().parent / "reports"
SEEDS = 20


class WholePushes:
    """A robot that makes one push after the other and cannot be steered while it pushes."""

    def __init__(self, world: SimulatedWorld) -> None:
        """Use a simulated world as the robot."""
        self._world = world

    def observe(self) -> Observation:
        """Look at the object."""
        return self._world.observe()

    def push(self, push: pw.Push) -> pw.PushRecord:
        """Carry out a push."""
        return self._world.push(push)

    def reset(self, seed: int) -> None:
        """Put the object back."""
        self._world.reset(seed)

    def grasp(self) -> Grasp:
        """Grasp the object."""
        return self._world.grasp()


def write(outcome: Outcome, name: str, source: RunSource) -> None:
    """Write an example, and say how large it is."""
    path = FOLDER / f"{name}.html"
    write_report(outcome, path, source)
    print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB, {outcome.verdict}")


def success(home: Path) -> None:
    """Slide a hammer, as the command does."""
    world = random_world("hammer", pw.Table())
    pw.slide(world, pw.Table(), journal=RunFolder(home, {"object": "hammer"}))
    write(load_run(home), "success", RunSource("hammer", world.truth, "pushwise slide hammer"))


def whole_pushes(
    home: Path, what: str, overhang: float, accepted: Callable[[Outcome], bool]
) -> tuple[Outcome, pw.ObjectModel]:
    """Slide an object with whole pushes and little time to plan, until a run is accepted."""
    table = pw.Table.rectangle(0.6, 0.45)
    for seed in range(SEEDS):
        world = random_world(what, table, seed=seed)
        options = SlideOptions(overhang=overhang, plan=PlanOptions(seed=seed, time_limit=0.5))
        journal = RunFolder(home / f"{seed}", {"object": what})
        pw.slide(WholePushes(world), table, options=options, journal=journal)
        outcome = load_run(home / f"{seed}")
        if accepted(outcome):
            return outcome, world.truth
    raise SystemExit(f"none of {SEEDS} runs was accepted")


def change_of_goal(home: Path) -> None:
    """Slide a U, until a goal is given up and another one reached."""
    outcome, truth = whole_pushes(home, "U", 0.05, lambda run: run.success and run.other_goal)
    write(outcome, "change-of-goal", RunSource("U-shaped part", truth))


def failure(home: Path) -> None:
    """Slide crimping pliers, until they end somewhere else."""

    def missed(run: Outcome) -> bool:
        return run.followed is not None and not run.followed.reached

    outcome, truth = whole_pushes(home, "crimp", 0.07, missed)
    write(outcome, "failure", RunSource("crimping pliers", truth))


EXAMPLES: dict[str, Callable[[Path], None]] = {
    "success": success,
    "change-of-goal": change_of_goal,
    "failure": failure,
}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for wanted in sys.argv[1:] or EXAMPLES:
        with tempfile.TemporaryDirectory() as temporary:
            EXAMPLES[wanted](Path(temporary))
