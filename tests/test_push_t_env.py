"""`pushwise/PushT-v1`: gym-pusht's task with exact friction, alone and as a vector."""

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pushwise as pw

gymnasium: Any = pytest.importorskip("gymnasium", reason="gymnasium is not installed (extra 'gym')")

from pushwise.envs import PushTEnv, PushTVectorEnv, t_model
from pushwise.envs.episode import pushed_object
from pushwise.envs.push_t_task import PIXEL, T_PARTS, agent_path
from pushwise.geometry.overlap import overlap

EPISODE = json.loads(Path(__file__).with_name("gym_pusht_episode.json").read_text(encoding="utf-8"))
"""Forty steps that gym-pusht 0.1.8 made, and where it starts for six seeds."""


@pytest.fixture
def env() -> Iterator[PushTEnv]:
    """Return an environment."""
    env = PushTEnv()
    yield env
    env.close()


def chase(observation: Any, rng: np.random.Generator) -> Any:
    """Return actions that push the T, for one observation or many."""
    aim = observation[..., 2:4] + rng.normal(scale=40.0, size=observation[..., 2:4].shape)
    return np.clip(aim, 0.0, 512.0).astype(np.float32)


@pytest.mark.parametrize("obs_type", ["state", "environment_state_agent_pos"])
def test_gymnasium_finds_nothing_wrong(obs_type: str) -> None:
    """Pass gymnasium's own check; warnings are errors here."""
    from gymnasium.utils.env_checker import check_env

    asked = {"obs_type": obs_type, "render_mode": "rgb_array"}
    made = gymnasium.make("pushwise/PushT-v1", normalised=True, **asked)
    assert made.spec.max_episode_steps == 300
    check_env(made.unwrapped)
    made.close()
    # A policy that runs in gym-pusht, too, has its pixels, which gymnasium only advises against.
    made = gymnasium.make("pushwise/PushT-v1", **asked)
    with pytest.warns(UserWarning) as caught:
        check_env(made.unwrapped)
    assert ["symmetric and normalized space" in str(one.message) for one in caught] == [True]
    made.close()


def test_normalised_actions_are_pixels() -> None:
    """Take actions from -1 to 1 for pixels from 0 to 512, alone and in a vector."""
    usual, other = PushTEnv(), PushTEnv(normalised=True)
    many = PushTVectorEnv(2, normalised=True)
    assert other.action_space == many.single_action_space
    assert other.action_space == gymnasium.spaces.Box(-1, 1, (2,), np.float32)
    for env in (usual, other):
        env.reset(seed=4)
    many.reset(seed=[4, 4])
    expected = usual.step([384.0, 128.0])[0]
    np.testing.assert_array_equal(other.step([0.5, -0.5])[0], expected)
    np.testing.assert_array_equal(many.step([[0.5, -0.5]] * 2)[0], [expected] * 2)
    many.close()


def test_spaces_are_those_of_gym_pusht() -> None:
    """Have the shapes, ranges and types of its two state modes."""
    env = PushTEnv()
    assert env.action_space == gymnasium.spaces.Box(0, 512, (2,), np.float32)
    high = np.array([512, 512, 512, 512, 2 * np.pi])
    assert env.observation_space == gymnasium.spaces.Box(np.zeros(5), high, dtype=np.float64)
    corners: Any = PushTEnv("environment_state_agent_pos").observation_space
    assert {key: box.shape for key, box in corners.items()} == {
        "environment_state": (16,),
        "agent_pos": (2,),
    }
    with pytest.raises(pw.PushwiseError, match="obs_type must be 'state' or"):
        PushTEnv("pixels")


def test_seeds_start_where_gym_pusht_starts(env: PushTEnv) -> None:
    """Draw the same states; seed 1, where the T reaches into a wall, differs by one pixel."""
    for seed, start in EPISODE["starts"].items():
        observed, _ = env.reset(seed=int(seed))
        np.testing.assert_allclose(observed, start, atol=1.0 if seed == "1" else 1e-9)


def test_a_recorded_episode_replays(env: PushTEnv) -> None:
    """Start in its state, follow its actions with the same agent, and define the same reward."""
    observed, info = env.reset(options={"reset_to_state": EPISODE["start"]})
    np.testing.assert_allclose(observed, EPISODE["start"], atol=1e-9)
    assert info["is_success"] is False
    poses = np.array(EPISODE["observations"])[:, 2:] * (PIXEL, PIXEL, 1.0)
    goal = np.tile([256 * PIXEL, 256 * PIXEL, np.pi / 4], (len(poses), 1))
    covered = overlap(T_PARTS, poses, goal)
    np.testing.assert_allclose(covered, EPISODE["coverages"], atol=1e-9)
    assert np.ptp(covered) > 0.1
    np.testing.assert_allclose(EPISODE["rewards"], np.clip(covered / 0.95, 0.0, 1.0), atol=1e-9)
    for action, theirs in zip(EPISODE["actions"], EPISODE["observations"], strict=True):
        observed, reward, terminated, truncated, info = env.step(np.float32(action))
        assert env.observation_space.contains(observed)
        np.testing.assert_allclose(observed[:2], theirs[:2], atol=1e-4)
        assert reward == pytest.approx(min(info["coverage"] / 0.95, 1.0)) and not truncated
        assert terminated == (info["coverage"] > 0.95)
    assert np.hypot(*(observed[2:4] - EPISODE["start"][2:4])) > 10.0  # it was pushed


def test_the_t_moves_as_the_simulator_says(env: PushTEnv) -> None:
    """Agree with finer steps of `Simulator` along the agent's path, to half a millimetre."""
    start = np.array([250.0, 150.0, 240.0, 200.0, 0.3])
    observed, _ = env.reset(options={"reset_to_state": start})
    simulator = pw.Simulator(t_model(), finger=pw.Finger(0.015, 0.3), physics=pw.Physics(dt=0.001))
    state = simulator.step(simulator.start([0.24, 0.2, 0.3]), PIXEL * start[:2], 0.01)
    agent, velocity = start[:2], np.zeros(2)
    for _ in range(12):
        target = agent + np.array([5.0, 35.0])
        observed, *_ = env.step(target)
        places, speeds = agent_path(agent, velocity, target)
        agent, velocity = places[-1], speeds[-1]
        for place in places:
            state = simulator.step(state, PIXEL * place, 0.01)
    assert observed[3] - start[3] > 30.0
    np.testing.assert_allclose(observed[2:4], state.pose[:2] / PIXEL, atol=0.5)
    assert observed[4] == pytest.approx(state.pose[2] % (2.0 * np.pi), abs=5e-3)


def test_the_agent_is_critically_damped() -> None:
    """Follow gym-pusht's controller, and nearly the closed form 1 - (1 + 10 t) e^(-10 t)."""
    place, velocity = np.zeros((1, 2)), np.zeros((1, 2))
    x, v = 0.0, 0.0
    for k in range(10):
        places, speeds = agent_path(place, velocity, np.ones((1, 2)))
        for j in range(10):
            v += 0.01 * (100.0 * (1.0 - x) - 20.0 * v)
            x += 0.01 * v
            np.testing.assert_allclose((places[j], speeds[j]), ([[x, x]], [[v, v]]), atol=1e-12)
            t = 0.1 * k + 0.01 * (j + 1)
            assert x == pytest.approx(1.0 - (1.0 + 10.0 * t) * np.exp(-10.0 * t), abs=0.04)
        place, velocity = places[-1], speeds[-1]


def test_reaching_the_goal_ends_the_episode(env: PushTEnv) -> None:
    """Give reward 1 and success where the T covers its goal, wherever the goal is put."""
    goal = [200.0, 300.0, 1.0]
    env.reset(options={"reset_to_state": [450, 450, 201, 301, 1.01], "goal_pose": goal})
    _, reward, terminated, _, info = env.step([450, 450])
    assert terminated and reward == 1.0 and info["is_success"] is True
    np.testing.assert_array_equal(info["goal_pose"], goal)


def test_states_restored_in_contact_go_on_to_the_last_bit() -> None:
    """Continue from a state in the middle of a push as if nothing had happened."""
    env, other = PushTEnv(), PushTEnv()
    observed, _ = env.reset(seed=3)
    rng = np.random.default_rng(0)
    while env.get_state().motion.mode[0] == pw.Mode.SEPARATE:
        observed, *_ = env.step(chase(observed, rng))
    kept = env.get_state()
    actions = [chase(observed, rng) for _ in range(10)]
    first = [env.step(action)[0] for action in actions]
    other.reset(seed=8)
    np.testing.assert_array_equal(other.set_state(kept), observed)
    second = [other.step(action)[0] for action in actions]
    np.testing.assert_array_equal(first, second)


def test_walls_keep_the_t_inside(env: PushTEnv) -> None:
    """Push the T into all walls and corners; it never reaches into one."""
    env.reset(options={"reset_to_state": [256, 256, 256, 330, 0.5]})
    touched = 0
    for target in ([256, 512], [512, 512], [40, 480], [0, 0], [512, 20], [256, 256]) * 3:
        for _ in range(12):
            observed, *_ = env.step(target)
            corners = pw.placed(t_model().grid.outline / PIXEL, observed[2:])
            assert corners.min() > 7.0 - 1e-6 and corners.max() < 504.0 + 1e-6
            touched += corners.min() < 7.001 or corners.max() > 503.999
    assert touched > 10


def test_an_agent_on_the_t_moves_it_out_of_the_way(env: PushTEnv) -> None:
    """Start beside the T where the agent is asked to be inside it."""
    observed, _ = env.reset(options={"reset_to_state": [256, 256, 256, 240, 0.0]})
    np.testing.assert_array_equal(observed[:2], [256, 256])
    outline = pw.placed(t_model().grid.outline / PIXEL, observed[2:])
    edge = np.roll(outline, -1, axis=0) - outline
    share = np.clip(np.sum((observed[:2] - outline) * edge, 1) / np.sum(edge**2, 1), 0.0, 1.0)
    gaps = np.hypot(*(outline + share[:, None] * edge - observed[:2]).T)
    assert gaps.min() == pytest.approx(15.0, abs=1e-3)
    with pytest.raises(pw.PushwiseError, match="leaves no room for the object"):
        large = [(0.0, 0.0), (0.48, 0.0), (0.48, 0.48), (0.0, 0.48)]
        env.reset(options={"reset_to_state": [256, 256, 15, 15, 0.0], "outline": large})


def pushed_by(options: dict[str, Any]) -> Any:
    """Return where the T ends after the same pushes with some options."""
    env = PushTEnv()
    start = {"reset_to_state": [200, 120, 240, 200, 0.3]}
    env.reset(options=start | options)
    for y in range(150, 330, 15):
        observed, *_ = env.step([200, y])
    return observed[2:]


def test_factors_of_variation_change_the_motion(tmp_path: Path) -> None:
    """Move differently with other masses, frictions, outlines and fingers, and alike without."""
    usual = pushed_by({})
    np.testing.assert_array_equal(usual, pushed_by({"model": t_model()}))
    n = t_model().grid.n_cells
    uneven = np.where(np.arange(n) < n // 2, 0.9, 0.1)
    square = np.array([(-0.05, 0.0), (0.05, 0.0), (0.05, 0.1), (-0.05, 0.1)])
    file = tmp_path / "model.json"
    pw.save(pw.ObjectModel(t_model().grid, uneven / uneven.sum(), 0.4), file)
    varied = [
        {"friction": uneven},
        {"mass": uneven / uneven.sum()},
        {"outline": square},
        {"finger": pw.Finger(0.03, 0.3)},
        {"model": file},
    ]
    for options in varied:
        assert np.abs(pushed_by(options) - usual).max() > 0.1, options
    with pytest.raises(pw.PushwiseError, match=r"options must be among .*; got 'weight'"):
        pushed_by({"weight": 2.0})


def test_a_step_before_the_first_reset_is_refused(env: PushTEnv) -> None:
    """Ask for a reset, alone and as a vector."""
    with pytest.raises(pw.PushwiseError, match="call reset first"):
        env.step(np.zeros(2))
    vector = PushTVectorEnv(2)
    with pytest.raises(pw.PushwiseError, match="call reset first"):
        vector.step(np.zeros((2, 2)))
    vector.close()


def test_options_hold_for_one_episode(env: PushTEnv) -> None:
    """Go back to the usual object with the next reset, or to what a function draws."""
    env.reset(seed=0, options={"friction": 0.9})
    assert env._game.pushed[0].simulator.model.friction[0] == 0.9
    env.reset()
    assert env._game.pushed[0].simulator.model.friction[0] == 0.5
    other = PushTEnv(vary=lambda rng: {"friction": rng.uniform(0.2, 0.8)})
    drawn = []
    for seed in (1, 2, 1):
        other.reset(seed=seed)
        drawn.append(other._game.pushed[0].simulator.model.friction[0])
    assert drawn[0] == drawn[2] != drawn[1]


def test_other_outlines_have_eight_keypoints() -> None:
    """Observe eight points of any outline, and cover the goal with all of it."""
    square = np.array([(0.0, 0.0), (0.1, 0.0), (0.1, 0.1), (0.0, 0.1)])
    env = PushTEnv("environment_state_agent_pos")
    start = [450, 450, 200, 200, 0.0]
    observed, info = env.reset(
        options={"reset_to_state": start, "outline": square, "goal_pose": [250, 200, 0]}
    )
    points = observed["environment_state"].reshape(8, 2) - (200, 200)
    np.testing.assert_allclose(points[:3], [(0, 0), (50, 0), (100, 0)], atol=1e-9)
    assert info["coverage"] == pytest.approx(0.5)
    assert pushed_object(t_model()).keypoints is pushed_object().keypoints


def test_pictures_show_goal_object_and_agent() -> None:
    """Draw all three in gym-pusht's colours, where they are, without pygame."""
    env = PushTEnv(render_mode="rgb_array", visualization_width=512, visualization_height=512)
    env.reset(options={"reset_to_state": [100, 400, 400, 100, 0.0]})
    image = env.render()
    assert image.shape == (512, 512, 3) and image.dtype == np.uint8
    assert tuple(image[400, 100]) == (65, 105, 225)
    assert tuple(image[115, 400]) == (119, 136, 153)
    assert tuple(image[266, 249]) == (144, 238, 144)
    for colour, area in (((119, 136, 153), 6300), ((144, 238, 144), 6300), ((65, 105, 225), 707)):
        assert (image == colour).all(axis=2).sum() == pytest.approx(area, rel=0.06)
    assert "pygame" not in sys.modules
    with pytest.raises(pw.PushwiseError, match="render_mode must be"):
        PushTEnv(render_mode="human")


def test_a_vector_is_its_environments() -> None:
    """Observe, reward and end to the last bit as one by one, over several episodes."""
    size, limit = 20, 15
    many = gymnasium.make_vec("pushwise/PushT-v1", num_envs=size, max_episode_steps=limit)
    assert isinstance(many.unwrapped, PushTVectorEnv)
    ones = [gymnasium.make("pushwise/PushT-v1", max_episode_steps=limit) for _ in range(size)]
    observed, _ = many.reset(seed=5)
    alone = [one.reset(seed=5 + i)[0] for i, one in enumerate(ones)]
    np.testing.assert_array_equal(observed, alone)
    rng = np.random.default_rng(0)
    over = np.zeros(size, bool)
    for _ in range(40):
        actions = chase(observed, rng)
        observed, reward, terminated, truncated, info = many.step(actions)
        for i, one in enumerate(ones):
            started = over[i] and (one.reset()[0], 0.0, False, False)
            expected = started or one.step(actions[i])[:4]
            np.testing.assert_array_equal(observed[i], expected[0])
            assert (reward[i], terminated[i], truncated[i]) == expected[1:]
        over = terminated | truncated
        assert many.observation_space.contains(observed)
        assert info["coverage"].shape == info["_coverage"].shape == (size,)
    many.close()


def test_wrappers_of_gymnasium_work() -> None:
    """Record episodes of a vector, and step gymnasium's own vector of environments."""
    from gymnasium.wrappers.vector import RecordEpisodeStatistics

    envs = RecordEpisodeStatistics(PushTVectorEnv(3, max_episode_steps=5))
    envs.reset(seed=0)
    for _ in range(5):
        *_, truncated, info = envs.step(envs.action_space.sample())
    assert truncated.all()
    np.testing.assert_array_equal(info["episode"]["l"], 5)
    envs.close()
    envs = gymnasium.make_vec("pushwise/PushT-v1", num_envs=2, vectorization_mode="sync")
    first, _ = envs.reset(seed=4)
    np.testing.assert_array_equal(first, PushTVectorEnv(2).reset(seed=4)[0])
    envs.close()


def test_a_vector_takes_seeds_options_and_states() -> None:
    """Start each environment by its own seed and options, and restore all of them in contact."""
    many = PushTVectorEnv(4, "environment_state_agent_pos", render_mode="rgb_array")
    with pytest.raises(pw.PushwiseError, match="call reset first"):
        many.step(np.zeros((4, 2)))
    each = [{"friction": 0.1 * (i + 1)} for i in range(4)]
    observed, _ = many.reset(seed=[3, 3, 4, 4], options={"each": each})
    np.testing.assert_array_equal(observed["agent_pos"][0], observed["agent_pos"][1])
    assert (observed["agent_pos"][0] != observed["agent_pos"][2]).any()
    assert [one.simulator.model.friction[0] for one in many._game.pushed] == pytest.approx(
        [0.1, 0.2, 0.3, 0.4]
    )
    for _ in range(5):
        many.step(many._game.arena.pose[:, :2])
    kept = many.get_state()
    first, *_ = many.step(np.full((4, 2), 250.0))
    many.set_state(kept)
    second, *_ = many.step(np.full((4, 2), 250.0))
    np.testing.assert_array_equal(first["environment_state"], second["environment_state"])
    assert [image.shape for image in many.render()] == [(680, 680, 3)] * 4
    with pytest.raises(pw.PushwiseError, match="seed must be one, or 4 of them; got 2"):
        many.reset(seed=[1, 2])
    with pytest.raises(pw.PushwiseError, match=r'options\["each"\] must have one mapping per'):
        many.reset(options={"each": each[:2]})
    with pytest.raises(pw.PushwiseError, match="state must be of 4 environments; got 1"):
        many.set_state(PushTEnv().get_state())


def test_without_gymnasium_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say in one sentence what to install."""
    for name in [name for name in sys.modules if name.startswith("pushwise.envs")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(pw.PushwiseError, match=r"pip install 'pushwise\[gym\]'"):
        import_module("pushwise.envs")
