"""What several test modules share and what takes a while to make, made once."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

# Tests run on all cores already: threads of the linear algebra would wait for each other, and a
# sweep needs no processes of its own unless a test asks for some. This must be said before NumPy
# is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("LOKY_MAX_CPU_COUNT", "1")
# Ctrl-C is ignored in background jobs, and then in all processes that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

from a_run import a_run, share_folder
from browser import Page, browser

share_folder()  # before xdist starts the processes that run the tests

# Files that take longest come first: one that began last would keep a single core busy. The second
# compiles in a process of its own, while the first compiles what all others need.
LONGEST = (
    *("slide", "house", "mistakes", "pages", "pnpush_bags", "identify", "view_modes", "stopping"),
    *("experiments", "paths", "mujoco_world", "real_experiment", "points", "bullet_stream"),
    *("examples", "bags", "rollout", "planning_experiment", "record", "bullet_world", "scenes"),
    *("world_paths", "readme", "lcp", "bystanders", "gradients", "feet", "follow", "plan"),
    *("streaming", "sweep", "view", "free_slides", "fuzz", "report", "controller", "goals"),
    *("flick", "pregrasp_experiment", "exploration_experiment", "sweep_cluster", "identify_cli"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the files by how long they take; the tests of a file stay in their order."""
    place = {f"test_{name}": number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(place)))


@pytest.fixture(scope="session", autouse=True)
def clock_that_waits_with_us() -> Iterator[None]:
    """Measure time limits and phases by the processor time of this process.

    The library means seconds on the clock of the wall. On a machine that does other things, or that
    stalls, those run out before the work is done, and tests would fail for no fault of the code.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pushwise.compilation.perf_counter", time.process_time)
        yield


@pytest.fixture(scope="session")
def finished_run() -> Path:
    """Return the folder of a finished run of `slide`; do not write to it."""
    return a_run()


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    """Return a tab of a browser."""
    with browser() as page:
        yield page
