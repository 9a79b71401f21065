"""Stop commands at random moments, run them again, and compare with what they give undisturbed.

    python tests/kill_anywhere.py --kills 500

Each command is first run to its end, then again in a new folder and stopped after a random part of
that time: killed, or every third time by Ctrl-C, which must end it within two seconds with one
sentence. A stopped command is run again until one ends by itself. Its files must then be the same,
but for clock times, and no others. Commands run in forks of this process, which has run them to
their end and so has loaded everything: kills hit the work, and not the start of Python. Experiments
start workers of their own.
"""

import argparse
import csv
import io
import json
import math
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pushwise as pw
from pushwise import cli

Content = dict[str, object]


class Command(NamedTuple):
    """A command to kill."""

    words: Callable[[Path], list[object]]
    """Its words, given the folder to write to."""
    content: Callable[[Path], Content]
    """What it wrote to the folder, without clock times."""
    workers: bool = False
    """Whether it starts processes, which this one could not be forked after."""


def texts(folder: Path) -> Content:
    """Return the content of all files, hidden ones too."""
    return {file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def run_content(folder: Path) -> Content:
    """Return what a run of `slide` found, and the names of its files."""
    found: Content = dict.fromkeys(texts(folder), "a file")
    kept = ("log.csv", "model.json", "goal.json", "followed.csv", "grasp.json", "object.xml")
    found |= {name: text for name, text in texts(folder).items() if name in kept}
    outcome = json.loads((folder / "run" / "outcome.json").read_text())
    return found | {"outcome.json": {**outcome, "seconds": list(outcome["seconds"])}}


def sweep_content(folder: Path) -> Content:
    """Return the rows of a sweep without the columns of clock times."""
    with (folder / "rows" / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    plain = [{n: v for n, v in row.items() if not n.endswith("seconds")} for row in rows]
    return {**dict.fromkeys(texts(folder), "a file"), "rows.csv": plain}


def commands(inputs: Path) -> dict[str, Command]:
    """Return the commands by name; inputs: a folder for what they read."""
    thing = pw.objects.load("crimp")
    world = pw.worlds.Ideal(thing.sample(np.random.default_rng(0)), seed=0)
    pw.record(world, inputs / "log.csv", grid=thing.grid, pushes=4, seed=1)
    ideal = ["--world", "ideal"]
    record = ["record", "--object", "crimp", "--pushes", 8, *ideal]
    identify = ["identify", inputs / "log.csv", "--force"]
    stability = ["experiment", "stability", "--cases", 6]
    return {
        "record": Command(lambda folder: [*record, "-o", folder / "log.csv"], texts),
        "identify": Command(lambda folder: [*identify, "-o", folder / "model.json"], texts),
        "slide": Command(
            lambda folder: ["slide", "L", *ideal, "--explore", 3, "-o", folder / "run"],
            run_content,
        ),
        "experiment": Command(
            lambda folder: [*stability, "-o", folder / "rows"], sweep_content, workers=True
        ),
    }


class Child:
    """A command that runs in a fork of this process, with the workers it may start."""

    def __init__(self, words: list[object], said: Path) -> None:
        """Start a command; what it says on stderr goes to a file."""
        self.words, self._said = words, said
        self._pid = os.fork()
        if self._pid:
            return
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs
        for stream, path in ((1, os.devnull), (2, said)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        sys.argv = ["pushwise", *map(str, words)]
        try:
            cli.main()
        except SystemExit as end:
            os._exit(int(end.code or 0))
        finally:
            os._exit(99)

    def wait(self, seconds: float = math.inf) -> int | None:
        """Return the code with which the command ended; None if it runs for longer."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            done, status = os.waitpid(self._pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.002)
        return None

    def finish(self) -> None:
        """Let the command end by itself."""
        if code := self.wait():
            raise SystemExit(f"{self.words} ended with {code}: {self._said.read_text()}")

    def kill(self) -> None:
        """Kill the command."""
        os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)

    def interrupt(self, limit: float) -> bool:
        """Press Ctrl-C; return whether it stopped the command, rather than came too late."""
        os.kill(self._pid, signal.SIGINT)
        code = self.wait(limit)
        said = self._said.read_text().splitlines()
        if code is None or (code and (code != 130 or "pushwise: stopped" not in said[-1])):
            self.kill() if code is None else None
            raise SystemExit(f"{self.words} ended with {code} after Ctrl-C: {said}")
        return code == 130


def run_here(words: list[object], said: Path) -> None:
    """Run a command to its end in this process; what it says on stderr goes to a file."""
    sys.argv = ["pushwise", *map(str, words)]
    with said.open("w") as err, redirect_stderr(err), redirect_stdout(io.StringIO()):
        try:
            cli.main()
        except SystemExit as end:
            if end.code:
                raise SystemExit(f"{words} ended with {end.code}: {said.read_text()}") from None


def stop_one(command: Command, home: Path, stops: int, limit: float, rng: random.Random) -> None:
    """Compare a command that is stopped some times with one that is not."""
    whole, said = home / "whole", home / "said.txt"
    whole.mkdir()
    begin = time.monotonic()
    if command.workers:
        Child(command.words(whole), said).finish()
    else:
        run_here(command.words(whole), said)
    seconds = time.monotonic() - begin
    expected = command.content(whole)
    stopped = rounds = 0
    while stopped < stops:
        rounds += 1
        folder = home / f"stopped-{rounds}"
        folder.mkdir()
        while stopped < stops:
            child, begin = Child(command.words(folder), said), time.monotonic()
            code = child.wait(rng.uniform(0.0, seconds))
            if code is not None:
                seconds = min(seconds, time.monotonic() - begin)  # without loading
                break
            stopped += 1
            if stopped % 3:
                child.kill()
            elif not child.interrupt(limit):
                break
        Child(command.words(folder), said).finish()
        content = command.content(folder)
        names = {**content, **expected}
        if differing := [name for name in names if content.get(name) != expected.get(name)]:
            raise SystemExit(f"after {stopped} stops {folder} differs in {', '.join(differing)}")
        shutil.rmtree(folder)


def main() -> None:
    """Stop every command; print how often."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500, help="of all commands together")
    parser.add_argument("--limit", type=float, default=2.0, help="seconds to end after Ctrl-C")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="names of commands, or name=stops", default=[])
    asked = parser.parse_args()
    rng = random.Random(asked.seed)
    with tempfile.TemporaryDirectory() as made:
        home = Path(made)
        (home / "inputs").mkdir()
        listed = commands(home / "inputs")
        chosen = asked.only or list(listed)
        for name, _, count in (one.partition("=") for one in chosen):
            (home / name).mkdir()
            stops = int(count or -(-asked.kills // len(chosen)))
            stop_one(listed[name], home / name, stops, asked.limit, rng)
            print(f"{name}: stopped {stops} times, same result", flush=True)


if __name__ == "__main__":
    main()
