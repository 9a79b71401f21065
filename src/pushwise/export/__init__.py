"""A model as a file that other simulators read: MJCF, URDF and SDF."""

from pushwise.export.files import FORMATS, write
from pushwise.export.mjcf import mjcf
from pushwise.export.sdf import sdf
from pushwise.export.solid import Solid
from pushwise.export.urdf import urdf

__all__ = ["FORMATS", "Solid", "mjcf", "sdf", "urdf", "write"]
