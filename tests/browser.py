"""Headless Chromium over the DevTools protocol, as little of it as the tests of pages need."""

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from websockets.sync.client import ClientConnection, connect

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")

_FLAGS = (
    "--headless=new",
    "--no-sandbox",  # which root, as in a container, cannot have
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--hide-scrollbars",
    # WebGL without a graphics card.
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
)

# Without a graphics card every picture is drawn by the processor, which the tests need: draw ten
# per second instead of sixty.
_UNHURRIED = """
(next => {
    window.requestAnimationFrame = draw => setTimeout(() => next(draw), 90);
    window.cancelAnimationFrame = clearTimeout;
})(window.requestAnimationFrame.bind(window));
"""


def free_port() -> int:
    """Return a port that nobody uses."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class Page:
    """A tab: what it is told, and what it says."""

    def __init__(self, socket: ClientConnection) -> None:
        """Listen to a tab from the start."""
        self._socket = socket
        self._sent = 0
        self.errors: list[str] = []
        """Errors on the console, and exceptions nobody caught."""
        self.requests: list[str] = []
        """Addresses that were asked for."""
        self._loaded = 0
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send("Page.addScriptToEvaluateOnNewDocument", source=_UNHURRIED)

    def send(self, method: str, **parameters: Any) -> Any:
        """Send a command, take note of what happens meanwhile, and return its result."""
        self._sent += 1
        self._socket.send(json.dumps({"id": self._sent, "method": method, "params": parameters}))
        while True:
            said = json.loads(self._socket.recv(timeout=60))
            if said.get("id") == self._sent:
                if "error" in said:
                    raise RuntimeError(f"{method}: {said['error']}")
                return said["result"]
            self._note(said["method"], said["params"])

    def _note(self, method: str, about: dict[str, Any]) -> None:
        if method == "Page.loadEventFired":
            self._loaded += 1
        elif method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(about["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and about["type"] == "error":
            self.errors.append(" ".join(str(arg.get("value", arg)) for arg in about["args"]))
        elif method == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.errors.append(about["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])

    def resize(self, width: int, height: int, *, mobile: bool = False, dark: bool = False) -> None:
        """Show the page as on a screen of that many pixels."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, address: str) -> None:
        """Go to an address and wait until it has loaded."""
        before = self._loaded
        self.send("Page.navigate", url=address)
        deadline = time.monotonic() + 60
        while self._loaded == before:
            assert time.monotonic() < deadline, f"{address} did not load"
            time.sleep(0.05)
            self.evaluate("0")

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression, promises awaited."""
        result = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def wait_for(self, expression: str, *, seconds: float = 60) -> Any:
        """Return the value of an expression once it is true."""
        deadline = time.monotonic() + seconds
        while not (value := self.evaluate(expression)):
            assert time.monotonic() < deadline, f"never true: {expression}"
            time.sleep(0.1)
        return value

    def mouse(self, kind: str, x: float, y: float, *, pressed: bool = True) -> None:
        """Press, move or release the left button at a point [px]; pressed: while it moves."""
        self.send(
            "Input.dispatchMouseEvent",
            type={"press": "mousePressed", "move": "mouseMoved", "release": "mouseReleased"}[kind],
            x=x,
            y=y,
            button="left" if pressed else "none",
            buttons=1 if pressed and kind != "release" else 0,
            clickCount=1,
        )

    def click(self, x: float, y: float) -> None:
        """Click at a point [px]."""
        self.mouse("press", x, y)
        self.mouse("release", x, y)

    def drag(self, start: tuple[float, float], end: tuple[float, float], *, steps: int = 8) -> None:
        """Drag from a point [px] to another."""
        (x, y), (u, v) = start, end
        self.mouse("press", x, y)
        for i in range(1, steps + 1):
            self.mouse("move", x + (u - x) * i / steps, y + (v - y) * i / steps)
        self.mouse("release", u, v)

    def press(self, key: str, code: int) -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code)

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Write what is to be seen as PNG; whole: with what one would scroll to."""
        shot = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))


@contextmanager
def browser() -> Iterator[Page]:
    """Start Chromium with one tab, and end it."""
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        process = subprocess.Popen(
            [CHROMIUM, *_FLAGS, "--remote-debugging-port=0", f"--user-data-dir={home}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            told = Path(home) / "DevToolsActivePort"
            deadline = time.monotonic() + 60
            while not (told.exists() and told.read_text().count("\n")):
                assert process.poll() is None, "Chromium ended"
                assert time.monotonic() < deadline, "Chromium does not answer"
                time.sleep(0.05)
            port = told.read_text().split()[0]
            new = Request(f"http://127.0.0.1:{port}/json/new?about:blank", method="PUT")
            with urlopen(new) as answer:
                tab = json.load(answer)["webSocketDebuggerUrl"]
            with connect(tab, max_size=None) as line:
                assert isinstance(line, ClientConnection)
                yield Page(line)
        finally:
            process.terminate()
            process.wait(timeout=30)
