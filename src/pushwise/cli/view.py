"""The `pushwise view` command: parse, call, print."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from pushwise.cli.options import Json

__all__ = ["view"]


def view(
    what: Annotated[
        Path, typer.Argument(help="Folder of a run, as slide leaves it, or JSON file of a model.")
    ],
    port: Annotated[
        int, typer.Option(help="Where to serve; the next one when it is taken.", min=1, max=65535)
    ] = 8080,
    json: Json = False,
) -> None:
    """Show a run or a model in the browser: replay the pushes, and try what would happen.

    Prints an address on this machine and serves it until Ctrl-C; it needs no network.

    Example: pushwise view runs/hammer
    """
    from pushwise.show.viewer import View
    from pushwise.show.viewer_data import Viewed

    page = View(Viewed.load(what), port=port)
    if json:
        typer.echo(dumps({"what": str(what), "address": page.address}))
    else:
        typer.echo(f"{what}: open {page.address} in a browser; Ctrl-C ends it")
    try:
        page.wait()
    except KeyboardInterrupt:
        page.stop()
