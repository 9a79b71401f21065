"""The `pushwise view` command: parse, call, print."""

from __future__ import annotations

from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from pushwise.cli.options import Json, takes_options

__all__ = ["ViewCommand", "view"]


@dataclass(frozen=True, kw_only=True)
class ViewCommand:
    """What the command line accepts."""

    what: Annotated[Path, typer.Argument(help="Folder of a run of slide, or JSON file of a model.")]
    port: Annotated[
        int,
        typer.Option(help="Port to serve on, or the next free one above it.", min=1, max=65535),
    ] = 8080
    json: Json = False


@takes_options
def view(asked: ViewCommand) -> None:
    """Show a run or a model in the browser: replay the pushes, and try out others.

    Prints an address on this machine and serves it until Ctrl-C; no network is needed.

    Example: pushwise view runs/hammer
    """
    from pushwise.show.viewer import View
    from pushwise.show.viewer_data import Viewed

    page = View(Viewed.load(asked.what), port=asked.port)
    if asked.json:
        typer.echo(dumps({"what": str(asked.what), "address": page.address}))
    else:
        typer.echo(f"{asked.what}: open {page.address} in a browser; Ctrl-C stops it")
    try:
        page.wait()
    except KeyboardInterrupt:
        page.stop()
