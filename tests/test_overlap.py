"""The area that two places of an object share."""

import numpy as np
import pytest

import pushwise as pw
from pushwise.geometry.overlap import convex_parts, fan, new_covered, overlap, update_covered
from pushwise.geometry.polygon import contains

SQUARE = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0)])
ELL = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 3.0), (0.0, 3.0)])


def test_a_moved_rectangle() -> None:
    """Share what is left of each side, and nothing once they are apart."""
    whole = convex_parts(SQUARE[None], np.ones(1))
    poses = np.array([(0.0, 0.0, 0.0), (0.5, 0.25, 0.0), (3.0, 0.0, 0.0), (2.0, 1.0, np.pi)])
    shared = [1.0, 1.5 * 0.75 / 2.0, 0.0, 1.0]
    for parts in (whole, fan(SQUARE), fan(np.roll(SQUARE, 1, axis=0))):
        np.testing.assert_allclose(overlap(parts, poses, np.zeros((4, 3))), shared, atol=1e-12)


def test_a_square_turned_by_45_degrees() -> None:
    """Share a regular octagon with itself: 2 sqrt(2) - 2 of a unit square."""
    square = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    goal = np.array([[0.3, -0.2, 0.7]])
    found = overlap(fan(square), goal + np.array([0.0, 0.0, np.pi / 4]), goal)
    assert found[0] == pytest.approx(2.0 * np.sqrt(2.0) - 2.0, abs=1e-12)


def test_a_concave_outline_against_points() -> None:
    """Agree with the share of random points that are in both places."""
    rng = np.random.default_rng(0)
    points = rng.uniform(-3.0, 5.0, (200_000, 2))
    poses = rng.uniform(-1.0, 1.0, (5, 3))
    found = overlap(fan(ELL), poses, np.zeros((5, 3)))
    inside = contains(ELL, points)
    for pose, share in zip(poses, found, strict=True):
        both = contains(pw.placed(ELL, pose), points) & inside
        assert share == pytest.approx(both.sum() / inside.sum(), abs=0.02)
    assert overlap(fan(ELL), np.zeros((1, 3)), np.zeros((1, 3)))[0] == pytest.approx(1.0)


def test_what_has_not_moved_is_not_computed_again() -> None:
    """Keep the share of an object whose pose and goal are the same; find it anew otherwise."""
    places = np.zeros((3, 6))
    covered = new_covered(3)
    update_covered(fan(ELL), np.arange(3), places, covered)
    covered.shares[:] = 7.0
    places[1, 0] = 0.01
    places[2, 5] = 0.1
    update_covered(fan(ELL), np.arange(3), places, covered)
    assert covered.shares[0] == 7.0
    moved = overlap(fan(ELL), places[1:, :3], places[1:, 3:])
    np.testing.assert_array_equal(covered.shares[1:], moved)
