"""The film of `pushwise experiment pusht`: episodes of each case side by side, as a GIF."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from pushwise.atomic_write import replacing
from pushwise.typing import Array

__all__ = ["write_film"]

_SIDE = 256  # px
_CAPTION = 22  # px
_FRAME = 80  # ms; a little faster than the 100 ms that a step takes
_PAUSE = 10  # frames at the end of an episode
_COLOURS = 32


def write_film(path: Path, captions: Sequence[str], episodes: Sequence[Sequence[Array]]) -> None:
    """Write a film.

    Args:
        path: GIF file.
        captions: One per case.
        episodes: States [px, px, px, px, rad] of each case, shape (steps, 5), episode by episode.

    """
    frames = []
    for shown in episodes:
        for k in range(max(map(len, shown)) + _PAUSE):
            states = [states[min(k, len(states) - 1)] for states in shown]
            steps = [min(k, len(one) - 1) for one in shown]
            frames.append(_frame(captions, states, steps))
    palette = frames[0].quantize(_COLOURS)
    images = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    options = {"save_all": True, "append_images": images[1:], "duration": _FRAME, "loop": 0}
    with replacing(path) as half:
        images[0].save(half, "GIF", **options)


def _frame(captions: Sequence[str], states: Sequence[Array], steps: Sequence[int]) -> Image.Image:
    """Return one picture of all cases."""
    from pushwise.envs.picture import picture
    from pushwise.envs.push_t import top_view
    from pushwise.envs.push_t_task import AGENT, GOAL, PIXEL, t_model

    outline = t_model().grid.outline / PIXEL
    whole = Image.new("RGB", (_SIDE * len(states), _SIDE + _CAPTION), "white")
    draw = ImageDraw.Draw(whole)
    for i, (caption, state, step) in enumerate(zip(captions, states, steps, strict=True)):
        view = top_view(state, np.array(GOAL), outline, AGENT.radius / PIXEL)
        whole.paste(Image.fromarray(picture(view, (_SIDE, _SIDE))), (i * _SIDE, _CAPTION))
        at = (i * _SIDE + 6, 4)
        draw.text(at, f"{caption}: {step}", fill="black", font=ImageFont.load_default(12))
    return whole
