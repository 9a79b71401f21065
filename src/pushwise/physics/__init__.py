"""The equations of motion of cells with mass and friction, and what pushes them."""

from pushwise.physics.actions import Finger, ForcePush, Push
from pushwise.physics.model import ObjectModel, Table

__all__ = ["Finger", "ForcePush", "ObjectModel", "Push", "Table"]
