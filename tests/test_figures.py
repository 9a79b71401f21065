"""The pictures of a scan, a model and a plan show what they are pictures of."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib import colormaps, rcParams
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.text import Annotation

import pushwise as pw
from a_run import a_run
from drawn import points_of, texts
from pushwise.errors import PushwiseError
from pushwise.experiments.real.report import readable_set
from pushwise.experiments.reporting import BANDS, plot_runs
from pushwise.geometry.polygon import placed
from pushwise.identification.result import Identification
from pushwise.show.figure_style import CENTRE
from pushwise.show.figures import maps_figure, plan_figure, save_picture, scan_figure
from pushwise.show.quantities import cell_corners, ellipse, finger_path, probability
from pushwise.sliding.run_folder import load_run


def cells_of(figure: Figure) -> list[PolyCollection]:
    """Return the coloured cells of the axes, those of each that has any."""
    figure.draw_without_rendering()  # which is when values become colours
    return [c for axes in figure.axes for c in axes.collections if isinstance(c, PolyCollection)]


def test_a_scan_is_cells_over_a_cloud() -> None:
    """Draw each cell where it is, in the colour of its height, and the outline in red."""
    points = pw.objects.load("hammer").points(np.random.default_rng(0), tilt=0.2)
    scan = pw.Scan.from_points(points)
    figure = scan_figure(scan, points)
    axes, bar = figure.axes
    (cells,) = cells_of(figure)
    corners = np.array([np.asarray(path.vertices)[:4] for path in cells.get_paths()])
    np.testing.assert_allclose(corners, cell_corners(scan.grid))
    height = scan.grid.heights
    share = (height - height.min()) / np.ptp(height)
    faces = np.asarray(cells.get_facecolor())
    np.testing.assert_allclose(faces[:, :3], colormaps["viridis"](share)[:, :3], atol=1e-9)
    cloud, outline, *holes = axes.get_lines()
    assert len(points_of(cloud)) > 1000
    np.testing.assert_array_equal(points_of(outline)[:-1], scan.grid.outline)
    assert outline.get_color() == CENTRE
    assert len(holes) == len(scan.holes)
    assert (axes.get_xlabel(), axes.get_ylabel(), bar.get_ylabel()) == (
        "x [m]",
        "y [m]",
        "height [mm]",
    )
    assert axes.get_title(loc="left").startswith(f"{scan.grid.n_cells} cells of ")


def test_maps_show_three_quantities_and_the_centre_of_mass() -> None:
    """Colour cells from zero to the largest value, and mark centre and ellipse on each map."""
    outcome = load_run(a_run())
    found = outcome.found
    assert isinstance(found, Identification)
    figure = maps_figure(found)
    mass, load = found.model.mass, found.model.mass * found.model.friction
    expected = [
        ("% of the whole", "viridis", 1e2 * mass / mass.sum()),
        ("% of the whole", "viridis", 1e2 * load / load.sum()),
        ("%", "magma", 1e2 * (1.0 - found.posterior.load_known)),
    ]
    maps = figure.axes[:3]
    titles = [axes.get_title(loc="left") for axes in maps]
    assert titles == ["Mass", "Friction load", "Remaining uncertainty of the load"]
    ring = ellipse(found.model.centre_of_mass, found.posterior.centre_of_mass_covariance)
    coloured = cells_of(figure)
    assert [cells.axes for cells in coloured] == maps
    for at, ((unit, scheme, values), cells) in enumerate(zip(expected, coloured, strict=True)):
        np.testing.assert_allclose(np.asarray(cells.get_array()), values)
        colours = colormaps[scheme](values / values.max())
        np.testing.assert_allclose(np.asarray(cells.get_facecolor()), colours, atol=0.02)
        assert figure.axes[3 + at].get_ylabel() == f"per cell [{unit}]"
        _, centre, border = maps[at].get_lines()
        np.testing.assert_allclose(points_of(centre)[0], 1e3 * found.model.centre_of_mass)
        np.testing.assert_allclose(points_of(border)[:-1], 1e3 * ring)
        assert {centre.get_color(), border.get_color()} == {CENTRE}
    assert texts(figure) == ["centre of mass", "95 % confidence ellipse"]
    assert f"learned from {len(outcome.records)} push" in figure.get_suptitle()


def test_a_plan_is_drawn_from_light_to_dark() -> None:
    """Draw table, obstacles, an outline per pose, and an arrow and a dotted line per push."""
    model = pw.objects.load("box").model
    table = pw.Table.rectangle(1.2, 1.0)
    obstacle = np.array([(0.4, 0.3), (0.5, 0.3), (0.5, 0.4)])
    push = pw.Push.line((-0.2, 0.0), (0.1, 0.0), 2.0)
    poses = np.array([(0.0, 0.0, 0.0), (0.1, 0.0, 0.3)])
    way = np.array([(-0.3, 0.2), (-0.2, 0.0)])
    plan = pw.Plan((push,), (way,), poses, np.zeros((2, 3)), poses, 0.0, 1, 0.1)
    figure = plan_figure(plan, model.grid, table, obstacles=[obstacle])
    (axes,) = figure.axes
    top, block, *outlines = [p for p in axes.patches if isinstance(p, Polygon)]
    np.testing.assert_array_equal(top.get_xy()[:-1], table.polygon)
    np.testing.assert_array_equal(block.get_xy()[:-1], obstacle)
    assert block.get_facecolor() == to_rgba("0.6")
    for outline, pose in zip(outlines, poses, strict=True):
        np.testing.assert_allclose(outline.get_xy()[:-1], placed(model.grid.outline, pose))
    brightness = [np.sum(to_rgba(outline.get_edgecolor())[:3]) for outline in outlines]
    assert brightness[0] > brightness[1]
    (arrow,) = [text for text in axes.texts if isinstance(text, Annotation)]
    assert (tuple(arrow.xy), tuple(arrow.xyann)) == ((0.0, 0.0), (-0.2, 0.0))
    (dotted,) = axes.get_lines()
    assert dotted.get_linestyle() == ":"
    np.testing.assert_array_equal(points_of(dotted), way)


def test_a_bent_path_of_the_finger_is_drawn_along_its_bends() -> None:
    """Draw a line to the last bend, and an arrow from there; no line for a rest."""
    model = pw.objects.load("box").model
    places = [(-0.2, 0.0), (-0.2, 0.1), (-0.2, 0.1), (-0.1, 0.1)]
    push = pw.Push([0.0, 1.0, 2.0, 3.0], places)
    poses = np.zeros((2, 3))
    plan = pw.Plan((push,), (np.zeros((0, 2)),), poses, np.zeros((1, 3)), poses, 0.0, 1, 0.1)
    (axes,) = plan_figure(plan, model.grid, pw.Table.rectangle(1.2, 1.0)).axes
    (arrow,) = [text for text in axes.texts if isinstance(text, Annotation)]
    assert (tuple(arrow.xy), tuple(arrow.xyann)) == ((-0.1, 0.1), (-0.2, 0.1))
    _, bent = axes.get_lines()
    assert points_of(bent).tolist() == [[-0.2, 0.0], [-0.2, 0.1]]
    still = pw.Push([0.0, 1.0], np.zeros((2, 2)))
    assert finger_path(still).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_a_picture_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """Say which file, and why."""
    for name, reason in (("none/a.png", "No such file"), ("a.foo", "not supported")):
        with pytest.raises(PushwiseError, match=f"cannot write .*{name}.*{reason}"):
            save_picture(Figure(), tmp_path / name)


def test_probabilities_are_percentages() -> None:
    """Claim nothing below what samples can resolve."""
    assert [probability(p) for p in (0.0, 9e-4, 0.012, 1.0)] == [
        "below 0.1 %",
        "below 0.1 %",
        "1.2 %",
        "100 %",
    ]


def test_figures_leave_the_settings_of_matplotlib_alone() -> None:
    """Draw in our style, and return to that of the user."""
    before = dict(rcParams)
    model = pw.objects.load("box").model
    plan = pw.Plan((), (), np.zeros((1, 3)), np.zeros((0, 3)), np.zeros((1, 3)), 0.0, 1, 0.1)
    (axes,) = plan_figure(plan, model.grid, pw.Table()).axes
    assert not axes.spines["top"].get_visible()
    assert axes.get_title(loc="left") == "0 pushes planned, ending 0.0 mm from the goal"
    assert dict(rcParams) == before


def test_errors_of_many_runs_are_a_median_with_a_band() -> None:
    """Draw the median and the middle half, which the legend explains."""
    axes = Figure().subplots()
    plot_runs(axes, [1, 2], [np.arange(5.0), np.arange(9.0)], "-", shade=0.1, color="C0")
    np.testing.assert_array_equal(points_of(axes.get_lines()[0])[:, 1], [2.0, 4.0])
    (band,) = axes.collections
    (path,) = band.get_paths()
    assert {1.0, 3.0, 2.0, 6.0} <= set(np.asarray(path.vertices)[:, 1])
    assert BANDS == "line: median; band: middle half of the runs"


def test_sets_of_pushes_have_readable_names() -> None:
    """Write out what the paths of published sets abbreviate."""
    assert readable_set("window10_90/abs_ellip1_v10") == "MIT: ABS, ellipse 1"
    assert readable_set("zhou2016/plywood_3pt_mid") == "Zhou 2016: plywood, 3 points, mid"
    assert readable_set("mine/cup") == "mine: cup"
