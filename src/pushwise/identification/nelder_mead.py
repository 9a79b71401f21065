"""Nelder and Mead's simplex, by SciPy."""

from __future__ import annotations

from scipy.optimize import minimize

from pushwise.identification.search import Search

__all__ = ["search_by_simplex"]


def search_by_simplex(search: Search) -> None:
    """Move a simplex in the box until the budget ends, and start anew where it collapsed."""
    while True:
        minimize(
            search.error,
            search.best,
            method="Nelder-Mead",
            bounds=[(0.0, 1.0)] * search.box.size,
            options={"maxfev": 10**6, "xatol": 1e-6, "fatol": 1e-9, "adaptive": True},
        )
