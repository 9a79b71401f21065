"""What is said and counted while functions are compiled."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest
from numba import njit
from numba.core.event import trigger_event

from pushwise.compilation import compiling_reported, seconds_compiling, working_clock
from pushwise.planning.deadline import Deadline
from pushwise.progress import Progress
from pushwise.show.status_line import say_compiling
from pushwise.sliding.outcome import Phase
from pushwise.sliding.slide import Journal


class Clock:
    """A clock that moves on when it is told to."""

    now: ClassVar[float] = 0.0

    @classmethod
    def read(cls) -> float:
        """Return the time [s]."""
        return cls.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> type[Clock]:
    """Let time be measured with a clock of our own."""
    monkeypatch.setattr("pushwise.compilation.perf_counter", Clock.read)
    return Clock


def compile_for(seconds: float) -> None:
    """Let Numba's listeners believe in a compilation, of one function inside of another."""
    with trigger_event("numba:compile"):
        Clock.now += 0.5 * seconds
        with trigger_event("numba:compile"):
            Clock.now += 0.5 * seconds


def test_compiling_is_counted_once_and_running_is_not() -> None:
    """Count the time of the outermost function, and nothing when it is called again."""

    def plus_one(x: float) -> float:
        return x + 1.0

    def doubled(x: float) -> float:
        return 2.0 * float(inner(x))

    inner: Callable[..., float] = njit()(plus_one)
    outer: Callable[..., float] = njit()(doubled)

    before, start = seconds_compiling(), time.perf_counter()
    assert outer(1.0) == 4.0
    took = seconds_compiling() - before
    assert 0.0 < took <= time.perf_counter() - start
    assert outer(2.0) == 6.0
    assert seconds_compiling() - before == took


def test_a_failed_compilation_ends(clock: type[Clock]) -> None:
    """Stop counting when Numba gives up."""
    with pytest.raises(ZeroDivisionError), trigger_event("numba:compile"):
        raise ZeroDivisionError
    after = seconds_compiling()
    clock.now += 1.0
    assert seconds_compiling() == after


def test_the_working_clock_stands_still_while_compiling(clock: type[Clock]) -> None:
    """Leave compilation out of time limits and of the seconds of a phase."""
    journal, deadline, start = Journal(), Deadline(0.25), working_clock()

    def work() -> None:
        compile_for(0.3)
        clock.now += 0.1

    journal.carry_out(Phase.LOOK, work)
    assert journal.seconds[Phase.LOOK] == pytest.approx(0.1)
    assert deadline.spent == pytest.approx(0.1)
    assert not deadline.passed
    assert working_clock() - start == pytest.approx(0.1)
    clock.now += 0.2
    assert deadline.passed


@pytest.mark.usefixtures("clock")
def test_it_is_reported_once_when_it_takes_long() -> None:
    """Say nothing of trifles, and nothing twice."""
    told: list[Progress] = []
    with compiling_reported(told.append):
        compile_for(0.6)
        compile_for(0.0)
        compile_for(0.0)
    assert [news.stage for news in told] == ["compile"]
    with compiling_reported(told.append):
        pass
    compile_for(0.0)
    assert len(told) == 1


def test_the_terminal_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """Print one line on stderr, and nothing on stdout."""
    say_compiling(Progress("compile", "once per installation: about 30 s"))
    assert capsys.readouterr() == ("", "compiling, once per installation: about 30 s\n")


COMPILES = """
import sys
from pushwise import cli, compilation
from test_compilation import Clock, compile_for
from pushwise.experiments import bench

def run(**_):
    compile_for(1.2)
    return "{}"

bench.run = run
compilation.perf_counter = Clock.read
cli.main()
"""


def test_a_command_says_that_it_compiles() -> None:
    """Run a command in a new process, in which something is compiled for a while."""
    here = str(Path(__file__).parent)
    code = f"import sys; sys.path.insert(0, {here!r}){COMPILES}"
    ran = subprocess.run(
        [sys.executable, "-c", code, "bench", "--json"], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "{}\n"
    assert ran.stderr == "compiling, once per installation: about 30 s\n"


LEARNS = """
import hashlib
import numpy as np
import pushwise as pw

model = pw.objects.load("hammer").sample(np.random.default_rng(1)).model
push = pw.Push.line(start=(-0.06, -0.1), velocity=(0.02, 0.1), duration=2.0)
pose = pw.simulate(model, push).pose[[0, -1]] + 1e-3
found = pw.identify(model.grid, [pw.PushRecord(push, [0.0, 2.0], pose)])
print(hashlib.sha256(found.model.mass.tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_what_was_compiled_gives_what_is_loaded(tmp_path: Path) -> None:
    """Learn the same, to the last bit, in the process that compiles and in the next one."""
    cache = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def learned() -> str:
        run = [sys.executable, "-c", LEARNS]
        return subprocess.run(run, env=cache, capture_output=True, text=True, check=True).stdout

    compiled = learned()
    assert len(compiled) > 60 and list(tmp_path.rglob("*.nbi"))
    assert learned() == compiled
