"""The height of the finger, which moves the load forwards, is estimated along with the load."""

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseWarning
from pushwise.identification.methods.task import end_error
from pushwise.records.record import Noise
from pushwise.sliding.random_push import draw_push

NOISE = Noise(2e-4, 1e-3)
TABLE = pw.Table.rectangle(2.0, 2.0)


def records_at(height: float) -> tuple[pw.ObjectModel, list[pw.PushRecord]]:
    """Push a box by a finger at a height [m]; poses have noise."""
    rng = np.random.default_rng(8)
    thing = pw.objects.load("box").sample(rng, uneven=False)
    records = []
    for _ in range(6):
        push = draw_push(rng, thing.grid, np.zeros(3), TABLE, pw.Finger())
        path = pw.simulate(thing.model, push, finger=pw.Finger(height=height))
        t = np.arange(0.0, push.duration, 0.05)
        noise = rng.standard_normal((len(t), 3)) * [NOISE.position, NOISE.position, NOISE.angle]
        records.append(pw.PushRecord(push, t, path.pose_at(t) + noise, noise=NOISE))
    return thing.model, records


def test_pushes_show_how_high_the_finger_is() -> None:
    """Find higher fingers higher, without being told anything, and within the error bars."""
    found = []
    for height in (0.004, 0.01, 0.02):
        model, records = records_at(height)
        one = pw.identify(model.grid, records)
        problem, at = one.posterior.problem, one.posterior.problem.order.height
        std = problem.prior.height_doubt * np.sqrt(one.posterior.covariance[at, at])
        assert abs(np.log(one.finger.height / height)) < 2.0 * std < 1.4
        found.append(one.finger.height)
    assert found[0] < 0.006 < found[1] < 0.01 < found[2]
    # The error reported is that with the finger found, not with the one given.
    assert one.history[-1].error < 0.6 * end_error(problem, one.model)


def test_a_stated_height_is_believed() -> None:
    """Change a height that was measured by little, whatever the pushes say."""
    model, records = records_at(0.001)
    found = pw.identify(model.grid, records, finger=pw.Finger(height=0.02))
    assert found.finger.height == pytest.approx(0.02, rel=0.4)
    paper = pw.identify(model.grid, records, method="descent", search=pw.SearchOptions(budget=3))
    assert paper.finger.height == 0.0  # as given


@pytest.mark.parametrize("method", ["refine", "random", "feet"])
def test_the_time_limit_is_kept(method: str) -> None:
    """End at once with the best model so far, and say so."""
    model, records = records_at(0.001)
    limit = pw.SearchOptions(budget=1e9, time_limit=1e-6)
    with pytest.warns(PushwiseWarning, match="ended at its time limit of 1e-06 s"):
        found = pw.identify(model.grid, records, method=method, search=limit)
    # Six of them to choose a start; of feet, the population is simulated once.
    assert found.simulations < (510 if method == "feet" else 25)
    assert np.isfinite(found.model.mass).all()
    with pytest.raises(pw.PushwiseError, match="time_limit must be greater than zero"):
        pw.SearchOptions(time_limit=0.0)
