"""`PushTPolicy`, `GymPushT` and `pushwise experiment pusht`: Push-T solved with a model."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import pushwise as pw

pytest.importorskip("gymnasium", reason="gymnasium is not installed (extra 'gym')")

from pushwise.envs import PushTPolicy, t_model
from pushwise.envs.push_t_task import AGENT, agent_path, agent_target
from pushwise.experiments.gym_pusht import GymPushT
from pushwise.experiments.pusht import OurPushT, Played, play, report, settings_of
from pushwise.experiments.pusht_film import write_film
from pushwise.experiments.rows import Row
from pushwise.geometry.polygon import outline_distance


@pytest.fixture(scope="module")
def policy() -> PushTPolicy:
    """Return a policy that knows the T of the environment."""
    return PushTPolicy()


@pytest.fixture(scope="module")
def played(policy: PushTPolicy) -> Played:
    """Return an episode."""
    return play(OurPushT(), policy, 1003)


def test_an_episode_is_solved(played: Played) -> None:
    """Cover the goal in a fifth of the time that there is."""
    assert played.solved and played.coverage > 0.95 and not played.said
    assert len(played.states) < 60
    assert played.contacts >= 1
    assert played.states[:, :2].min() >= 0.0 and played.states[:, :2].max() <= 512.0


def test_the_same_seed_is_the_same_episode(policy: PushTPolicy, played: Played) -> None:
    """Forget the last episode: the next one does not depend on it."""
    play(OurPushT(), policy, 1009, limit=5)
    np.testing.assert_array_equal(play(OurPushT(), policy, 1003).states, played.states)


def test_records_are_of_the_pushes(policy: PushTPolicy) -> None:
    """Record the T and the path of the agent, in metres, so that the model explains them."""
    play(OurPushT(), policy, 1000)
    assert len(policy.records) >= 2
    for record in policy.records:
        assert isinstance(record.push, pw.Push)
        assert record.t[-1] == pytest.approx(record.push.duration)
        outline = pw.placed(t_model().grid.outline, record.pose[-1])
        assert outline_distance(outline, record.push.end) > AGENT.radius - 1e-3
        path = pw.simulate(t_model(), record.push, record.pose[0], finger=AGENT)
        end = np.array([np.interp(record.t[-1], path.t, axis) for axis in path.pose.T])
        # The environment takes steps of 10 ms.
        assert (np.abs(end - record.pose[-1]) < (2e-3, 2e-3, 0.03)).all()


def test_targets_take_the_agent_to_a_place() -> None:
    """Invert the agent's own controller."""
    agent, velocity, place = np.array([100.0, 200.0]), np.array([50.0, -80.0]), np.array([110, 180])
    target = agent_target(agent, velocity, place)
    path, _ = agent_path(agent[None], velocity[None], target[None])
    np.testing.assert_allclose(path[-1, 0], place, atol=1e-9)


def test_a_t_at_the_wall_is_moved(policy: PushTPolicy) -> None:
    """Get a T away from a wall that it touches, from behind which it cannot be pushed."""
    from pushwise.envs import PushTEnv

    env = PushTEnv()
    policy.reset()
    state, _ = env.reset(options={"reset_to_state": [100, 100, 300, 384, 0.0]})
    assert state[3] + 120.0 == pytest.approx(504.0)
    for _ in range(60):
        state, _, solved, _, _ = env.step(policy(state))
        if solved:
            break
    assert state[3] < 370.0


def test_the_agent_waits_while_the_t_is_inside_a_wall(policy: PushTPolicy) -> None:
    """Wait until the environment has pushed it out, as gym-pusht does after some resets."""
    policy.reset()
    agent = np.array([100.0, 100.0])
    np.testing.assert_array_equal(policy([*agent, 300.0, 393.0, 0.0]), agent)
    assert not np.allclose(policy([*agent, 300.0, 384.0, 0.0]), agent)


def test_a_python_without_gym_pusht_is_named() -> None:
    """Say what the interpreter must have, and what is wrong."""
    with pytest.raises(pw.PushwiseError, match=r"gym-pusht 0.1.8 and pymunk below 7; Module"):
        GymPushT(Path(sys.executable)).reset(0)
    with pytest.raises(pw.PushwiseError, match="must be a Python that can be run"):
        GymPushT(Path("no-such-python"))


def test_gym_pusht_is_spoken_to(tmp_path: Path) -> None:
    """Send seeds and actions to a process, and read states, coverage and success."""
    child = tmp_path / "python"
    child.write_text(
        "#!/bin/sh\nread line; echo '[[1, 2, 3, 4, 5], 0.25, false]'\n"
        "read line; case $line in *action*9.5*) echo '[[9, 2, 3, 4, 5], 0.96, true]';; esac\n"
    )
    child.chmod(0o755)
    world = GymPushT(child)
    first = world.reset(3)
    np.testing.assert_array_equal(first.state, [1, 2, 3, 4, 5])
    assert (first.coverage, first.solved) == (0.25, False)
    assert world.step(np.array([9.5, 1.0])).solved
    world.close()


def test_a_policy_that_gives_up_ends_the_episode() -> None:
    """Keep what it said, and the state."""

    def refuse(*_: Any) -> Any:
        raise pw.PushwiseError("no safe push")

    policy: Any = type("Policy", (), {"reset": lambda _: None, "__call__": refuse, "contacts": 2})()
    done = play(OurPushT(), policy, 5)
    assert (done.solved, done.said, done.contacts, len(done.states)) == (
        False,
        "no safe push",
        2,
        1,
    )


def test_the_table_compares_models(tmp_path: Path) -> None:
    """Count solved episodes and steps of each case."""
    rows: list[Row] = [
        {**setting, "solved": True, "steps": 40, "coverage": 0.96, "contacts": 3, "said": None}
        for setting in settings_of(2, theirs=True)
    ]
    rows[4] |= {"solved": False, "steps": 300}
    table = report(rows, tmp_path)
    assert "| PushT-v1 | true | 2 of 2 | 40.0 | 40 | 40 | 3.0 |" in table
    assert "| gym-pusht | uniform | 1 of 2 | 170.0 | 170 | 274 | 3.0 |" in table
    assert "takes 0.24 times the steps" in table
    assert (tmp_path / "table.md").read_text() == table + "\n"
    ours = settings_of(2, theirs=False)
    assert [row["world"] for row in ours] == ["PushT-v1"] * 2
    assert "times the steps" not in report(rows[:1], tmp_path)


def test_the_film_shows_all_cases(tmp_path: Path) -> None:
    """Draw the episodes side by side, until the longest is over."""
    state = np.array([100.0, 400.0, 400.0, 100.0, 0.0])
    short, long = np.tile(state, (2, 1)), state + np.linspace(0.0, 50.0, 6)[:, None]
    write_film(tmp_path / "film.gif", ["a", "b"], [[short, long]])
    with Image.open(tmp_path / "film.gif") as film:
        assert getattr(film, "n_frames", 0) >= 6 and film.size == (512, 278)
        first = np.asarray(film.convert("RGB"), int)
    y, x = 22 + 200, 50  # the agent, at half the size
    for left in (0, 256):
        assert np.abs(first[y, left + x] - (65, 105, 225)).max() < 8
