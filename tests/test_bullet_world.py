"""`Bullet`: links, compound, and the Kuka beside the bare finger."""

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import placed

pytest.importorskip("pybullet")

HAMMER = pw.objects.load("hammer")
PUSH = pw.Push.line((0.1, -0.03), (0.0, 0.1), 2.0)


@pytest.mark.slow
@pytest.mark.parametrize("body", ["links", "compound"])
def test_a_push_moves_the_hammer_and_repeats(body: str) -> None:
    """Push by friction's force, the same way each time, and stay on the table."""
    world = pw.worlds.Bullet(HAMMER, body=body)  # type: ignore[arg-type]
    record = world.push(PUSH)
    assert not record.fell
    assert record.pose[-1, 2] > 0.3
    assert record.force is not None
    assert 0.2 < record.force[20:60, 1].mean() < 2.0
    assert record.finger is not None
    assert record.finger[-1] == pytest.approx([0.1, 0.17], abs=1e-4)
    world.reset(0)
    assert world.push(PUSH).pose.tolist() == record.pose.tolist()


@pytest.mark.parametrize("name", pw.objects.names)
def test_a_compound_has_all_its_boxes(name: str) -> None:
    """Stand still with more cells than Bullet's own call for compounds takes."""
    thing = pw.objects.load(name)
    world = pw.worlds.Bullet(thing, body="compound", pose=(0.1, 0.05, 0.3))
    record = world.push(pw.Push.line((-0.4, -0.3), (0.1, 0.0), 0.1))
    assert record.pose[-1] == pytest.approx([0.1, 0.05, 0.3], abs=1e-4)


def test_an_object_pushed_off_the_table_falls() -> None:
    """Tell when the hammer tips over the edge."""
    world = pw.worlds.Bullet(HAMMER, pose=(0.45, 0.0, 0.0), body="compound")
    assert world.push(pw.Push.line((0.26, 0.0), (0.1, 0.0), 3.0)).fell


@pytest.mark.slow
@pytest.mark.parametrize(
    "push",
    [
        PUSH,
        pw.Push.line((0.19, 0.006), (-0.1, 0.0), 2.0),
        pw.Push.line((-0.02, 0.03), (0.0, -0.1), 2.0),
    ],
)
def test_the_kuka_pushes_as_the_bare_finger_does(push: pw.Push) -> None:
    """End within 10 mm of the bare finger's result over 0.2 m."""
    bare = pw.worlds.Bullet(HAMMER).push(push)
    kuka = pw.worlds.Bullet(HAMMER, robot="kuka").push(push)
    assert kuka.finger is not None and bare.finger is not None
    assert np.abs(kuka.finger - bare.finger[: len(kuka.finger)][-1]).min() < 1e-3
    cells = [placed(HAMMER.grid.centres, record.pose[-1]) for record in (bare, kuka)]
    assert np.hypot(*(cells[0] - cells[1]).T).mean() < 0.01


def test_a_push_out_of_reach_is_refused_before_it_starts() -> None:
    """Say where the arm cannot go, and leave the object alone."""
    world = pw.worlds.Bullet(HAMMER, robot="kuka")
    with pytest.raises(PushwiseError, match=r"the Kuka cannot reach \(0.400, 0.300\) m"):
        world.push(pw.Push.line((0.4, 0.3), (0.0, -0.1), 1.0))
    assert world.observe().pose.tolist() == [0, 0, 0]


def test_choices_are_closed() -> None:
    """Refuse bodies and robots there are not."""
    with pytest.raises(PushwiseError, match="body must be 'links' or 'compound'; got 'mesh'"):
        pw.worlds.Bullet(HAMMER, body="mesh")  # type: ignore[arg-type]
    with pytest.raises(PushwiseError, match="robot must be 'kuka' or None; got 'ur5'"):
        pw.worlds.Bullet(HAMMER, robot="ur5")  # type: ignore[arg-type]
