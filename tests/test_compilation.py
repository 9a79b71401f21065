"""What is said and counted while functions are compiled."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from numba import njit
from numba.core.event import trigger_event

from pushwise.compilation import compiling_reported, seconds_compiling, working_clock
from pushwise.planning.deadline import Deadline
from pushwise.progress import Progress
from pushwise.show.status_line import say_compiling
from pushwise.sliding.outcome import Phase
from pushwise.sliding.slide import Journal


def compile_for(seconds: float) -> None:
    """Let Numba's listeners believe in a compilation, of one function inside of another."""
    with trigger_event("numba:compile"):
        time.sleep(0.5 * seconds)
        with trigger_event("numba:compile"):
            time.sleep(0.5 * seconds)


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


def test_a_failed_compilation_ends() -> None:
    """Stop counting when Numba gives up."""
    with pytest.raises(ZeroDivisionError), trigger_event("numba:compile"):
        raise ZeroDivisionError
    after = seconds_compiling()
    time.sleep(0.02)
    assert seconds_compiling() == after


def test_the_working_clock_stands_still_while_compiling() -> None:
    """Leave compilation out of time limits and of the seconds of a phase."""
    journal, deadline, start = Journal(), Deadline(0.25), working_clock()
    journal.carry_out(Phase.LOOK, lambda: compile_for(0.3))
    assert journal.seconds[Phase.LOOK] < 0.2
    assert deadline.spent < 0.2
    assert not deadline.passed
    assert working_clock() - start < 0.2


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
from pushwise import cli
from test_compilation import compile_for
from pushwise.experiments import bench

def run(**_):
    compile_for(1.2)
    return "{}"

bench.run = run
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
