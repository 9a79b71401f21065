"""Plane geometry: polygons, and how far two poses of an object are apart."""
