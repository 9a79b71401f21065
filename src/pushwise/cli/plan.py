"""The `pushwise plan` command: parse, call, print."""

from __future__ import annotations

from dataclasses import dataclass
from json import dumps, loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pushwise.cli.options import (
    Force,
    Json,
    PreferOption,
    RiskOption,
    Seed,
    check_angle,
    check_outputs,
    flag,
    output_option,
    preferred,
    reports_compiling,
    takes_options,
)
from pushwise.errors import PushwiseError
from pushwise.planning.options import GRASP_WIDTH, METHODS, OVERHANG, PlanOptions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pushwise.planning.plan import Plan

__all__ = ["PlanCommand", "plan"]


@dataclass(frozen=True, kw_only=True)
class PlanCommand:
    """What the command line accepts."""

    model: Annotated[Path, typer.Argument(help="A model, as identify writes it, or a scene.")]
    output: Annotated[Path, output_option("JSON file for the plan.")]
    start: Annotated[
        tuple[float, float, float] | None,
        typer.Option(metavar="X Y THETA", help="Current pose, in m and rad; by default 0 0 0."),
    ] = None
    scene: Annotated[
        Path | None,
        typer.Option(help="Scene with the object of the model; it gives start and obstacles."),
    ] = None
    number: Annotated[
        int | None, typer.Option("--object", help="Scenes: number of the object to move.")
    ] = None
    goal: Annotated[
        tuple[float, float, float] | None,
        typer.Option(metavar="X Y THETA", help="Pose to reach, in m and rad."),
    ] = None
    edge: Annotated[bool, flag("--edge", "Choose a goal with a graspable overhang.")] = False
    overhang: Annotated[float, typer.Option(help="Overhang at the edge, in metres.")] = OVERHANG
    grasp_width: Annotated[
        float, typer.Option(help="Maximum width of the overhanging part, in metres.")
    ] = GRASP_WIDTH
    prefer: PreferOption = "safety"
    max_fall_probability: RiskOption = PlanOptions.max_fall_probability
    table: Annotated[
        str | None,
        typer.Option(
            help="Width x depth around the origin, in m, or a JSON file: corners [\\[x, y], ...]; "
            "by default 1.0x0.7, with a scene what is seen of its table."
        ),
    ] = None
    obstacles: Annotated[
        Path | None,
        typer.Option(help="JSON file: a list of polygons, [\\[x, y], ...] each, in metres."),
    ] = None
    method: Annotated[str, typer.Option(help=f"Contact search: {', '.join(METHODS)}.")] = (
        PlanOptions.method
    )
    tolerance: Annotated[
        float, typer.Option(help="Distance at which the goal counts as reached, in metres.")
    ] = PlanOptions.tolerance
    time_limit: Annotated[
        float, typer.Option(help="Seconds that planning to one goal may take.")
    ] = PlanOptions.time_limit
    seed: Seed = 0
    plot: Annotated[Path | None, typer.Option(help="Picture of the plan.")] = None
    force: Force = False
    json: Json = False

    def reads(self) -> list[Path]:
        """Return every file that is read; a table may be a size instead of a file."""
        table = None if self.table is None else Path(self.table)
        given = (self.model, self.scene, self.obstacles, table)
        return [file for file in given if file is not None]


@takes_options
@reports_compiling
def plan(asked: PlanCommand) -> None:
    """Plan pushes to a pose, or to the table's edge so that a hand can grasp the object.

    With a scene, one object is moved and the others are obstacles; poses are in the scene's frame.

    Example: pushwise plan hammer.json --start 0 0 0 --goal 0.2 0.1 1.5 -o plan.json
    """
    check_outputs(asked.output, asked.plot, reads=asked.reads(), force=asked.force)
    check_angle("--start", asked.start)
    check_angle("--goal", asked.goal)
    if (asked.goal is None) != asked.edge:
        raise PushwiseError("give either --goal x y theta or --edge.")
    from pushwise.checks import counted
    from pushwise.cli.plan_inputs import planning_inputs
    from pushwise.planning.goals import GoalSpace, choose_goal, first_reachable
    from pushwise.planning.plan import plan as make
    from pushwise.show.quantities import probability

    options = PlanOptions(
        method=asked.method,
        tolerance=asked.tolerance,
        time_limit=asked.time_limit,
        seed=asked.seed,
        max_fall_probability=asked.max_fall_probability,
    )
    belief, start, top, blocks = planning_inputs(asked)

    def plan_to(pose: ArrayLike) -> Plan:
        return make(belief, start, pose, top, obstacles=blocks, options=options)

    said = "; nothing was learned: uniform mass and friction assumed" if belief.assumed else ""
    at_edge, goal = None, asked.goal
    if goal is not None:
        made = plan_to(goal)
    else:
        best = choose_goal(
            belief,
            top,
            overhang=asked.overhang,
            grasp_width=asked.grasp_width,
            prefer=preferred(asked.prefer),
            space=GoalSpace(obstacles=blocks, start=start),
            options=options,
        )
        goals = (best, *best.alternatives)
        at, made = first_reachable(goals, plan_to)
        chosen = goals[at]
        goal = (float(chosen.pose[0]), float(chosen.pose[1]), float(chosen.pose[2]))
        fall = (
            "fall risk unknown: nothing was learned"
            if belief.assumed
            else f"fall risk {probability(chosen.fall_probability)}"
        )
        if not (belief.learned or belief.assumed):
            fall += " (the file states no uncertainty: the model is taken as certain)"
        at_edge = {
            "overhang": chosen.overhang,
            "fall_probability": None if belief.assumed else chosen.fall_probability,
        }
        said = f", {1e3 * chosen.overhang:.0f} mm over the edge, {fall}"
    made.save(asked.output)
    if asked.plot is not None:
        from pushwise.show.figures import plot_plan

        plot_plan(made, belief.model.grid, top, asked.plot, obstacles=blocks)
    if asked.json:
        typer.echo(dumps({**loads(made.to_json()), "edge": at_edge}))
        return
    x, y, theta = goal
    reached = f"goal ({x:.3f} m, {y:.3f} m, {theta:.3f} rad){said}"
    if not made.pushes:
        away = f"{1e3 * made.error:.1f} mm from it (tolerance {1e3 * asked.tolerance:g} mm)"
        typer.echo(f"{reached}; no push is needed: the object is {away}")
        return
    typer.echo(made.table(assumed=belief.assumed))
    typer.echo(
        f"{reached}; {counted(len(made.pushes), 'push', 'pushes')} planned, "
        f"ending {1e3 * made.error:.1f} mm from the goal "
        f"({made.simulations} simulations, {made.seconds:.2f} s)"
    )
