"""Solve Push-T without training: a model of the T, a push library and feedback.

Run: python examples/solve_push_t.py   (needs the extra gym)
"""

import gymnasium

import pushwise.envs

env = gymnasium.make("pushwise/PushT-v1")
policy = pushwise.envs.PushTPolicy()  # or PushTPolicy(found.belief), identified from pushes
for seed in range(5):
    state, info = env.reset(seed=seed)
    policy.reset()
    steps, over = 0, False
    while not over:
        state, reward, terminated, truncated, info = env.step(policy(state))
        steps, over = steps + 1, terminated or truncated
    ended = "solved" if info["is_success"] else "not solved"
    print(f"episode {seed}: {ended} in {steps} steps, {policy.contacts} contacts", end=", ")
    print(f"coverage {info['coverage']:.3f}")
env.close()
