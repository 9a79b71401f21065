"""The style of all figures: fonts, axes, and colours that colour-blind people can distinguish.

`styled` applies it to a function that draws, and to nothing else: the settings of Matplotlib are
the user's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

__all__ = ["CENTRE", "COLOURS", "styled"]

P = ParamSpec("P")
R = TypeVar("R")

COLOURS = {
    "blue": "#0072b2",
    "orange": "#d55e00",
    "green": "#009e73",
    "pink": "#cc79a7",
    "sky": "#56b4e9",
    "yellow": "#e69f00",
    "black": "#000000",
    "grey": "#888888",
}
"""Colours of lines and bars, by name (Okabe and Ito)."""

CENTRE = "#b5123f"
"""Colour of a centre of mass, as in the report."""

_SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10.0,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.labelsize": 10.0,
    "axes.labelcolor": "0.2",
    "axes.edgecolor": "0.4",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "0.85",
    "grid.linewidth": 0.6,
    "xtick.color": "0.3",
    "ytick.color": "0.3",
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    "legend.title_fontsize": 9.0,
    "figure.titlesize": 11.0,
    "image.cmap": "viridis",
    "lines.linewidth": 1.6,
}


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Let a function draw in this style."""

    @functools.wraps(draw)
    def drawn(*args: P.args, **named: P.kwargs) -> R:
        from cycler import cycler
        from matplotlib import rc_context

        colours = cycler(color=list(COLOURS.values()))
        settings: Any = {**_SETTINGS, "axes.prop_cycle": colours}
        with rc_context(settings):
            return draw(*args, **named)

    return drawn
