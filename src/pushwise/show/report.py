"""`report`: a run of `slide` as one HTML page, for readers who do not know the method."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np

from pushwise import __version__
from pushwise.atomic_write import write_text
from pushwise.checks import counted
from pushwise.identification.belief import Belief, centre_error
from pushwise.planning.goals import Goal
from pushwise.planning.plan import Plan
from pushwise.planning.stability import Balance
from pushwise.show import report_figures as pictures
from pushwise.show.html import facts, figure, page, paragraph, ramp, section
from pushwise.show.quantities import probability
from pushwise.show.report_sections import learned, pushes
from pushwise.sliding.outcome import Outcome

__all__ = ["report", "write_report"]

_PHASES = {
    "look": "Looking, and dividing into cells",
    "explore": "Pushing to learn",
    "identify": "Learning from the pushes",
    "plan": "Choosing a goal and planning",
    "follow": "Pushing to the goal",
    "grasp": "Grasping",
}


def write_report(outcome: Outcome, path: Path | str, *, name: str = "object") -> None:
    """Write the report of a run to an HTML file; name: the object's name."""
    write_text(Path(path), report(outcome, name=name))


def report(outcome: Outcome, *, name: str = "object") -> str:
    """Return the report of a run as HTML that opens without a network.

    Args:
        outcome: The run.
        name: The object's name.

    """
    parts = [_head(outcome, name), _seen(outcome)]
    belief, goal, plan = outcome.belief, outcome.goal, outcome.plan
    if belief is not None:
        parts += learned(outcome.found, belief)
        if outcome.records:
            parts.append(_explored(outcome, belief))
        if goal is not None and plan is not None:
            parts += [_goal(outcome, belief, goal), _way(outcome, belief, goal, plan)]
    parts += [_end(outcome), _timings(outcome), _foot(outcome)]
    return page(f"Sliding the {name} to the table’s edge", "\n".join(parts))


def _head(outcome: Outcome, name: str) -> str:
    """Summarise the outcome in a sentence and a few numbers."""
    numbers = {"Pushes to learn from": f"{len(outcome.records)}"}
    if outcome.found is not None:
        error = centre_error(outcome.found.posterior.centre_of_mass_covariance)
        numbers["Standard error of the centre of mass"] = str(error)
    if outcome.goal is not None:
        which = "first goal" if outcome.other_goal else "goal"
        fall = outcome.fall_probability
        numbers[f"Fall risk at the {which}"] = (
            "unknown: nothing was learned" if fall is None else _percent(fall)
        )
    if outcome.followed is not None:
        numbers["Pushes to the goal"] = f"{len(outcome.followed.records)}"
        which = "last goal" if outcome.other_goal else "goal"
        numbers[f"Distance from the {which}"] = f"{1e3 * outcome.followed.error:.1f} mm"
    numbers["Total time"] = f"{sum(outcome.seconds.values()):.1f} s"
    kind = "good" if outcome.success else "bad"
    return "\n".join(
        [
            "<header>",
            f'<p class="made">Report of Pushwise {escape(__version__)}</p>',
            f"<h1>Sliding the {escape(name)} to the table’s edge</h1>",
            f'<p class="verdict {kind}">{escape(outcome.verdict)}</p>',
            paragraph(
                "A flat object in the middle of a table is hard to grasp: there is no room for a "
                "finger under it. Pushed partly over the table’s edge it can be gripped from above "
                "and below, but pushed too far it falls. How far is too far depends on its centre "
                "of mass, which no camera sees. So the object is first pushed a few times, and its "
                "motion reveals its mass and friction distribution."
            ),
            facts(numbers),
            "</header>",
        ]
    )


def _seen(outcome: Outcome) -> str:
    """Show the point cloud and the cells made from it."""
    if outcome.seen is None or outcome.grid is None:
        return section("What was seen", paragraph("The run ended before the first look."))
    grid = outcome.grid
    return section(
        "What was seen",
        paragraph(
            f"The camera measured {len(outcome.seen.points):,} points on and around the object. "
            f"Seen from above, it was divided into {grid.n_cells} square cells of "
            f"{1e3 * grid.cell_size:.0f} mm. Each cell has its own mass and friction; the finger "
            "touches the outline around them."
        ),
        figure(
            pictures.seen(outcome.seen, grid),
            "Dots: some of the measured points. Squares: the cells, coloured by height. Line: the "
            "outline.",
            below=ramp("viridis", f"{1e3 * grid.heights.max():.0f} mm"),
        ),
    )


def _explored(outcome: Outcome, belief: Belief) -> str:
    """Show the pushes that the model was learned from."""
    return section(
        "The pushes to learn from",
        paragraph(
            "Each push is shown twice: as observed, and as the learned model predicts it from the "
            "same start. The dashed outline is the object before the push, the filled one after "
            "it, and the arrow is the finger’s path. The model was fitted to these pushes, so they "
            "should agree; the pushes to the goal, further down, are the harder test. Where the "
            "finger meets a corner or a hook, an error of a millimetre in the measured start can "
            "send the object in another direction; such a push does not mean that the model is "
            "wrong."
        ),
        pushes(belief, outcome.records, outcome.table),
    )


def _goal(outcome: Outcome, belief: Belief, goal: Goal) -> str:
    """Show the goal, and why the object does not fall there."""
    covariance = belief.centre_covariance
    doubt = (
        " That holds for the assumed centre of mass; the fall risk is unknown, because nothing was "
        "learned."
    )
    red = "the assumed centre of mass"
    if covariance is not None:
        doubt = (
            " The centre of mass is uncertain; over all the places where it may be, the "
            f"probability of a fall is {_percent(goal.fall_probability)}."
        )
        red = "the centre of mass and its 95 % confidence ellipse"
    rests = Balance(belief, outcome.table, seed=outcome.options.plan.seed).at(goal.pose)
    x, y, theta = goal.pose
    return section(
        "The goal",
        paragraph(
            "An object rests while its centre of mass is above its support polygon, the convex "
            "hull of the part that is on the table. At the goal "
            f"{1e3 * goal.overhang:.0f} mm are over the edge for a hand to grasp, "
            f"{1e3 * goal.width:.0f} mm wide, and the centre of mass is {1e3 * goal.margin:.0f} mm "
            f"inside the support polygon.{doubt}"
        ),
        figure(
            pictures.balance(belief.model, outcome.table, goal, rests, covariance),
            f"The goal: x = {1e3 * x:.0f} mm, y = {1e3 * y:.0f} mm, rotated by "
            f"{np.degrees(theta):.0f}°. Green: the support polygon. Red: {red}.",
        ),
        paragraph(
            f"{counted(len(goal.alternatives), 'other goal', 'other goals')} nearly as good "
            "remained, in case no plan leads to this one."
            if goal.alternatives
            else "No other goal was left to fall back on."
        ),
    )


def _way(outcome: Outcome, belief: Belief, goal: Goal, plan: Plan) -> str:
    """Show the plan, and how it went."""
    made = () if outcome.followed is None else outcome.followed.records
    grid = belief.model.grid
    expected = counted(len(plan.pushes), "push", "pushes")
    which = "first goal" if outcome.other_goal else "goal"
    parts = [
        paragraph(
            f"Before the first push the planner expected to need {expected}; it simulated "
            f"{plan.simulations:,} to find them. After every push it observed the object and "
            "planned again from its actual pose."
        ),
        figure(
            pictures.way(grid, outcome.table, plan, goal, made),
            f"The table from above. Orange: the planned path and the {which}. Blue: the actual "
            "path and the final pose. Green: the finger. Dashed: the object before each push.",
        ),
    ]
    if made:
        parts.append("<h3>The pushes to the goal</h3>")
        parts.append(pushes(belief, made, outcome.table))
    return section("The path", *parts)


def _end(outcome: Outcome) -> str:
    """Describe the outcome."""
    parts = [paragraph(outcome.verdict)]
    if outcome.followed is not None:
        followed = outcome.followed
        if outcome.other_goal:
            x, y, theta = followed.goal
            parts.append(
                paragraph(
                    "Another goal was chosen on the way, because no more safe pushes to the one "
                    f"above were found: ({x:.3f} m, {y:.3f} m), rotated by "
                    f"{np.degrees(theta):.0f} degrees. Distances refer to that one."
                )
            )
        detail = f": {followed.detail}" if followed.detail else "."
        parts.append(
            paragraph(
                f"After {counted(len(followed.records), 'push', 'pushes')} "
                f"{followed.end}{detail} The mean distance of the cells from the goal was "
                f"{1e3 * followed.error:.1f} mm."
            )
        )
    if outcome.grasp is not None:
        raised = f"the grasped part was lifted by {1e3 * outcome.grasp.raised:.0f} mm"
        parts.append(
            paragraph(
                f"The gripper closed on the overhanging part and held it: {raised}."
                if outcome.grasp.held
                else f"The gripper closed, but the object did not stay in it: {raised}."
            )
        )
    return section("Outcome", *parts)


def _timings(outcome: Outcome) -> str:
    """List the duration of each phase."""
    longest = max(outcome.seconds.values(), default=1.0)
    rows = "".join(
        f'<tr><th scope="row">{escape(_PHASES[phase])}</th>'
        f'<td class="number">{seconds:.2f} s</td>'
        f'<td class="share"><i style="width: {100 * seconds / longest:.1f}%"></i></td></tr>'
        for phase, seconds in outcome.seconds.items()
    )
    return section(
        "Time",
        '<table><thead><tr><th scope="col">Phase</th><th scope="col" class="number">Time</th>'
        f"<td></td></tr></thead><tbody>{rows}</tbody></table>",
    )


def _foot(outcome: Outcome) -> str:
    """List the settings."""
    asked, planning = outcome.options, outcome.options.plan
    explored = "as many pushes as needed"
    if asked.explore != "auto":
        explored = counted(asked.explore, "push", "pushes")
    return (
        "<footer>"
        + paragraph(
            f"Settings: {explored} to learn from, "
            f"{1e3 * asked.overhang:.0f} mm of "
            f"overhang at most {1e3 * asked.grasp_width:.0f} mm wide, a fall risk of at "
            f"most {_percent(planning.max_fall_probability)}, the goal reached to "
            f"{1e3 * planning.tolerance:.0f} mm with at most "
            f"{counted(planning.max_pushes, 'push', 'pushes')}, seed "
            f"{planning.seed}. Lengths are in millimetres, poses in the frame of the table."
        )
        + "</footer>"
    )


def _percent(value: float) -> str:
    """Return a probability as a percentage that is not broken over two lines."""
    return probability(value).replace(" ", "\u00a0")
