"""`MuJoCo`: Coulomb friction, the table's edge, speed, and the grasp."""

import time
from typing import Literal

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError, SimulationError
from pushwise.experiments.referee import Case, cases, judge
from pushwise.geometry.metric import mean_cell_error
from pushwise.geometry.polygon import placed

HAMMER = pw.objects.load("hammer")
PUSH = pw.Push.line((0.1, -0.03), (0.0, 0.1), 2.0)


def test_sliding_is_close_to_coulomb_friction() -> None:
    """End within 2 mm of the exact answer on a uniform square, sticking and slipping."""
    for case in list(cases())[:2]:
        (verdict,) = (v for v in judge(case) if v.world == "mujoco")
        assert verdict.from_rigid < 0.002


@pytest.mark.slow
@pytest.mark.parametrize(("own_weight", "load"), [(False, "rigid"), (True, "own")])
def test_the_hammer_rests_as_told(own_weight: bool, load: Literal["rigid", "own"]) -> None:
    """End within 8 mm of the exact answer after 0.2 m: on a stiff bed, or cell by cell."""
    for case in list(cases())[2:6]:
        assert _from_exact(case, own_weight, load) < 0.008


@pytest.mark.slow
@pytest.mark.parametrize(("own_weight", "load"), [(False, "rigid"), (True, "own")])
def test_curved_and_accelerating_pushes_end_as_near(
    own_weight: bool, load: Literal["rigid", "own"]
) -> None:
    """End within 2.5 mm of the exact answer on quarter circles and after speeding up."""
    for case in list(cases())[6:10]:
        assert _from_exact(case, own_weight, load) < 0.0025, case.name


@pytest.mark.parametrize(
    ("own_weight", "load", "within"), [(True, "own", 0.0025), (False, "rigid", 0.012)]
)
def test_thrown_objects_end_near_the_exact_answer(
    own_weight: bool, load: Literal["rigid", "own"], within: float
) -> None:
    """End nearby after sliding freely for about 0.2 m; inertia shifts the load of a free body."""
    for case in list(cases())[10:]:
        assert _from_exact(case, own_weight, load) < within, case.name


def _from_exact(case: Case, own_weight: bool, load: Literal["rigid", "own"]) -> float:
    """Return how far from the exact answer MuJoCo leaves the cells in the mean [m]."""
    world = pw.worlds.MuJoCo(case.model, finger=case.finger, own_weight=own_weight)
    end = world.push(case.push, twist=case.twist).pose[-1]
    physics = pw.Physics(load=load)
    exact = pw.simulate(
        case.model, case.push, twist=case.twist, finger=case.finger, physics=physics
    )
    return mean_cell_error(case.model.grid, end, exact.pose[-1])


def test_the_finger_feels_friction() -> None:
    """Push a square through its middle with mu m g."""
    square = next(iter(cases())).model
    world = pw.worlds.MuJoCo(square)
    record = world.push(pw.Push.line((-0.112, 0.0), (0.1, 0.0), 1.0))
    assert record.force is not None
    assert record.force[20:50].mean(axis=0) == pytest.approx([0.3 * 9.81, 0.0], abs=0.1)
    assert record.pose[-1] == pytest.approx([0.098, 0.0, 0.0], abs=0.003)


def test_two_seconds_take_less_than_one() -> None:
    """Carry out a 2 s push of 88 cells in less than 1 s of processor time."""
    world = pw.worlds.MuJoCo(HAMMER)
    begin = time.process_time()
    world.push(PUSH)
    assert time.process_time() - begin < 1.0


def test_a_push_repeats() -> None:
    """Do the same thing twice."""
    world = pw.worlds.MuJoCo(HAMMER)
    first = world.push(PUSH)
    world.reset(0)
    assert world.push(PUSH).pose.tolist() == first.pose.tolist()


@pytest.mark.parametrize("name", pw.objects.names)
def test_things_fall_when_their_centre_is_beyond_the_edge(name: str) -> None:
    """Fall with the centre of mass 10 mm beyond the edge, stay 10 mm inside, 8 ways round."""
    thing = pw.objects.load(name)
    for theta in np.arange(8) * np.pi / 4:
        centre = placed(thing.model.centre_of_mass[None], np.array([0, 0, theta]))[0]
        for beyond in (0.01, -0.01):
            pose = (0.5 + beyond - centre[0], -centre[1], theta)
            assert pw.worlds.MuJoCo(thing, pose=pose).fell == (beyond > 0), (theta, beyond)


def test_what_lands_flat_has_fallen() -> None:
    """See that an object let go beside the table is gone, although it does not tilt."""
    assert pw.worlds.MuJoCo(HAMMER, pose=(0.8, 0.0, 0.0)).fell


def test_an_object_pushed_off_the_table_falls() -> None:
    """End the record where it tips, and refuse to push what is on the floor."""
    world = pw.worlds.MuJoCo(HAMMER, pose=(0.3, 0.0, 0.0))
    record = world.push(pw.Push.line((0.11, 0.0), (0.1, 0.0), 4.0))
    assert record.fell
    assert world.fell
    assert record.pose[-1, 0] + HAMMER.model.centre_of_mass[0] == pytest.approx(0.5, abs=0.02)
    with pytest.raises(SimulationError, match="fallen off the table"):
        world.push(PUSH)


def test_a_round_table_is_refused() -> None:
    """Ask for a rectangle, of any place and direction."""
    with pytest.raises(PushwiseError, match="needs a rectangular table; got a polygon of 3"):
        pw.worlds.MuJoCo(HAMMER, pw.Table([(0, 0), (1, 0), (0, 1)]))
    turned = pw.Table(placed(pw.Table.rectangle(1.0, 0.7).polygon, np.array([0.1, 0.2, 0.7])))
    world = pw.worlds.MuJoCo(HAMMER, turned, pose=(0.1, 0.2, 0.7))
    assert not world.fell


def test_cells_as_small_as_the_rails_can_be_pushed() -> None:
    """Build a scene whose rails have no length between the corners of a 2 mm cell."""
    grid = pw.CellGrid([(0, 0)], 0.002)
    world = pw.worlds.MuJoCo(pw.ObjectModel(grid, mass=[0.01], friction=0.3))
    record = world.push(pw.Push.line((-0.012, 0.0), (0.1, 0.0), 0.5))
    assert record.pose[-1, 0] == pytest.approx(0.049, abs=0.004)


@pytest.mark.slow
def test_the_gripper_lifts_a_hammer_that_overhangs() -> None:
    """Hold the hammer after the lift in at least 9 of 10 stable poses with 60 mm overhang."""
    rng = np.random.default_rng(0)
    held: list[bool] = []
    while len(held) < 10:
        theta = rng.uniform(-np.pi, np.pi)
        reach = placed(HAMMER.outline, np.array([0, 0, theta]))[:, 0].max()
        pose = np.array([0.5 + 0.06 - reach, rng.uniform(-0.1, 0.1), theta])
        if pw.worlds.MuJoCo(HAMMER, pose=pose).fell:
            continue
        done = pw.worlds.grasp(HAMMER, pose)
        held.append(done.held)
        if done.held:
            assert done.raised == pytest.approx(0.1, abs=0.01)
    assert sum(held) >= 9


@pytest.mark.parametrize("pose", [(0.0, 0.0, 0.0), (0.32, 0.0, 0.0)])
def test_the_gripper_misses_where_nothing_overhangs(pose: tuple[float, float, float]) -> None:
    """Report a miss, and leave the hammer where it is."""
    done = pw.worlds.grasp(HAMMER, pose)
    assert not done.held
    assert done.raised == pytest.approx(0.0, abs=0.001)


def test_the_gripper_opens_for_what_is_high() -> None:
    """Hold a box of 150 mm, higher than the gripper usually opens."""
    corners = [(-0.1, -0.05), (0.1, -0.05), (0.1, 0.05), (-0.1, 0.05)]
    flat = pw.CellGrid.from_outline(corners, cell_size=0.02)
    high = pw.CellGrid(flat.centres, flat.cell_size, np.full(flat.n_cells, 0.15), flat.outline)
    box = pw.ObjectModel(high, np.full(flat.n_cells, 0.5 / flat.n_cells), 0.3)
    assert pw.worlds.grasp(box, (0.46, 0.0, 0.0)).held


def test_a_jaw_that_rocks_holds() -> None:
    """Count an object as held that hangs in the air while the upper jaw rocks on it.

    At this pose the jaw is not touching at the very last step.
    """
    heavy = pw.worlds.random_world("hammer", pw.Table(), world="mujoco", seed=13).truth
    done = pw.worlds.grasp(heavy, (0.0311255924785514, -0.23697416994135018, 4.399033391383359))
    assert done.held
    assert done.raised > 0.09


def test_what_is_flatter_than_its_feet_is_refused() -> None:
    """Name the cell and what MuJoCo needs; and refuse a seed that is none."""
    grid = pw.CellGrid([(0.0, 0.0), (0.02, 0.0), (0.0, 0.02)], 0.02, heights=[4e-4] * 3)
    with pytest.raises(PushwiseError, match=r"higher than 0.5 mm; cell 0 is 0.4 mm high"):
        pw.worlds.MuJoCo(pw.ObjectModel(grid, [0.1] * 3, 0.3))
    with pytest.raises(PushwiseError, match="seed must"):
        pw.worlds.random_world("hammer", pw.Table(), seed=-1)
