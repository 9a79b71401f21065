"""The errors Pushwise raises on purpose; each message is one sentence for a person."""

__all__ = ["PushwiseError", "PushwiseWarning", "SimulationError"]


class PushwiseError(ValueError):
    """A value, a file or a request that cannot be right; the message says what would be."""


class SimulationError(PushwiseError):
    """A push that cannot be simulated; the message says which push and when."""


class PushwiseWarning(UserWarning):
    """Something a person should know that is no error; the message is one sentence."""
