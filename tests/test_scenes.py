"""Scenes: every object on a table, whatever the camera's angle, waves and shadows."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pushwise as pw
from command import pushwise
from pushwise.cli.plan import PlanCommand
from pushwise.cli.plan_inputs import planning_inputs
from pushwise.errors import PushwiseError
from pushwise.experiments.scenes import judge, labelled_clouds
from pushwise.geometry.polygon import contains, placed
from pushwise.shape.heightmap import HeightMap
from pushwise.shape.surface import Unevenness, blobs_above
from pushwise.typing import Array

DATA = Path(__file__).parents[2] / "shared" / "data" / "osd_scenes"
THREE = [
    (pw.objects.load("box"), (-0.22, 0.05, 1.4)),
    (pw.objects.load("hammer"), (0.1, 0.12, 0.3)),
    (pw.objects.load("toothpaste"), (0.1, -0.12, -0.5)),
]
# Coarser than most depth cameras, which makes the tests quick.
CAMERA = pw.objects.Camera(0.5, distance=0.9, columns=480, rows=360, focal=461.25)


def three(seed: int = 0, *, camera: pw.objects.Camera = CAMERA) -> Array:
    """Return the cloud of three objects, in the camera's frame."""
    rng = np.random.default_rng(seed)
    return pw.objects.scene_points(THREE, rng, noise=0.0015, outliers=0.02, camera=camera)


def test_slide_says_which_of_several_objects_it_takes(tmp_path: Path) -> None:
    """Name the largest of a cloud, the others, and how to take one of those; nothing of one."""
    cloud, lone = tmp_path / "cloud.npy", tmp_path / "lone.npy"
    np.save(cloud, boxes((-0.1, 0.0, 0.12, 0.08, 0.03, 0.0), (0.1, 0.0, 0.06, 0.05, 0.03, 0.0)))
    np.save(lone, boxes((-0.1, 0.0, 0.12, 0.08, 0.03, 0.0)))
    brief = ("--world", "ideal", "--explore", 0, "--grasp-width", 0.005)  # there is no goal then
    notes = []
    for file in (cloud, lone):
        ran = pushwise("slide", file, *brief, "-o", tmp_path / f"run-{file.stem}")
        assert ran.code == 1 and "Not moved: " in ran.err
        notes.append([line for line in ran.err.splitlines() if " objects, " in line])
    ((note,), none) = notes
    said = f"pushwise: note: {cloud} shows 2 objects, and the largest is taken, at (-0.099, 0.000, "
    assert note.startswith(said)
    assert "left out: another object of 28.8 cm2 at (0.100, 0.000, 0.030)" in note
    assert note.endswith(f"pushwise scan {cloud} --near X Y Z -o grid.json writes.")
    assert none == []


def overlap(true: Array, found: Array) -> float:
    """Return the intersection over union of two outlines."""
    corners = np.concatenate([true, found])
    low, high = corners.min(axis=0), corners.max(axis=0)
    x, y = np.meshgrid(np.arange(low[0], high[0], 0.002), np.arange(low[1], high[1], 0.002))
    places = np.column_stack([x.ravel(), y.ravel()])
    a, b = contains(true, places), contains(found, places)
    return float((a & b).sum() / (a | b).sum())


def scores(scene: pw.Scene, to_table: Array) -> list[float]:
    """Return how well each of the three objects was found, given the cloud's pose (4, 4)."""
    frame = to_table @ scene.frame
    found = [
        (np.column_stack([each.outline, np.zeros(len(each.outline))]) @ frame[:3, :3].T)[:, :2]
        + frame[:2, 3]
        for each in scene.objects
    ]
    return [
        max(overlap(placed(thing.outline, np.array(pose)), outline) for outline in found)
        for thing, pose in THREE
    ]


def boxes(*sizes: tuple[float, float, float, float, float, float], noise: float = 0.0) -> Array:
    """Return a cloud from above of boxes, each x, y, length, width, height and a base height."""
    rng = np.random.default_rng(0)
    xy = rng.uniform(-0.3, 0.3, (120_000, 2))
    z = np.zeros(len(xy))
    for x, y, length, width, height, base in sizes:
        on_it = (np.abs(xy[:, 0] - x) < length / 2) & (np.abs(xy[:, 1] - y) < width / 2)
        z[on_it] = base + height
    return np.column_stack([xy, z + noise * rng.standard_normal(len(z))])


def test_three_objects_are_found_with_cells_outline_and_height() -> None:
    """Find each object where it is, with its size and its height, the largest first."""
    scene = pw.Scene.from_points(three())
    assert len(scene.objects) == 3
    assert min(scores(scene, CAMERA.pose)) > 0.85
    heights = [max(part.height for part in thing.parts) for thing, _ in THREE]
    assert [each.height for each in scene.objects] == pytest.approx(heights, abs=0.004)
    assert all(28 <= each.grid.n_cells <= 127 for each in scene.objects)
    assert scene.table.normal @ CAMERA.pose[2, :3] == pytest.approx(1.0, abs=1e-3)
    assert "objects  3" in scene.summary()
    assert all(len(each.levels) == 1 and not each.may_touch for each in scene.objects)


@pytest.mark.parametrize("seed", range(4))
def test_any_frame_has_the_right_side_up(seed: int) -> None:
    """Find the same scene in a frame that is turned any way, upside down for instance."""
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
    turn *= np.linalg.det(turn)
    shift = np.array([0.4, -0.3, 0.8])
    scene = pw.Scene.from_points(three(seed) @ turn.T + shift)
    back = np.eye(4)
    back[:3, :3] = turn.T
    back[:3, 3] = -turn.T @ shift
    up = CAMERA.pose[:3, :3] @ turn.T @ scene.table.normal
    assert up[2] == pytest.approx(1.0, abs=1e-3)
    assert min(scores(scene, CAMERA.pose @ back)) > 0.85


@pytest.mark.parametrize("tilt", [0.0, 0.35, 0.7, 0.8])
def test_any_tilt_of_the_camera(tilt: float) -> None:
    """Find the three objects from straight above and from the side."""
    camera = pw.objects.Camera(tilt, distance=0.9, columns=480, rows=360, focal=461.25)
    scene = pw.Scene.from_points(three(camera=camera))
    assert len(scene.objects) == 3
    assert min(scores(scene, camera.pose)) > 0.8


@pytest.mark.parametrize("amplitude", [0.003, 0.005])
def test_waves_of_several_millimetres_are_no_objects(amplitude: float) -> None:
    """Find the three objects, and nothing else, on a table that the camera draws in waves."""
    cloud = three()
    away = np.linalg.norm(cloud, axis=1, keepdims=True)
    wave = np.sin(40.0 * cloud[:, :1] / away) * np.cos(30.0 * cloud[:, 1:2] / away)
    scene = pw.Scene.from_points(cloud * (1.0 + amplitude * wave / away))
    assert len(scene.objects) == 3
    assert min(scores(scene, CAMERA.pose)) > 0.8
    assert amplitude < scene.least_height < 4.0 * amplitude


def test_what_is_lower_than_the_noise_is_said() -> None:
    """Say that a low thing cannot be seen in a wavy cloud, and how it can."""
    cloud = boxes((0.0, 0.0, 0.1, 0.05, 0.002, 0.0), noise=0.0005)
    cloud[:, 2] += 0.004 * np.sin(60.0 * cloud[:, 0]) * np.sin(50.0 * cloud[:, 1])
    with pytest.raises(PushwiseError, match=r"noise of this cloud, \d\.\d mm; .* or a mask"):
        pw.Scene.from_points(cloud)
    tall = boxes((0.0, 0.0, 0.1, 0.05, 0.002, 0.0), (0.2, 0.2, 0.1, 0.1, 0.05, 0.0), noise=0.0005)
    tall[:, 2] += 0.004 * np.sin(60.0 * tall[:, 0]) * np.sin(50.0 * tall[:, 1])
    with pytest.raises(PushwiseError, match=r"no object at near=\(0\.01.* away, at \(0\.2"):
        pw.Scan.from_points(tall, pw.ScanOptions(near=(0.01, 0.01, 0.006)))


def test_near_returns_the_object_there_or_says_why_not() -> None:
    """Take the object at a point, and refuse one on the table with the nearest object."""
    cloud = boxes((-0.1, 0.0, 0.1, 0.05, 0.03, 0.0), (0.15, 0.1, 0.04, 0.04, 0.06, 0.0))
    for x, y, z, height in ((-0.1, 0.0, 0.03, 0.03), (0.16, 0.1, 0.06, 0.06)):
        scan = pw.Scan.from_points(cloud, pw.ScanOptions(near=(x, y, z)))
        assert scan.grid.heights == pytest.approx(height)
    with pytest.raises(PushwiseError, match=r"the table is seen there; the nearest .* 1\d\d mm"):
        pw.Scan.from_points(cloud, pw.ScanOptions(near=(0.0, -0.15, 0.0)))


def test_a_narrow_gap_divides_objects() -> None:
    """Separate two equal boxes with a gap of 10 mm, and say nothing of a touch: it is seen."""
    scene = pw.Scene.from_points(
        boxes((-0.065, 0.0, 0.12, 0.1, 0.05, 0.0), (0.065, 0.0, 0.12, 0.1, 0.05, 0.0))
    )
    assert [each.may_touch for each in scene.objects] == [(), ()]


@pytest.mark.parametrize(("every", "gap"), [(4, 0.012), (9, 0.016)])
def test_a_gap_of_two_coarse_pixels_divides_objects(every: int, gap: float) -> None:
    """Separate two boxes in a coarse cloud, in which only two pixels show the gap."""
    x = 0.06 + 0.5 * gap
    cloud = boxes((-x, 0.0, 0.12, 0.1, 0.05, 0.0), (x, 0.0, 0.12, 0.1, 0.05, 0.0))
    assert len(pw.Scene.from_points(cloud[::every]).objects) == 2


def test_a_few_outliers_on_a_slope_are_no_object() -> None:
    """Report the box, and not the three pixels that are left of a slope without its lower half."""
    heights = np.zeros((60, 60))
    heights[10:30, 10:30] = 0.05
    heights[45:48, 40:45] = 0.02
    heights[46, 41:44] = 0.08
    seen = np.ones_like(heights, dtype=np.bool_)
    view = HeightMap(np.zeros(2), 0.003, heights, seen, np.arange(heights.size))
    (box,) = blobs_above(view, heights, ~seen, Unevenness(0.005, 0.01))
    assert box.mask[20, 20]


def test_objects_that_touch_are_one_and_it_is_said() -> None:
    """Report a box on a box, and a box against a higher one, as one object with two levels."""
    for x in (0.0, 0.1):
        scene = pw.Scene.from_points(
            boxes((0.0, 0.0, 0.15, 0.12, 0.06, 0.0), (x, 0.0, 0.08, 0.06, 0.05, 0.06))
        )
        assert len(scene.objects) == 1
        assert scene.objects[0].levels == pytest.approx((0.11, 0.06), abs=0.002)
        assert "level parts at 110 and 60 mm, perhaps 2 objects" in scene.summary()


def test_a_shadow_that_ends_at_a_wall_divides_objects() -> None:
    """Tell a box from a higher one behind it, though nothing is seen between them."""
    parts = [
        pw.objects.Part("b", (_rectangle(0.12, 0.06),), height, 0.5, 0.3) for height in (0.06, 0.15)
    ]
    things = [
        pw.objects.Thing("b", (part,), pw.CellGrid.from_outline(part.polygons[0], cell_size=0.01))
        for part in parts
    ]
    camera = pw.objects.Camera(0.8, distance=0.9)
    standing = [(things[0], (0.0, 0.0, 0.0)), (things[1], (0.0, 0.09, 0.0))]
    cloud = pw.objects.scene_points(standing, np.random.default_rng(0), camera=camera)
    scene = pw.Scene.from_points(cloud)
    assert len(scene.objects) == 2
    assert scene.objects[0].may_touch == (1,)


def _rectangle(length: float, width: float) -> Array:
    """Return a rectangle around the origin, shape (4, 2)."""
    x, y = length / 2, width / 2
    return np.array([[-x, -y], [x, -y], [x, y], [-x, y]])


def test_a_depth_image_is_a_scene() -> None:
    """Find the boxes in a depth image as in its cloud."""
    depth = np.full((240, 320), 800)
    depth[60:120, 40:120] = 740
    depth[150:200, 200:260] = 760
    scene = pw.Scene.from_depth(depth, (300.0, 300.0, 160.0, 120.0))
    assert [round(each.height, 3) for each in scene.objects] == [0.06, 0.04]


def test_obstacles_are_the_other_objects() -> None:
    """Return all outlines but one, in the scene's frame; refuse a number that there is not."""
    scene = pw.Scene.from_points(three())
    obstacles = scene.obstacles(of=1)
    assert len(obstacles) == 2
    assert np.array_equal(obstacles[0], scene.objects[0].outline)
    with pytest.raises(PushwiseError, match="must be 0 to 2: the scene has 3 objects; got 3"):
        scene.obstacles(of=3)
    with pytest.raises(PushwiseError, match="near chooses one object"):
        pw.Scene.from_points(three(), pw.ScanOptions(near=(0, 0, 0)))


def test_a_scene_comes_back_from_its_file(tmp_path: Path) -> None:
    """Write and read a scene bit for bit, and name what is wrong with a damaged one."""
    scene = pw.Scene.from_points(three())
    path = tmp_path / "scene.json"
    pw.save(scene, path)
    back = pw.load(path)
    assert isinstance(back, pw.Scene)
    assert back.facts() == scene.facts()
    assert all(
        np.array_equal(a.outline, b.outline)
        for a, b in zip(back.objects, scene.objects, strict=True)
    )
    document = json.loads(path.read_text())
    for field, value, sentence in (
        ("columns", ["x"], "columns of a scene"),
        ("objects", [{"pose": [0, 0, 0]}], r"objects\[0\]: points is missing"),
        ("more", 1, "'more' is not a field of a scene"),
    ):
        path.write_text(json.dumps(document | {field: value}))
        with pytest.raises(PushwiseError, match=sentence):
            pw.load(path)


def test_the_commands_take_a_scene(tmp_path: Path) -> None:
    """Scan all objects, draw them, and plan with one of them among the others."""
    cloud, scene, plan = (tmp_path / name for name in ("cloud.npy", "scene.json", "plan.json"))
    np.save(cloud, three())
    code, out, _ = pushwise("scan", cloud, "--all", "-o", scene, "--plot", tmp_path / "scene.png")
    assert code == 0
    assert "objects  3" in out
    assert (tmp_path / "scene.png").stat().st_size > 10_000
    pose = pw.load(scene).objects[2].pose  # type: ignore[union-attr]
    goal = (pose[0] - 0.05, pose[1], pose[2])
    code, out, _ = pushwise("plan", scene, "--object", 2, "--goal", *goal, "-o", plan)
    assert code == 0
    assert "uniform mass and friction assumed" in out
    for asked, sentence in (
        (("--goal", *goal), "the scene has 3 objects; say which"),
        (("--object", 2, "--edge"), "does not show where its table ends"),
    ):
        code, _, err = pushwise("plan", scene, *asked, "-o", plan, "--force")
        assert code == 1
        assert sentence in err
    code, _, err = pushwise("scan", cloud, "--all", "--near", 0, 0, 0)
    assert code == 1
    assert "near chooses one object" in err


def labelled(path: Path) -> None:
    """Write the three objects as a labelled cloud."""
    cloud = three() @ CAMERA.pose[:3, :3].T + CAMERA.pose[:3, 3]
    labels = np.where(np.abs(cloud[:, 2]) < 0.006, 1, 0)
    for number, (thing, pose) in enumerate(THREE):
        inside = contains(placed(thing.outline, np.array(pose)), cloud[:, :2])
        labels[inside & (np.abs(cloud[:, 2] - 0.03) < 0.025)] = 20 + 10 * number
    kept = cloud[labels > 0]
    head = (
        "VERSION 0.7\nFIELDS x y z label\nSIZE 4 4 4 4\nTYPE F F F U\nCOUNT 1 1 1 1\n"
        f"WIDTH {len(kept)}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {len(kept)}\nDATA binary\n"
    )
    rows = np.empty(len(kept), dtype="<f4, <f4, <f4, <u4")
    for column, values in zip(("f0", "f1", "f2"), kept.T, strict=True):
        rows[column] = values
    rows["f3"] = labels[labels > 0]
    path.write_bytes(head.encode() + rows.tobytes())


def test_labelled_clouds_are_judged(tmp_path: Path) -> None:
    """Compare a scene with its labels, write the table and draw the contact sheet."""
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    code, _, err = pushwise("experiment", "scenes", data, "-o", out)
    assert code == 1
    assert "holds no PCD file" in err
    labelled(data / "three.pcd")
    code, text, _ = pushwise("experiment", "scenes", data, "-o", out, "--json")
    assert code == 0
    judged = json.loads(text)["three"]
    assert judged["upright"]
    assert judged["nowhere"] == 0
    assert [found["touching"] for found in judged["objects"]] == [False] * 3
    assert min(found[way] for found in judged["objects"] for way in ("among_all", "near")) > 0.8
    assert "Of 3 objects that touch no other, 3 (100 %)" in (out / "table.md").read_text()
    assert (out / "sheet.png").exists()


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the labelled scenes are not in ../shared/data")
def test_real_scenes() -> None:
    """Find at least 85 % of the objects that touch no other in real scenes, and invent none."""
    judged = [judge(path.stem, cloud, labels) for path, cloud, labels in labelled_clouds(DATA)]
    apart = [found for each in judged for found in each.objects if not found.touching]
    assert np.mean([found.among_all >= 0.8 for found in apart]) >= 0.85
    assert np.mean([found.near >= 0.8 for found in apart]) >= 0.85
    assert all(each.upright for each in judged)
    assert sum(each.nowhere > 0 for each in judged) <= 1


@pytest.mark.parametrize("turns", range(4))
def test_a_plan_starts_where_the_model_lies_in_the_scene(turns: int, tmp_path: Path) -> None:
    """Find the frame of a model from another scan; ask where the shape does not show it."""
    cloud = boxes(
        (-0.1, 0.0, 0.16, 0.04, 0.03, 0.0),
        (-0.04, 0.05, 0.04, 0.06, 0.03, 0.0),
        (0.15, 0.0, 0.1, 0.06, 0.03, 0.0),
    )
    scene = pw.Scene.from_points(cloud)
    pw.save(scene, tmp_path / "scene.json")
    (hook, block) = scene.objects
    angle = 0.5 * np.pi * turns
    grid = hook.grid
    pose = np.array([0.01, -0.02, angle])
    turned = pw.CellGrid(
        placed(grid.centres, pose), grid.cell_size, grid.heights, placed(grid.outline, pose)
    )
    model = pw.ObjectModel(turned, np.full(turned.n_cells, 0.01), 0.3)
    pw.save(model, tmp_path / "model.json")
    asked = PlanCommand(
        model=tmp_path / "model.json",
        output=tmp_path / "plan.json",
        scene=tmp_path / "scene.json",
        number=0,
        goal=(0.0, 0.0, 0.0),
    )
    start = np.array(planning_inputs(asked).start)
    there = placed(grid.centres, np.array(hook.pose))
    np.testing.assert_allclose(placed(turned.centres, start), there, atol=1e-9)
    with pytest.raises(PushwiseError, match="of their shape in common; choose another --object"):
        planning_inputs(replace(asked, number=1))
    same = pw.ObjectModel(block.grid, np.full(block.grid.n_cells, 0.01), 0.3)
    pw.save(same, tmp_path / "block.json")
    with pytest.raises(PushwiseError, match="looks much the same when it is turned"):
        planning_inputs(replace(asked, model=tmp_path / "block.json", number=1))


def test_one_small_object_costs_a_scene_its_own_cells_only() -> None:
    """Give it smaller cells than were asked for, and the others those."""
    cloud = boxes((-0.1, 0.0, 0.16, 0.1, 0.03, 0.0), (0.1, 0.0, 0.018, 0.016, 0.03, 0.0))
    scene = pw.Scene.from_points(cloud, pw.ScanOptions(cell_size=0.024))
    large, small = (each.grid.cell_size for each in scene.objects)
    assert large == 0.024 and small < 0.016
