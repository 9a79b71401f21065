"""One step with a finger: momentum, cones and complementarity, to machine precision."""

import numpy as np
import pytest

from from_python import from_python
from pushwise.geometry.compiled import feature_normal, nearest_feature
from pushwise.physics.kernels import contact, step
from pushwise.physics.kernels import wedge as corner
from pushwise.physics.kernels.contact import (
    IMPOSSIBLE,
    SLIP_LEFT,
    SLIP_RIGHT,
    STICK,
    WEDGE_LEFT,
    WEDGE_RIGHT,
    WEDGE_STICK,
    Contact,
)
from pushwise.physics.kernels.step import ISOTROPIC, StepProblem

energy = from_python(step.energy)
free_twist = from_python(step.free_twist)
single_contact = from_python(contact.single_contact)
slip = from_python(contact.slip)
wedge = from_python(corner.wedge)


def random_problem(rng: np.random.Generator) -> StepProblem:
    """Draw an object of some points, at rest, moving slowly or fast, and a time step."""
    n = int(rng.integers(3, 60))
    r = rng.normal(scale=0.05, size=(2, n))
    m = rng.uniform(0.001, 0.03, n)
    dt = float(10 ** rng.uniform(-3.5, -1.0))
    u = rng.choice([0.0, 0.01, 0.3]) * rng.normal(size=3) * np.array([1.0, 1.0, 20.0])
    return StepProblem(
        m.sum(),
        float(m @ r[0]),
        float(m @ r[1]),
        float(m @ (r**2).sum(axis=0)) + 1e-5,
        u[0],
        u[1],
        u[2],
        u[0],
        u[1],
        u[2],
        0.0,
        0.0,
        0.0,
        dt,
        dt,
        np.ascontiguousarray(r[0]),
        np.ascontiguousarray(r[1]),
        m * 9.81 * rng.uniform(0.05, 0.9, n),
        float(np.hypot(*r).max()),
        ISOTROPIC,
    )


def random_contact(rng: np.random.Generator) -> Contact:
    """Draw a touched point with a normal that points away from the object."""
    angle = rng.uniform(-np.pi, np.pi)
    p = rng.uniform(0.03, 0.12) * np.array([np.cos(angle), np.sin(angle)])
    angle += rng.uniform(-0.7, 0.7)
    speed = 10 ** rng.uniform(-2.0, -0.3)
    return Contact(
        np.cos(angle),
        np.sin(angle),
        p[0],
        p[1],
        -speed,
        speed * rng.normal() * rng.choice([0.1, 1.0]),
        0.0,
        0,
    )


def test_free_step_balances_momentum() -> None:
    """Solve 500 random steps without a finger: the gradient of E vanishes."""
    rng = np.random.default_rng(0)
    for _ in range(500):
        p = random_problem(rng)
        ok, *v = free_twist(p)
        g = energy(p, *v)
        scale = p.dt * p.c.sum()
        assert ok
        assert np.hypot(g.gx, g.gy) < 1e-9 * scale
        assert abs(g.gw) < 1e-9 * scale * p.reach


def test_single_contact_obeys_coulomb() -> None:
    """Solve 2,000 random contacts: one of stick, slip and separation holds, exactly."""
    rng = np.random.default_rng(1)
    count = {STICK: 0, SLIP_LEFT: 0, SLIP_RIGHT: 0, IMPOSSIBLE: 0}
    for _ in range(2000):
        p, c, mu = random_problem(rng), random_contact(rng), rng.uniform(0.0, 1.0)
        touch = single_contact(p, c, mu, 0.0)
        count[touch.mode] += 1
        n, t = np.array([c.nx, c.ny]), np.array([-c.ny, c.nx])
        if touch.mode == IMPOSSIBLE:
            _, vx, vy, w = free_twist(p)
            assert n @ [vx - w * c.py, vy + w * c.px] <= c.b + 1e-9
            continue
        f = np.array([touch.fx, touch.fy])
        g = energy(p, touch.vx, touch.vy, touch.w)
        scale = p.dt * p.c.sum() + np.hypot(*f)
        assert np.hypot(g.gx - f[0], g.gy - f[1]) < 1e-8 * scale
        assert abs(g.gw - (c.px * f[1] - c.py * f[0])) < 1e-8 * scale * p.reach
        point = np.array([touch.vx - touch.w * c.py, touch.vy + touch.w * c.px])
        assert n @ point == pytest.approx(c.b, abs=1e-9)
        normal, tangential, rubbing = -n @ f, t @ f, t @ point - c.ut
        assert normal >= 0.0
        if touch.mode == STICK:
            assert abs(tangential) <= mu * normal + 1e-12 * scale
            assert abs(rubbing) < 1e-9
        else:
            sigma = 1.0 if touch.mode == SLIP_LEFT else -1.0
            assert tangential == pytest.approx(sigma * mu * normal, abs=1e-8 * scale)
            assert sigma * rubbing <= 1e-9
    assert min(count.values()) > 50


def test_guarded_search_finds_what_newton_finds() -> None:
    """Start the slip's Newton far off: the search on the slip speed leads to the same answer."""
    rng = np.random.default_rng(2)
    compared = 0
    for _ in range(300):
        p, c, mu = random_problem(rng), random_contact(rng), rng.uniform(0.0, 0.5)
        touch = single_contact(p, c, mu, 0.0)
        if touch.mode not in (SLIP_LEFT, SLIP_RIGHT):
            continue
        sigma = 1.0 if touch.mode == SLIP_LEFT else -1.0
        valid, far = slip(p, c, mu, sigma, 40.0, -300.0)
        assert valid
        assert far.w == pytest.approx(touch.w, abs=1e-6)
        compared += 1
    assert compared > 50


def test_wedge_obeys_both_cones() -> None:
    """Solve random concave corners: both normals hold, forces fit, rubbing has one sense."""
    rng = np.random.default_rng(3)
    count = {WEDGE_STICK: 0, WEDGE_LEFT: 0, WEDGE_RIGHT: 0, IMPOSSIBLE: 0}
    for _ in range(3000):
        p, mu, radius = random_problem(rng), rng.uniform(0.0, 0.8), 0.01
        centre = rng.uniform(0.02, 0.1) * np.array([1.0, 0.0])
        half = rng.uniform(0.3, 1.2)
        u = -0.1 * np.array([np.cos(a := rng.uniform(-1.0, 1.0)), np.sin(a)])
        sides = []
        for angle in (half, -half):
            n = np.array([np.cos(angle), np.sin(angle)])
            x, y = centre - radius * n
            sides.append(Contact(n[0], n[1], x, y, float(n @ u), 0.0, 0.0, 0))
        touch = wedge(p, *sides, *centre, radius, mu)
        count[touch.mode] += 1
        if touch.mode == IMPOSSIBLE:
            continue
        at = np.array([touch.vx - touch.w * centre[1], touch.vy + touch.w * centre[0]])
        assert at == pytest.approx(u, abs=1e-9)
        g = energy(p, touch.vx, touch.vy, touch.w)
        scale = p.dt * p.c.sum() + np.hypot(g.gx, g.gy)
        if touch.mode == WEDGE_STICK:
            assert touch.w == 0.0
            continue
        sigma = 1.0 if touch.mode == WEDGE_LEFT else -1.0
        assert sigma * touch.w >= 0.0
        pushes = []
        for c in sides:
            d = np.array([-c.nx - sigma * mu * c.ny, -c.ny + sigma * mu * c.nx])
            pushes.append([*d, c.px * d[1] - c.py * d[0]])
        strength, *_ = np.linalg.lstsq(np.array(pushes).T, [g.gx, g.gy, g.gw], rcond=None)
        assert (strength >= -1e-9 * scale).all()
        assert np.array(pushes).T @ strength == pytest.approx([g.gx, g.gy, g.gw], abs=1e-8 * scale)
    assert min(count.values()) > 50


def test_nearest_feature_matches_brute_force() -> None:
    """Compare distance, side and normal with a fine sampling of a concave outline."""
    rng = np.random.default_rng(4)
    outline = np.array([[0, 0], [3, 0], [3, 3], [2, 3], [2, 1], [1, 1], [1, 3], [0, 3]], float)
    ox, oy = (np.ascontiguousarray(column) for column in outline.T)
    share = np.linspace(0.0, 1.0, 2001)[:, None]
    dense = np.concatenate(
        [a + share * (b - a) for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True)]
    )
    for q in rng.uniform(-1.0, 4.0, (500, 2)):
        feature, d = nearest_feature(q[0], q[1], ox, oy)
        away = np.hypot(*(dense - q).T)
        inside = (0 < q[0] < 3 and 0 < q[1] < 3) and not (1 < q[0] < 2 and q[1] > 1)
        assert d == pytest.approx(-away.min() if inside else away.min(), abs=1e-3)
        if d > 0.01:
            size, nx, ny, _ = feature_normal(feature, q[0], q[1], ox, oy)
            assert size == pytest.approx(d)
            near = q - dense[away.argmin()]
            assert np.array([nx, ny]) == pytest.approx(near / np.hypot(*near), abs=1e-2 / d)
