"""The paper's nine objects at life size, with their true mass and friction."""

from pushwise.objects.camera import Camera
from pushwise.objects.thing import Part, Thing, all_names, load, names, scene_points, shapes

__all__ = ["Camera", "Part", "Thing", "all_names", "load", "names", "scene_points", "shapes"]
