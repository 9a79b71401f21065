"""`ObjectModel`, `Table`, the actions and `PushRecord`: moments, and refusals."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from numpy.typing import ArrayLike

import pushwise as pw
from pushwise.errors import PushwiseError

GRID = pw.CellGrid([(0, 0), (0.1, 0)], 0.1)
PUSH = pw.Push.line((0, 0), (0.1, 0), 1.0)


def test_moments_of_two_cells() -> None:
    """Find total, centre and inertia of a heavy and a light cell."""
    model = pw.ObjectModel(GRID, mass=[3.0, 1.0], friction=0.5)
    assert model.total_mass == 4.0
    assert model.centre_of_mass == pytest.approx([0.025, 0.0])
    arms = 3.0 * 0.025**2 + 1.0 * 0.075**2
    assert model.inertia == pytest.approx(arms + 4.0 * 0.1**2 / 6.0)
    assert model.friction.tolist() == [0.5, 0.5]


def test_inertia_of_a_fine_square_does_not_depend_on_its_cells() -> None:
    """Agree with m w^2 / 6 for a uniform square of any number of cells."""
    square = [(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)]
    for cell_size in (0.2, 0.04, 0.01):
        grid = pw.CellGrid.from_outline(square, cell_size=cell_size)
        model = pw.ObjectModel(grid, mass=np.full(grid.n_cells, 2.0 / grid.n_cells), friction=0)
        assert model.inertia == pytest.approx(2.0 * 0.2**2 / 6.0)


@pytest.mark.parametrize(
    ("mass", "friction", "sentence"),
    [
        (1.0, 0.5, r"mass must have shape \(2,\); got shape \(\)."),
        ([1.0], 0.5, r"mass must have shape \(2,\); got shape \(1,\)."),
        ([1.0, 0.0], 0.5, r"mass must be greater than zero; mass\[1\] is 0."),
        ([1.0, np.nan], 0.5, r"mass must be finite; mass\[1\] is nan."),
        ([1.0, 1.0], [0.5], r"friction must have shape \(2,\); got shape \(1,\)."),
        ([1.0, 1.0], [0.5, -0.1], r"friction must be zero or more; friction\[1\] is -0.1."),
        ([1.0, 1.0], -0.1, "friction must be zero or more; got -0.1."),
        ([1.0, 1.0], True, "friction must be a number; got True."),
        ([1.0, 1.0], "rough", "got 'rough'"),
        ([True, True], 0.5, "mass must be an array of numbers .* dtype bool"),
    ],
)
def test_bad_models_are_refused(mass: ArrayLike, friction: ArrayLike, sentence: str) -> None:
    """Refuse bad masses and frictions by name."""
    with pytest.raises(PushwiseError, match=sentence):
        pw.ObjectModel(GRID, mass=mass, friction=friction)


def test_one_friction_may_be_a_number_of_numpy_s() -> None:
    """Take the single precision of another library."""
    model = pw.ObjectModel(GRID, mass=[1.0, 1.0], friction=np.float32(0.5))
    assert model.friction.tolist() == [0.5, 0.5]


def test_a_model_needs_a_grid() -> None:
    """Refuse anything but a CellGrid."""
    with pytest.raises(PushwiseError, match=r"grid must be a CellGrid; got list\."):
        pw.ObjectModel([(0, 0)], mass=[1.0], friction=0.5)  # type: ignore[arg-type]


def test_table_is_a_rectangle_by_default() -> None:
    """Offer the default rectangle, another one, or any simple polygon."""
    assert np.ptp(pw.Table().polygon, axis=0).tolist() == [1.0, 0.7]
    table = pw.Table.rectangle(2.0, 1.0, centre=(1.0, 0.5))
    assert table.polygon.tolist() == [[0, 0], [2, 0], [2, 1], [0, 1]]
    assert len(pw.Table([(0, 0), (1, 0), (0, 1)]).polygon) == 3


def test_bad_tables_are_refused() -> None:
    """Refuse a table with no area or with bad sides."""
    with pytest.raises(PushwiseError, match="polygon must enclose an area"):
        pw.Table([(0, 0), (1, 1), (2, 2)])
    with pytest.raises(PushwiseError, match=r"width must be greater than zero; got 0\."):
        pw.Table.rectangle(0.0)
    with pytest.raises(PushwiseError, match=r"centre must have shape \(2,\)"):
        pw.Table.rectangle(centre=(0, 0, 0))


def test_actions_keep_their_numbers() -> None:
    """Store actions as read-only float arrays."""
    assert PUSH.velocity.tolist() == [0.1, 0.0]
    assert not PUSH.start.flags.writeable
    shove = pw.ForcePush(np.int64(3), (1, 0), 0.1)  # type: ignore[arg-type]
    assert shove.cell == 3
    assert type(shove.cell) is int
    assert pw.Finger() == pw.Finger(radius=0.01, friction=0.3)


@pytest.mark.parametrize(
    ("action", "arguments", "sentence"),
    [
        (pw.Finger, (0.0,), "finger radius must be greater than zero; got 0."),
        (pw.Finger, (0.01, -1), "finger friction must be zero or more; got -1."),
        (pw.Finger, (None,), "finger radius must be a number; got None."),
        (pw.Push.line, ((0, 0, 0), (1, 0), 1), r"push start must have shape \(2,\)"),
        (pw.Push.line, ((0, 0), (np.inf, 0), 1), "push velocity must be finite"),
        (pw.Push.line, ((0, 0), (0, 0), 1), r"push velocity must not be zero; got \(0, 0\)."),
        (pw.Push.line, ((0, 0), (1, 0), 0), "push duration must be greater than zero; got 0."),
        (pw.Push.line, ((0, 0), (1, 0), np.nan), "push duration must be finite; got nan."),
        (pw.Push.line, ("ab", (1, 0), 1), "push start must be an array of numbers"),
        (pw.Push, ([0, 1], [(0, 0), (1, 0), (2, 0)]), r"push positions must have shape \(2, 2\)"),
        (pw.Push, ([0.5, 1], [(0, 0), (1, 0)]), "push times must start at 0 s; got 0.5 s."),
        (
            pw.Push,
            ([0, 0], [(0, 0), (1, 0)]),
            r"must increase; times\[1\] = 0 s follows 0 s.",
        ),
        (pw.Push, ([0], [(0, 0)]), "push times must be two or more; got 1."),
        (pw.Push.through, ([(0, 0), (0, 0)], 1), r"points\[0\] and points\[1\] are the same."),
        (pw.Push.through, ([(0, 0), (1, 0)], 0), "push speed must be greater than zero; got 0."),
        (pw.Push.flick, ((0,), (1, 0), 1), r"flick start must have shape \(2,\)"),
        (pw.Push.flick, ((0, 0), (0, 0), 1), r"flick direction must not be zero; got \(0, 0\)."),
        (pw.Push.flick, ((0, 0), (1, 0), -1), "flick speed must be greater than zero; got -1."),
        (partial(pw.Push.flick, run_up=0), ((0, 0), (1, 0), 1), "flick run_up must be greater"),
        (pw.ForcePush, (-1, (1, 0), 1), "push cell must be zero or more; got -1."),
        (pw.ForcePush, (1.5, (1, 0), 1), "push cell must be a whole number; got 1.5."),
        (pw.ForcePush, (True, (1, 0), 1), "push cell must be a whole number; got True."),
        (pw.ForcePush, (1, (1, 0, 0), 1), r"push force must have shape \(2,\)"),
        (pw.ForcePush, (1, (1, 0), -1), "push duration must be greater than zero; got -1."),
    ],
)
def test_bad_actions_are_refused(
    action: Callable[..., object], arguments: tuple[object, ...], sentence: str
) -> None:
    """Refuse bad actions by name."""
    with pytest.raises(PushwiseError, match=sentence):
        action(*arguments)


def test_record_keeps_a_push_and_its_poses() -> None:
    """Take start and end alone, or a whole trajectory with forces."""
    assert pw.PushRecord(PUSH, (0, 1), np.zeros((2, 3))).force is None
    record = pw.PushRecord(PUSH, (0, 0.5, 1), np.zeros((3, 3)), np.ones((3, 2)))
    assert record.force is not None
    assert record.force.shape == (3, 2)


@pytest.mark.parametrize(
    ("push", "t", "pose", "force", "sentence"),
    [
        ("push", (0, 1), np.zeros((2, 3)), None, "push must be a Push or a ForcePush; got str."),
        (PUSH, (0,), np.zeros((1, 3)), None, "at least two times, start and end; got 1."),
        (PUSH, (0, 1, 1), np.zeros((3, 3)), None, r"t must increase; t\[2\] = 1 follows 1."),
        (PUSH, (0, 1), np.zeros((3, 3)), None, r"pose must have shape \(2, 3\)"),
        (PUSH, (0, 1), np.zeros((2, 3)), np.zeros(2), r"force must have shape \(2, 2\)"),
    ],
)
def test_bad_records_are_refused(
    push: pw.Push, t: ArrayLike, pose: ArrayLike, force: ArrayLike | None, sentence: str
) -> None:
    """Refuse records whose parts do not fit together."""
    with pytest.raises(PushwiseError, match=sentence):
        pw.PushRecord(push, t, pose, force)


def test_noise_is_a_noise() -> None:
    """Refuse a number where position, angle and force have one each."""
    with pytest.raises(PushwiseError, match=r"noise must be a Noise or None; got 0\.001"):
        pw.PushRecord(PUSH, (0, 1), np.zeros((2, 3)), noise=0.001)  # type: ignore[arg-type]
    with pytest.raises(PushwiseError, match=r"noise must be a Noise; got 0\.001"):
        pw.worlds.Sensing(0.001)  # type: ignore[arg-type]
