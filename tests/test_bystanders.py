"""Objects that stand on the table of the MuJoCo world: they move only when they are touched."""

import json
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

import pushwise as pw
from command import pushwise
from pushwise.errors import PushwiseError
from pushwise.experiments.among import seen_scene
from pushwise.planning.free_space import FreeSpace
from pushwise.planning.stability import Balance
from pushwise.sliding import explore
from pushwise.sliding.explore import Unexplored, safe_push
from pushwise.worlds.random_scene import scene_world

SIDE = np.array([[-0.04, -0.03], [0.04, -0.03], [0.04, 0.03], [-0.04, 0.03]])
GRID = pw.CellGrid.from_outline(SIDE, cell_size=0.01)
BLOCK = pw.ObjectModel(GRID, mass=np.full(GRID.n_cells, 0.4 / GRID.n_cells), friction=0.3)


def world(*poses: tuple[float, float, float]) -> pw.worlds.MuJoCo:
    """Return a world with a block at the origin and others at poses."""
    others = [pw.worlds.Bystander(BLOCK, np.array(pose)) for pose in poses]
    return pw.worlds.MuJoCo(BLOCK, bystanders=others)


def test_a_push_moves_what_it_touches_and_nothing_else() -> None:
    """Push the block into one of two others; the other stays where it is."""
    place = world((0.15, 0.0, 0.0), (0.15, 0.2, 0.7))
    place.push(pw.Push.line((-0.06, 0.0), (0.1, 0.0), 0.5))
    assert place.bystanders_moved() == pytest.approx([0.0, 0.0], abs=1e-5)
    place.push(pw.Push.line(place.observe().pose[:2] - [0.06, 0.0], (0.1, 0.0), 1.0))
    moved = place.bystanders_moved()
    assert moved[0] > 0.02
    assert moved[1] == pytest.approx(0.0, abs=1e-5)


def test_the_finger_moves_them_as_well() -> None:
    """Move a bystander with the finger alone."""
    place = world((0.0, 0.2, 0.0))
    place.push(pw.Push.line((-0.06, 0.2), (0.1, 0.0), 1.0))
    assert place.bystanders_moved()[0] == pytest.approx(0.1 - 0.02 + 0.01, abs=0.005)


def test_they_are_touched_at_their_outlines() -> None:
    """Move the finger past a side that cells reach beyond, and then 2 mm nearer."""
    corners = np.array([[-0.06, -0.06], [0.06, -0.06], [-0.06, 0.06]])
    grid = pw.CellGrid.from_outline(corners, cell_size=0.03)
    beyond = grid.centres.sum(axis=1).max() + grid.cell_size
    assert beyond > 0.01  # the long side is x + y = 0
    other = pw.ObjectModel(grid, np.full(grid.n_cells, 0.4 / grid.n_cells), friction=0.3)
    there = pw.worlds.Bystander(other, np.array([0.0, 0.3, 0.0]))
    along, out = np.array([1.0, -1.0]) / 2**0.5, np.array([1.0, 1.0]) / 2**0.5
    for gap, touched in ((0.001, False), (-0.001, True)):
        place = pw.worlds.MuJoCo(BLOCK, bystanders=[there])
        start = [0.0, 0.3] + (pw.Finger().radius + gap) * out - 0.12 * along
        place.push(pw.Push.line(start, 0.1 * along, 2.4))
        assert (place.bystanders_moved()[0] > 1e-4) == touched


def test_their_places_are_part_of_the_state() -> None:
    """Continue from a state with moved bystanders, and go back to the start."""
    place = world((0.12, 0.0, 0.0))
    place.push(pw.Push.line((-0.06, 0.0), (0.1, 0.0), 1.0))
    state, moved = json.loads(json.dumps(place.state())), place.bystanders_moved()
    again = world((0.12, 0.0, 0.0))
    again.restore(state)
    assert again.bystanders_moved() == pytest.approx(moved)
    place.reset(0)
    assert place.bystanders_moved() == pytest.approx([0.0])


def test_overlapping_bystanders_are_refused() -> None:
    """Refuse two objects in one place."""
    with pytest.raises(PushwiseError, match="objects 0 and 1 of the bystanders overlap"):
        world((0.2, 0.0, 0.0), (0.22, 0.0, 0.1))


def test_exploring_pushes_keep_away_from_obstacles() -> None:
    """Draw pushes that end short of the walls on either side."""
    wall = np.array([[0.1, -0.2], [0.12, -0.2], [0.12, 0.2], [0.1, 0.2]])
    scene = Unexplored(GRID, pw.Table(), pw.Finger(), pw.Prior(), (wall, -wall[::-1]))
    for seed in range(5):
        push = safe_push(np.random.default_rng(seed), scene, np.zeros(3))
        assert np.abs(push.positions[:, 0]).max() < 0.1 - pw.Finger().radius
        end = pw.simulate(BLOCK, push).pose[-1]
        assert np.abs(pw.placed(GRID.outline, end)[:, 0]).max() < 0.095


def test_exploring_pushes_expect_an_object_to_turn_the_other_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Avoid a push that turns an object with a heavy end into an obstacle, unlike most others."""
    grid = pw.CellGrid.from_outline(SIDE * [4.0, 2.0], cell_size=0.035)
    push = pw.Push.line((0.06, -0.08), (0.0, 0.1), 2.0)
    away = pw.Push.line((0.0, 0.08), (0.0, -0.1), 1.0)
    drawn = cycle([push, away])
    monkeypatch.setattr(explore, "draw_push", lambda *_: next(drawn))
    mass = 8.0 ** (grid.centres[:, 0] / 0.16)
    heavy = pw.ObjectModel(grid, 0.5 * mass / mass.sum(), 0.3)
    assert heavy.centre_of_mass[0] > 0.065
    wall = np.array([[-0.2, 0.13], [-0.1, 0.13], [-0.1, 0.15], [-0.2, 0.15]])
    scene = Unexplored(grid, pw.Table(), pw.Finger(), pw.Prior(), (wall,))
    free = FreeSpace(Balance(pw.Belief.certain(heavy), pw.Table()), (wall,))
    assert not free(pw.simulate(heavy, push).pose).all()
    for seed in range(10):
        path = pw.simulate(heavy, safe_push(np.random.default_rng(seed), scene, np.zeros(3))).pose
        assert free(path).all()


@pytest.mark.slow
def test_an_object_of_a_scene_is_slid_among_the_others(tmp_path: Path) -> None:
    """Scan three objects, slide one to the edge in MuJoCo, and leave the others where they are."""
    seen = seen_scene("box", np.random.default_rng(0))
    path = tmp_path / "scene.json"
    pw.save(seen.scene, path)
    run = tmp_path / "run"
    code, out, err = pushwise("slide", path, "--object", seen.number, "-o", run, "--json")
    assert code == 0, err
    told = json.loads(out)
    assert told["success"]
    assert max(told["others_moved"]) < 0.002
    assert len(told["others_moved"]) == 2
    code, _, err = pushwise("slide", path, "-o", tmp_path / "other")
    assert code == 1
    assert "say which one is to be moved with --object" in err


def test_a_scene_stands_in_the_middle_of_the_table() -> None:
    """Keep the arrangement of a scene, and refuse one that does not fit."""
    seen = seen_scene("crimp", np.random.default_rng(3))
    place = scene_world(seen.scene, seen.number, pw.Table())
    outlines = np.concatenate([*place.obstacles, place.truth.grid.outline[:0]])
    moved = np.array(seen.scene.objects[seen.number].pose)
    gap = place.obstacles[0][0] - place.observe().pose[:2]
    before = seen.scene.obstacles(seen.number)[0][0] - moved[:2]
    assert gap == pytest.approx(before, abs=0.005)
    assert np.abs(outlines).max() < 0.5
    with pytest.raises(PushwiseError, match="does not fit on the table"):
        scene_world(seen.scene, seen.number, pw.Table.rectangle(0.2, 0.2))
