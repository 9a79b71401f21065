"""`Balance`: support polygons, margins, tipping loads, and agreement with MuJoCo."""

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError
from pushwise.experiments.stability import rows_of
from pushwise.planning.stability import Balance

BAR = pw.ObjectModel(
    pw.CellGrid.from_outline(
        [(-0.1, -0.02), (0.1, -0.02), (0.1, 0.02), (-0.1, 0.02)], cell_size=0.02
    ),
    mass=np.full(20, 0.05),
    friction=0.3,
)
KNOWN = pw.Belief.certain(BAR)
TABLE = pw.Table.rectangle(1.0, 0.6)


def test_the_edge_cuts_cells() -> None:
    """Measure the margin to the edge itself, not to the nearest cell or point."""
    balance = Balance(KNOWN, TABLE)
    for beyond in (-0.013, -0.007, -0.001, 0.001, 0.007):
        here = balance.at((0.5 + beyond, 0.1, 0.0))
        assert here.margin == pytest.approx(-beyond, abs=1e-9)
        assert here.fall_probability == (beyond > 0)
    assert np.ptp(balance.at((0.493, 0.1, 0.0)).polygon, axis=0) == pytest.approx([0.107, 0.04])


def test_margins_are_those_of_geometry() -> None:
    """Find the half width on the table, nothing off it, and the way back from beyond."""
    balance = Balance(KNOWN, TABLE)
    poses = [(0.0, 0.0, 0.3), (2.0, 0.0, 0.0), (0.55, 0.0, 0.0), (0.52, 0.0, np.pi / 2)]
    assert balance.margins(poses) == pytest.approx([0.02, -np.inf, -0.05, -np.inf])


def test_a_table_of_any_polygon() -> None:
    """Bridge a notch of the table, and sit on a corner of it."""
    notch = pw.Table([(-1, -1), (-0.05, -1), (-0.05, 1), (-1, 1)])
    bridge = pw.Table(
        [(-1, -1), (1, -1), (1, 1), (0.05, 1), (0.05, -0.5), (-0.05, -0.5), (-0.05, 1), (-1, 1)]
    )
    assert Balance(KNOWN, notch).margins([(0.0, 0.0, 0.0)]) == pytest.approx([-0.05])
    assert Balance(KNOWN, bridge).margins([(0.0, 0.0, 0.0)]) == pytest.approx([0.02])
    corner = pw.Table([(0, 0), (-1, 0.3), (-1, -0.3)])
    assert Balance(KNOWN, corner).margins([(0.0, 0.0, 0.0)]) == pytest.approx([0.0], abs=1e-9)
    assert Balance(KNOWN, corner).margins([(-0.01, 0.0, 0.0)])[0] > 0.002


def test_the_probability_of_falling_is_gauss_s() -> None:
    """Be right to 0.5 % at the 1 % level, for thousands of poses in a second."""
    belief = pw.Belief(BAR, pw.Finger(), 0.01**2 * np.eye(2), None, np.zeros(3))
    worst = 0.0
    for seed in range(20):
        balance = Balance(belief, TABLE, seed=seed)
        probability = balance.fall_probabilities([(0.5 - 0.0232635, 0.0, 0.0)])[0]
        worst = max(worst, abs(probability - 0.01))
    assert worst < 0.005
    poses = np.column_stack([np.linspace(0.3, 0.6, 2000), np.zeros((2000, 2))])
    assert balance.fall_probabilities(poses, certainty=1e9)[0] == 0.0


@pytest.mark.parametrize("known", [True, False])
def test_an_object_that_is_not_quite_where_it_should_be_may_fall(known: bool) -> None:
    """Add the variance of its place to that of its centre of mass, whatever is known of that."""
    spread = 0.0 if known else 0.004
    learned = pw.Belief(BAR, pw.Finger(), 0.004**2 * np.eye(2), None, np.zeros(3))
    both = float(np.hypot(0.003, spread))
    at = np.array([[0.5 - 1.2816 * both, 0.0, 0.0]])
    balance = Balance(KNOWN if known else learned, TABLE, placement_std=0.003)
    assert balance.fall_probabilities(at)[0] == pytest.approx(0.1, abs=0.02)
    assert balance.margins(at)[0] == pytest.approx(1.2816 * both)


def test_a_thin_object_does_not_fall_sideways_for_its_place() -> None:
    """Move the edge and not the object's own sides where its place is uncertain."""
    outline = [(-0.15, -0.005), (0.15, -0.005), (0.15, 0.005), (-0.15, 0.005)]
    grid = pw.CellGrid.from_outline(outline, cell_size=0.005)
    rod = pw.Belief.certain(pw.ObjectModel(grid, np.full(grid.n_cells, 0.01), 0.3))
    balance = Balance(rod, TABLE, placement_std=0.003)
    for theta in (0.0, 0.4):
        x = 0.5 - 0.03 * np.cos(theta)  # the middle is 30 mm from the edge along the rod
        assert balance.fall_probabilities([(x, 0.0, theta)])[0] == 0.0
    assert balance.fall_probabilities([(0.5, 0.0, 0.0)])[0] == pytest.approx(0.5, abs=0.03)


def test_the_tipping_load_is_the_lever_s() -> None:
    """Balance weight times arm on both sides of the edge."""
    balance = Balance(KNOWN, TABLE)
    load = balance.tipping_load((0.47, 0.0, 0.0), (0.56, 0.0))
    assert load == pytest.approx(9.81 * 0.03 / 0.06)
    assert balance.tipping_load((0.47, 0.0, 0.0), (0.45, 0.0)) == np.inf
    assert balance.tipping_load((0.51, 0.0, 0.0), (0.56, 0.0)) == 0.0


def test_a_centre_of_mass_that_may_be_anywhere_is_refused() -> None:
    """Claim no certainty where none of the centres drawn lies in the object."""
    belief = pw.Belief(BAR, pw.Finger(), 1e6 * np.eye(2), None, np.zeros(3))
    with pytest.raises(PushwiseError, match="so uncertain that no sample of it lies within"):
        Balance(belief, TABLE)


def test_what_is_no_belief_is_refused() -> None:
    """Name what was given, and say what to do."""
    with pytest.raises(PushwiseError, match=r"got ObjectModel.* pw\.Belief\.certain\(model\)"):
        Balance(BAR, TABLE)  # type: ignore[arg-type]


@pytest.mark.slow
def test_mujoco_agrees() -> None:
    """Fall in MuJoCo exactly where the margin says so, when it exceeds 5 mm."""
    cases = [row for i in range(1000, 1063) for row in rows_of({"case": i})]
    margins = [(case, float(case["margin_mm"] or 0.0)) for case in cases]
    sure = [(case, margin) for case, margin in margins if abs(margin) > 5.0]
    assert len(sure) > 40
    assert {margin < 0.0 for _, margin in sure} == {True, False}
    assert [case for case, margin in sure if case["fell"] != (margin < 0.0)] == []


def test_a_corner_of_a_cell_may_be_at_the_edge() -> None:
    """Find the margin and the risk as if it were just beyond."""
    hammer = pw.objects.load("hammer").model
    belief = pw.Belief(hammer, pw.Finger(), 0.012**2 * np.eye(2), None, np.zeros(3))
    balance = Balance(belief, pw.Table.rectangle(1.0, 0.7), samples=256)
    rng = np.random.default_rng(0)
    corners = balance.cells.corners
    theta = rng.uniform(-np.pi, 3.0 * np.pi, 1000)
    at = corners[rng.integers(len(corners), size=len(theta))]
    y = 0.35 - np.sin(theta) * at[:, 0] - np.cos(theta) * at[:, 1]
    poses = np.column_stack([rng.uniform(-0.1, 0.1, len(theta)), y, theta])
    beyond = poses + np.array([0.0, 1e-8, 0.0])
    assert balance.margins(poses) == pytest.approx(balance.margins(beyond), abs=1e-4)
    risk = balance.fall_probabilities(poses)
    assert risk == pytest.approx(balance.fall_probabilities(beyond), abs=2 / 256)
    assert (risk > 0.0).any() and (risk < 1.0).any()
