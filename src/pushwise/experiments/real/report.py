"""Tables and figures of `pushwise experiment real`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from textwrap import fill

import numpy as np

from pushwise.atomic_write import save_figure
from pushwise.experiments.real.data import RealSet
from pushwise.experiments.real.learning import (
    CENTRE_UNKNOWN,
    HEIGHT_UNKNOWN,
    ON_CELLS,
    ON_FEET,
    SETUP_STATED,
    Score,
)
from pushwise.experiments.real.recordings import PIECE, TOUCH, Recorded
from pushwise.experiments.reporting import markdown
from pushwise.experiments.rows import merge_rows
from pushwise.show.figure_style import styled
from pushwise.typing import Array

__all__ = [
    "draw_curves",
    "impossible_note",
    "readable_set",
    "recordings_table",
    "repeats_table",
    "scores_table",
]


# Pushes that begin at positions and in directions that differ less than this are the same push.
SAME_PLACE = 1e-3  # m
SAME_ANGLE = 0.035  # rad
CHI2_95 = 5.991  # 95 % quantile with two degrees of freedom
_SET_SOURCES = {
    "hogan2016_tracking": "Hogan 2016",
    "window10_90": "MIT",
    "zhou2016": "Zhou 2016",
}
_SET_WORDS = {
    "abs": "ABS,",
    "ellip": "ellipse",
    "hardboard": "hardboard,",
    "hex": "hexagon",
    "pertubations": "perturbations,",  # as the files spell it
    "perturbations": "perturbations,",
    "plywood": "plywood,",
    "pt": "points,",
    "rect": "rectangle",
    "tri": "triangle",
}
LEARNED = ("set", "learned from", "draws")
"""First columns of the tables of scores."""


def mean_of(rows: Sequence[Score], method: str, value: str) -> float:
    """Return the mean of a value over the draws of a method; NaN if there is none."""
    values = [getattr(row, value) for row in rows if row.method == method]
    found = [value for value in values if value is not None]
    return float(np.mean(found)) if found else np.nan


def scores_table(rows: Sequence[Score]) -> str:
    """Return one table per kind of set, with one line per set and number of pushes."""
    if not rows:
        return ""
    lines = [
        "Mean errors of predicted final poses, over all pushes that were not learned from.",
        "",
    ]
    with_published = [row for row in rows if _has(rows, row.set, "published")]
    others = [row for row in rows if not _has(rows, row.set, "published")]
    if with_published:
        names = sorted({r.method for r in with_published if r.method.startswith("published")})
        methods = ["identified", ON_CELLS, "even load", *names]
        lines += ["Distance [mm] and angle [degrees], compared with published predictions:", ""]
        cells = [_cells(some, _pairs(some, methods)) for some in _groups(with_published)]
        lines += [markdown([*LEARNED, *methods], cells), ""]
    if others:
        methods = ["identified", ON_CELLS, "even load", "even load, set-up as stated"]
        methods += ["known feet", "known feet, set-up as stated"]
        lines += ["Combined error, distance + 70.7 mm x angle [mm]:", ""]
        cells = []
        for some in _groups(others):
            share = mean_of(some, "identified", "near_feet")
            near = "" if np.isnan(share) else f"{100 * share:.0f} %"
            cells.append(_cells(some, [*_combined(some, methods), near]))
        lines += [markdown([*LEARNED, *methods, "load near the feet"], cells), ""]
    heading = "A load on cells, on three feet, and the mean of both, combined error [mm]:"
    lines += _compared(rows, heading, (ON_CELLS, ON_FEET))
    heading = "What each addition to the model is worth, combined error without it [mm]:"
    lines += _compared(rows, heading, (SETUP_STATED, CENTRE_UNKNOWN, HEIGHT_UNKNOWN))
    return "\n".join(lines + _centres(rows))


def _centres(rows: Sequence[Score]) -> list[str]:
    """Return how far off centres of mass are that were not stated, and how often regions hold."""
    lines: list[list[object]] = []
    for group in _groups([row for row in rows if row.centre_chi2 is not None]):
        held = sum((row.centre_chi2 or 0.0) < CHI2_95 for row in group)
        off = mean_of(group, CENTRE_UNKNOWN, "centre_mm")
        lines.append(_cells(group, [f"{off:.1f}", f"{held} of {len(group)}"]))
    if not lines:
        return []
    heading = "The centre of mass where it is not stated, compared with the stated one:"
    columns = [*LEARNED, "off [mm]", "95 % region holds it"]
    return [heading, "", markdown(columns, lines), ""]


def _compared(rows: Sequence[Score], heading: str, others: Sequence[str]) -> list[str]:
    """Return a table that compares "identified" with other methods, where one of them was tried."""
    lines = []
    for group in _groups(rows):
        found = {(row.draw, row.method) for row in group}
        tried = [other for other in others if any(method == other for _, method in found)]
        # Only draws that were learned with each of these methods can be compared.
        common = {draw for draw, _ in found if all((draw, other) in found for other in tried)}
        if tried and common:
            some = [row for row in group if row.draw in common]
            lines.append(_cells(some, _combined(some, ["identified", *others])))
    if not lines:
        return []
    return [heading, "", markdown([*LEARNED, "identified", *others], lines), ""]


def _has(rows: Sequence[Score], name: str, method: str) -> bool:
    """Return whether a set has a method whose name starts like this."""
    return any(row.set == name and row.method.startswith(method) for row in rows)


def _groups(rows: Sequence[Score]) -> list[list[Score]]:
    """Return the rows of each set and number of pushes learned from."""
    keys = sorted({(row.set, row.pushes) for row in rows})
    return [[row for row in rows if (row.set, row.pushes) == key] for key in keys]


def _cells(rows: Sequence[Score], results: Sequence[str]) -> list[object]:
    """Return a line of a table: what was learned from (`LEARNED`), then the results."""
    return [rows[0].set, rows[0].pushes, len({row.draw for row in rows}), *results]


def _combined(rows: Sequence[Score], methods: Sequence[str]) -> list[str]:
    """Return the mean combined error of each method."""
    return [_number(mean_of(rows, m, "combined_mm")) for m in methods]


def _pairs(rows: Sequence[Score], methods: Sequence[str]) -> list[str]:
    """Return the mean errors of each method, mm and degrees."""
    pairs = [[_number(mean_of(rows, m, v)) for v in ("mm", "deg")] for m in methods]
    return [", ".join(filter(None, pair)) for pair in pairs]


def _number(value: float) -> str:
    """Return a number with two decimals; nothing for NaN."""
    return "" if np.isnan(value) else f"{value:.2f}"


def impossible_note(rows: Sequence[Score]) -> str:
    """Return which predictions count pushes that cannot be simulated; empty if there are none."""
    found = [row for row in rows if row.impossible > 0]
    if not found:
        return ""
    lines = [
        "Some pushes cannot be simulated, because the finger starts too far inside the object. The",
        "object is predicted to stay where it is, and they count as all others do.",
        "",
        markdown(
            ["set", "learned from", "draw", "method", "not simulated", "of"],
            [(r.set, r.pushes, r.draw, r.method, r.impossible, r.tested) for r in found],
        ),
    ]
    return "\n".join(lines) + "\n"


def recordings_table(recorded: Sequence[Recorded], rows: Sequence[Score]) -> str:
    """Return the statistics of long pushes, and how well the later pieces of each are predicted."""
    if not recorded:
        return ""
    names = ["set", "seconds", "pieces", "left out: thrown, still, bent"]
    names += [f"finger over {1e3 * TOUCH:g} mm inside", "gap scatters by [mm]"]
    names += ["changes in a piece by [mm]", "jitter [mm], [degrees]", "mean turn [degrees]"]
    statistics = [
        (
            r.set,
            r.seconds,
            r.pieces,
            f"{r.thrown}, {r.still}, {r.bent}",
            f"{r.inside_percent:.1f} %",
            f"{r.gap_mm:.2f}",
            f"{r.gap_change_mm:.2f}",
            f"{r.jitter_mm:.3f}, {r.jitter_deg:.3f}",
            f"{r.turn_deg:.2f}",
        )
        for r in sorted(recorded, key=lambda one: one.set)
    ]
    methods = ["identified", ON_CELLS, "even load", "even load, set-up as stated"]
    sets = [r.set for r in recorded]
    errors = [
        (some[0].set, some[0].pushes, *_pairs(some, methods))
        for some in _groups([row for row in rows if row.set in sets])
    ]
    lines = [
        f"Long pushes, cut into pieces of {1e3 * PIECE:g} mm.",
        "",
        markdown(names, statistics),
        "",
        "Learned from the first pieces, mean errors of the later ones [mm], [degrees]:",
        "",
        markdown(["set", "learned from", *methods], errors),
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Repeat:
    """How much the same pushes differ between two sets, over sqrt(2)."""

    sets: str
    pushes: int
    mm: float
    mm_median: float
    deg: float
    deg_median: float


def repeats_table(sets: Sequence[RealSet], output: Path) -> str:
    """Add pushes repeated in two sets of the same object to `repeats.csv`; return the table.

    Motions are compared in the frame of the object at the start. The difference of two pushes over
    sqrt(2) is the scatter of one push: no model can predict better if board and object are the
    same.
    """
    found = []
    for a, b in combinations(sets, 2):
        if a.touching or b.touching or a.contact is None or b.contact is None:
            continue
        if a.outline.shape != b.outline.shape or not np.allclose(a.outline, b.outline):
            continue
        difference = _differences(a, b)
        if len(difference) > 10:
            mean = np.mean(difference, axis=0) / np.sqrt(2.0)
            median = np.median(difference, axis=0) / np.sqrt(2.0)
            both = np.column_stack([mean, median]).ravel().tolist()
            found.append(Repeat(f"{a.name} and {b.name}", len(difference), *both))
    every = merge_rows(output / "repeats.csv", found, Repeat, "sets")
    if not every:
        return ""
    lines = [
        (
            r.sets,
            r.pushes,
            f"{r.mm:.2f} ({r.mm_median:.2f})",
            f"{r.deg:.2f} ({r.deg_median:.2f})",
        )
        for r in sorted(every, key=lambda one: one.sets)
    ]
    return (
        "The same pushes made in two sets: difference / sqrt(2), mean (median).\n\n"
        f"{markdown(['sets', 'pushes', 'mm', 'degrees'], lines)}\n"
    )


def _differences(a: RealSet, b: RealSet) -> Array:
    """Return the differences of motion [mm, degrees] of pushes made in both sets, (pairs, 2)."""
    assert a.contact is not None and b.contact is not None
    moved_a, moved_b = _motions(a), _motions(b)
    found = []
    for i, begin in enumerate(a.contact):
        gap = np.hypot(*(b.contact[:, :2] - begin[:2]).T)
        turn = np.abs(b.contact[:, 2] - begin[2])
        j = int(np.argmin(gap + 0.05 * turn))
        if gap[j] < SAME_PLACE and turn[j] < SAME_ANGLE:
            off = moved_a[i] - moved_b[j]
            found.append([1e3 * np.hypot(off[0], off[1]), np.degrees(abs(off[2]))])
    return np.array(found).reshape(-1, 2)


def _motions(data: RealSet) -> Array:
    """Return motions from start to end in the object's frame at the start, (pushes, 3)."""
    motions = []
    for record in data.records:
        x, y, turn = record.pose[-1] - record.pose[0]
        cos, sin = np.cos(record.pose[0, 2]), np.sin(record.pose[0, 2])
        motions.append([cos * x + sin * y, -sin * x + cos * y, turn])
    return np.array(motions)


def readable_set(name: str) -> str:
    """Return the name of a set of pushes, which is its path, in words."""
    source, _, rest = name.partition("/")
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[a-z])", " ", rest)
    plain = re.sub(r"\b(2016 10 23|v 10) ?", "", spaced.replace("_", " ").lower())
    plain = re.sub(r"(straight line )+", "straight line, ", plain)
    words = (_SET_WORDS.get(word, word) for word in plain.split())
    day = " (23 October)" if "2016_10_23" in rest else ""
    return f"{_SET_SOURCES.get(source, source)}: {' '.join(words).rstrip(',')}{day}"


@styled
def draw_curves(rows: Sequence[Score], path: Path) -> None:
    """Draw the error against the number of pushes learned from, one panel per set."""
    from matplotlib.figure import Figure

    names = sorted({row.set for row in rows})
    columns = min(4, len(names))
    lines = -(-len(names) // columns)
    figure = Figure(figsize=(3.4 * columns, 2.6 * lines), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False)
    for ax in axes.flat[len(names) :]:
        ax.set_axis_off()
    methods = dict.fromkeys(row.method for row in rows if "," not in row.method)
    colours = {method: f"C{i}" for i, method in enumerate(methods)}
    for ax, name in zip(axes.flat, names, strict=False):
        mine = [row for row in rows if row.set == name]
        for method in dict.fromkeys(row.method for row in mine if row.method in colours):
            counts = sorted({row.pushes for row in mine})
            value = [
                mean_of([r for r in mine if r.pushes == k], method, "combined_mm") for k in counts
            ]
            style = "o-" if method == "identified" else "."
            ax.plot(counts, value, style, color=colours[method], label=method, markersize=4)
        ax.set_title(fill(readable_set(name), 36), fontsize=9)
        ax.set_ylim(0.0, 1.1 * max(row.combined_mm for row in mine))
        ax.set_xlim(0.0, 1.1 * max(row.pushes for row in mine))
    marks = {line.get_label(): line for ax in axes.flat for line in ax.get_lines()}
    figure.legend(marks.values(), marks.keys(), loc="outside upper center", ncols=5)
    figure.supxlabel("pushes learned from", fontsize=10)
    figure.supylabel("mean error, distance + 70.7 mm x angle [mm]", fontsize=10)
    save_figure(figure, path, dpi=110)
