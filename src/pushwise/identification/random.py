"""Random search, the first of the paper's compared methods: draw in the box, keep the best."""

from __future__ import annotations

from pushwise.identification.search import Search

__all__ = ["search_randomly"]


def search_randomly(search: Search) -> None:
    """Draw points of the box, all equally likely, until the budget ends."""
    search.error(search.box.middle)
    while True:
        search.error(search.rng.uniform(size=search.box.size))
