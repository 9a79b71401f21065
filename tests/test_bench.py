"""`pushwise bench`: what it prints, and how it compares first starts."""

import json
from pathlib import Path

import numpy as np
import pytest

from pushwise.errors import PushwiseError
from pushwise.experiments import bench, bench_processes, env_bench
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


def test_push_t_is_compared_with_gym_pusht(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide the best rates of either, and say what the other Python must have."""
    pytest.importorskip("gymnasium", reason="gymnasium is not installed (extra 'gym')")
    monkeypatch.setattr(env_bench, "_ROUNDS", 2)
    monkeypatch.setattr(env_bench, "_STEPS", 2)
    rates = iter([[100.0, 50.0], [200.0, 40.0]])
    monkeypatch.setattr(env_bench, "_rates", lambda envs: np.array([9000.0, 3000.0]))
    with monkeypatch.context() as patch:
        patch.setattr(env_bench, "_gym_pusht", lambda python: np.array(next(rates)))
        rows = env_bench.compare_with_gym_pusht(tmp_path)
    assert [row.value for row in rows] == pytest.approx([45.0, 60.0])
    assert rows[0].met and rows[1].met is None
    with pytest.raises(PushwiseError, match="must be a Python that can be run"):
        bench.run(gym_pusht=tmp_path / "none")
    without = tmp_path / "python"
    without.write_text("#!/bin/sh\necho no module >&2\nexit 1\n")
    without.chmod(0o755)
    with pytest.raises(PushwiseError, match=r"must have gym-pusht 0.1.8 .*; no module\."):
        bench.run(gym_pusht=without)


def test_rates_are_of_steps() -> None:
    """Measure both kinds of actions in a small vector that steps."""
    envs = pytest.importorskip("pushwise.envs").PushTVectorEnv(env_bench._SIZE)
    found = env_bench._rates(envs)
    envs.close()
    assert found.shape == (2,) and (found > 100.0).all()
