"""`pushwise bench`: what it prints, and how it compares first starts."""

import json
from pathlib import Path

import pytest

from pushwise.errors import PushwiseError
from pushwise.experiments import bench, bench_processes
from pushwise.experiments.measurement import Measurement, printed


def test_measurements_are_printed_with_their_targets() -> None:
    """Mark what meets its target and what does not; leave out what has none."""
    rows = [
        Measurement.at_least("faster", 209.4, 100, "twice"),
        Measurement.at_most("memory", 600.0, 500, "peak", unit="MB"),
        Measurement("gradient", None, "PyTorch is not installed"),
    ]
    lines = printed(rows, json=False).splitlines()
    assert lines[2:] == [
        "| faster | 209 | yes: at least 100 | twice |",
        "| memory | 600 MB | NO: at most 500 MB | peak |",
        "| gradient | not measured |  | PyTorch is not installed |",
    ]
    found = json.loads(printed(rows, json=True))
    assert [row["met"] for row in found["rows"]] == [True, False, None]
    assert {"python", "cores", "numba"} < found["machine"].keys()


def test_first_starts_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Report the difference of two runs of each version, and the ratio of both."""
    (tmp_path / "pushwise").mkdir()
    (tmp_path / "pushwise" / "__main__.py").touch()
    ran = []

    def slide(folder: Path, name: str, environment: dict[str, str]) -> float:
        source = environment["PYTHONPATH"].split(":")[0]
        ran.append((source, environment["NUMBA_CACHE_DIR"]))
        return {"first": 90.0 if source == str(tmp_path) else 50.0, "second": 10.0}[name]

    monkeypatch.setattr(bench_processes, "_slide", slide)
    table = bench.run(first=True, against=tmp_path)
    assert "| 40 s |" in table and "| 80 s |" in table and "| 0.5 |" in table
    assert len(set(ran)) == 2 and len(ran) == 4  # the second run finds what the first compiled
    with pytest.raises(PushwiseError, match="must contain pushwise; got"):
        bench.run(first=True, against=tmp_path / "none")


def test_versions_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take turns, and compare the best times of either."""
    (tmp_path / "pushwise").mkdir()
    (tmp_path / "pushwise" / "__main__.py").touch()
    sources = []

    def python(code: str, environment: dict[str, str]) -> str:
        sources.append(environment["PYTHONPATH"].split(":")[0])
        return "[3e-3, 2e-3]" if sources[-1] == str(tmp_path) else "[1e-3, 1e-3]"

    monkeypatch.setattr(bench_processes, "_python", python)
    one, batch = bench_processes.compared(tmp_path)
    assert (one.value, batch.value) == pytest.approx((3.0, 2.0))
    assert sources[::2] == [sources[0]] * 3 and sources[1::2] == [str(tmp_path)] * 3
    with pytest.raises(PushwiseError, match="must contain pushwise; got"):
        bench_processes.compared(tmp_path / "none")
