"""The `pushwise plan` command: parse, call, print."""

from __future__ import annotations

from json import dumps, loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pushwise.checks import counted
from pushwise.cli.options import Force, Json, check_outputs
from pushwise.errors import PushwiseError
from pushwise.planning.options import GRASP_WIDTH, METHODS, OVERHANG, PlanOptions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pushwise.planning.plan import Plan

__all__ = ["plan"]


def plan(
    model: Annotated[Path, typer.Argument(help="JSON file of a model, as identify writes it.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="JSON file for the plan.")],
    start: Annotated[
        tuple[float, float, float], typer.Option(help="Pose x y theta now, in m and rad.")
    ] = (0.0, 0.0, 0.0),
    goal: Annotated[
        tuple[float, float, float] | None, typer.Option(help="Pose x y theta to reach.")
    ] = None,
    edge: Annotated[
        bool, typer.Option("--edge", help="Choose a goal with a graspable overhang.")
    ] = False,
    overhang: Annotated[float, typer.Option(help="How far over the edge, in metres.")] = OVERHANG,
    grasp_width: Annotated[
        float, typer.Option(help="How wide the overhanging part may be, in metres.")
    ] = GRASP_WIDTH,
    table: Annotated[
        str,
        typer.Option(
            help="Width x depth around the origin, in m, or a JSON file: corners [\\[x, y], ...]."
        ),
    ] = "1.0x0.7",
    obstacles: Annotated[
        Path | None, typer.Option(help="JSON file: a list of polygons, [\\[x, y], ...] each, in m.")
    ] = None,
    method: Annotated[
        str, typer.Option(help=f"Contact search: {', '.join(METHODS)}.")
    ] = PlanOptions.method,
    tolerance: Annotated[
        float, typer.Option(help="Distance at which the goal counts as reached, in metres.")
    ] = PlanOptions.tolerance,
    time_limit: Annotated[
        float, typer.Option(help="Time limit for the plan to one goal, in seconds.")
    ] = PlanOptions.time_limit,
    seed: Annotated[int, typer.Option(help="Random seed.")] = PlanOptions.seed,
    plot: Annotated[Path | None, typer.Option(help="Picture of the way.")] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Plan pushes to a pose, or to the table's edge so that a hand can grasp the object.

    Example: pushwise plan hammer.json --start 0 0 0 --goal 0.2 0.1 1.5 -o plan.json
    """
    check_outputs(output, plot, force=force)
    if (goal is None) != edge:
        raise PushwiseError("give either --goal x y theta or --edge.")
    from pushwise.cli.options import load_polygons, table_of
    from pushwise.model_files import load_belief
    from pushwise.planning.goals import choose_goal, first_reachable
    from pushwise.planning.plan import plan as make

    options = PlanOptions(method=method, tolerance=tolerance, time_limit=time_limit, seed=seed)
    belief = load_belief(model)
    top = table_of(table)
    blocks = [] if obstacles is None else load_polygons(obstacles)

    def plan_to(pose: ArrayLike) -> Plan:
        return make(belief, start, pose, top, obstacles=blocks, options=options)

    said, at_edge = "", None
    if goal is not None:
        made = plan_to(goal)
    else:
        best = choose_goal(
            belief,
            top,
            overhang=overhang,
            grasp_width=grasp_width,
            obstacles=blocks,
            start=start,
            options=options,
        )
        goals = (best, *best.alternatives)
        at, made = first_reachable(goals, plan_to)
        chosen = goals[at]
        goal = (float(chosen.pose[0]), float(chosen.pose[1]), float(chosen.pose[2]))
        fall = (
            "chance of a fall not known: nothing was learned"
            if belief.assumed
            else f"falls with p = {chosen.fall_probability:.2g}"
        )
        if not (belief.learned or belief.assumed):
            fall += " (the file does not say how well the model is known: taken as certain)"
        at_edge = {
            "overhang": chosen.overhang,
            "fall_probability": None if belief.assumed else chosen.fall_probability,
        }
        said = f", {1e3 * chosen.overhang:.0f} mm over the edge, {fall}"
    made.save(output)
    if plot is not None:
        from pushwise.show.figures import plot_plan

        plot_plan(made, belief.model.grid, top, plot, obstacles=blocks)
    typer.echo(dumps({**loads(made.to_json()), "edge": at_edge}) if json else made.table())
    if not json:
        x, y, theta = goal
        typer.echo(
            f"goal ({x:.3f} m, {y:.3f} m, {theta:.3f} rad){said}: "
            f"{counted(len(made.pushes), 'push', 'pushes')}, "
            f"{1e3 * made.error:.1f} mm from it, {made.simulations} simulations, "
            f"{made.seconds:.2f} s"
        )
