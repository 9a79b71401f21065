"""Flicks that are drawn, what is safe, what worlds measure of them, and who lies flat."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError
from pushwise.geometry.metric import mean_cell_error
from pushwise.geometry.polygon import contains, outline_distance, placed
from pushwise.identification.free_slide import lying
from pushwise.sliding.flick import draw_flicks, is_safe
from pushwise.sliding.random_push import random_contact
from pushwise.worlds.simulated import SimulatedWorld
from pushwise.worlds.world import Sensing

TABLE, FINGER = pw.Table.rectangle(1.0, 0.7), pw.Finger()
HERE = np.array([0.05, -0.03, 0.7])
HAMMER = pw.objects.load("hammer")
NOISE = pw.Noise(position=1e-3, angle=5e-3)

CLOSE = pw.FlickOptions(gap=2e-4)


def block(height: float, *, friction: float = 0.3) -> pw.ObjectModel:
    """Return a block of 80 mm x 80 mm."""
    side = (np.arange(4) - 1.5) * 0.02
    centres = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    return pw.ObjectModel(pw.CellGrid(centres, 0.02, [height] * 16), [0.03] * 16, friction)


def sensing(rate: float) -> Sensing:
    """Return a tracker in six dimensions."""
    return Sensing(NOISE, rate=rate, lift=True)


def bullet(thing: pw.objects.Thing, table: pw.Table, **options: object) -> SimulatedWorld:
    """Return a Bullet world with one body, or skip the test."""
    pytest.importorskip("pybullet")
    return pw.worlds.Bullet(thing, table, body="compound", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["hammer", "clamp"])
def test_drawn_flicks_keep_the_object_flat_and_on_the_table(name: str) -> None:
    """Touch the outline at the start, let the object slide, and lift it by less than 0.1 mm."""
    thing = pw.objects.load(name)
    flicks = draw_flicks(np.random.default_rng(1), [thing.model], HERE, TABLE, FINGER, count=4)
    assert len(flicks) == 4
    world = pw.worlds.MuJoCo(thing, TABLE, pose=HERE, sensing=Sensing(rate=250.0, lift=True))
    outline = placed(thing.outline, HERE)
    glides = []
    for push in flicks:
        assert 0.0 < outline_distance(outline, push.start) - FINGER.radius < 4.1e-3
        assert 0.3 <= push.top_speed < 1.0 + 1e-9
        assert is_safe(push, [thing.model], HERE, TABLE, FINGER)
        world.reset(0)
        record = world.push(push)
        assert not record.fell
        assert all(contains(TABLE.polygon, placed(thing.outline, p)).all() for p in record.pose)
        assert record.lift is not None
        assert record.lift[:, 0].max() < 1e-4
        assert record.lift[:, 1].max() < 2e-3
        assert lying(record).all()
        last = int(np.flatnonzero(record.force[:, 0]).max())  # type: ignore[index]
        glides.append(mean_cell_error(thing.grid, record.pose[last], record.pose[-1]))
    assert np.median(glides) > 0.03


def test_what_takes_an_object_near_the_edge_is_not_safe() -> None:
    """Refuse a flick for an edge ahead, for an object that may be slippery, and for a tall one."""
    model = block(0.02)
    start, ahead = HERE[:2] - (0.0502, 0.0), (1.0, 0.0)
    straight = np.array([*HERE[:2], 0.0])

    def safe(speed: float, *models: pw.ObjectModel, run_up: float = 0.08, **other: object) -> bool:
        push = pw.Push.flick(start, ahead, speed, run_up=run_up)
        return is_safe(push, models, straight, TABLE, FINGER, **other)  # type: ignore[arg-type]

    # It glides by 0.11 m after a run-up of 0.08 m, and is 0.41 m away from the edge.
    assert safe(0.8, model)
    assert not safe(0.8, model, options=pw.FlickOptions(margin=0.25))
    assert not safe(1.4, model)
    slippery = pw.ObjectModel(model.grid, model.mass, 0.1)
    assert not safe(0.8, model, slippery)
    # A block of twice its width's height tilts at half the acceleration of gravity.
    tall = block(0.16)
    assert not safe(0.8, tall)
    assert safe(0.5, pw.ObjectModel(tall.grid, tall.mass, 0.2), run_up=0.12)
    assert not safe(0.5, pw.ObjectModel(tall.grid, tall.mass, 0.6), run_up=0.12)


def test_tall_objects_are_flicked_slowly_with_a_long_run_up() -> None:
    """Stay below half of the acceleration at which a block tilts, and do not lift it."""
    model = pw.ObjectModel(block(0.12).grid, [0.03] * 16, 0.15)
    flicks = draw_flicks(
        np.random.default_rng(0), [model], HERE, TABLE, FINGER, count=5, options=CLOSE
    )
    limit = 9.81 * 0.04 / 0.06
    world = pw.worlds.MuJoCo(model, TABLE, pose=HERE, sensing=Sensing(rate=250.0, lift=True))
    assert flicks
    for push in flicks:
        along = push.end - push.start
        reach = 1.0 / np.abs(placed(along[None], np.array([0.0, 0.0, -HERE[2]]))[0]).max()
        steepest = 0.5 * limit * reach * np.hypot(*along)
        assert 2.0 * push.length / push.duration**2 < 1.07 * steepest
        world.reset(0)
        record = world.push(push)
        assert not record.fell
        assert record.lift is not None
        assert record.lift[:, 0].max() < 5e-4


def test_where_nothing_is_safe_no_flick_is_drawn() -> None:
    """Return an empty list on a table that is too small."""
    small = pw.Table.rectangle(0.45, 0.2)
    assert not draw_flicks(np.random.default_rng(0), [HAMMER.model], np.zeros(3), small, FINGER)


@pytest.mark.parametrize("rate", [60.0, 250.0])
@pytest.mark.parametrize("make", [pw.worlds.Ideal, pw.worlds.MuJoCo, bullet])
def test_worlds_sample_a_slide_until_rest(make: Callable[..., SimulatedWorld], rate: float) -> None:
    """Take samples at the given rate from separation to rest; the stop of the finger is one."""
    world = make(HAMMER, TABLE, pose=HERE, sensing=sensing(rate))
    rng = np.random.default_rng(3)
    push = draw_flicks(rng, [HAMMER.model], HERE, TABLE, FINGER)[0]
    record = world.push(push)
    assert np.isclose(record.t, push.duration).any()
    after = record.t > push.duration
    assert np.diff(record.t).max() < 1.001 / rate
    assert np.diff(record.t[after]).min() > 0.999 / rate or make is pw.worlds.Ideal
    moving = np.hypot(*(record.pose[:, :2] - record.pose[-1, :2]).T) > 5e-3
    assert np.sum(after & moving) > 0.1 * rate
    assert not moving[-2]
    assert record.lift is not None
    assert record.lift.shape == (len(record.t), 2)


def test_a_hit_lifts_an_object_and_the_record_shows_it() -> None:
    """Recognise a lifted object with 1 mm and 5 mrad of noise, stated or not; accuse no other."""
    model = block(0.06)
    start = (-0.08, 0.0)
    world = pw.worlds.MuJoCo(model, TABLE, sensing=sensing(120.0))
    hit = world.push(pw.Push.line(start, (0.6, 0.0), 0.1))
    assert not hit.fell
    assert not lying(hit).all()
    untold = pw.PushRecord(hit.push, hit.t, hit.pose).with_lift(hit.lift)
    assert not lying(untold).all()
    assert lying(pw.PushRecord(hit.push, hit.t, hit.pose)).all()
    world.reset(0)
    flick = world.push(pw.Push.flick((-0.0502, 0.0), (1.0, 0.0), 0.6))
    assert lying(flick).mean() > 0.98


def test_logs_keep_heights_and_tilts(tmp_path: Path) -> None:
    """Read them back as they were, and refuse records without them in the same log."""
    push = pw.Push.flick((-0.2, 0.0), (1.0, 0.0), 0.5)
    t = np.linspace(0.0, push.duration, 5)
    bare = pw.PushRecord(push, t, np.outer(t, (0.3, 0.0, 0.1)), np.ones((5, 2)))
    lift = np.random.default_rng(0).normal(0.0, 1e-3, (5, 2)) ** 2
    record = bare.with_lift(lift)
    assert bare.lift is None
    path = tmp_path / "log.csv"
    pw.PushLog((record, record)).save(path)
    assert path.read_text().splitlines()[0].endswith(",fx,fy,z,tilt")
    for read in pw.PushLog.load(path):
        assert read.lift is not None
        assert read.lift.tolist() == lift.tolist()
        assert read.pose.tolist() == record.pose.tolist()
    with pytest.raises(PushwiseError, match="heights and tilts for all of its pushes or for none"):
        pw.PushLog((record, bare)).save(tmp_path / "other.csv")
    with pytest.raises(PushwiseError, match=r"lift must have shape \(5, 2\)"):
        bare.with_lift(np.zeros((4, 2)))
    path.write_text(path.read_text().replace(str(lift[0, 1]), "4"))
    with pytest.raises(PushwiseError, match="tilt must be in radians; 4 looks like degrees"):
        pw.PushLog.load(path)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"fastest": 0.2}, "flick fastest must be at least slowest, 0.3 m/s; got 0.2 m/s."),
        ({"run_up": 0.2}, "flick longest_run_up must be at least run_up, 0.2 m; got 0.12 m."),
        ({"margin": -1.0}, "flick margin must be greater than zero; got -1."),
    ],
)
def test_bad_options_are_refused(options: dict[str, float], sentence: str) -> None:
    """Refuse limits that no flick could keep."""
    with pytest.raises(PushwiseError, match=sentence):
        pw.FlickOptions(**options)


def test_flicks_need_models_of_one_object() -> None:
    """Refuse no model, and models of different grids."""
    rng = np.random.default_rng(0)
    with pytest.raises(PushwiseError, match="flicks need at least one model"):
        draw_flicks(rng, [], HERE, TABLE, FINGER)
    with pytest.raises(PushwiseError, match="must have the same grid"):
        draw_flicks(rng, [block(0.02), block(0.02)], HERE, TABLE, FINGER)


def test_a_finger_that_fits_nowhere_ends_in_a_sentence() -> None:
    """Draw no contact for ever along an outline with narrow teeth."""
    angle = np.linspace(0.0, 2.0 * np.pi, 180, endpoint=False)
    radius = np.where(np.arange(180) % 2, 0.05, 0.045)
    gear = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    with pytest.raises(PushwiseError, match="fits nowhere along the outline"):
        random_contact(np.random.default_rng(0), gear, pw.Finger(0.02), gap=0.005)


def test_no_flick_is_slower_than_asked_for() -> None:
    """Draw none along directions in which only a slower one keeps a tall object flat."""
    tall = block(0.12)
    options = pw.FlickOptions(slowest=0.3)
    rng = np.random.default_rng(0)
    flicks = draw_flicks(rng, [tall], HERE, TABLE, FINGER, count=8, options=options)
    for push in flicks:
        assert np.hypot(*push.velocities.T).max() >= 0.3 - 1e-9
