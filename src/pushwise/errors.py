"""The errors Pushwise raises on purpose; each message is one sentence for a person."""

__all__ = ["PushwiseError", "SimulationError"]


class PushwiseError(ValueError):
    """A value, a file or a request that cannot be right; the message says what would be."""


class SimulationError(PushwiseError):
    """A push that cannot be simulated; the message says which push and when."""
