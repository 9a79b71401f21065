"""`pushwise experiment identification`: learn from five pushes, predict five others.

Nine objects with random part masses and frictions are each pushed ten times; five pushes are
learned from, five are predicted. The error of a prediction is the mean distance between predicted
and true final cell positions. Parts:

- compare: every method in the ideal world, on even and on uneven friction, with its error after 1
  to 50 simulations (Fig. 5 (a) to (h) of the paper), for several ground truths per object and
  several splits of the pushes.
- ends: our method, from the first and last pose of each push only.
- low ends: likewise, if it is stated that the finger pushes at the height of the table, as it does
  in the ideal world and as version 0.1 took for granted.
- mujoco: our method in a world that shares no code with the model.
- calibration: our method on many ground truths, to test its error bars.

Friction is nearly uniform ("even"), and our method knows that, or the frictions of parts differ by
up to a factor of 3 ("uneven"). `coverage` tests the error bars of a method that does not know it.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

import numpy as np

from pushwise import objects
from pushwise.experiments import coverage, coverage_report
from pushwise.experiments.identification_report import report
from pushwise.experiments.rows import Row
from pushwise.experiments.sweep import SweepOptions, check_counts, conduct
from pushwise.experiments.trials import EVEN, NOISE, ModelHistory, end_error, push_object
from pushwise.identification.identify import identify
from pushwise.identification.methods import registry
from pushwise.identification.methods.task import SearchOptions
from pushwise.physics.push import Finger
from pushwise.records.record import PushRecord

__all__ = ["METHODS", "rows_of", "run", "settings_of"]

LEARN = 5  # pushes
LOW = Finger(height=1e-6)  # not zero, which is a height that is not stated
AFTER = (1, 2, 5, 10, 20, 30, 40, 50)  # simulations
# Ours, and all that search, as the paper's do.
METHODS = ("refine", *(method.name for method in registry.METHODS.values() if method.needs_budget))
AUTOGRAD_MODELS = {"even": 3, "uneven": 1}  # ground truths per object, with one split: it is slow


def run(
    options: SweepOptions,
    *,
    models: int = 10,
    splits: int = 10,
    draws: int = 540,
    truths: int = 180,
) -> str:
    """Run the experiment; return its tables, as `conduct` does.

    Args:
        options: Where to run it, and where to write rows, tables and figures.
        models: Number of random ground truths per object.
        splits: Number of splits of the pushes per ground truth.
        draws: Number of ground truths of the calibration.
        truths: Number of ground truths of each case of `coverage`.

    """
    check_counts(models=models, splits=splits, draws=draws, truths=truths)
    settings = settings_of(models=models, splits=splits, draws=draws)
    apart = replace(options, output=options.output / "coverage")
    methods = conduct(rows_of, settings, report, options)
    settings = coverage.settings_of(draws=truths)
    bars = conduct(coverage.rows_of, settings, coverage_report.report, apart)
    if options.json and options.check is None:
        return f'{{"methods": {methods}, "coverage": {bars}}}'
    return f"{methods}\n\n{bars}"


def settings_of(*, models: int, splits: int, draws: int) -> list[Row]:
    """Return all settings, ordered by split; autograd last, and only if PyTorch is installed."""
    settings: list[Row] = [
        _setting("compare", name, model, split, method, friction)
        for friction in ("even", "uneven")
        for split in range(splits)
        for name in objects.names
        for model in range(models)
        for method in METHODS
        if not registry.METHODS[method].needs_forces
    ]
    settings += [
        _setting(part, name, model, 0, "refine")
        for part in ("ends", "low ends", "mujoco")
        for name in objects.names
        for model in range(models)
    ]
    settings += [
        _setting("calibration", objects.names[i % len(objects.names)], 1000 + i, 0, "refine")
        for i in range(draws)
    ]
    if find_spec("torch") is not None:
        settings += [
            _setting("compare", name, model, 0, "autograd", friction)
            for friction, most in AUTOGRAD_MODELS.items()
            for model in range(min(models, most))
            for name in objects.names
        ]
    return settings


def _setting(
    part: str, name: str, model: int, split: int, method: str, friction: str = "even"
) -> Row:
    """Return one setting."""
    return {
        "part": part,
        "object": name,
        "model": model,
        "split": split,
        "method": method,
        "friction": friction,
    }


def rows_of(setting: Row) -> list[Row]:
    """Push, learn and predict; return one row per number of simulations, and one for the end."""
    part, name, model, split, method, friction = setting.values()
    assert isinstance(name, str) and isinstance(method, str)
    assert isinstance(model, int) and isinstance(split, int)
    uneven = friction == "uneven"
    trial = push_object(name, model, world="mujoco" if part == "mujoco" else "ideal", uneven=uneven)
    truth = trial.truth.model
    # Automatic differentiation of single steps needs the forces during them.
    learn, test = trial.split(
        LEARN,
        split,
        seed=[objects.names.index(name), model],
        forces=registry.METHODS[method].needs_forces,
    )
    if part in ("ends", "low ends"):
        learn = [
            PushRecord(r.push, r.t[[0, -1]], r.pose[[0, -1]], twist=r.twist, noise=NOISE)
            for r in learn
        ]
    way = ModelHistory(trial.uniform)
    found = identify(
        truth.grid,
        learn,
        method=method,
        finger=LOW if part == "low ends" else Finger(),
        prior=None if uneven else EVEN,
        search=SearchOptions(seed=model + 1000 * split),
        progress=way,
    )
    rows: list[Row] = []
    if part == "compare":
        errors = way.errors(found, AFTER, test)
        rows = [_row(n, float(error)) for n, error in zip(AFTER, errors, strict=True)]
    off = found.model.centre_of_mass - truth.centre_of_mass
    covariance = found.posterior.centre_of_mass_covariance
    end: Row = {
        "ended": True,
        "even_mm": 1e3 * end_error(trial.uniform, Finger(), test),
        "centre_mm": 1e3 * float(np.hypot(*off)),
        "centre_std_mm": 1e3 * float(np.sqrt(np.trace(covariance))),
        "centre_chi2": float(off @ np.linalg.solve(covariance, off)),
        "seconds": found.seconds,
    }
    error = end_error(found.model, found.finger, test)
    return [*rows, {**_row(found.simulations, error), **end}]


def _row(simulations: int, error: float) -> Row:
    """Return an intermediate row: the error [m] after some simulations."""
    return {
        "simulations": simulations,
        "error_mm": 1e3 * error,
        "ended": False,
        "even_mm": None,
        "centre_mm": None,
        "centre_std_mm": None,
        "centre_chi2": None,
        "seconds": None,
    }
