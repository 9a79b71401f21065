"""What `simulate` and its kin say of arguments of other classes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError
from pushwise.physics.gradients import loss

MODEL = pw.objects.load("box").model
PUSH = pw.Push.line((-0.2, 0.0), (0.1, 0.0), 0.5)
WRONG: Any = 0.01


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pw.simulate(MODEL, PUSH, finger=WRONG), "finger must be of the class Finger; got"),
        (lambda: pw.simulate(MODEL, PUSH, table=WRONG), "table must be of the class Table; got fl"),
        (lambda: pw.simulate(MODEL, PUSH, physics=WRONG), "physics must be of the class Physics"),
        (
            lambda: pw.Simulator(MODEL, finger=WRONG),
            "finger must be of the class Finger; got float",
        ),
        (lambda: loss(MODEL, [], finger=WRONG), "finger must be of the class Finger; got float"),
        (lambda: pw.simulate_batch(WRONG, PUSH), "models must be one for all pushes or a sequence"),
    ],
)
def test_another_class_is_named(call: Callable[[], object], said: str) -> None:
    """Answer with a sentence, not with an exception of Python."""
    with pytest.raises(PushwiseError, match=said):
        call()


def test_pushes_may_come_from_a_generator() -> None:
    """Take any number of them, as from a list."""
    pushes = [PUSH, PUSH.moved((0.0, 0.01))]
    given: Any = (push for push in pushes)
    found = pw.simulate_batch(MODEL, given)
    for one, other in zip(found, pw.simulate_batch(MODEL, pushes), strict=True):
        assert np.array_equal(one.pose, other.pose)


def test_a_record_that_begins_after_the_finger_was_raised_is_left_where_it_is() -> None:
    """Do not move an object out of a finger that is no longer there."""
    grid = pw.CellGrid.from_outline([(0, 0), (0.1, 0), (0.1, 0.1), (0, 0.1)], cell_size=0.025)
    model = pw.ObjectModel(grid, np.full(grid.n_cells, 0.02), 0.3)
    push = pw.Push([0.0, 1.0], [(-0.03, 0.05), (0.005, 0.05)], raised=True)
    record = pw.PushRecord(push, [1.5, 1.7, 2.0], [(0.002, 0.0, 0.0)] * 3)
    assert loss(model, [record]) < 1e-9
