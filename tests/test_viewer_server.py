"""The server of the page in the browser: whom it answers, and whom it does not."""

import http.client
import socket
from collections.abc import Iterator
from contextlib import closing

import pytest
import viser
from websockets import Subprotocol
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from browser import free_port
from pushwise.errors import PushwiseError
from pushwise.show.viewer_server import ViewerServer


@pytest.fixture(scope="module")
def server() -> Iterator[ViewerServer]:
    """Serve an empty scene."""
    serving = ViewerServer("nothing", port=free_port())
    yield serving
    serving.stop()


def status(server: ViewerServer, *headers: tuple[str, str]) -> int:
    """Return the status with which a request for the page is answered."""
    asking = http.client.HTTPConnection(server.get_host(), server.get_port(), timeout=10)
    with closing(asking):
        asking.putrequest("GET", "/", skip_host=True)
        for name, value in headers:
            asking.putheader(name, value)
        asking.endheaders()
        with asking.getresponse() as answer:
            return answer.status


def listens(server: ViewerServer, host: str, origin: str | None) -> bool:
    """Return whether a page of an origin may open a WebSocket, and receives the scene."""
    spoken = Subprotocol(f"viser-v{viser.__version__}")
    with socket.create_connection(("127.0.0.1", server.get_port()), timeout=10) as line:
        try:
            with connect(
                f"ws://{host}/",
                sock=line,
                origin=origin,  # type: ignore[arg-type]
                subprotocols=[spoken],
                open_timeout=10,
            ) as page:
                return bool(page.recv(timeout=10))
        except InvalidStatus as refused:
            assert refused.response.status_code == 403
            assert b"other pages" in refused.response.body or b"served to" in refused.response.body
            return False
        except ConnectionClosed:
            return False


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "LOCALHOST"])
def test_its_own_page_is_answered(server: ViewerServer, name: str) -> None:
    """Serve the page, and the scene to it; forwarded to another port of localhost, too."""
    for port in (server.get_port(), 9999):
        assert status(server, ("Host", f"{name}:{port}")) == 200
        assert listens(server, f"{name}:{port}", f"http://{name}:{port}")


@pytest.mark.parametrize(
    "name", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example"]
)
def test_a_rebound_name_is_refused(server: ViewerServer, name: str) -> None:
    """Refuse a page whose own name was made to lead here: its Host and Origin agree."""
    for host in (name, f"{name}:{server.get_port()}"):
        assert status(server, ("Host", host)) == 403
        assert not listens(server, host, f"http://{host}")


def test_two_hosts_or_none_are_refused(server: ViewerServer) -> None:
    """Refuse what no browser sends."""
    own = ("Host", f"localhost:{server.get_port()}")
    assert status(server) == 403
    assert status(server, ("Host", "")) == 403
    assert status(server, own, ("Host", "evil.example")) == 403
    assert status(server, own) == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://localhost:{port}",
        "http://localhost:3000",
        "http://127.0.0.1:{port}",
        "null",
        None,
    ],
)
def test_other_pages_are_refused(server: ViewerServer, origin: str | None) -> None:
    """Refuse a WebSocket that another page opens to this machine, or nobody says who does."""
    own = f"localhost:{server.get_port()}"
    origin = origin and origin.format(port=server.get_port())
    assert not listens(server, own, origin)
    if origin is not None:
        assert status(server, ("Host", own), ("Origin", origin)) == 403


def test_only_this_machine_can_reach_it(server: ViewerServer) -> None:
    """Bind to loopback alone."""
    with socket.socket() as free:
        free.bind(("127.0.0.2", server.get_port()))  # would be taken if it listened everywhere
    assert server.get_host() == "127.0.0.1"
    assert server.address == f"http://localhost:{server.get_port()}"
    assert not server.open_to_others
    assert server.request_share_url() is None


def test_another_address_is_served_under_its_name_alone() -> None:
    """Open it deliberately: on one address, and only for those who asked for that one."""
    serving = ViewerServer("nothing", host="127.0.0.3", port=free_port())
    try:
        assert serving.open_to_others
        port = serving.get_port()
        assert serving.address == f"http://127.0.0.3:{port}"
        for name, answer in (("127.0.0.3", 200), ("localhost", 403), ("evil.example", 403)):
            assert status(serving, ("Host", f"{name}:{port}")) == answer
    finally:
        serving.stop()


def test_impossible_hosts_and_ports_are_refused() -> None:
    """Say what is wrong instead of waiting for ever."""
    for everywhere in ("0.0.0.0", "::", ""):
        with pytest.raises(PushwiseError, match="every name"):
            ViewerServer("nothing", host=everywhere, port=free_port())
    with pytest.raises(PushwiseError, match=r"cannot serve on 203\.0\.113\.9"):
        ViewerServer("nothing", host="203.0.113.9")
    for unknown in ("nobody.invalid", "a..b"):
        with pytest.raises(PushwiseError, match="it is no address or name of this machine"):
            ViewerServer("nothing", host=unknown)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 65535))
        taken.listen()
        with pytest.raises(PushwiseError, match="port 65535 to 65535"):
            ViewerServer("nothing", port=65535)
