"""The `pushwise` command: its commands, a module each, and how they end.

Commands import what they need when they run, so that `pushwise --help` stays quick.
"""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, NoReturn, TextIO

import typer

from pushwise import __version__
from pushwise.cli.bench import bench
from pushwise.cli.convert import convert
from pushwise.cli.everything import all_experiments
from pushwise.cli.experiment import experiment, experiment_command
from pushwise.cli.export import export
from pushwise.cli.identify import identify
from pushwise.cli.options import PlainCommand, PlainGroup, Stopped
from pushwise.cli.plan import plan
from pushwise.cli.record import record
from pushwise.cli.recorded_experiments import real, scenes
from pushwise.cli.scan import scan
from pushwise.cli.slide import slide
from pushwise.cli.soak import soak
from pushwise.cli.view import view
from pushwise.errors import PushwiseError, PushwiseWarning
from pushwise.stopping import INTERRUPTED, said_when_stopped, stoppable

__all__ = ["app", "main"]

app = typer.Typer(cls=PlainGroup, add_completion=False, pretty_exceptions_enable=False)


def main() -> None:
    """Run the command line; exit with 0, or print one line on stderr and exit with another code."""
    with stoppable():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", PushwiseWarning)
                warnings.showwarning = _warn
                args = sys.argv[1:] or ["--help"]
                code = app(args=args, prog_name="pushwise", standalone_mode=False)
            if code == INTERRUPTED:  # Typer's answer to a Ctrl-C that the command did not handle
                _fail(said_when_stopped(), INTERRUPTED)
        except PushwiseError as error:
            _fail(str(error), 1)
        except typer.TyperException as error:
            _fail(_plainly(error), error.exit_code)
        except Stopped as stopped:
            _fail(str(stopped), INTERRUPTED)
        except KeyboardInterrupt:
            _fail(said_when_stopped(), INTERRUPTED)
        except MemoryError:
            _fail("there is not enough memory; give less input, or larger cells.", 1)
        except OSError as error:  # a disk or a folder that failed where no command expects it
            where = "" if error.filename is None else f" at {error.filename}"
            _fail(f"the system refused{where} ({error.strerror or error}).", 1)
    sys.exit(code or 0)


def _plainly(error: typer.TyperException) -> str:
    """Return what is wrong with an option, in words that do not need to know the library."""
    option = getattr(error, "param", None)
    if option is not None and option.nargs > 1:
        return f"{option.opts[0]} takes {option.nargs} numbers, {option.metavar}."
    return error.format_message().replace("Value error, ", "")


def _fail(message: str, code: int) -> NoReturn:
    """Print a message as one line on stderr and exit."""
    typer.echo(f"pushwise: {' '.join(message.split())}", err=True)
    sys.exit(code)


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print our own warnings as one line on stderr, and any other as Python does."""
    if issubclass(category, PushwiseWarning):
        text = f"pushwise: note: {' '.join(str(message).split())}"
    else:
        text = warnings.formatwarning(message, category, filename, lineno, line).rstrip()
    typer.echo(text, err=True)


def _version(wanted: bool) -> None:
    """Print the version and exit, when asked to."""
    if wanted:
        typer.echo(f"pushwise {__version__}")
        raise typer.Exit


@app.callback()
def pushwise(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, metavar="", help="Print the version."
        ),
    ] = False,
) -> None:
    """Learn an object's mass and friction distribution from pushes, then slide it to a goal."""


# In the order in which a new user needs them.
for command in (slide, scan, record, convert, identify, plan, export, view, bench):
    app.command(cls=PlainCommand)(command)
experiment_command(real)
experiment_command(scenes)
experiment_command(soak)
experiment_command(all_experiments, "all")
app.add_typer(experiment, name="experiment")
