"""`follow`: closed loop in worlds that differ from the model, and every way it can end."""

import re
from dataclasses import replace

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError, SimulationError
from pushwise.planning.options import PlanOptions
from pushwise.progress import Progress
from pushwise.records.record import Noise, PushRecord
from pushwise.sliding.follow import follow
from pushwise.sliding.moved import End
from pushwise.worlds.world import Observation

HAMMER = pw.objects.load("hammer")
TABLE = pw.Table.rectangle(1.6, 1.2)
GOAL = np.array([0.3, 0.2, 1.0])
KNOWN = pw.Belief.certain(HAMMER.model)
GRADIENT = PlanOptions(method="gradient", tolerance=0.02)


class Stubborn:
    """A world whose object does what it is told to do: nothing, or fall."""

    def __init__(self, *, fell: bool = False, error: PushwiseError | None = None) -> None:
        """Choose what happens."""
        self.fell, self.error = fell, error

    def observe(self) -> Observation:
        """See it where it always was."""
        return Observation(np.zeros((0, 3)), np.zeros(3))

    def push(self, push: pw.Push) -> PushRecord:
        """Push, and see nothing move."""
        if self.error is not None:
            raise self.error
        return PushRecord(push, [0.0, push.duration], np.zeros((2, 3)), fell=self.fell)

    def reset(self, seed: int) -> None:
        """Do nothing."""


class Slippery(Stubborn):
    """A world whose object slides to and fro, whatever is done to it."""

    def __init__(self) -> None:
        """Start on one side."""
        super().__init__()
        self.x = 0.02

    def observe(self) -> Observation:
        """See it on the other side each time."""
        self.x = -self.x
        return Observation(np.zeros((0, 3)), (self.x, 0.0, 0.0))


@pytest.mark.slow
def test_noise_is_corrected() -> None:
    """Reach the goal with a clumsy arm, noisy poses and another object's masses."""
    rng = np.random.default_rng(0)
    for method in ("batch", "gradient"):
        world = pw.worlds.Ideal(
            HAMMER.sample(rng),
            TABLE,
            sensing=pw.worlds.Sensing(Noise(0.001, 0.005)),
            arm_error=(0.0, 0.05),
        )
        done = follow(world, KNOWN, GOAL, TABLE, options=replace(GRADIENT, method=method))
        assert done.reached, done.end
        assert done.error < 0.02
        assert len(done.records) <= 15


@pytest.mark.slow
def test_mujoco_is_corrected() -> None:
    """Reach the goal in MuJoCo, whose friction is not that of the model."""
    news: list[Progress] = []
    world = pw.worlds.MuJoCo(HAMMER, TABLE)
    done = follow(world, KNOWN, GOAL, TABLE, options=GRADIENT, progress=news.append)
    assert done.end is End.REACHED
    assert [each.result for each in news] == list(done.records)
    assert [each.done for each in news] == list(range(1, len(news) + 1))
    assert news[-1].text == f"{1e3 * done.error:.0f} mm to go"
    assert done.error < 0.02


def test_a_reached_goal_needs_nothing() -> None:
    """Make no push."""
    done = follow(Stubborn(), KNOWN, (0.005, 0.0, 0.0), TABLE)
    assert done.reached
    assert done.records == ()


@pytest.mark.parametrize(
    ("world", "goal", "most", "end", "said"),
    [
        (Stubborn(), GOAL, 40, End.BLOCKED, ""),
        (Stubborn(), GOAL, 1, End.OUT_OF_PUSHES, ""),
        (Slippery(), GOAL, 40, End.NO_PROGRESS, ""),
        (Stubborn(fell=True), GOAL, 40, End.FELL, ""),
        (Stubborn(error=SimulationError("gone.")), GOAL, 40, End.LOST, "gone"),
        (Stubborn(error=PushwiseError("too far.")), GOAL, 40, End.REFUSED, "too far"),
        (Stubborn(), (5.0, 0.0, 0.0), 40, End.OUT_OF_REACH, "goal .* off the table"),
    ],
)
def test_giving_up_has_a_reason(
    world: Stubborn, goal: np.ndarray, most: int, end: End, said: str
) -> None:
    """End with what happened, and what was said of it."""
    done = follow(world, KNOWN, goal, TABLE, options=replace(GRADIENT, max_pushes=most))
    assert done.end is end
    assert not done.reached
    assert re.search(said, done.detail)


def learned(thing: pw.ObjectModel | pw.objects.Thing) -> pw.Belief:
    """Return the belief after four pushes of an object with the hammer's shape."""
    world = pw.worlds.Ideal(thing, TABLE)
    records = []
    for x, y, speed in (
        (0.02, -0.03, 0.1),
        (0.1, -0.03, 0.1),
        (0.2, 0.06, -0.1),
        (0.05, 0.06, -0.1),
    ):
        world.reset(0)
        records.append(world.push(pw.Push.line((x, y), (0.0, speed), 1.0)))
    return pw.identify(HAMMER.grid, records).belief


@pytest.mark.slow
def test_a_wrong_model_is_identified_again() -> None:
    """Learn from the pushes on the way when they do not go as a sure model predicted."""
    cells = HAMMER.grid.n_cells
    wrong = learned(pw.ObjectModel(HAMMER.grid, np.full(cells, 1.0 / cells), 0.3))
    done = follow(pw.worlds.Ideal(HAMMER, TABLE), wrong, GOAL, TABLE, options=GRADIENT)
    assert done.reached
    assert done.belief.posterior is not None
    assert 4 < len(done.belief.posterior.problem.records) <= 4 + len(done.records)
    centre = HAMMER.model.centre_of_mass
    before = np.hypot(*(wrong.centre_of_mass - centre))
    assert np.hypot(*(done.belief.centre_of_mass - centre)) < 0.5 * before


@pytest.mark.slow
def test_what_goes_as_predicted_is_not_learned_again() -> None:
    """Keep the model in the world it was learned in."""
    right = learned(HAMMER)
    done = follow(pw.worlds.Ideal(HAMMER, TABLE), right, GOAL, TABLE, options=GRADIENT)
    assert done.reached
    assert done.belief is right
