"""Figures, the report of a run, the 3D viewer, and progress on the terminal."""
