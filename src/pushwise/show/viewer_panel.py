"""Pieces of the viewer's panel: badges, tables of values, legends, and its layout on a phone."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from html import escape
from typing import Protocol, TypeVar

import viser

from pushwise.planning.stability import Stability
from pushwise.show.quantities import Quantity, gradient
from pushwise.show.viewer_data import Viewed
from pushwise.show.viewer_object import Colour
from pushwise.typing import Array

__all__ = [
    "STYLE",
    "Standing",
    "ViewerMode",
    "assign",
    "badge",
    "legend",
    "note",
    "on_plane",
    "readings",
    "standing",
]

T = TypeVar("T")

_NEAR = 0.005  # m from tipping, within which no prediction is trusted

_SHEET = 'div.mantine-Paper-root[style*="position: fixed"][style*="bottom: 0"]'
STYLE = f"""<style>
@media (max-width: 36em) {{
  /* Viser's panel on a phone: as wide as the screen, and below the scene. */
  {_SHEET} {{ max-height: 45vh !important; }}
  {_SHEET}, {_SHEET} [style*="width: 20em"] {{ width: 100vw !important; }}
}}
</style>"""
"""What makes the panel fit a phone, as an element of the page."""


class ViewerMode(Protocol):
    """Something to do in the viewer: controls of its own, and the object in its hands."""

    folder: viser.GuiFolderHandle
    """Its controls."""

    @property
    def pose(self) -> Array:
        """Where the object is [m, m, rad], shape (3,)."""

    def enter(self, pose: Array) -> None:
        """Begin; the object was at a pose (3,) before."""

    def leave(self) -> None:
        """End, and hide what other modes do not need."""


class Standing(Enum):
    """Whether an object stays on the table: a colour, and a sign for who does not see colours."""

    RESTS = ("\u2713", "Rests", (0, 140, 100))
    MAY_FALL = ("!", "May fall", (226, 150, 0))
    FALLS = ("\u2717", "Falls", (200, 30, 40))

    @property
    def text(self) -> str:
        """A sign and a word."""
        return f"{self.value[0]} {self.value[1]}"

    @property
    def colour(self) -> Colour:
        """Green, amber or red."""
        return self.value[2]


def standing(viewed: Viewed, rests: Stability, overhang: float) -> Standing:
    """Return whether an object stays on the table.

    Args:
        viewed: The object, and the risk that is allowed.
        rests: How it rests.
        overhang: How far it extends over the edge [m].

    """
    if rests.margin < 0.0:
        return Standing.FALLS
    unknown = viewed.belief.assumed and overhang > 0.0
    risky = rests.fall_probability > viewed.options.max_fall_probability
    return Standing.MAY_FALL if unknown or risky or rests.margin < _NEAR else Standing.RESTS


def badge(text: str, colour: Colour) -> str:
    """Return a text on a colour, as HTML."""
    return (
        f'<div style="background:rgb{colour};color:white;font-weight:600;border-radius:0.3em;'
        f'padding:0.25em 0.7em;margin:0.2em 0.75em">{escape(text)}</div>'
    )


def readings(values: Mapping[str, str]) -> str:
    """Return names and values as an HTML table."""
    faint = "opacity:0.7;padding-right:1em;white-space:nowrap;vertical-align:top"
    rows = "".join(
        f'<tr><td style="{faint}">{escape(name)}</td>'
        f'<td style="font-variant-numeric:tabular-nums">{escape(value)}</td></tr>'
        for name, value in values.items()
    )
    return f'<table style="font-size:0.875em;margin:0.2em 0.75em">{rows}</table>'


def note(text: str) -> str:
    """Return a sentence as HTML."""
    return f'<div style="font-size:0.875em;margin:0.3em 0.75em">{escape(text)}</div>'


def legend(shown: Quantity) -> str:
    """Return the colour scale of a quantity, from zero to the largest value, as HTML."""
    return (
        '<div style="display:flex;align-items:center;gap:0.5em;font-size:0.8em;'
        'padding:0.2em 0.75em 0.5em"><span>0</span><span style="flex:1;height:0.7em;'
        f'border-radius:0.35em;background:{gradient(shown.scheme)}"></span>'
        f"<span>{escape(shown.top)}</span></div>"
    )


def assign(control: viser.GuiInputHandle[T], value: T) -> None:
    """Set a control as if the user had."""
    control.value = value  # type: ignore[misc]  # mypy misses a setter apart from its property


def on_plane(
    camera: viser.CameraHandle, seen: tuple[float, float, float], height: float
) -> Array | None:
    """Return where the line of sight through a point meets a horizontal plane, shape (2,).

    None where it does not: above the horizon.
    """
    eye = camera.position
    along = seen - eye
    if along[2] > -0.02 * float((along @ along) ** 0.5):
        return None
    at: Array = (eye + along * (height - eye[2]) / along[2])[:2]
    return at
