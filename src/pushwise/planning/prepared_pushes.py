"""`prepared_pushes`: library and value function of an object, prepared once and kept in memory."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from pushwise.physics.model import ObjectModel
from pushwise.physics.push import Finger
from pushwise.planning.contact_routes import ContactRoutes
from pushwise.planning.near_goal import NearGrid, near_goal
from pushwise.planning.push_library import PushLibrary
from pushwise.planning.push_search import PushSearch
from pushwise.planning.value import CONTACT_COST, ValueFunction

__all__ = ["PreparedPushes", "prepared_pushes"]

_KEPT = 16  # objects; the values of one take a few megabytes
_CACHE: OrderedDict[bytes, PreparedPushes] = OrderedDict()


@dataclass(frozen=True, eq=False)
class PreparedPushes:
    """What searches for pushes of an object need."""

    library: PushLibrary
    """The pushes."""
    value: ValueFunction
    """The cost to reach a goal from far away."""
    near: NearGrid
    """The cost to reach it with a single contact."""
    routes: ContactRoutes
    """Times from contact to contact."""

    def search(self) -> PushSearch:
        """Return a search of its own for a caller, since a search keeps state between calls."""
        between = CONTACT_COST + self.routes.between
        return PushSearch(self.library, self.value, self.near, between)


def prepared_pushes(model: ObjectModel, finger: Finger) -> PreparedPushes:
    """Return what searches need for a model and a finger; a few seconds the first time."""
    key = _key(model, finger)
    if key not in _CACHE:
        library = PushLibrary.of(model, finger)
        value = ValueFunction.of(library, model.grid)
        near = near_goal(library, value.grid)
        routes = ContactRoutes(model.grid.outline, library.contacts)
        _CACHE[key] = PreparedPushes(library, value, near, routes)
        if len(_CACHE) > _KEPT:
            _CACHE.popitem(last=False)
    _CACHE.move_to_end(key)
    return _CACHE[key]


def _key(model: ObjectModel, finger: Finger) -> bytes:
    """Return a key that is the same for models and fingers that are the same."""
    grid = model.grid
    numbers = [grid.centres, grid.outline, model.mass, model.friction]
    digest = sha256(repr((grid.cell_size, finger)).encode())
    for array in numbers:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()
