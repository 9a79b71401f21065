"""The equations of motion of cells with mass and friction, and what pushes them."""

from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger, ForcePush, Push

__all__ = ["Finger", "ForcePush", "ObjectModel", "Push", "Table"]
