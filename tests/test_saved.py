"""Grids, models and scans as JSON."""

import errno
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pushwise as pw
from pushwise.errors import PushwiseError
from pushwise.model_files import load_grid, to_json

HAMMER = pw.objects.load("hammer")


def scan() -> pw.Scan:
    """Return the scan of a ring."""
    x, y = np.random.default_rng(0).uniform(-0.2, 0.2, (2, 20_000))
    away = np.hypot(x, y)
    z = np.where((away > 0.05) & (away < 0.1), 0.03, 0.0)
    return pw.Scan.from_points(np.column_stack([x, y, z]), pw.ScanOptions(cell_size=0.01))


def same_grid(a: pw.CellGrid, b: pw.CellGrid) -> bool:
    """Compare two grids bit for bit."""
    names = ("centres", "heights", "outline")
    return a.cell_size == b.cell_size and all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in names
    )


@pytest.mark.parametrize("name", pw.objects.names)
def test_grids_and_models_come_back_bit_for_bit(name: str, tmp_path: Path) -> None:
    """Load exactly what was saved."""
    thing = pw.objects.load(name)
    pw.save(thing.grid, tmp_path / "grid.json")
    pw.save(thing.model, tmp_path / "model.json")
    grid, model = pw.load(tmp_path / "grid.json"), pw.load(tmp_path / "model.json")
    assert isinstance(grid, pw.CellGrid)
    assert isinstance(model, pw.ObjectModel)
    assert same_grid(grid, thing.grid)
    assert same_grid(load_grid(tmp_path / "model.json"), thing.grid)
    assert np.array_equal(model.mass, thing.mass)
    assert np.array_equal(model.friction, thing.friction)


def test_scans_come_back_bit_for_bit(tmp_path: Path) -> None:
    """Keep where the grid is and what was dropped."""
    before = scan()
    pw.save(before, tmp_path / "scan.json")
    after = pw.load(tmp_path / "scan.json")
    assert isinstance(after, pw.Scan)
    assert same_grid(after.grid, before.grid)
    assert np.array_equal(after.frame, before.frame)
    assert [hole.tolist() for hole in after.holes] == [hole.tolist() for hole in before.holes]
    assert after.table.coefficients == before.table.coefficients
    assert (after.noise, after.points, after.dropped) == (
        before.noise,
        before.points,
        before.dropped,
    )
    assert after.summary() == before.summary()


def test_a_cell_is_a_line() -> None:
    """Write files that a person can read."""
    lines = to_json(HAMMER.model).splitlines()
    assert '  "columns": ["x", "y", "height", "mass", "friction"],' in lines
    assert len(lines) < HAMMER.grid.n_cells + len(HAMMER.outline) + 20
    with pytest.raises(PushwiseError, match="only a CellGrid, an ObjectModel, a Belief, a Scan or"):
        to_json(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("format", "other", "format must be"),
        ("version", 2, "version must be 1, the one this release reads; it is 2"),
        ("kind", "cat", "kind must be one of grid, scan, model, scene; it is 'cat'"),
        ("kind", [], "kind must be one of"),
        ("units", "mm", "units must be"),
        ("cell_size", -1, "cell_size must be greater than zero; got -1"),
        ("cell_size", "1", "cell_size must be"),
        ("cell_size", 10**400, "cell_size must be"),
        ("columns", ["x"], "columns of a scan must be x, y, height"),
        ("cells", [[0, 0]], r"cells must have shape \(n, 3\)"),
        ("cells", [[0, 0, -1]], r"heights must be greater than zero; heights\[0\] is -1"),
        ("cells", [[0, 0, 1], [0, 5, 1]], "one patch of cells"),
        ("cells", [[0, 0, float("nan")]], "NaN is not a number"),
        ("outline", [[0, 0], [1, 1]], "outline must have at least three corners"),
        ("frame", np.ones((4, 4)).tolist(), "frame must be a rotation"),
        ("holes", 3, "holes must be a list"),
        ("holes", [[[1]]], r"holes\[0\] must have shape"),
        ("table", [0, 0, 0, 1], "table must have a normal"),
        ("noise", -1, "noise must be zero or more"),
        ("points", 1.5, "points must be a whole number"),
        ("dropped", [{}], r"dropped\[0\] must have the fields what, points, share"),
        ("dropped", [{"what": 1, "points": 1, "share": 0}], r"dropped\[0\]\.what must be text"),
        ("colour", 1, "'colour' is not a field of a scan"),
    ],
)
def test_wrong_fields_are_named(field: str, value: object, sentence: str, tmp_path: Path) -> None:
    """Name the field that is wrong, and the file."""
    path = tmp_path / "scan.json"
    path.write_text(json.dumps(json.loads(to_json(scan())) | {field: value}))
    with pytest.raises(PushwiseError, match=sentence) as refusal:
        pw.load(path)
    assert "scan.json: " in str(refusal.value)


@pytest.mark.parametrize("field", ["kind", "units", "cells", "outline", "frame", "dropped"])
def test_missing_fields_are_named(field: str, tmp_path: Path) -> None:
    """Name the field that is missing."""
    document = json.loads(to_json(scan()))
    del document[field]
    path = tmp_path / "scan.json"
    path.write_text(json.dumps(document))
    with pytest.raises(PushwiseError, match=field):
        pw.load(path)


def test_files_that_cannot_be_are_named(tmp_path: Path) -> None:
    """Say when there is no file, no JSON or no way to write."""
    with pytest.raises(PushwiseError, match="there is no such file"):
        pw.load(tmp_path / "none.json")
    with pytest.raises(PushwiseError, match="cannot write"):
        pw.save(HAMMER.grid, tmp_path / "no" / "grid.json")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(PushwiseError, match="not a JSON file"):
        pw.load(tmp_path / "deep.json")


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.binary(max_size=3))
def test_damaged_files_never_break_the_reader(
    tmp_path: Path, cut: float, where: float, change: bytes
) -> None:
    """Load or refuse files that are cut short or changed."""
    content = to_json(HAMMER.model).encode()
    at = int(where * len(content))
    content = content[:at] + change + content[at + len(change) :]
    path = tmp_path / "model.json"
    path.write_bytes(content[: int(cut * len(content)) + 1] if cut < 0.5 else content)
    try:
        assert isinstance(pw.load(path), pw.ObjectModel)
    except PushwiseError as error:
        assert "\n" not in str(error)


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the old file as it was when the disk is full; write to what is no file directly."""
    path = tmp_path / "grid.json"
    pw.save(HAMMER.grid, path)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(PushwiseError, match=r"cannot write .*grid\.json \(No space left"):
        pw.save(HAMMER.model, path)
    with pytest.raises(PushwiseError, match=r"cannot write .*a\.xml \(No space left"):
        pw.export.write(HAMMER.model, tmp_path / "a.xml")
    assert path.read_bytes() == before
    pw.save(HAMMER.grid, "/dev/null")
