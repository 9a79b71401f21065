"""What several test modules share and what takes a while to make, made once."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

# Tests run on all cores already: threads of the linear algebra would wait for each other, and a
# sweep needs no processes of its own unless a test asks for some. This must be said before NumPy
# is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("LOKY_MAX_CPU_COUNT", "1")

from a_run import a_run
from browser import Page, browser


@pytest.fixture(scope="session")
def finished_run() -> Path:
    """Return the folder of a finished run of `slide`; do not write to it."""
    return a_run()


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    """Return a tab of a browser."""
    with browser() as page:
        yield page
