"""The `pushwise` command: parse, call, print. Commands import what they need when they run."""

from __future__ import annotations

import sys
from typing import Annotated, NoReturn

import typer

from pushwise import __version__
from pushwise.errors import PushwiseError

__all__ = ["app", "main"]

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def main() -> None:
    """Run the command line: exit 0, or with one line on stderr and another code."""
    try:
        code = app(args=sys.argv[1:] or ["--help"], prog_name="pushwise", standalone_mode=False)
    except PushwiseError as error:
        _fail(str(error), 1)
    except typer.TyperException as error:
        _fail(error.format_message(), error.exit_code)
    except typer.Abort:
        _fail("stopped.", 1)
    sys.exit(code or 0)


def _fail(message: str, code: int) -> NoReturn:
    """Print a message as one line on stderr and exit."""
    typer.echo(f"pushwise: {' '.join(message.split())}", err=True)
    sys.exit(code)


def _version(wanted: bool) -> None:
    """Print the version and stop, when asked to."""
    if wanted:
        typer.echo(f"pushwise {__version__}")
        raise typer.Exit


@app.callback()
def pushwise(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Learn what an object weighs where from a few pushes, then slide it where you want it."""


@app.command()
def bench(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure speed and accuracy on this machine, next to MuJoCo and the paper's LCP.

    Example: pushwise bench --json > bench.json
    """
    from pushwise.experiments.bench import run

    typer.echo(run(json=json))
