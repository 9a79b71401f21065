"""Plane geometry: polygons, and the distance between two poses of an object."""
