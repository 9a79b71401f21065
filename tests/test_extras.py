"""Packages that are optional: what is said when one of them is missing."""

import json
import sys
from pathlib import Path

import pytest

from pushwise.errors import PushwiseError
from pushwise.extras import require


def test_an_installed_module_is_returned() -> None:
    """A module that is there is imported, a submodule included."""
    assert require("json", extra="none", purpose="this test") is json
    path = require("os.path", extra="none", purpose="this test")
    assert path.basename("a/b") == "b"


def test_a_missing_package_is_named_with_its_extra() -> None:
    """One sentence says what needs which package, and how to install it."""
    with pytest.raises(PushwiseError) as caught:
        require("no_such_package.part", extra="recordings", purpose="reading ROS bags")
    assert str(caught.value) == (
        "reading ROS bags needs the package no_such_package; "
        "install it with: pip install 'pushwise[recordings]'"
    )
    with pytest.raises(PushwiseError, match=r"needs the package usd-core; .*\(Python 3.11 only\)$"):
        require(
            "no_such_package",
            extra="usd",
            purpose="writing USD files",
            package="usd-core",
            note="Python 3.11 only",
        )


def test_what_an_installed_package_lacks_is_its_own_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package that is there but broken is not reported as missing."""
    (tmp_path / "half_installed.py").write_text("import no_such_dependency\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_dependency"):
        require("half_installed", extra="none", purpose="this test")
    assert "half_installed" not in sys.modules
