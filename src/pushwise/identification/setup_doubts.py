"""Doubt a set-up whose records show that finger and object are not where the log puts them.

A finger touches what it pushes: while an object moves slowly under it, the gap between the two is
zero. If it is not, by more than noise explains, then tip, tool, markers or radius are off, and
identification has to estimate them with everything else (see `calibration`). Errors that are larger
than those of calibrations are named instead (see `mistakes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pushwise.identification.contact_evidence import PushedOutline, pushed_outline
from pushwise.identification.free_slide import free_slide, is_flick
from pushwise.identification.prior import Prior
from pushwise.identification.windows import pushed_samples
from pushwise.physics.push import Finger, Push
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["contact_gaps", "doubt_setup"]

OFF = 1.5e-3  # m; a usual gap of less than this is left to noise and to the outline,
SIGMAS = 3.0  # or of less than so many standard deviations of stated noise
FEWEST = 8  # samples in contact that show a gap in spite of noise
LEAST = 1e-3  # m; doubt about tip, tool and markers of a set-up that is in doubt at all
ANGLE = 0.02  # rad; likewise about the angle of the markers
RADIUS = 0.1  # log; likewise about a radius that is stated,
ANY_RADIUS = 0.5  # or is not
RADII = 2e-3, 2e-2  # m; radii of fingers
TIP = 3e-3  # m; usual offset of a tip, where the radius is not stated


def doubt_setup(
    grid: CellGrid,
    records: Sequence[PushRecord],
    finger: Finger,
    prior: Prior,
    *,
    radius_known: bool = True,
) -> tuple[Finger, Prior]:
    """Return the finger and the prior, with doubts about the set-up if the records ask for them.

    A prior that states such doubts is believed.

    Args:
        grid: The object's cells.
        records: The pushes.
        finger: The finger.
        prior: What is believed of the object and the set-up.
        radius_known: Whether the finger's radius was stated. If not, and the usual one does not
            fit, a gap is due to radius and tip, as far as either is likely.

    """
    if prior.setup_doubts.any():
        return finger, prior
    gaps = contact_gaps(grid, records, finger)
    noise = max((r.noise.position for r in records if r.noise is not None), default=0.0)
    if not len(gaps) or np.median(np.abs(gaps)) <= max(OFF, SIGMAS * noise):
        return finger, prior
    if not radius_known:
        likely = replace(finger, radius=_likely_radius(finger.radius, float(np.median(gaps))))
        gaps = contact_gaps(grid, records, likely)
        if not len(gaps):  # a finger that then touches nothing explains nothing
            return finger, prior
        finger = likely
    size = max(LEAST, float(np.median(np.abs(gaps))))
    doubts = replace(
        prior,
        tip_doubt=size,
        tool_doubt=LEAST,
        frame_doubt=max(LEAST, 0.5 * size),
        frame_angle_doubt=ANGLE,
        radius_doubt=RADIUS if radius_known else ANY_RADIUS,
    )
    return finger, doubts


def _likely_radius(usual: float, gap: float) -> float:
    """Return the radius [m] that explains a gap [m] best, together with an offset of the tip."""
    radii = np.geomspace(*RADII, 100)
    unusual = np.log(radii / usual) / ANY_RADIUS
    offset = (radii - usual - gap) / TIP
    return float(radii[np.argmin(unusual**2 + offset**2)])


def contact_gaps(grid: CellGrid, records: Sequence[PushRecord], finger: Finger) -> Array:
    """Return the usual gap between finger and outline while an object is pushed [m], shape (k,).

    It is the median of a record, negative where the finger is inside the object. Records that are
    too short or too fast to show it have none.
    """
    body = pushed_outline(grid, finger)
    found = [_gaps(body, grid, record) for record in records]
    return np.array([np.median(gaps) for gaps in found if len(gaps) >= FEWEST])


def _gaps(body: PushedOutline, grid: CellGrid, record: PushRecord) -> Array:
    """Return the gaps [m] at the samples at which a slow finger moves an object, shape (k,)."""
    push = record.push
    nothing: Array = np.zeros(0)
    if not isinstance(push, Push) or record.fell or len(record.t) < FEWEST:
        return nothing
    if is_flick(push) or free_slide(grid, record, body.radius) is not None:
        return nothing
    pushed = pushed_samples(body, record)
    gaps: Array = body.gaps(record.pose[pushed], push.at(record.t[pushed]))
    return gaps
