"""Constants of the physics, in SI units."""

__all__ = ["GRAVITY", "STICTION_SPEED"]

GRAVITY = 9.81
"""Acceleration of free fall [m/s^2]."""

STICTION_SPEED = 1e-5
"""Speed [m/s] below which Coulomb friction at the end of the step is smoothed."""
