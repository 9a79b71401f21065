"""`pushwise/Slide-v1`: any object, any goal, and the table's edge."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pushwise as pw

gymnasium: Any = pytest.importorskip("gymnasium", reason="gymnasium is not installed (extra 'gym')")

from pushwise.envs import SlideEnv

SQUARE = pw.ObjectModel(
    pw.CellGrid([(x, y) for x in (-0.02, 0.02) for y in (-0.02, 0.02)], 0.04), np.full(4, 0.1), 0.4
)


def test_gymnasium_finds_nothing_wrong() -> None:
    """Pass gymnasium's own check; warnings are errors here."""
    from gymnasium.utils.env_checker import check_env

    made = gymnasium.make("pushwise/Slide-v1", render_mode="rgb_array")
    assert made.spec.max_episode_steps == 300
    check_env(made.unwrapped)


def test_starts_and_goals_are_on_the_table() -> None:
    """Start with the whole object on the table; goals are stable, and some are over the edge."""
    env, table = SlideEnv("crimp"), pw.Table()
    over = 0
    for seed in range(30):
        observed, info = env.reset(seed=seed)
        assert env.observation_space.contains(observed)
        half = np.abs(table.polygon).max(axis=0)
        outline = pw.objects.load("crimp").model.grid.outline
        assert (np.abs(pw.placed(outline, info["pose"])) <= half).all()
        at_goal = np.abs(pw.placed(outline, info["goal_pose"]))
        over += bool((at_goal > half).any())
        *_, moved = env.step((0.0, 0.0))
        assert not moved["has_fallen"]
    assert over > 3


def test_a_push_moves_the_object_as_the_simulator_says() -> None:
    """Move the finger by its velocity, and the object with it; the reward is the progress."""
    env = SlideEnv(SQUARE, goal=(0.2, 0.0, 0.0))
    env.reset(seed=0, options={"pose": (0.0, 0.0, 0.0)})
    kept = env.get_state()
    simulator = pw.Simulator(SQUARE, table=pw.Table(), physics=pw.Physics(dt=0.01))
    beside = simulator.step(simulator.start(), (-0.06, 0.0), 0.1)
    env.set_state(type(kept)(beside, kept.goal))
    for _ in range(2):
        observed, reward, over, _, info = env.step((0.4, 0.0))
        beside = simulator.step(beside, beside.finger + np.array([0.01, 0.0]), 0.1)
        np.testing.assert_array_equal(info["pose"], beside.pose)
    np.testing.assert_allclose(observed[:2], [-0.04, 0.0], atol=1e-12)
    assert info["pose"][0] == pytest.approx(0.01, abs=2e-3) and not over
    assert reward == pytest.approx(info["pose"][0], abs=2e-3)
    assert info["distance"] == pytest.approx(0.2 - info["pose"][0], abs=1e-6)


def test_arriving_and_falling_end_the_episode() -> None:
    """Reward one for the goal, and minus one for pushing the object over the edge."""
    env = SlideEnv(SQUARE)
    env.reset(seed=0, options={"pose": (0.1, 0.0, 0.0), "goal_pose": (0.105, 0.0, 0.0)})
    _, reward, over, _, info = env.step((0.0, 0.0))
    assert over and info["is_success"] and reward == pytest.approx(1.0)
    env.reset(seed=0, options={"pose": (0.45, 0.0, 0.0), "goal_pose": (0.0, 0.0, 0.0)})
    state = env.get_state()
    simulator = pw.Simulator(SQUARE, table=pw.Table(), physics=pw.Physics(dt=0.01))
    env.set_state(
        type(state)(simulator.step(simulator.start((0.45, 0, 0)), (0.39, 0), 0.1), state.goal)
    )
    for _ in range(10):
        _, reward, over, _, info = env.step((1.0, 0.0))
        if over:
            break
    assert info["has_fallen"] and not info["is_success"] and reward < -1.0


def test_states_restored_in_contact_go_on_to_the_last_bit() -> None:
    """Continue from a state in the middle of a push as if nothing had happened."""
    env, other = SlideEnv(), SlideEnv()
    observed, _ = env.reset(seed=1)
    for _ in range(200):
        away = observed[2:4] - observed[:2]
        observed, _, over, *_ = env.step(away / np.abs(away).max())
        kept = env.get_state()
        if kept.motion.mode != pw.Mode.SEPARATE:
            break
    assert kept.motion.mode != pw.Mode.SEPARATE and not over
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (10, 2))
    first = [env.step(action)[0] for action in actions]
    other.reset(seed=2)
    np.testing.assert_array_equal(other.set_state(kept), observed)
    np.testing.assert_array_equal([other.step(action)[0] for action in actions], first)


def test_a_step_before_the_first_reset_is_refused() -> None:
    """Ask for a reset instead of reporting an object at its goal."""
    env = SlideEnv("T")
    with pytest.raises(pw.PushwiseError, match="call reset first"):
        env.step(np.zeros(2))
    env.reset(seed=0)
    env.step(np.zeros(2))


def test_options_and_files(tmp_path: Path) -> None:
    """Take a model from a file or for one episode, and refuse what is unknown."""
    pw.save(SQUARE, tmp_path / "model.json")
    env = SlideEnv(tmp_path / "model.json", finger=pw.Finger(0.005, 0.3))
    env.reset(seed=0, options={"model": "hammer"})
    assert env._now.model.grid.n_cells > 4
    env.reset()
    assert env._now.model.grid.n_cells == 4
    with pytest.raises(pw.PushwiseError, match=r"options must be among .*; got 'mass'"):
        env.reset(options={"mass": 1.0})
    with pytest.raises(pw.PushwiseError, match="render_mode must be"):
        SlideEnv(render_mode="human")


def test_pictures_show_the_table_from_above() -> None:
    """Draw the object where it is, with y up."""
    env = SlideEnv(SQUARE, render_mode="rgb_array")
    env.reset(seed=0, options={"pose": (0.3, 0.2, 0.0), "goal_pose": (-0.3, -0.2, 0.0)})
    image = env.render()
    assert image.shape == (510, 680, 3)
    scale = 680 / 1.2
    column, row = round((0.3 + 0.6) * scale), round((0.45 - 0.2) * scale)
    assert tuple(image[row, column]) == (119, 136, 153)
    assert tuple(image[510 - row, 680 - column]) == (144, 238, 144)


def test_a_vector_of_gymnasium_steps() -> None:
    """Run in gymnasium's own vector of environments."""
    many = gymnasium.make_vec("pushwise/Slide-v1", num_envs=2, vectorization_mode="sync")
    observed, _ = many.reset(seed=0)
    observed, reward, *_ = many.step(np.ones((2, 2), np.float32))
    assert observed.shape == (2, 10) and reward.shape == (2,)
    many.close()
