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
    host: Annotated[
        str,
        typer.Option(
            help="Address or name of this machine to serve on, for others who can reach it. "
            "They are not asked for a password.",
        ),
    ] = "localhost"
    port: Annotated[
        int,
        typer.Option(help="Port to serve on, or the next free one above it.", min=1, max=65535),
    ] = 8080
    json: Json = False


@takes_options
def view(asked: ViewCommand) -> None:
    """Show a run or a model in the browser: replay the pushes, and try out others.

    Prints an address and serves it until Ctrl-C; no network is needed. Only this machine can open
    it. To open it on another one, forward the port there, which encrypts it and asks who you are:
    ssh -L 8080:localhost:8080 THIS-MACHINE, then open http://localhost:8080. In a network where
    you trust everybody, --host 192.168.0.7 (this machine's own address) serves it to all.

    Example: pushwise view runs/hammer
    """
    from pushwise.show.viewer import View
    from pushwise.show.viewer_data import Viewed

    page = View(Viewed.load(asked.what), host=asked.host, port=asked.port)
    if asked.json:
        typer.echo(dumps({"what": str(asked.what), "address": page.address}))
    else:
        typer.echo(f"{asked.what}: open {page.address} in a browser; Ctrl-C stops it")
        if page.server.open_to_others:
            typer.echo(
                f"Everybody who can reach {asked.host} can open it, without a password.", err=True
            )
    try:
        page.wait()
    except KeyboardInterrupt:
        page.stop()
