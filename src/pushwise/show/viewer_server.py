"""`ViewerServer`: Viser's server, closed to every page but its own.

A server on this machine can be reached by every page that its browser shows: a foreign page may
open a WebSocket to localhost, and one that rebinds its own host name to 127.0.0.1 passes for the
same origin. Browsers state both truthfully, in the Origin and in the Host header. So a request must
name a host that was agreed on, and a WebSocket must be opened by a page that this server served.
"""

from __future__ import annotations

import io
import logging
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from http import HTTPStatus
from typing import Any

import viser
from websockets.asyncio import server as websockets_server
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from pushwise.errors import PushwiseError, reason

__all__ = ["HERE", "ViewerServer", "refusal"]

HERE = "localhost"
"""The host that only this machine can reach."""

_LOOPBACK = "127.0.0.1"
_NAMES_OF_HERE = (HERE, _LOOPBACK)
_EVERYWHERE = ("0.0.0.0", "::", "")
_TRIED = 100  # ports

_Process = Callable[[ServerConnection, Request], Response | None]


class ViewerServer(viser.ViserServer):
    """Viser's server, on one address, for its own page only."""

    def __init__(self, label: str, *, host: str = HERE, port: int = 8080) -> None:
        """Start serving.

        Args:
            label: The title of the page.
            host: Address or name to serve on, which is also what must be typed to open the page.
            port: Port, or the next free one above it is taken.

        """
        name = f"[{host}]" if ":" in host else host.lower()
        self.names = _NAMES_OF_HERE if host in _NAMES_OF_HERE else (name,)
        """Names under which the page can be opened."""
        host = _LOOPBACK if host in _NAMES_OF_HERE else host
        free = _free_port(host, port)
        with _checking_requests(self.names) as guarded, silence():
            super().__init__(host=host, port=free, label=label, verbose=False)
        if not guarded:
            self.stop()
            raise PushwiseError(
                f"version {viser.__version__} of viser does not let its requests be checked, so "
                "nothing is served; install viser 1.1."
            )

    @property
    def open_to_others(self) -> bool:
        """Whether other machines may be able to open the page."""
        return self.names != _NAMES_OF_HERE

    @property
    def address(self) -> str:
        """The URL of the page."""
        return f"http://{self.names[0]}:{self.get_port()}"

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refuse what Viser's page may ask for: a tunnel that makes it public."""
        return None

    def stop(self) -> None:
        """Stop serving."""
        with silence():
            super().stop()


def refusal(headers: Headers, names: Sequence[str]) -> str | None:
    """Return why a request is refused; None if it is not.

    Args:
        headers: Headers of the request.
        names: Names of this server's host.

    """
    hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
    host = hosts[0].lower() if len(hosts) == 1 else ""
    if host.rpartition(":")[0] not in names and host not in names:
        return f"This page is served to {' and '.join(names)} only; see pushwise view --help."
    opens_socket = bool(headers.get_all("Upgrade"))
    if (opens_socket or origins) and [each.lower() for each in origins] != [f"http://{host}"]:
        return "This page accepts no requests of other pages."
    return None


@contextmanager
def _checking_requests(names: Sequence[str]) -> Iterator[list[str]]:
    """Let a server that is started meanwhile answer only requests that `refusal` accepts.

    Viser passes its own `process_request` to websockets and takes none from its caller; so what it
    starts its server with is replaced for as long as it takes to start. The list has an entry per
    server started.
    """
    start = websockets_server.serve
    started: list[str] = []

    def serve(*places: Any, process_request: _Process, **options: Any) -> Any:
        def checked(connection: ServerConnection, request: Request) -> Response | None:
            refused = refusal(request.headers, names)
            if refused is not None:
                return connection.respond(HTTPStatus.FORBIDDEN, refused + "\n")
            return process_request(connection, request)

        started.append("guarded")
        return start(*places, process_request=checked, logger=_quiet(), **options)

    websockets_server.serve = serve  # type: ignore[assignment,misc]
    try:
        yield started
    finally:
        websockets_server.serve = start  # type: ignore[misc]


def _free_port(host: str, port: int) -> int:
    """Return the first free port from `port` on; Viser would wait for ever if there were none."""
    if host in _EVERYWHERE:
        raise PushwiseError(
            f"host must be the address or name that is typed to open the page, such as "
            f"{socket.gethostname()}; {host or 'an empty one'} would admit every name."
        )
    last = min(port + _TRIED, 65536)
    for each in range(port, last):
        try:
            family, kind, protocol, _, where = socket.getaddrinfo(
                host, each, type=socket.SOCK_STREAM
            )[0]
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(where)
        except (socket.gaierror, UnicodeError) as error:  # no port of a host without an address
            raise PushwiseError(
                f"cannot serve on {host}: it is no address or name of this machine "
                f"({reason(error)})."
            ) from None
        except OSError as error:
            problem = error.strerror
            continue
        return each
    raise PushwiseError(f"cannot serve on {host}, port {port} to {last - 1} ({problem}).")


def _quiet() -> logging.Logger:
    """Return a logger that is silent: browsers open connections that they never use."""
    logger = logging.getLogger("pushwise.viewer")
    logger.setLevel(logging.CRITICAL)
    return logger


def silence() -> AbstractContextManager[object]:
    """Keep Viser from printing: standard output belongs to the command."""
    return redirect_stdout(io.StringIO())
