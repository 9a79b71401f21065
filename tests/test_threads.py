"""Linear algebra in one thread."""

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import pushwise as pw
from pushwise.identification import identify
from pushwise.threads import one_thread


def threads() -> set[int]:
    """Return how many threads the libraries of linear algebra would use."""
    return {int(pool["num_threads"]) for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_a_block_has_one_thread_and_gives_the_others_back() -> None:
    """Limit the libraries inside the block only."""
    with threadpool_limits(limits=2):
        with one_thread():
            assert threads() == {1}
        assert threads() == {2}


def test_identify_uses_one_thread_from_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """See one thread from inside of identify, whatever the caller has."""
    seen: list[set[int]] = []

    def stop(grid: object) -> None:
        seen.append(threads())
        raise InterruptedError

    monkeypatch.setattr(identify, "grid_of", stop)
    with threadpool_limits(limits=2), pytest.raises(InterruptedError):
        pw.identify(pw.objects.load("hammer").grid, [])
    assert seen == [{1}]
