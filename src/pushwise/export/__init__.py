"""Exporting a model to files that other simulators read: MJCF, URDF and SDF."""

from pushwise.export.formats import FORMATS, format_of, mjcf, sdf, urdf, write
from pushwise.export.solid import Solid

__all__ = ["FORMATS", "Solid", "format_of", "mjcf", "sdf", "urdf", "write"]
