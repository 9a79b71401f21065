"""`Simulator`: steps and runs, states that are kept, saved and restored, and batches."""

import json

import numpy as np
import pytest

import pushwise as pw
from random_paths import random_path
from random_pushes import library_model, random_blob

HAMMER = pw.objects.load("hammer").model
FINGER = pw.Finger(0.006, 0.4)


def restored(state: pw.MotionState) -> pw.MotionState:
    """Save a state as text and read it again."""
    return pw.MotionState.from_json(json.loads(json.dumps(state.to_json())))


def test_a_run_is_a_simulated_push() -> None:
    """Agree with `simulate` in every step, up to rounding of the times."""
    push = pw.Push.through([(-0.06, -0.05), (-0.05, 0.03), (0.0, 0.05)], 0.1)
    simulator = pw.Simulator(HAMMER, physics=pw.Physics(dt=0.004))
    state, path = simulator.run(simulator.start(), push)
    same = pw.simulate(HAMMER, push, until=push.duration, physics=pw.Physics(dt=0.004))
    np.testing.assert_allclose(path.t, same.t, atol=1e-12)
    np.testing.assert_allclose(path.pose, same.pose, atol=1e-9)
    np.testing.assert_array_equal(path.mode, same.mode)
    np.testing.assert_array_equal(state.pose, path.pose[-1])
    assert state.t == pytest.approx(push.duration)


def test_chained_steps_are_a_run() -> None:
    """End in the same numbers to the last bit, with every state saved and restored between."""
    rng = np.random.default_rng(1)
    for height in (0.0, 0.02):
        finger = pw.Finger(0.006, 0.4, height)
        for _ in range(10):
            model = random_blob(rng)
            path = random_path(rng, model, finger)
            simulator = pw.Simulator(model, finger=finger, physics=pw.Physics(dt=0.01))
            start = simulator.start(twist=rng.normal(size=3) * (0.05, 0.05, 1.0))
            whole, _ = simulator.run(start, path)
            state = start
            for a, b in zip(path.times[:-1], path.times[1:], strict=True):
                state, _ = simulator.run(restored(state), pw.Push([0.0, b - a], path.at([a, b])))
            if path.raised:
                assert not whole.finger_is_down
                whole = pw.MotionState(np.where(np.arange(23) == 19, 1.0, whole.numbers))
            np.testing.assert_array_equal(state.numbers, whole.numbers)


@pytest.mark.slow
def test_a_thousand_saved_states_go_on_alike() -> None:
    """Continue from saved states, most of them in contact, as from the states themselves."""
    rng = np.random.default_rng(2)
    touching = count = 0
    while count < 1000:
        model = random_blob(rng)
        simulator = pw.Simulator(model, finger=FINGER)
        path = random_path(rng, model, FINGER)
        state, _ = simulator.run(simulator.start(), pw.Push(path.times[:2], path.positions[:2]))
        for _ in path.positions[2:]:
            inward = state.pose[:2] - state.finger + 0.02 * rng.normal(size=2)
            nearby = state.finger + 0.003 * inward / np.hypot(*inward)
            after = simulator.step(state, nearby, 0.02)
            again = simulator.step(restored(state), nearby, 0.02)
            np.testing.assert_array_equal(again.numbers, after.numbers)
            touching += int(state.mode != pw.Mode.SEPARATE)
            count += 1
            state = after
    assert touching > 500


def test_a_batch_is_its_states_one_by_one() -> None:
    """Advance states of one model, and of many, as one after the other."""
    rng = np.random.default_rng(3)
    models = [library_model(rng, "hammer") for _ in range(3)]
    simulators = [pw.Simulator(models[i % 3], finger=FINGER) for i in range(40)]
    states = simulators[0].start(rng.normal(size=(40, 3)) * (0.01, 0.01, 1.0), (0.1, 0.0, 1.0))
    fingers = rng.uniform(-0.15, 0.15, (40, 2))
    for _ in range(3):
        fingers = fingers + rng.uniform(-0.004, 0.004, (40, 2))
        many = pw.step_batch(simulators, states, fingers, 0.02)
        for i, simulator in enumerate(simulators):
            one = simulator.step(states[i], fingers[i], 0.02)
            np.testing.assert_array_equal(one.numbers, many[i].numbers)
        same = pw.step_batch(simulators[0], states, fingers, 0.02)
        np.testing.assert_array_equal(same.numbers[::3], many.numbers[::3])
        states = many
    assert len(states) == 40


def test_nothing_stops_a_batch() -> None:
    """Keep states that tipped, or into which a finger was lowered, beside those that go on."""
    table = pw.Table.rectangle(0.4, 0.4)
    simulator = pw.Simulator(HAMMER, finger=FINGER, table=table)
    states = simulator.start([(0.0, 0.0, 0.0), (0.4, 0.0, 0.0), (0.0, 0.0, 0.0)], (0.5, 0.0, 0.0))
    deep = HAMMER.grid.centres[0]
    fingers = np.array([(-0.3, 0.3), (-0.3, 0.3), deep])
    after = pw.step_batch(simulator, states, fingers, 0.2)
    assert after.tipped.tolist() == [False, True, False]
    assert after.inside.tolist() == [False, False, True]
    assert after.pose[0, 0] > 0.02
    again = pw.step_batch(simulator, after, fingers, 0.2)
    np.testing.assert_array_equal(again.numbers[1:], after.numbers[1:])
    assert np.isfinite(again.numbers).all()


def test_mistakes_are_one_sentence() -> None:
    """Refuse what makes no sense."""
    simulator = pw.Simulator(HAMMER)
    state = simulator.start()
    with pytest.raises(pw.PushwiseError, match="dt must be greater than zero"):
        simulator.step(state, (0.0, 0.0), 0.0)
    with pytest.raises(pw.PushwiseError, match="finger must have shape"):
        simulator.step(state, (0.0, 0.0, 0.0))
    with pytest.raises(pw.PushwiseError, match="one for each; got 2 for 1"):
        pw.step_batch([simulator, simulator], state, (0.0, 0.0))
    with pytest.raises(pw.PushwiseError, match="a state must have the columns x, y, theta"):
        pw.MotionState.from_json({"columns": ["x"], "numbers": [0.0]})
    with pytest.raises(pw.PushwiseError, match="run takes one state; got 2"):
        simulator.run(simulator.start(np.zeros((2, 3))), pw.Push.line((0, 0), (1, 0), 1))
    with pytest.raises(pw.SimulationError, match="starts inside the object"):
        simulator.run(state, pw.Push.line(HAMMER.grid.centres[0], (0.1, 0.0), 0.1))
    tipped = simulator_at_an_edge().start((0.9, 0.0, 0.0))
    tipped = simulator_at_an_edge().step(tipped)
    with pytest.raises(pw.SimulationError, match="has tipped over the table's edge"):
        simulator_at_an_edge().run(tipped, pw.Push.line((0, 0), (1, 0), 1))


def simulator_at_an_edge() -> pw.Simulator:
    """Return the hammer on a table that ends."""
    return pw.Simulator(HAMMER, table=pw.Table())
