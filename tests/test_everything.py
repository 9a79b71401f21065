"""`pushwise experiment all`: what it runs, what it survives, and how long it says that takes."""

import json
from functools import partial
from pathlib import Path

import pytest

from command import pushwise
from pushwise.cli.experiment import experiment
from pushwise.errors import PushwiseError
from pushwise.experiments import everything
from pushwise.experiments.sweep import SweepOptions, conduct
from sweep_tasks import SETTINGS, failing, steady


def brief(options: SweepOptions, count: int = 4) -> str:
    """Run an experiment of a few settings."""
    return conduct(steady, SETTINGS[:count], lambda rows, folder: f"{len(rows)} rows", options)


def test_all_are_run_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each a folder, a line in the table of times, and its rows again when asked."""
    shorter = {"stability": brief, "pusht": partial(brief, count=6)}
    monkeypatch.setattr(everything, "EXPERIMENTS", shorter)
    ran = pushwise("experiment", "all", "-o", tmp_path)
    assert ran.code == 0, ran.err
    assert "stability, 1 of 2" in ran.err and "pusht, 2 of 2" in ran.err
    assert ran.out == (tmp_path / "times.md").read_text()
    assert "| stability | 4 |" in ran.out and "| pusht | 6 |" in ran.out
    rows = json.loads(pushwise("experiment", "all", "-o", tmp_path, "--json").out)
    assert {name: len(some) for name, some in rows.items()} == {"stability": 8, "pusht": 12}
    checked = pushwise("experiment", "all", "-o", tmp_path, "--check", 1)
    assert "stability: 4 of 4 settings run again" in checked.out


def test_one_that_fails_costs_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the rest, and name the one that failed."""

    def broken(options: SweepOptions) -> str:
        return conduct(failing, SETTINGS, lambda rows, folder: "", options)

    monkeypatch.setattr(everything, "EXPERIMENTS", {"reach": broken, "stability": brief})
    with pytest.raises(PushwiseError, match="reach: 1 of 30 settings failed twice"):
        everything.run(SweepOptions(tmp_path), lambda news: None)
    assert (tmp_path / "stability" / "rows.csv").exists()
    assert "| reach | 29 |" in (tmp_path / "times.md").read_text()


def test_every_sweep_is_part_of_it() -> None:
    """Leave out only what needs data, measures time, or takes a time that is given."""
    commands = {command.name or "" for command in experiment.registered_commands}
    commands |= {c.callback.__name__ for c in experiment.registered_commands if c.callback}
    others = {"referee", "real", "scenes", "soak", "all", "all_experiments", ""}
    assert commands - others == set(everything.EXPERIMENTS)


def test_tasks_go_to_the_next_free_worker() -> None:
    """Follow two workers by hand: 3 | 1 + 1 + 2, then 5 to the first that is free."""
    assert everything.makespan([3.0, 1.0, 1.0, 2.0, 5.0], 2) == 8.0
    assert everything.makespan([3.0, 1.0], 8) == 3.0
    assert everything.makespan([], 2) == 0.0
