"""What `pushwise bench` measures, how it times things, and how it prints them."""

from __future__ import annotations

import json as json_format
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from time import perf_counter

from pushwise.experiments.reporting import markdown

__all__ = ["Measurement", "best_time", "printed"]


@dataclass(frozen=True)
class Measurement:
    """One line of the table."""

    name: str
    value: float | None
    """None if it could not be measured; `detail` says why."""
    detail: str
    unit: str = ""
    target: str = ""
    """What the value should be; empty if there is no target."""
    met: bool | None = None
    """Whether the target is met; None if there is none, or nothing was measured."""

    @classmethod
    def at_most(
        cls, name: str, value: float, limit: float, detail: str, *, unit: str = ""
    ) -> Measurement:
        """Return a measurement that should not exceed a limit."""
        target = f"at most {limit:g} {unit}".rstrip()
        return cls(name, value, detail, unit, target, value <= limit)

    @classmethod
    def at_least(cls, name: str, value: float, limit: float, detail: str) -> Measurement:
        """Return a ratio that should not be below a limit."""
        return cls(name, value, detail, "", f"at least {limit:g}", value >= limit)


def best_time(task: Callable[[], object], repeats: int) -> float:
    """Return the shortest time [s] of several runs, after one run to warm up."""
    task()
    times = []
    for _ in range(repeats):
        begin = perf_counter()
        task()
        times.append(perf_counter() - begin)
    return min(times)


def printed(rows: Sequence[Measurement], *, json: bool) -> str:
    """Return measurements as a Markdown table, or with the machine as one JSON object."""
    if json:
        machine = {
            "python": platform.python_version(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            **{name: version(name) for name in ("pushwise", "numpy", "numba", "mujoco")},
        }
        return json_format.dumps(
            {"machine": machine, "rows": [asdict(row) for row in rows]}, indent=1
        )
    lines = []
    for row in rows:
        measured = "not measured" if row.value is None else f"{row.value:.3g} {row.unit}".rstrip()
        mark = {True: "yes: ", False: "NO: ", None: ""}[row.met] if row.target else ""
        lines.append((row.name, measured, f"{mark}{row.target}", row.detail))
    return markdown(("what", "measured", "target", "how"), lines)
