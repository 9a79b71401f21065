"""How a finger meets an outline, also from inside of it."""

import numpy as np
import pytest

from pushwise.geometry.se2 import se2
from pushwise.physics.clear_start import gap_at

# An L, whose corner at (0.04, 0.04) points inwards.
L = np.array([(0.0, 0.0), (0.1, 0.0), (0.1, 0.04), (0.04, 0.04), (0.04, 0.1), (0.0, 0.1)])
OUTLINE = np.ascontiguousarray(L[:, 0]), np.ascontiguousarray(L[:, 1])
AT = se2(0.3, -0.2, 0.7)
STEP = 1e-6


@pytest.mark.parametrize(
    "place",
    [(0.03, 0.033), (0.11, 0.047), (0.07, 0.03), (0.07, 0.05), (-0.004, -0.002)],
    ids=["inside, at the inner corner", "at a corner", "inside", "in the hollow", "at another"],
)
def test_normals_are_how_the_gap_grows(place: tuple[float, float]) -> None:
    """Compare normal and curvature with differences of the gap."""
    cos, sin = np.cos(0.7), np.sin(0.7)
    x, y = 0.3 + cos * place[0] - sin * place[1], -0.2 + sin * place[0] + cos * place[1]

    def gap(dx: float, dy: float) -> float:
        return gap_at(OUTLINE, AT, x + dx, y + dy, 0.005).gap

    met = gap_at(OUTLINE, AT, x, y, 0.005)
    along_x = (gap(STEP, 0.0) - gap(-STEP, 0.0)) / (2.0 * STEP)
    along_y = (gap(0.0, STEP) - gap(0.0, -STEP)) / (2.0 * STEP)
    np.testing.assert_allclose(met.normal, (along_x, along_y), atol=1e-6)
    nx, ny = met.normal
    h = 1e-4
    bend = (gap(-h * ny, h * nx) - 2.0 * met.gap + gap(h * ny, -h * nx)) / h**2
    assert met.curvature == pytest.approx(bend, rel=1e-3, abs=1e-3)
