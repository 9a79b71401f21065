"""The paper's nine objects, drawn to life size, with the truth about their mass and friction."""

from pushwise.objects.thing import Part, Thing, load, names

__all__ = ["Part", "Thing", "load", "names"]
