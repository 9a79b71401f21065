"""Sweeps on a Dask cluster on loopback: the same results, also when a worker is killed."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pushwise.errors import PushwiseError
from pushwise.experiments.sweep import sweep
from sweep_tasks import SETTINGS, dying, slow, steady

pytest.importorskip("distributed", reason="needs the extra cluster")
from pushwise.experiments import cluster as cluster_module

# Dask leaves sockets and event loops to the garbage collector when workers die.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def start(*arguments: str) -> subprocess.Popen[bytes]:
    """Start a part of the cluster in a group of its own; tasks are found beside this file."""
    here = str(Path(__file__).parent)
    path = os.pathsep.join([here, *sys.path])
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]],
        env={
            **os.environ,
            "PYTHONPATH": path,
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",  # three would take a minute
        },
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@pytest.fixture
def cluster() -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and two workers; give its address and the workers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    scheduler = start(
        "dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"
    )
    pair = [start("dask_worker", address, "--nthreads", "1", "--no-dashboard") for _ in range(2)]
    yield address, pair
    for process in (*pair, scheduler):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()


@pytest.mark.slow
def test_a_cluster_gives_what_a_pool_gives(
    tmp_path: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    """Give the same bytes on processes, on a cluster, and on one that loses a worker."""
    address, processes = cluster
    sweep(steady, SETTINGS, tmp_path / "pool", jobs=2)
    expected = (tmp_path / "pool" / "rows.csv").read_bytes()
    assert sweep(steady, SETTINGS, tmp_path / "cluster", cluster=address)[1] == 0
    assert (tmp_path / "cluster" / "rows.csv").read_bytes() == expected

    def kill_one() -> None:
        """Kill a worker, nanny and all, as soon as the first result is there."""
        stream = tmp_path / "killed" / "rows.stream"
        while not stream.exists() or stream.stat().st_size == 0:
            time.sleep(0.01)
        os.killpg(processes[0].pid, signal.SIGKILL)

    threading.Thread(target=kill_one, daemon=True).start()
    assert sweep(slow, SETTINGS, tmp_path / "killed", cluster=address)[1] == 0
    assert processes[0].wait() == -signal.SIGKILL
    assert (tmp_path / "killed" / "rows.csv").read_bytes() == expected

    with pytest.raises(PushwiseError, match="workers die"):
        sweep(dying, SETTINGS[13:14], tmp_path / "dying", cluster=address)


def test_no_cluster_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Say that no scheduler answers."""
    monkeypatch.setattr(cluster_module, "WAIT", 0.5)
    with pytest.raises(PushwiseError, match="no Dask scheduler with workers answers"):
        sweep(steady, SETTINGS, tmp_path, cluster="tcp://127.0.0.1:9")
