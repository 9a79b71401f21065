"""What is stated about a table of real pushes: outline, mass and centre of the object, the finger.

It is stated by a JSON file with the name of the table (`object`, `pusher`), or by an entry of an
`objects.json` in a folder above whose key is part of that name. The caller may add what neither of
them states, in the same form.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pushwise.checks import finite_array, non_negative_number, positive_number
from pushwise.documents import read_json
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import simple_polygon
from pushwise.typing import Array

__all__ = ["Unstated", "centre_of", "given", "outline_of", "radius_of", "stated"]


Stated = dict[str, Any]
_BODY_FRAME = "outline_body_frame_m"
TIP = 1e-3  # m; radius with which a sharp tip is simulated


class Unstated(PushwiseError):
    """A table lacks its outline or finger; the message says which, and how to state it."""


def given(outline: Path | None = None, radius: float | None = None) -> Stated:
    """Return what the user states about tables whose files do not.

    Args:
        outline: JSON file with corners [[x, y], ...] [m] in the tracked frame, or with an object
            as the files next to tables describe it: `outline_m` and optionally `thickness_m`,
            `mass_kg` and `centre_of_mass_m`. A saved grid also works.
        radius: Radius of the finger [m].

    """
    said: Stated = {}
    if outline is not None:
        document = read_json(outline)
        thing = document if isinstance(document, dict) else {"outline_m": document}
        said["object"] = {**thing, "outline_m": outline_of(outline, thing)}
    if radius is not None:
        said["pusher"] = {"radius_m": positive_number("radius", radius)}
    return said


def stated(path: Path, otherwise: Stated) -> Stated:
    """Return what is stated about a table; `otherwise` supplies what its files do not state."""
    found = _beside(path, needed="object" not in otherwise)
    pusher = {**otherwise.get("pusher", {}), **found.get("pusher", {})}
    return {**otherwise, **found, "pusher": pusher}


def _beside(path: Path, *, needed: bool) -> Stated:
    """Return what JSON files state about a table: its own, or a list of objects above it."""
    own = path.with_name(path.name.split(".")[0] + ".json")
    if own.is_file() and "object" in (document := read_json(own)):
        return dict(document)
    parts = path.name.split(".")[0].split("_")
    for folder in path.parents:
        listed = folder / "objects.json"
        if listed.is_file():
            whole = read_json(listed)
            objects = whole.get("objects") if isinstance(whole, dict) else None
            if not isinstance(objects, dict):
                continue  # it belongs to something else
            for name in parts:
                if name in objects:
                    return {"object": objects[name], "pusher": whole.get("pusher", {})}
            if needed:
                raise Unstated(
                    f"{path}: no part of its name is an object of {listed}; its objects are "
                    f"{', '.join(objects)}."
                )
            break
    if needed:
        raise Unstated(
            f"{path}: no outline: neither {own.name} nor an objects.json states one; give it with "
            "--outline, and the radius of the finger with --radius."
        )
    return {}


def outline_of(path: Path, thing: Stated) -> Array:
    """Return the outline [m] from the description of an object in a file, shape (k, 2)."""
    return simple_polygon(f"the outline of {path}", thing[_outline_key(path, thing)])


def _outline_key(path: Path, thing: Stated) -> str:
    """Return the key of the outline in the description of an object."""
    if not isinstance(thing, dict):
        raise PushwiseError(
            f"{path}: an object must be described by a JSON object; got {thing!r:.60}."
        )
    for key, value in thing.items():
        if key.startswith("outline") and not isinstance(value, str):
            return key
    raise PushwiseError(
        f"{path}: the object is described without an outline; it has {', '.join(thing)}."
    )


def centre_of(path: Path, thing: Stated) -> tuple[float, float] | None:
    """Return the centre of mass [m] in the frame of the outline; None if it is not stated.

    It is `centre_of_mass_m`, the origin of an outline in the frame of the centre of mass, or the
    centroid of a uniform plate in the frame of its outline.
    """
    outline = _outline_key(path, thing)
    if outline == "outline_com_frame_m":
        return 0.0, 0.0
    for key, of in (("centre_of_mass_m", outline), ("centroid_body_frame_m", _BODY_FRAME)):
        if key in thing and of == outline:
            x, y = finite_array(f"{key} of {path}", thing[key], (2,)).tolist()
            return x, y
    return None


def radius_of(path: Path, pusher: Stated) -> float:
    """Return the radius [m] with which to simulate the finger of a table."""
    if "radius_m" not in pusher:
        raise Unstated(f"{path}: the radius of the finger is not stated; give it with --radius.")
    return max(non_negative_number(f"radius_m of {path}", pusher["radius_m"]), TIP)
