"""A clock for tests of time limits: it moves on when it is looked at, and only then."""


class Ticking:
    """A clock on which what happens between two looks takes 5 ms."""

    def __init__(self) -> None:
        """Start at zero."""
        self.now = 0.0

    def __call__(self) -> float:
        """Return the time [s], a little later than last time."""
        self.now += 0.005
        return self.now
