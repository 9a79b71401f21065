"""What tests of the viewer share: where things are on the screen, and how they are used there."""

import time
from collections.abc import Callable

import numpy as np

from browser import Page
from pushwise.show.viewer import View
from pushwise.show.viewer_panel import assign
from pushwise.typing import Array

PANEL = "[...document.querySelectorAll('input')].filter(e => e.getBoundingClientRect().width)"


def until(true: Callable[[], object]) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, "it never did"
        time.sleep(0.05)


def open_page(view: View, tab: Page, width: int, height: int) -> None:
    """Show the viewer on a screen of a size [px], and wait until it can be used."""
    known = set(view.server.get_clients())
    tab.resize(width, height, mobile=width < 600)
    tab.open(view.address)
    tab.wait_for("document.querySelector('canvas') !== null")
    tab.wait_for("document.body.innerText.includes('Appearance')")
    until(lambda: set(view.server.get_clients()) - known)
    # The notice that there is no graphics card covers the scene.
    close = "document.querySelector('.mantine-Notification-closeButton')"
    tab.wait_for(f"{close} !== null")
    tab.evaluate(f"{close}.click()")
    tab.wait_for(f"{close} === null")
    time.sleep(0.5)  # the first pictures take a moment without a graphics card


def on_screen(view: View, tab: Page, point: Array | tuple[float, float, float]) -> Array:
    """Return where a point of the scene [m] is on the screen [px], shape (2,)."""
    clients = view.server.get_clients()
    camera = clients[max(clients)].camera
    forward = camera.look_at - camera.position
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    offset = np.array(point) - camera.position
    canvas = "document.querySelector('canvas').getBoundingClientRect()"
    left, top, width, height = tab.evaluate(f"(b => [b.left, b.top, b.width, b.height])({canvas})")
    scale = 0.5 * height / np.tan(0.5 * camera.fov) / (offset @ forward)
    middle = np.array([left + 0.5 * width, top + 0.5 * height])
    at: Array = middle + scale * np.array([offset @ right, -(offset @ up)])
    return at


def drag(view: View, tab: Page, start: Array, end: Array) -> None:
    """Drag from a point of the scene [m] to another, and wait until the server knows."""
    x, y = on_screen(view, tab, start).tolist()
    u, v = on_screen(view, tab, end).tolist()
    tab.mouse("move", x, y, pressed=False)
    tab.drag((x, y), (u, v))
    time.sleep(0.5)


def errors(tab: Page) -> list[str]:
    """Return the errors on the console, but for one that Viser makes whenever a node is pressed.

    It asks the browser not to do what it would do, in a listener that has promised not to ask.
    """
    known = "Unable to preventDefault inside passive event listener invocation."
    return [error for error in tab.errors if error != known]


def grab(view: View, tab: Page, point: Array, held: Callable[[], bool]) -> None:
    """Press the mouse at a point of the scene [m], again and again until something is held."""

    def pressed() -> bool:
        x, y = on_screen(view, tab, point).tolist()
        tab.mouse("move", x, y, pressed=False)
        tab.mouse("press", x, y)
        tab.mouse("move", x, y - 6)
        time.sleep(0.4)
        if not held():
            tab.mouse("release", x, y - 6)
        return held()

    until(pressed)


def choose(tab: Page, now: str, wanted: str) -> None:
    """Choose another entry of the dropdown that shows `now`."""
    middle = "(b => b.width && [b.x + b.width / 2, b.y + b.height / 2])"
    box = f"{PANEL}.find(e => e.value === {now!r}).getBoundingClientRect()"
    options = "[...document.querySelectorAll('[role=option]')]"
    option = f"{options}.find(e => e.innerText === {wanted!r}).getBoundingClientRect()"
    until(lambda: _opened(tab, f"{middle}({box})", f"{middle}({option})"))
    tab.evaluate(f"{options}.find(e => e.innerText === {wanted!r}).click()")


def _opened(tab: Page, box: str, option: str) -> bool:
    """Click on a dropdown; return whether its options are to be seen then."""
    tab.click(*tab.evaluate(box))
    time.sleep(0.5)  # it unfolds
    return bool(tab.evaluate(option))


def go_to(view: View, tab: Page, mode: str) -> None:
    """Go to a mode, if the page is not there yet."""
    if view.mode.value != mode:
        choose(tab, view.mode.value, mode)
        until(lambda: view.mode.value == mode)


def press(tab: Page, label: str) -> None:
    """Press a visible button of the panel once it is there."""
    button = (
        "[...document.querySelectorAll('button')].find(b => "
        f"b.innerText.trim() === {label!r} && b.getBoundingClientRect().width)"
    )
    tab.wait_for(f"{button} !== undefined")
    tab.evaluate(f"{button}.click()")


def close_up(view: View, tab: Page) -> None:
    """Look at the object from near, without labels, which might be where something is grabbed."""
    assign(view.labels, False)
    press(tab, "Close up")
    time.sleep(1.5)  # the camera moves


def reading(tab: Page, name: str) -> str:
    """Return a value of the panel's tables, as the browser shows it."""
    row = (
        "[...document.querySelectorAll('tr')].filter(r => r.getBoundingClientRect().width)"
        f".find(r => r.cells[0].innerText === {name!r})"
    )
    return str(tab.wait_for(f"({row} || {{cells: [0, {{}}]}}).cells[1].innerText"))


def badge(tab: Page) -> tuple[str, str]:
    """Return text and colour of the badge, as the browser shows them."""
    found = tab.wait_for(
        "(e => e && [e.innerText, getComputedStyle(e).backgroundColor])"
        '([...document.querySelectorAll(\'div[style*="font-weight:600"],'
        'div[style*="font-weight: 600"]\')].find(e => e.getBoundingClientRect().width))'
    )
    return str(found[0]), str(found[1])
