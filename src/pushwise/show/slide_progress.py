"""A run of `slide` on the terminal: its phases while it runs, and what came of it."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.status import Status

from pushwise.checks import counted
from pushwise.progress import Progress
from pushwise.show.status_line import Line
from pushwise.sliding.outcome import Outcome, Phase

__all__ = ["Sliding", "summary"]

_DOING = {
    Phase.LOOK: "looking",
    Phase.EXPLORE: "pushing it a few times",
    Phase.IDENTIFY: "learning what weighs where",
    Phase.PLAN: "choosing a goal and a way",
    Phase.FOLLOW: "pushing it to the edge",
    Phase.GRASP: "grasping",
}


class Sliding(Line):
    """What is being done, on stderr; `update` is the `progress` of `slide`."""

    def __init__(self) -> None:
        """Prepare a line."""
        self._console = Console(stderr=True)
        self._status = Status("", console=self._console)
        super().__init__(self._status)
        self._phase: Phase | None = None
        self._began = perf_counter()

    def update(self, news: Progress) -> None:
        """Show the progress of a phase; one that is over stays as a line."""
        phase, words = Phase(news.stage), news.text
        if phase is not self._phase:
            self._finish()
            self._phase, self._began = phase, perf_counter()
        self._status.update(f"{_DOING[phase]}{': ' if words else ''}{words}")

    def say(self, words: str) -> None:
        """Say something after the last phase."""
        self._finish()
        self._phase = None
        self._status.update(words)

    def _finish(self) -> None:
        """Leave a line of the phase that is over."""
        if self._phase is not None:
            seconds = perf_counter() - self._began
            self._console.print(f"{_DOING[self._phase]}: {seconds:.1f} s", highlight=False)


def summary(outcome: Outcome, folder: Path) -> str:
    """Return what came of it, a line a phase."""
    told = {phase: _words(outcome, phase) for phase in Phase}
    lines = [
        f"{phase:<9}{outcome.seconds[phase]:6.1f} s  {words}"
        for phase, words in told.items()
        if words and phase in outcome.seconds
    ]
    return "\n".join([*lines, outcome.verdict, f"Everything is in {folder}."])


def _words(outcome: Outcome, phase: Phase) -> str:
    """Return what a phase found; nothing when it did not come to it."""
    grid, found, goal, plan = outcome.grid, outcome.found, outcome.goal, outcome.plan
    followed, grasp = outcome.followed, outcome.grasp
    if phase is Phase.LOOK and grid is not None:
        length, width = 1e3 * np.ptp(grid.outline, axis=0)
        return f"{length:.0f} x {width:.0f} mm, {grid.n_cells} cells"
    if phase is Phase.EXPLORE:
        return counted(len(outcome.records), "push", "pushes")
    if phase is Phase.IDENTIFY and found is not None:
        std = 1e3 * float(np.sqrt(np.trace(found.posterior.centre_of_mass_covariance)))
        return f"the centre of mass to {std:.1f} mm"
    if phase is Phase.IDENTIFY and outcome.belief is not None:
        return "nothing learned: the same stuff everywhere"
    if phase is Phase.PLAN and goal is not None and plan is not None:
        fall = outcome.fall_probability
        falls = "chance of a fall not known" if fall is None else f"falls with p = {fall:.2g}"
        return (
            f"{1e3 * goal.overhang:.0f} mm over the edge, {falls}, "
            f"{counted(len(plan.pushes), 'push', 'pushes')} away"
        )
    if phase is Phase.FOLLOW and followed is not None:
        pushes = counted(len(followed.records), "push", "pushes")
        where = "another goal, chosen on the way" if outcome.other_goal else "the goal"
        return f"{pushes}, {1e3 * followed.error:.0f} mm from {where}"
    if phase is Phase.GRASP and grasp is not None:
        return f"lifted by {1e3 * grasp.raised:.0f} mm" if grasp.held else "slipped out"
    return ""
