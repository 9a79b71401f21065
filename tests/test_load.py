"""How weight rests on the table, with and without an edge."""

from typing import Literal

import numpy as np
import pytest
from scipy.spatial import Delaunay

from from_python import from_python
from pushwise import CellGrid, Finger, ObjectModel, Physics, Push, Table, simulate
from pushwise.physics.constants import GRAVITY
from pushwise.physics.kernels import load as kernel
from pushwise.physics.kernels.load import Body

spread = from_python(kernel.spread)

Array = np.ndarray


def weigh(r: Array, base: Array, supported: Array, mass: Array) -> tuple[bool, Array]:
    """Return the loads of points r (Q, 2) that stand for masses (Q,)."""
    load = np.empty(len(r))
    x, y = r.T.copy()
    nothing = np.empty(0)
    cx, cy = mass @ r / mass.sum()
    body = Body(mass.sum(), cx, cy, 0.0, x, y, nothing, nothing, 0.0, 0.0)
    return spread(body, base, supported, np.empty(len(r), bool), load), load


def holds(r: Array, centre: Array) -> bool:
    """Return whether the convex hull of points (Q, 2) holds a centre (2,)."""
    return len(r) >= 3 and bool(Delaunay(r).find_simplex(centre) >= 0)


@pytest.mark.parametrize("own", [True, False])
def test_load_balances_force_and_moment(own: bool) -> None:
    """Cut off random sides of random objects: the rest carries weight and moment, or it tips."""
    rng = np.random.default_rng(0)
    stood = tipped = partial = 0
    for _ in range(500):
        n = int(rng.integers(3, 80))
        r = rng.normal(scale=0.1, size=(n, 2))
        mass = rng.uniform(0.01, 1.0, n)
        direction = rng.normal(size=2)
        supported = r @ direction < rng.normal(scale=0.1)
        centre = mass @ r / mass.sum()
        ok, load = weigh(r, mass * GRAVITY * own, supported, mass)
        assert ok == holds(r[supported], centre)
        if not ok:
            tipped += 1
            continue
        stood += 1
        partial += int((~supported).any())
        assert (load >= 0.0).all()
        assert (load[~supported] == 0.0).all()
        weight = mass.sum() * GRAVITY
        assert load.sum() == pytest.approx(weight, rel=1e-9)
        assert load @ r == pytest.approx(weight * centre, abs=1e-9 * weight)
    assert min(stood, tipped, partial) > 50


def test_own_weight_is_kept_where_everything_is_supported() -> None:
    """Ask for the loads of a whole object: each point its own."""
    rng = np.random.default_rng(1)
    r, mass = rng.normal(size=(20, 2)), rng.uniform(0.1, 1.0, 20)
    ok, load = weigh(r, mass * GRAVITY, np.ones(20, bool), mass)
    assert ok
    assert load == pytest.approx(mass * GRAVITY, rel=1e-12)


def test_rigid_load_is_affine() -> None:
    """Check the rigid model's load against the closed form of a plank."""
    x = np.linspace(-0.5, 0.5, 11)
    r = np.array([(a, b) for a in x for b in (-0.1, 0.1)])
    mass = np.where(r[:, 0] > 0, 2.0, 1.0)
    ok, load = weigh(r, np.zeros(len(r)), np.ones(len(r), bool), mass)
    centre = mass @ r[:, 0] / mass.sum()
    slope = centre / np.mean(r[:, 0] ** 2)
    assert ok
    assert load == pytest.approx(mass.sum() * GRAVITY / len(r) * (1 + slope * r[:, 0]))


def test_hull_matches_scipy() -> None:
    """Compare the angular test with a Delaunay triangulation."""
    rng = np.random.default_rng(2)
    for _ in range(300):
        r = rng.normal(size=(int(rng.integers(3, 12)), 2))
        centre = rng.normal(size=2)
        x, y = r.T.copy()
        nothing = np.empty(0)
        body = Body(1.0, centre[0], centre[1], 0.0, x, y, nothing, nothing, 0.0, 0.0)
        every = np.ones(len(r), bool)
        pressing = np.empty(len(r), bool)
        assert spread(body, np.zeros(len(r)), every, pressing, np.empty(len(r))) == holds(r, centre)


PLANK = CellGrid.from_outline(
    [[-0.1, -0.02], [0.1, -0.02], [0.1, 0.02], [-0.1, 0.02]], cell_size=0.02
)


def plank(heavy_end: float) -> ObjectModel:
    """Return a plank whose cells grow heavier towards +x."""
    mass = np.linspace(1.0, heavy_end, 10)
    return ObjectModel(
        PLANK, 0.02 * mass[np.round(PLANK.centres[:, 0] / 0.02 + 4.5).astype(int)], 0.5
    )


@pytest.mark.parametrize("load", ["own", "rigid"])
@pytest.mark.parametrize("heavy_end", [1.0, 4.0])
def test_plank_tips_when_its_centre_of_mass_leaves_the_table(
    load: Literal["own", "rigid"], heavy_end: float
) -> None:
    """Push a plank lengthwise over the edge: it ends where its centre of mass is over the edge."""
    model = plank(heavy_end)
    table = Table.rectangle(1.0, 0.7)
    push = Push.line(start=(0.18, 0.0), velocity=(0.05, 0.0), duration=6.0)
    path = simulate(
        model,
        push,
        (0.3, 0.0, 0.0),
        finger=Finger(0.01, 0.3),
        table=table,
        physics=Physics(load=load),
    )
    assert path.tipped
    assert path.pose[-1, 0] + model.centre_of_mass[0] == pytest.approx(0.5, abs=0.012)
    assert abs(path.pose[-1, 2]) < 1e-3


def test_object_that_stays_on_the_table_feels_no_edge() -> None:
    """Push near, not over, the edge: as on a table without one."""
    push = Push.line(start=(0.18, 0.01), velocity=(0.05, 0.0), duration=2.0)
    plain = simulate(plank(2.0), push, (0.3, 0.0, 0.0))
    edged = simulate(plank(2.0), push, (0.3, 0.0, 0.0), table=Table())
    assert not edged.tipped
    assert (plain.pose == edged.pose).all()


def test_overhang_gathers_the_load_about_the_centre_of_mass() -> None:
    """Push an overhanging plank sideways: beside its middle it turns further than one that is not.

    What the part over the edge weighs rests on the rest of it, but the centre of the load stays
    under the centre of mass: friction's arm gets shorter, and a push through the middle turns
    nothing.
    """
    model, finger = plank(1.0), Finger(0.01, 0.3)
    push = Push.line(start=(0.45, -0.04), velocity=(0.0, 0.05), duration=1.0)

    def turned(x: float, table: Table | None) -> float:
        path = simulate(model, push, (x, 0.0, 0.0), finger=finger, table=table)
        assert not path.tipped
        return float(path.pose[-1, 2])

    for table in (None, Table()):
        assert turned(0.45, table) == pytest.approx(0.0, abs=1e-9)
    assert turned(0.47, None) == pytest.approx(-turned(0.43, None), rel=1e-6)
    # 30 mm over the edge, and 70 mm, from which the middle is but 30 mm away.
    assert turned(0.43, Table()) > 1.05 * turned(0.43, None)
    assert turned(0.47, Table()) < 2.0 * turned(0.47, None) < -0.7
