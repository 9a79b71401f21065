"""The paper's nine objects, drawn to life size, with the truth about their mass and friction."""

from pushwise.objects.camera import Camera
from pushwise.objects.thing import Part, Thing, load, names

__all__ = ["Camera", "Part", "Thing", "load", "names"]
