"""Learning a set of real pushes: on cells, on feet, and without some addition to the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pushwise.experiments.real.data import RealSet, grid_over
from pushwise.identification.calibration import Calibration
from pushwise.identification.identify import average, identify
from pushwise.identification.prior import Prior
from pushwise.identification.result import Identification
from pushwise.physics.push import Finger
from pushwise.records.record import PushRecord

__all__ = ["learn", "learn_without", "nominal_finger", "setup_prior", "stated_setup", "variants"]

FINGER_FRICTION = 0.3  # metal on metal
RADIUS_DOUBT = 3e-4  # m
SPREADS = (1.0, 3.0)  # of the load: uneven, on feet
ENOUGH = 10  # pushes to choose the spread by
FEW = 10  # pushes that leave the load on cells in doubt
ON_CELLS = "identified, on cells"
ON_FEET = "identified, on feet"
SETUP_STATED = "identified, set-up as stated"
CENTRE_UNKNOWN = "identified, centre of mass not stated"
HEIGHT_UNKNOWN = "identified, height of the finger not stated"


def setup_prior(data: RealSet, spread: float, radius: float, *, calibrate: bool = True) -> Prior:
    """Return what is believed of a set: up to a millimetre or so is off, and how even the load.

    An end of the finger that was not measured is uncertain along the push, as a tool is.
    """
    # A doubt of nothing: poses inside the finger are still moved out of it.
    load = Prior(
        mass_spread=spread,
        mass_length=0.25,
        centre=data.centre,
        finger_doubt=0.4,
        radius_doubt=1e-9,
    )
    if not calibrate:
        return load
    return replace(
        load,
        radius_doubt=RADIUS_DOUBT / radius,
        tip_doubt=1e-3,
        tool_doubt=2e-3 if data.end_estimated else 0.0,
        frame_doubt=1e-3,
        frame_angle_doubt=0.02,
        touching=data.touching,
    )


def learn(
    data: RealSet, records: Sequence[PushRecord], *, calibrate: bool = True
) -> dict[str, Identification]:
    """Identify the object of a set, by the names of methods.

    On cells, of several spreads of the load the most probable one, which shows in the first
    `ENOUGH` pushes; on feet; and the mean of both, which is what counts as identified. With more
    than `FEW` pushes the load on cells is determined, and no other is looked for.
    """
    finger = nominal_finger(data)

    def identified(
        some: Sequence[PushRecord], spread: float, method: str = "refine"
    ) -> Identification:
        return identify(
            grid_over(data.outline),
            some,
            method=method,
            finger=finger,
            prior=setup_prior(data, spread, finger.radius, calibrate=calibrate),
        )

    found = {spread: identified(records[:ENOUGH], spread) for spread in SPREADS}
    best = max(found, key=lambda spread: found[spread].posterior.refined.evidence)
    cells = found[best] if len(records) <= ENOUGH else identified(records, best)
    if len(records) > FEW:
        return {"identified": cells}
    feet = identified(records, best, "feet")
    both = average([cells, feet])
    return {"identified": both, ON_CELLS: cells, ON_FEET: feet}


def nominal_finger(data: RealSet) -> Finger:
    """Return the finger as stated, with the friction it is believed to have."""
    return Finger(data.radius, FINGER_FRICTION, data.height)


def stated_setup(data: RealSet) -> Calibration:
    """Return the set-up as stated: the tip may be said to be behind the recorded one."""
    if data.setback == 0.0:
        return Calibration()
    return Calibration(tool=np.array([-data.setback - nominal_finger(data).radius, 0.0]))


def variants(data: RealSet) -> list[str]:
    """Return without what a set can be learned, by the names of methods."""
    found = [SETUP_STATED]
    if data.centre is not None:
        found.append(CENTRE_UNKNOWN)
    if data.height > 0.0:
        found.append(HEIGHT_UNKNOWN)
    return found


def learn_without(
    variant: str, data: RealSet, records: Sequence[PushRecord]
) -> tuple[Identification, Calibration | None]:
    """Identify the object of a set without one addition to the model; return the set-up, too."""
    if variant == SETUP_STATED:
        stated = stated_setup(data)
        placed = [stated.record(record) for record in records]
        return learn(data, placed, calibrate=False)["identified"], stated
    lacking = {
        CENTRE_UNKNOWN: replace(data, centre=None),
        HEIGHT_UNKNOWN: replace(data, height=0.0),
    }
    found = learn(lacking[variant], records)["identified"]
    return found, found.calibration
