"""Damaged files of every kind, for some seconds; `python tests/fuzz_files.py` takes its time."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz_files import corpus, damaged, try_damage

pytestmark = pytest.mark.slow
# The same damage in every run; `python tests/fuzz_files.py` looks for more.
SOME = settings(
    max_examples=130,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def test_whole_files_are_read() -> None:
    """Read every specimen as it is: what is refused at once would test nothing."""
    for specimen in corpus().values():
        for read in specimen.reads:
            assert read(specimen.path) is not None


@SOME
@given(st.sampled_from(range(43)), st.integers(0, 2**32))
def test_damaged_files_never_break_a_reader_or_a_command(which: int, seed: int) -> None:
    """Return, or refuse in one short sentence, whatever is in a file."""
    names = list(corpus())
    name = names[which % len(names)]
    try_damage(name, damaged(corpus()[name].path.read_bytes(), random.Random(seed)))
