"""`pushwise experiment soak`: what it counts."""

import json
from pathlib import Path

import numpy as np
import pytest

from command import pushwise
from pushwise.errors import PushwiseError
from pushwise.experiments import soak
from pushwise.experiments.rows import read_rows


def test_a_soak_counts_what_goes_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Count exceptions and refusals apart, name their cases, and keep a row for each."""

    def breaks(name: str, rng: np.random.Generator, folder: Path) -> str:
        raise ZeroDivisionError("by nothing")

    def refuses(name: str, rng: np.random.Generator, folder: Path) -> str:
        raise PushwiseError("no goal.")

    def works(name: str, rng: np.random.Generator, folder: Path) -> str:
        return f"drew {rng.random()}"

    monkeypatch.setattr(soak, "_KINDS", {"slide": breaks, "identify": refuses, "control": works})
    said = pushwise("experiment", "soak", "--minutes", 0.01, "--json", "-o", tmp_path / "a")
    assert said.code == 0, said.err
    rows = read_rows(tmp_path / "a" / "rows.csv")
    assert len(rows) == len(json.loads(said.out)) > 20
    for row in rows:
        broke = "ZeroDivisionError: by nothing" in str(row["exception"])
        assert broke == (row["kind"] == "slide")
        assert (row["kind"] == "identify") == (row["end"] == "refused: no goal.")
    table = (tmp_path / "a" / "table.md").read_text()
    slides = sum(row["kind"] == "slide" for row in rows)
    assert f"| slide | {slides} | {slides} | 0 | " in table
    assert ": ZeroDivisionError: by nothing" in table
    again = pushwise("experiment", "soak", "--minutes", 0.01, "--json", "-o", tmp_path / "b")
    for one, other in zip(rows, json.loads(again.out), strict=False):
        assert (one["kind"], one["object"], one["end"]) == (
            other["kind"],
            other["object"],
            other["end"],
        )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["identify", "control"])
def test_a_case_of_each_kind_ends_well(kind: str, tmp_path: Path) -> None:
    """Run a case of each quick kind; slides have tests of their own."""
    end = soak._KINDS[kind]("box", np.random.default_rng(0), tmp_path / "case")
    assert end in ("the goal is reached", "identified from 6 pushes"), end
