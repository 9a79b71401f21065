"""The methods of identification, by name, and what each of them can use.

A new method is one function that takes a `Task` and returns a `Refined`, and one entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pushwise.errors import PushwiseError
from pushwise.identification.free_slide import is_free
from pushwise.identification.methods import baselines
from pushwise.identification.methods.autograd import search_by_autograd
from pushwise.identification.methods.convex import convex
from pushwise.identification.methods.descent import descend
from pushwise.identification.methods.feet import feet
from pushwise.identification.methods.refine import refine
from pushwise.identification.methods.search import run_search
from pushwise.identification.methods.task import Task
from pushwise.identification.objective import Refined
from pushwise.physics.push import ForcePush
from pushwise.records.record import PushRecord

__all__ = ["METHODS", "Method", "method_named"]


@dataclass(frozen=True)
class Method:
    """A method of identification and what it can use."""

    name: str
    """What users call it."""
    help: str
    """What it does, in one line."""
    run: Callable[[Task], Refined]
    """The method itself."""
    fits_forces: bool = False
    """Whether measured forces are fitted; other methods cannot determine the total mass."""
    finds_height: bool = False
    """Whether it estimates the height at which the finger pushes; others take it as given."""
    needs_forces: bool = False
    """Whether it works only with measured forces."""
    takes_centre: bool = False
    """Whether it can use a stated centre of mass, `Prior.centre`."""
    calibrates: bool = False
    """Whether it estimates errors of the set-up where the prior doubts it."""
    simulates_contact: bool = True
    """Whether the finger's height and the table's anisotropy count."""
    needs_finger: bool = False
    """Whether it works only with pushes by a finger."""
    takes_motion: bool = True
    """Whether it can use pushes of objects that are in motion when a record begins."""
    needs_budget: bool = True
    """Whether it searches until a budget of simulations is used up; the others end by themselves.
    """

    def cannot_use(self, record: PushRecord, name: str) -> str:
        """Return why it cannot use a record, called by a name, in a sentence; empty if it can."""
        if is_free(record) and (self.needs_forces or self.needs_finger or not self.takes_motion):
            return f"{name} is a flick; method {self.name} cannot use free slides."
        if self.needs_forces and record.force is None:
            return f"{name} has no measured forces, which method {self.name} needs."
        if self.needs_finger and isinstance(record.push, ForcePush):
            return f"{name} is a force on a cell; method {self.name} needs pushes by a finger."
        if not self.takes_motion and record.twist.any():
            return (
                f"{name} starts with the object in motion; method {self.name} can only use pushes "
                "of objects at rest."
            )
        return ""


def _by_name(*methods: Method) -> Mapping[str, Method]:
    return MappingProxyType({method.name: method for method in methods})


METHODS = _by_name(
    Method(
        "refine",
        "Linear least squares, then Gauss-Newton on whole simulated pushes.",
        refine,
        fits_forces=True,
        finds_height=True,
        takes_centre=True,
        calibrates=True,
        needs_budget=False,
    ),
    Method(
        "convex",
        "Linear least squares on the observed motion alone.",
        convex,
        simulates_contact=False,
        takes_motion=False,
        needs_budget=False,
    ),
    Method(
        "feet",
        "Mean load of all triples of feet that explain the pushes.",
        feet,
        takes_centre=True,
        calibrates=True,
        needs_finger=True,
        takes_motion=False,
        needs_budget=False,
    ),
    Method("descent", "Algorithm 1 of the paper: projected gradient descent.", run_search(descend)),
    Method("random", "Uniform samples between the bounds.", run_search(baselines.search_randomly)),
    Method(
        "weighted",
        "Normal samples about the best one so far.",
        run_search(baselines.search_near_the_best),
    ),
    Method(
        "finite-differences",
        "Gradient descent with finite differences.",
        run_search(baselines.search_by_differences),
    ),
    Method(
        "cma-es",
        "Covariance matrix adaptation evolution strategy.",
        run_search(baselines.search_by_evolution),
    ),
    Method(
        "nelder-mead",
        "The simplex of Nelder and Mead.",
        run_search(baselines.search_by_simplex),
    ),
    Method(
        "autograd",
        "Gradient descent with PyTorch through the full LCP; needs forces.",
        run_search(search_by_autograd),
        needs_forces=True,
        needs_finger=True,
        simulates_contact=False,
    ),
)
"""All methods, the default one first."""


def method_named(name: str) -> Method:
    """Return a method by its name; raise `PushwiseError` with all names if there is none."""
    if name not in METHODS:
        raise PushwiseError(f"method must be one of {', '.join(METHODS)}; got {name!r}.")
    return METHODS[name]
