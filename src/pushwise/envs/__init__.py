"""Environments of gymnasium with exact friction (extra `gym`).

Importing this package registers `pushwise/PushT-v1` and `pushwise/Slide-v1`:

    import gymnasium
    import pushwise.envs

    env = gymnasium.make("pushwise/PushT-v1")
    envs = gymnasium.make_vec("pushwise/PushT-v1", num_envs=64)
"""

from pushwise.extras import require

require("gymnasium", extra="gym", purpose="pushwise.envs")

from gymnasium.envs.registration import register

from pushwise.envs.arena import ArenaState
from pushwise.envs.push_t import PushTEnv
from pushwise.envs.push_t_policy import PushTPolicy
from pushwise.envs.push_t_task import TIME_LIMIT, t_model
from pushwise.envs.push_t_vector import PushTVectorEnv
from pushwise.envs.slide import SlideEnv

__all__ = ["ArenaState", "PushTEnv", "PushTPolicy", "PushTVectorEnv", "SlideEnv", "t_model"]

register(
    "pushwise/PushT-v1",
    entry_point="pushwise.envs.push_t:PushTEnv",
    vector_entry_point="pushwise.envs.push_t_vector:PushTVectorEnv",
    max_episode_steps=TIME_LIMIT,
)
register(
    "pushwise/Slide-v1",
    entry_point="pushwise.envs.slide:SlideEnv",
    max_episode_steps=TIME_LIMIT,
)
