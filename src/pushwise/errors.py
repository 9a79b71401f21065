"""The errors and warnings of Pushwise; each message is one sentence for people."""

__all__ = ["PushwiseError", "PushwiseWarning", "SimulationError", "WriteError", "reason"]


class PushwiseError(ValueError):
    """An invalid value, file or request; the message says what would be valid."""


class SimulationError(PushwiseError):
    """A push that cannot be simulated; the message names the push and the time."""


class WriteError(PushwiseError):
    """A file that cannot be written; the message names it, the reason and what was kept."""


class PushwiseWarning(UserWarning):
    """Something the user should know that is not an error; the message is one sentence."""


def reason(error: BaseException) -> str:
    """Return the message of a library's error for brackets: one short line without a full stop."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:120].rstrip(".")
