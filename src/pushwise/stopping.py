"""Ctrl-C ends a command within two seconds, and says what is left of the work.

Python raises KeyboardInterrupt where the main thread is, which may be deep in compiled code that
does not return for long, or in a callback that loses it. Files are complete at any moment, so a
command that has not ended by itself may be ended the hard way.

Nothing is imported here that takes time: Ctrl-C may come while the command is still loading.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["INTERRUPTED", "keeps", "said_when_stopped", "stoppable"]

INTERRUPTED = 130
"""The exit code of a command stopped by Ctrl-C, as shells have it: 128 and the signal's number."""

_PATIENCE = 1.2  # s that a command has to end by itself
_NOTHING = "no file is left half-written."
_kept = _NOTHING
_watched = False


def keeps(what: str) -> None:
    """State what is left if the command is stopped from now on, as the end of a sentence."""
    global _kept
    _kept = what


def said_when_stopped() -> str:
    """Return the sentence with which a stopped command ends."""
    return f"stopped; {_kept}"


@contextmanager
def stoppable() -> Iterator[None]:
    """End the process if the block continues for long after Ctrl-C; blocks may be nested."""
    global _watched
    if _watched or threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    ended = threading.Event()
    # Python's own handler of a signal runs in the main thread, when that gets to it; the number of
    # the signal is written to the pipe at once.
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(reader, ended), daemon=True)
    watcher.start()
    _watched = True
    hook, sys.unraisablehook = sys.unraisablehook, _report_unraisable
    keeps(_NOTHING)
    try:
        yield
    finally:
        ended.set()
        sys.unraisablehook = hook
        signal.set_wakeup_fd(before)
        os.close(writer)  # which ends the watcher
        watcher.join()
        os.close(reader)
        _watched = False


def _report_unraisable(lost: sys.UnraisableHookArgs) -> None:
    """Report an error that was lost in a callback, unless it is Ctrl-C: the watcher ends that."""
    if lost.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(lost)


def _watch(reader: int, ended: threading.Event) -> None:
    """Wait for Ctrl-C, then for the end of the block; end the process if that does not come."""
    while number := os.read(reader, 1):
        if number[0] == signal.SIGINT and not ended.wait(_PATIENCE):
            # The cursor may be hidden by a progress bar.
            shown = "\x1b[?25h\n" if sys.stderr.isatty() else ""
            os.write(2, f"{shown}pushwise: {said_when_stopped()}\n".encode())
            os._exit(INTERRUPTED)
