"""Learn an object from half of some logs and predict the other half, in every possible way.

    python examples/learn_from_half.py grid.json run1.csv run2.csv run3.csv run4.csv > table.md

Each way is one call of `pushwise identify --holdout 0.5`, with the options that follow the logs.
Without arguments, four logs of simulated pliers are made, two pushes each.
"""

import json
import subprocess
import sys
import tempfile
from itertools import combinations
from pathlib import Path

import numpy as np

import pushwise as pw

AGREE = 5.99  # squared standard deviations within which 95 % of the differences of centres are


def identified(grid: str, logs: list[str], options: list[str]) -> dict:
    """Return what `pushwise identify` prints: the first half of the logs is learned from."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.json"
        command = ["pushwise", "identify", grid, *logs, "-o", model, "--holdout", "0.5", "--json"]
        done = subprocess.run([*command, *options], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def row(learned: list[str], facts: dict) -> str:
    """Return a row of the table."""
    held = facts["holdout"]
    cells = [", ".join(Path(log).stem for log in learned)]
    for piece in held["pieces"]:
        cells.append(f"{1e3 * piece['position']:.2f}, {np.degrees(piece['angle']):.2f}")
        uniform = 1e3 * piece["uniform_position"], np.degrees(piece["uniform_angle"])
        cells.append("{:.2f}, {:.2f}".format(*uniform))
    cells += [f"{1e3 * held['error']:.1f}", f"{1e3 * held['uniform_error']:.1f}"]
    x, y = 1e3 * np.array(facts["centre_of_mass"])
    dx, dy = 1e3 * np.sqrt(np.diag(facts["centre_of_mass_covariance"]))
    cells.append(f"({x:.1f}, {y:.1f}) +/- ({dx:.1f}, {dy:.1f})")
    mass, std = facts["total_mass"], facts["total_mass_std"]
    cells.append("not determined" if mass is None else f"{mass:.2f} +/- {std:.2f}")
    return f"| {' | '.join(cells)} |"


def means(found: list[dict]) -> str:
    """Return the last row of the table, the mean over all ways."""
    cells = ["mean"]
    for at in range(len(found[0]["holdout"]["pieces"])):
        for kind in ("", "uniform_"):
            pieces = [facts["holdout"]["pieces"][at] for facts in found]
            off = 1e3 * np.mean([piece[f"{kind}position"] for piece in pieces])
            turn = np.degrees(np.mean([piece[f"{kind}angle"] for piece in pieces]))
            cells.append(f"{off:.2f}, {turn:.2f}")
    for name in ("error", "uniform_error"):
        cells.append(f"{1e3 * np.mean([facts['holdout'][name] for facts in found]):.1f}")
    return f"| {' | '.join([*cells, '', ''])} |"


def disagreement(one: dict, other: dict) -> float:
    """Return the distance between two centres of mass in squared standard deviations."""
    off = np.subtract(one["centre_of_mass"], other["centre_of_mass"])
    covariance = np.add(one["centre_of_mass_covariance"], other["centre_of_mass_covariance"])
    return float(off @ np.linalg.solve(covariance, off))


def simulated(folder: str) -> list[str]:
    """Record four logs in a folder; return the grid, which is that of a log, and the logs."""
    logs = [str(Path(folder) / f"run{number}.csv") for number in range(1, 5)]
    for seed, log in enumerate(logs):
        given = ["--object", "crimp", "--world", "ideal", "--pushes", "2", "--seed", str(seed)]
        subprocess.run(["pushwise", "record", *given, "-o", log], check=True, capture_output=True)
    grid = Path(folder) / "grid.json"
    pw.save(pw.PushLog.load(logs[0]).grid, grid)
    return [str(grid), *logs]


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        compare(sys.argv[1:] or simulated(folder))


def compare(given: list[str]) -> None:
    """Print the table of a grid, logs and options."""
    grid, *rest = given
    first = next((i for i, text in enumerate(rest) if text.startswith("-")), len(rest))
    logs, options = rest[:first], rest[first:]
    found = []
    for learned in combinations(logs, len(logs) // 2):
        others = [log for log in logs if log not in learned]
        facts = identified(grid, [*learned, *others], options)
        if not found:
            lengths = [f"{1e3 * piece['length']:.0f} mm" for piece in facts["holdout"]["pieces"]]
            names = [name for length in lengths for name in (length, f"{length}, uniform")]
            names = ["learned from", *names, "whole", "whole, uniform", "centre of mass [mm]"]
            print("Errors of the logs not learned from, in mm and degrees.\n")
            print(f"| {' | '.join([*names, 'mass [kg]'])} |\n|{'---|' * (len(names) + 1)}")
        found.append(facts)
        print(row(list(learned), facts), flush=True)
    print(means(found))
    apart = [disagreement(*pair) for pair in combinations(found, 2)]
    agree = sum(value < AGREE for value in apart)
    print(
        f"\nOf {len(apart)} pairs of centres of mass {agree} agree within their 95 % regions; the "
        f"largest difference is {np.sqrt(max(apart)):.1f} standard deviations."
    )


if __name__ == "__main__":
    main()
