"""Weighted sampling, as the authors ran it: normal about the best, ever closer to it."""

from __future__ import annotations

from pushwise.identification.search import Search

__all__ = ["search_near_the_best"]

FIRST = 0.5  # of the box: the first spread
LAST = 0.02
EVERY = 10  # draws, after which the spread is halved


def search_near_the_best(search: Search) -> None:
    """Draw about the best point so far, with half the spread every ten draws."""
    search.error(search.box.middle)
    drawn = 0
    while True:
        spread = max(FIRST * 0.5 ** (drawn // EVERY), LAST)
        search.error(search.best + spread * search.rng.standard_normal(search.box.size))
        drawn += 1
