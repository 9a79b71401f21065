"""Exporting a model to files that other simulators read: MJCF, URDF, SDF and USD."""

from pushwise.export.formats import FORMATS, format_of, mjcf, sdf, urdf, write
from pushwise.export.solid import Solid
from pushwise.export.usd_stage import usd

__all__ = ["FORMATS", "Solid", "format_of", "mjcf", "sdf", "urdf", "usd", "write"]
