"""The rules of the house: what may import what, how long a signature is, nothing written twice."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from duplicated_lines import copies

SRC = Path(__file__).resolve().parent.parent / "src"

# Which rooms (packages, `object_files` and `model_files`) a room may import. Top-level modules
# that are not named here, such as `checks`, may be imported by all rooms and import none.
MAY_IMPORT: dict[str, set[str]] = {
    "geometry": set(),
    "shape": {"geometry"},
    "physics": {"geometry", "shape"},
    "objects": {"geometry", "shape", "physics"},
    "export": {"geometry", "shape", "physics"},
    "records": {"geometry", "shape", "physics"},
    "identification": {"geometry", "shape", "physics", "records"},
    "object_files": {"geometry", "shape", "physics"},
    "model_files": {"geometry", "shape", "physics", "records", "identification", "object_files"},
    "planning": {"geometry", "shape", "physics", "records", "identification"},
    "worlds": {"geometry", "shape", "physics", "objects", "records", "object_files"},
}
MAY_IMPORT["torch"] = MAY_IMPORT["jax"] = {"geometry", "shape", "physics"}
MAY_IMPORT["sliding"] = {*MAY_IMPORT} - {"export"}
MAY_IMPORT["envs"] = {*MAY_IMPORT} - {"export"}
MAY_IMPORT["show"] = {*MAY_IMPORT}
MAY_IMPORT["experiments"] = {*MAY_IMPORT}
MAY_IMPORT["cli"] = {*MAY_IMPORT}
# The metric is of a grid, whose outline is a polygon: a cycle of types, and of types alone.
FOR_TYPES_ONLY = {("geometry", "shape")}
FOUNDATIONS_OF_PHYSICS = {"checks", "compilation", "errors", "extras", "typing"}

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Module(NamedTuple):
    """A module of src."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def room(self) -> str:
        """The top-level package or module it is in; of `pushwise` itself, "pushwise"."""
        return room_of(self.name)

    def at(self, node: ast.AST) -> str:
        """Return where a node is, as path:line."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}"


class Import(NamedTuple):
    """A module imported by another, anywhere in it."""

    by: Module
    name: str
    place: str
    for_types: bool


def room_of(name: str) -> str:
    """Return the second part of a module's name."""
    return [*name.split("."), name][1]


@cache
def modules() -> dict[str, Module]:
    """Return all modules of src by name."""
    found = {}
    for path in sorted(SRC.rglob("*.py")):
        short = path.relative_to(SRC)
        name = ".".join(short.with_suffix("").parts).removesuffix(".__init__")
        text = path.read_text(encoding="utf-8")
        found[name] = Module(name, short, text, ast.parse(text))
    return found


@cache
def imports() -> list[Import]:
    """Return all imports of modules of src: in functions, for types, and by a module's name.

    `pushwise` itself imports nothing but types and loads public names by their homes, so it is
    an index and not a room; test_public_names checks it.
    """
    found = []
    for module in modules().values():
        if module.name == "pushwise":
            continue
        for_types = {
            child
            for node in ast.walk(module.tree)
            if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
            for child in ast.walk(node)
        }
        for node in ast.walk(module.tree):
            for name in imported_by(module, node):
                found.append(Import(module, name, module.at(node), node in for_types))
    return found


def imported_by(module: Module, node: ast.AST) -> Iterator[str]:
    """Yield the modules of src that a node of a module imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in modules())
    elif isinstance(node, ast.ImportFrom):
        above = module.name.split(".")
        if not module.path.stem.startswith("__init__"):
            above = above[:-1]
        start = above[: len(above) - node.level + 1] if node.level else []
        base = ".".join([*start, *([node.module] if node.module else [])])
        inner = [f"{base}.{alias.name}" for alias in node.names]
        yield from {name if name in modules() else base for name in inner} & modules().keys()
    elif isinstance(node, ast.Constant) and node.value in modules() and node.value != "pushwise":
        yield node.value  # for import_module


def functions(module: Module) -> Iterator[tuple[Function, str]]:
    """Yield all functions of a module, with what to call them in a message."""
    for node in ast.walk(module.tree):
        if isinstance(node, Function):
            name = "lambda" if isinstance(node, ast.Lambda) else node.name
            yield node, f"{module.at(node)} {name}"


def parameters(function: Function) -> list[ast.arg]:
    """Return all parameters of a function but self and cls."""
    inner = function.args
    starred = [arg for arg in (inner.vararg, inner.kwarg) if arg is not None]
    named = [*inner.posonlyargs, *inner.args]
    if named and named[0].arg in ("self", "cls"):
        named = named[1:]
    return [*named, *inner.kwonlyargs, *starred]


def refuse(places: list[str], rule: str) -> None:
    """Fail with the places at which a rule is broken."""
    if places:
        listed = "\n".join(f"  {place}" for place in places)
        pytest.fail(f"{rule} ({len(places)} places):\n{listed}", pytrace=False)


def test_rooms_import_only_what_is_before_them() -> None:
    """Let data flow one way: no package imports one that comes after it."""
    places = []
    for found in imports():
        here, there = found.by.room, room_of(found.name)
        known = here in MAY_IMPORT or found.by.path.parent == Path("pushwise")
        assert known, f"{here} is a new package: say in MAY_IMPORT what it may import."
        if here in (there, "__main__") or (found.for_types and (here, there) in FOR_TYPES_ONLY):
            continue
        foundation = there not in MAY_IMPORT
        if here == "physics" and foundation:
            allowed = there in FOUNDATIONS_OF_PHYSICS
        else:
            allowed = foundation or there in MAY_IMPORT.get(here, set())
        if not allowed:
            places.append(f"{found.place} imports {found.name}")
    refuse(places, "A package may import only what MAY_IMPORT in test_house.py lists")


def test_nothing_outside_physics_imports_its_kernels() -> None:
    """Keep compiled code private to the physics."""
    kernels = "pushwise.physics.kernels"
    places = [
        f"{found.place} imports {found.name}"
        for found in imports()
        if f"{found.name}.".startswith(f"{kernels}.") and found.by.room != "physics"
    ]
    refuse(places, f"Only physics may import {kernels}")


def test_worlds_do_not_reach_the_methods() -> None:
    """Follow the imports of the worlds: what is tested with a world must not be part of it."""
    follow: dict[str, set[str]] = {}
    for found in imports():
        if not found.for_types:
            follow.setdefault(found.by.name, set()).add(found.name)
    ways = {name: name for name in modules() if room_of(name) == "worlds"}
    todo, places = list(ways), []
    while todo:
        name = todo.pop()
        if room_of(name) in ("identification", "planning", "sliding"):
            places.append(ways[name])
            continue
        packages = {name.rsplit(".", i)[0] for i in range(1, name.count("."))}
        for other in sorted(follow.get(name, set()) | packages):
            if other not in ways:
                ways[other] = f"{ways[name]} -> {other}"
                todo.append(other)
    refuse(sorted(places), "Worlds must not reach identification, planning or sliding")


def test_functions_take_at_most_eight_parameters() -> None:
    """Have what belongs together in one dataclass; kernels, which Numba compiles, are exempt."""
    places = [
        f"{place} takes {len(parameters(function))}"
        for module in modules().values()
        if not module.name.startswith("pushwise.physics.kernels.")
        for function, place in functions(module)
        if len(parameters(function)) > 8
    ]
    refuse(places, "A function takes at most eight parameters")


def numbers_in(annotation: ast.AST) -> int:
    """Return how many numbers the longest tuple[...] of an annotation has, written one by one."""
    kinds = ("int", "float", "bool", "complex")
    counts = [0]
    for node in ast.walk(annotation):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) in ("tuple", "Tuple"):
            members = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            numeric = [
                member
                for member in map(ast.unparse, members)
                if member in kinds or member.startswith(("np.float", "np.int", "float |", "int |"))
            ]
            counts.append(len(numeric))
    return max(counts)


def test_no_bare_tuple_of_more_than_four_numbers_crosses_a_boundary() -> None:
    """Name the members of long tuples: in annotations, in aliases, and where one is returned."""
    places = []
    for module in modules().values():
        for function, place in functions(module):
            annotations = [arg.annotation for arg in parameters(function) if arg.annotation]
            body = function.body if isinstance(function.body, list) else []
            if not isinstance(function, ast.Lambda) and function.returns:
                annotations.append(function.returns)
            if any(numbers_in(annotation) > 4 for annotation in annotations):
                places.append(f"{place} has a tuple[...] of more than four in its signature")
            for value in returned(body):
                text = all(isinstance(e, ast.Constant) and isinstance(e.value, str)
                           for e in value.elts)  # fmt: skip
                if len(value.elts) > 4 and not text:
                    places.append(f"{place} returns a tuple of {len(value.elts)}")
        for node in module.tree.body:
            alias = isinstance(node, ast.Assign | ast.AnnAssign) and node.value
            if alias and numbers_in(alias) > 4:
                places.append(f"{module.at(node)} names a tuple[...] of more than four")
    refuse(places, "More than four numbers are a NamedTuple or a dataclass")


def returned(body: list[ast.stmt]) -> Iterator[ast.Tuple]:
    """Yield the tuples that a function returns or yields as such, not those of inner functions."""
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return | ast.Yield) and isinstance(node.value, ast.Tuple):
            yield node.value
        if not isinstance(node, Function | ast.ClassDef):
            todo.extend(ast.iter_child_nodes(node))


def test_each_class_has_a_name_of_its_own() -> None:
    """Find each class by its name alone, whether it is private or not."""
    homes: dict[str, list[str]] = {}
    for module in modules().values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name.lstrip("_"), []).append(module.at(node))
    places = [f"{name}: {', '.join(at)}" for name, at in homes.items() if len(at) > 1]
    refuse(places, "No two classes share a name")


def test_array_types_are_defined_once() -> None:
    """Write NDArray[...] in pushwise/typing.py and nowhere else."""
    places = [
        f"{module.path}:{number}"
        for module in modules().values()
        if module.name != "pushwise.typing"
        for number, line in enumerate(module.text.splitlines(), 1)
        if "NDArray[" in line
    ]
    refuse(places, "Types of arrays come from pushwise.typing")


def test_modules_are_short_and_have_a_docstring() -> None:
    """Keep a module to one topic, and say which in its first line."""
    long = [
        f"{module.path} has {len(module.text.splitlines())}"
        for module in modules().values()
        if len(module.text.splitlines()) > 350
    ]
    refuse(long, "A module has at most 350 lines")
    silent = [str(m.path) for m in modules().values() if not ast.get_docstring(m.tree)]
    refuse(silent, "Every module has a docstring")


# Logs and the results of a sweep grow line by line; Bullet reads from temporary folders.
WRITES = {
    "pushwise.atomic_write": {"write_bytes", "savefig", "mkdir"},
    "pushwise.documents": {"savez_compressed"},  # to memory
    "pushwise.experiments.sweep": {"open"},
    "pushwise.records.log_writer": {"open"},
    "pushwise.worlds.bullet_scene": {"open", "write_text"},
    "pushwise.worlds.kuka": {"write_text"},
}
READS = {
    "pushwise.experiments.sweep": {"read_bytes"},
    "pushwise.records.log_writer": {"read_bytes", "read_text"},
    "pushwise.documents": {"open", "load"},
    "pushwise.show.html": {"read_text"},  # of a file of our own
}


def file_calls(module: Module) -> Iterator[tuple[str, str, str]]:
    """Yield the calls that read or write files: "read" or "write", the function, the place."""
    writers = ("write_text", "write_bytes", "savefig", "save", "savez", "savez_compressed", "mkdir")
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        method = isinstance(function, ast.Attribute)
        name = function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)
        of = ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""
        if name == "open" and of not in ("os", "Image"):
            mode = [*node.args[0 if method else 1 :], *(k.value for k in node.keywords)]
            texts = [m.value for m in mode if isinstance(m, ast.Constant)]
            modes = [text for text in texts if isinstance(text, str)]
            writes = any(re.fullmatch(r"[rwaxbt+]*[wax+]\w*", text) for text in modes)
            yield "write" if writes else "read", name, module.at(node)
        elif method and name in writers and (name != "save" or of == "np"):
            yield "write", name, module.at(node)
        elif (method and name in ("read_text", "read_bytes")) or (name == "load" and of == "np"):
            yield "read", name, module.at(node)


def test_files_are_written_in_one_step_and_read_within_limits() -> None:
    """Write through `atomic_write` and read through `documents`, but for what is listed above."""
    places = [
        f"{place} calls {name}"
        for module in modules().values()
        for does, name, place in file_calls(module)
        if name not in (WRITES if does == "write" else READS).get(module.name, set())
    ]
    refuse(places, "Files go through pushwise.atomic_write and pushwise.documents")


def test_nothing_is_written_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find no ten lines that stand in two places, with the same names or with others."""
    monkeypatch.chdir(SRC)
    found = copies(module.path for module in modules().values())
    refuse([str(copy) for copy in found], "Ten lines or more stand twice")


def test_copies_are_found_under_other_names(tmp_path: Path) -> None:
    """Find a copy of ten lines whose names and numbers have changed, and no shorter one."""
    lines = [f"    x{i} = {' + '.join('a' * i)} * b({i}, c)" for i in range(1, 11)]
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text("\n".join(["def f(a, b, c):", '    """Add."""', *lines]))

    def lengths(*second: str) -> list[int]:
        two.write_text("\n".join(["def g():", *second]))
        return [copy.length for copy in copies([one, two])]

    renamed = [line.replace("x", "y").replace("1", "7") for line in lines]
    assert lengths(*renamed[:3], "", "    # why", *renamed[3:]) == [10]
    assert lengths(*lines, *lines) == [10, 10]
    assert lengths(*lines[:9]) == []
    assert lengths(*lines[:5], "    return c", *lines[5:]) == []


def test_kernels_return_numbers_to_python() -> None:
    """Return no named tuple from what Python calls: Ctrl-C while it is made kills the process."""
    plain = re.compile(r"(None|bool|int|float|Array|tuple\[(bool|int|float|Array|, )+\])")
    places = [
        f"{module.name}.{node.name} returns {ast.unparse(node.returns)}"
        for module in modules().values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef) and node.returns is not None
        for mark in node.decorator_list
        if ast.unparse(mark) in ("compiled", "compiled_allocating")
        and not plain.fullmatch(ast.unparse(node.returns))
    ]
    refuse(places, "A kernel that Python calls returns numbers")


ONE_SPECIALISATION = """
import sys
import numpy as np
from numba.core.dispatcher import Dispatcher
import pushwise as pw

table = pw.Table()
thing = pw.objects.load("crimp").sample(np.random.default_rng(0))
pw.slide(pw.worlds.Ideal(thing, table, pose=(0.1, 0.1, 0.7)), table)
kernels = {
    f"{value.py_func.__module__}.{value.py_func.__qualname__}": value
    for name, module in sorted(sys.modules.items()) if name.split(".")[0] == "pushwise"
    for value in vars(module).values() if isinstance(value, Dispatcher)
}
print(sum(bool(kernel.signatures) for kernel in kernels.values()), "kernels were compiled")
for name, kernel in sorted(kernels.items()):
    if len(kernel.signatures) > 1:
        print(name, *kernel.signatures, sep="\\n    ")
"""


@pytest.mark.slow
def test_each_kernel_is_compiled_once_for_a_slide(tmp_path: Path) -> None:
    """Compile each kernel for one set of types only; without a cache, which would hide others."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", ONE_SPECIALISATION],
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    first, *places = done.stdout.splitlines()
    assert int(first.split()[0]) > 10, first
    refuse(places, "A kernel is compiled for one set of types")
