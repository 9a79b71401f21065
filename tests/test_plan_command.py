"""`pushwise plan`: the file, the table, the picture, and one line for a mistake."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pushwise as pw
from command import pushwise
from drawn import drawn
from pushwise.geometry.metric import cell_distance
from pushwise.geometry.polygon import placed
from pushwise.model_files import load_belief
from pushwise.planning.options import PlanOptions


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Save a hammer whose centre of mass is known to 5 mm."""
    hammer = pw.objects.load("hammer").model
    belief = pw.Belief(hammer, pw.Finger(), 0.005**2 * np.eye(2), None, np.zeros(3))
    pw.save(belief, tmp_path / "hammer.json")
    return tmp_path / "hammer.json"


def test_a_goal_is_planned(model: Path, tmp_path: Path) -> None:
    """Write plan and picture, and print a line a push."""
    out, picture = tmp_path / "plan.json", tmp_path / "plan.png"
    blocks = tmp_path / "blocks.json"
    blocks.write_text("[[[0.3, 0.2], [0.4, 0.2], [0.4, 0.3]]]")
    table = tmp_path / "table.json"
    table.write_text("[[-0.6, -0.4], [0.6, -0.4], [0.6, 0.1], [0.2, 0.5], [-0.6, 0.5]]")
    with drawn() as figures:
        done = pushwise(
            *("plan", model, "--goal", -0.2, -0.1, 1.0, "-o", out),
            *("--plot", picture, "--obstacles", blocks, "--method", "gradient", "--table", table),
        )
    assert (done.code, done.err) == (0, "")
    pushes = json.loads(out.read_text())["pushes"]
    count = len(pushes)
    assert all(push["pose_std"][0] > 0.0 for push in pushes)
    assert all(push["approach"][-1] == push["positions"][0] for push in pushes)
    assert f"{count} pushes planned" in done.out
    assert len(done.out.splitlines()) == count + 2
    (axes,) = figures["plan.png"].axes
    texts = [text.get_text() for text in axes.texts]
    assert texts.count("") == count  # arrows
    assert [text for text in texts if text] == [str(i + 1) for i in range(count)]
    assert len(axes.patches) == 2 + count + 1  # table, obstacle, and the object at each pose


def test_a_goal_at_the_edge_is_chosen(model: Path, tmp_path: Path) -> None:
    """Choose it, and print the plan as JSON."""
    done = pushwise("plan", model, "--edge", "-o", tmp_path / "plan.json", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    goal = told["waypoints"][-1]
    assert abs(goal[0]) > 0.2 or abs(goal[1]) > 0.15
    assert told["edge"]["overhang"] >= 0.05 - 1e-9
    assert 0.0 <= told["edge"]["fall_probability"] <= 0.01


def test_a_model_without_a_word_of_doubt_is_taken_as_certain(tmp_path: Path) -> None:
    """Say so."""
    model = tmp_path / "hammer.json"
    pw.save(pw.objects.load("hammer").model, model)
    done = pushwise("plan", model, "--edge", "-o", tmp_path / "plan.json")
    assert done.code == 0, done.err
    assert "states no uncertainty: the model is taken as certain" in done.out


def test_a_model_that_was_assumed_has_no_chance_of_a_fall(tmp_path: Path) -> None:
    """Choose a goal for it, and say that nothing was learned."""
    model = tmp_path / "hammer.json"
    pw.save(pw.Belief.assuming(pw.objects.load("hammer").model), model)
    done = pushwise("plan", model, "--edge", "-o", tmp_path / "plan.json")
    assert done.code == 0, done.err
    assert "fall risk unknown: nothing was learned" in done.out


@pytest.mark.slow
def test_a_goal_that_is_taken_is_passed_over(model: Path, tmp_path: Path) -> None:
    """Go to the next best goal where something stands at the best one."""
    belief = load_belief(model)
    grid = belief.model.grid
    best = pw.choose_goal(belief, pw.Table(), space=pw.GoalSpace(start=(0.0, 0.0, 0.0)))
    x, y = placed(grid.centres.mean(axis=0)[None], best.pose)[0]
    corners = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    block = tmp_path / "block.json"
    block.write_text(json.dumps([[[x + 0.01 * dx, y + 0.01 * dy] for dx, dy in corners]]))
    words = ("plan", model, "--edge", "--method", "gradient", "--obstacles", block, "--json")
    done = pushwise(*words, "-o", tmp_path / "plan.json")
    assert (done.code, done.err) == (0, "")
    end = np.array(json.loads(done.out)["waypoints"][-1])
    apart = [cell_distance(grid, end, goal.pose) for goal in (best, *best.alternatives)]
    assert apart[0] > 0.01
    assert min(apart[1:]) < 1e-9


def test_an_object_at_its_goal_needs_no_push(model: Path, tmp_path: Path) -> None:
    """Say so instead of printing an empty table."""
    done = pushwise("plan", model, "--goal", 0, 0, 0.01, "-o", tmp_path / "plan.json")
    assert done.code == 0 and "no push is needed: the object is " in done.out
    assert len(done.out.splitlines()) == 1


def test_the_seed_decides_the_goal(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Draw centres of mass for the goal with the seed that was given."""
    seeds = []
    choose_goal = pw.choose_goal

    def noted(*what: Any, options: PlanOptions, **more: Any) -> pw.Goal:
        seeds.append(options.seed)
        return choose_goal(*what, options=options, **more)

    monkeypatch.setattr("pushwise.planning.goals.choose_goal", noted)
    pushwise("plan", model, "--edge", "--seed", 3, "-o", tmp_path / "plan.json")
    assert seeds == [3]


def test_mistakes_are_one_line(model: Path, tmp_path: Path) -> None:
    """Exit with one line for no goal, a goal in the air, and a file that is no model."""
    out = tmp_path / "plan.json"
    for words, said in (
        ((model,), "give either --goal x y theta or --edge"),
        ((model, "--goal", 5, 0, 0), "is not free: that is off the table"),
        ((model, "--goal", 0, 0, 90), "--goal takes its angle in radians; 90 looks like degrees"),
        ((model, "--edge", "--start", 0, 0, -30), "--start takes its angle in radians; -30 looks"),
        ((model, "--goal", 0, 0, 0, "--obstacles", model), "must hold a list of polygons"),
        (
            (model, "--goal", 0, 0, 0, "--table", "1x-1"),
            "--table must be wider and deeper than zero",
        ),
        ((model, "--goal", 0, 0, 0, "--table", "round.json"), "cannot read round.json"),
        ((model, "--goal", 0, 0, 0, "--table", "1"), "WIDTHxDEPTH in metres, such as 1.0x0.7, or"),
        ((model, "--edge", "--overhang", 1), "in no pose does the object, "),
    ):
        done = pushwise("plan", *words, "-o", out)
        assert done.code == 1
        assert len(done.err.splitlines()) == 1
        assert said in done.err
    assert not out.exists()


@pytest.mark.parametrize("option", ["--obstacles", "--table", "--scene"])
def test_no_file_that_is_read_is_overwritten(model: Path, tmp_path: Path, option: str) -> None:
    """Refuse to write a plan over obstacles, a table or a scene, even with --force."""
    given = tmp_path / "given.json"
    given.write_text("[]", encoding="utf-8")
    done = pushwise("plan", model, "--goal", 0, 0, 0, option, given, "-o", given, "--force")
    assert done.code == 1
    assert "given.json is read by this command; choose another name to write to." in done.err
    assert given.read_text(encoding="utf-8") == "[]"


def test_a_plan_and_its_picture_have_two_names(model: Path, tmp_path: Path) -> None:
    """Refuse to draw the picture over the plan."""
    out = tmp_path / "plan.png"
    done = pushwise("plan", model, "--goal", 0, 0, 0, "-o", out, "--plot", out)
    assert (done.code, out.exists()) == (1, False)
    assert "-o and --plot both name" in done.err
