"""Windows of a long push: pieces that are simulated one by one, from where each was seen to start.

Near a point of balance a tiny difference decides which way an object turns. From its start, a
push of 400 mm is chaotic there, and all that its samples show is lost in where it led to. So a long
push is cut into windows (multiple shooting). The start of each is an unknown, known as well as any
observed pose, and the window before it must lead there, up to the drift of the model. In this way
each sample counts once, and a push that is not chaotic shows what it would show in one piece.

A window starts in the middle of a push. Its twist there is unknown, too, up to what the samples
around it show. The finger touches the object: the gap that errors of the set-up leave between them
is closed by moving the finger, not the object, and is a measurement of these errors.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy.interpolate import UnivariateSpline

from pushwise.identification.contact_evidence import PushedOutline
from pushwise.identification.free_slide import is_flick
from pushwise.identification.noise import SLIDE_DRIFT, Walk
from pushwise.physics.push import Push
from pushwise.records.record import PushRecord
from pushwise.typing import Array, Flags

__all__ = [
    "REACH",
    "Window",
    "finger_noise",
    "pieces_of",
    "pushed_samples",
    "walks_of",
    "windows_of",
]

WINDOW = 0.04  # m of the finger's way in contact: less than turns a push near a point of balance
LONG = 1.5  # windows; shorter pushes are simulated in one piece
FEWEST = 8  # samples of a window, from which its motion at the start is known,
PRECISE = 3e-4  # m; at most so much noise of their positions
AROUND = 0.05  # s before and after the start of a window in which its twist is measured,
LEAST = 2  # or at least so many samples
MOVES = 0.2  # of its greatest speed: an object that is slower may rest or coast
REACH = 0.015  # m; a finger farther away does not touch
QUIET = np.array([1e-5, 1e-5, 1e-4])  # m, m, rad: least scatter of poses about a smooth motion
KNOTS = 0.02  # s between the knots of a path that is smoothed
USUAL = 0.2  # m; length of a push after which the model has drifted by its drift


class Window(NamedTuple):
    """A piece of a push, or the whole."""

    record: PushRecord
    """The samples of the window, and the push."""
    twist_std: Array | None
    """Standard deviation of its twist at the start [m/s, m/s, rad/s], shape (3,); None for the
    first window, which starts as the record does."""


def pushed_samples(body: PushedOutline, record: PushRecord) -> Flags:
    """Return at which samples a finger moves an object that it seems to touch, shape (T,)."""
    push = record.push
    if not isinstance(push, Push) or record.finger is None or len(record.t) < FEWEST:
        return np.zeros(len(record.t), bool)
    step = np.gradient(record.pose, record.t, axis=0)
    speed = np.hypot(step[:, 0], step[:, 1]) + body.gyration * np.abs(step[:, 2])
    moves: Flags = speed > MOVES * np.percentile(speed, 95)
    if push.raised:
        moves &= record.t <= push.duration
    moves[moves] = np.abs(body.gaps(record.pose[moves], record.finger[moves])) < REACH
    return moves


def windows_of(body: PushedOutline, record: PushRecord) -> tuple[Window, ...]:
    """Return a record cut into windows of about equal length; a short one in one piece.

    The last sample of a window is the first of the next one. A push that is seen too rarely, or not
    precisely, stays in one piece: of its windows too little would be known.
    """
    whole = (Window(record, None),)
    if not isinstance(record.push, Push) or record.finger is None or is_flick(record.push):
        return whole
    pushed, way = _pushed_way(body, record)
    samples = np.sum(pushed) * WINDOW / max(way[-1], WINDOW)
    if way[-1] < LONG * WINDOW or samples < FEWEST or _noise(record) > PRECISE:
        return whole
    count = round(way[-1] / WINDOW)
    starts = [0]
    for at in way[-1] * np.arange(1, count) / count:
        start = int(np.searchsorted(way, at))
        if pushed[start] and start >= starts[-1] + FEWEST and start + FEWEST < len(record.t):
            starts.append(start)
    ends = [*starts[1:], len(record.t) - 1]
    spans = list(zip(starts, ends, strict=True))
    push = record.push
    windows = tuple(_window(record, push, a, b) for a, b in spans)
    if (noise := finger_noise(body, windows)) > 0.0:
        push = _smoothed(push, record.t, noise)
        windows = tuple(_window(record, push, a, b) for a, b in spans)
    return windows


def pieces_of(body: PushedOutline, record: PushRecord, length: float) -> list[PushRecord]:
    """Return consecutive pieces of a long push, with a way of the finger in contact of length [m].

    These are to be predicted, one by one. A push that is not cut into windows has none.
    """
    windows = windows_of(body, record)
    push = windows[0].record.push
    if len(windows) == 1 or not isinstance(push, Push):
        return []
    pushed, way = _pushed_way(body, record)
    found, first = [], int(np.argmax(pushed))
    while (last := int(np.searchsorted(way, way[first] + length))) < len(way):
        found.append(_window(record, push, first, last).record)
        first = last
    return found


def _pushed_way(body: PushedOutline, record: PushRecord) -> tuple[Flags, Array]:
    """Return at which samples the finger pushes, and how far it has come in contact [m], (T,)."""
    assert record.finger is not None
    pushed = pushed_samples(body, record)
    steps = np.hypot(*np.diff(record.finger, axis=0).T) * (pushed[1:] & pushed[:-1])
    return pushed, np.concatenate([[0.0], np.cumsum(steps)])


def _noise(record: PushRecord) -> float:
    """Return the noise of the positions of an object [m], as stated or from their jitter."""
    if record.noise is not None:
        return record.noise.position
    # A second difference of white noise has six times its variance.
    jitter = np.abs(np.diff(record.pose[:, :2], n=2, axis=0))
    return 1.4826 * float(np.median(jitter) / np.sqrt(6.0))


def _smoothed(push: Push, t: Array, noise: float) -> Push:
    """Return the smoothest path that is within noise [m] of a push at times t (T,) [s].

    A path that jitters speeds up and slows down all the time. Objects follow such a finger only if
    they are light, so that what is heavy would seem to be light, or to stick to the table.
    """
    t = np.append(t[t < push.duration], push.duration)
    knots = np.linspace(0.0, push.duration, int(np.ceil(push.duration / KNOTS)) + 1)
    weights = np.full(len(t), 1.0 / noise)
    with warnings.catch_warnings():
        # Of a path that hardly jitters at all: it is then smoothed by less, which is fine.
        warnings.filterwarnings("ignore", message=r"(?s).*smoothing spline", category=UserWarning)
        path = [UnivariateSpline(t, x, weights, s=len(t))(knots) for x in push.at(t).T]
    return Push(knots, np.transpose(path), raised=push.raised)


def _window(record: PushRecord, push: Push, first: int, last: int) -> Window:
    """Return the samples from first to last, both included, as a window."""
    twist, std = _twist(record, first) if first > 0 else (record.twist, None)
    samples = slice(first, last + 1)
    piece = PushRecord(
        push,
        record.t[samples],
        record.pose[samples],
        None if record.force is None else record.force[samples],
        twist=twist,
        noise=record.noise,
        source=record.source,
    )
    return Window(piece, std)


def _twist(record: PushRecord, at: int) -> tuple[Array, Array]:
    """Return the twist at a sample and its standard deviation, (3,) each.

    It is the slope of a parabola through the samples around it.
    """
    t = record.t - record.t[at]
    first = min(int(np.searchsorted(t, -AROUND)), at - LEAST)
    last = max(int(np.searchsorted(t, AROUND, side="right")), at + LEAST + 1)
    around = slice(max(first, 0), last)
    powers = np.vander(t[around], 3, increasing=True)
    solved = np.linalg.pinv(powers)
    fit = solved @ record.pose[around]
    off = record.pose[around] - powers @ fit
    scatter = np.sqrt(np.sum(off**2, axis=0) / max(len(off) - 3, 1))
    return fit[1], np.linalg.norm(solved[1]) * np.maximum(scatter, QUIET)


def walks_of(
    body: PushedOutline, windows: tuple[Window, ...], *, free: bool, usable: bool
) -> list[Walk]:
    """Return how the error of the model grows in the windows of a push.

    Args:
        body: The object and the finger.
        windows: The windows of one record.
        free: Whether it is a free slide, which drifts less than a push.
        usable: Whether it is used; if not, its residuals are zero, and must not count as a push
            that fits: the model would seem to drift less than it does.

    """
    if not usable:
        samples = sum(len(window.record.t) - 1 for window in windows)
        return [Walk(np.zeros(samples), np.zeros(3), 0.0, linked=False)]
    if len(windows) == 1:
        t = windows[0].record.t
        passed = (t[1:] - t[0]) / (t[-1] - t[0])
        share = passed * (SLIDE_DRIFT**2 if free else 1.0)
        return [Walk(share, np.zeros(3), 1.0, linked=False)]
    way = [np.cumsum(_steps(window.record)) for window in windows]
    total = sum(passed[-1] for passed in way)
    scale = max(1.0, total / USUAL) / total
    noise = finger_noise(body, windows) * np.array([1.0, 1.0, 1.0 / body.gyration])
    # What the model does not know of a push is much the same in all of its windows: together they
    # say no more than one of them.
    weight, last = 1.0 / len(windows), len(windows) - 1
    return [Walk(scale * passed, noise, weight, linked=i < last) for i, passed in enumerate(way)]


def _steps(window: PushRecord) -> Array:
    """Return how far finger or object move from sample to sample [m], shape (k,)."""
    assert window.finger is not None
    finger, seen = (np.diff(places, axis=0) for places in (window.finger, window.pose[:, :2]))
    steps: Array = np.maximum(np.hypot(*finger.T), np.hypot(*seen.T))
    return steps


def finger_noise(body: PushedOutline, windows: tuple[Window, ...]) -> float:
    """Return how the gap between finger and object scatters about its course in the windows [m].

    The positions of finger and object come from different sensors. Where their stamps are a few
    milliseconds off, a finger at 0.2 m/s is off by half a millimetre, and what it pushes seems so.
    """
    rest = []
    for window, _ in windows:
        pushed = pushed_samples(body, window)
        if pushed.sum() < FEWEST or window.finger is None:
            continue
        t, gaps = window.t[pushed], body.gaps(window.pose[pushed], window.finger[pushed])
        course = np.polynomial.Polynomial.fit(t, gaps, 2)
        rest.append(gaps - course(t))
    return 1.4826 * float(np.median(np.abs(np.concatenate(rest)))) if rest else 0.0
