"""Evaluate a policy on 64 Push-T environments, each with a T of its own friction.

Run: python examples/push_t.py   (needs the extra gym)
"""

import time

import gymnasium
import numpy as np

import pushwise.envs  # noqa: F401  (registers pushwise/PushT-v1)


def policy(observation: np.ndarray) -> np.ndarray:
    """Go behind the T as seen from the goal, and push from there; one row per environment."""
    agent, block = observation[:, :2], observation[:, 2:4]
    block = block + 45.0 * np.column_stack([-np.sin(observation[:, 4]), np.cos(observation[:, 4])])
    away = block - (224.0, 288.0)  # the middle of the goal
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    behind = block + 110.0 * away
    near = np.linalg.norm(agent - behind, axis=1, keepdims=True) < 60.0
    pushing = near | (np.sum((agent - block) * away, axis=1, keepdims=True) > 60.0)
    return np.where(pushing, agent - 25.0 * away, behind).clip(0.0, 512.0).astype(np.float32)


envs = gymnasium.make_vec(
    "pushwise/PushT-v1", num_envs=64, vary=lambda rng: {"friction": rng.uniform(0.2, 0.8)}
)
observation, info = envs.reset(seed=0)
first = best = info["coverage"]
begin = time.perf_counter()
for _ in range(150):
    observation, reward, terminated, truncated, info = envs.step(policy(observation))
    best = np.maximum(best, info["coverage"])
seconds = time.perf_counter() - begin
print(f"{150 * 64 / seconds:,.0f} steps per second, 64 different frictions")
print(f"coverage at the start {first.mean():.2f}, best {best.mean():.2f}")
envs.close()
