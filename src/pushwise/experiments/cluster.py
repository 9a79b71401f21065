"""The workers of a Dask cluster as a joblib backend; needs the extra ``cluster``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from distributed import Client, KilledWorker
from joblib import parallel_config
from joblib._dask import DaskDistributedBackend

from pushwise.errors import PushwiseError

__all__ = ["KilledWorker", "dask_workers"]

WAIT = 10.0  # s for a scheduler and its workers to answer


@contextmanager
def dask_workers(address: str) -> Iterator[None]:
    """Let joblib use the workers of the scheduler at an address.

    Raises:
        KilledWorker: The workers of one task died repeatedly.

    """
    try:
        client = Client(address, timeout=WAIT, set_as_default=False)  # type: ignore[no-untyped-call]
        client.wait_for_workers(1, timeout=WAIT)
    except (OSError, ValueError) as error:
        raise PushwiseError(
            f"no Dask scheduler with workers answers at {address!r} ({error}); start them with "
            "`dask scheduler` and `dask worker ADDRESS`."
        ) from None
    with client, parallel_config(backend=_Backend(client=client)):
        yield


class _Backend(DaskDistributedBackend):  # type: ignore[misc]
    """joblib's Dask backend, but it raises when workers died instead of waiting forever."""

    def effective_n_jobs(self, n_jobs: int) -> int:
        """Return how many tasks run at once; if it were one, joblib would bypass the cluster."""
        return max(2, int(super().effective_n_jobs(n_jobs)))

    def submit(self, func: Any, callback: Callable[[Any], None] | None = None) -> Any:
        """Send a batch of tasks; notify joblib also when the cluster has given it up."""
        future = super().submit(func, callback)

        def ended(done: Future[Any]) -> None:
            error = done.exception()
            if error is not None and callback is not None:
                callback(error)

        future.add_done_callback(ended)
        return future

    def retrieve_result_callback(self, out: Any) -> Any:
        """Return the results of a batch, or raise the exception it ended with."""
        if isinstance(out, BaseException):
            raise out
        return super().retrieve_result_callback(out)
