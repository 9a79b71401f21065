"""What README, documentation and examples use, and what `pushwise` exports, are the same names."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import pushwise as pw

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
REFERENCE = sorted((ROOT / "docs" / "reference").glob("*.md"))
SCRIPTS = sorted([*(ROOT / "examples").glob("*.py"), *(ROOT / "docs").glob("*.py")])
# Neither what builds the site nor what writes reports for it is an example.
SCRIPTS = [path for path in SCRIPTS if not path.stem.endswith(("_hook", "_reports"))]
CODE_BLOCK = re.compile(r"^( *)```(?:python|py)\b[^\n]*\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
MENTION = re.compile(r"\b(?:pw|pushwise)((?:\.[A-Za-z_]\w*)+)(?![\w/])")
ROOMS = [room for name in pw.__all__ if isinstance(room := getattr(pw, name), ModuleType)]
OPTIONAL = {"envs", "jax", "torch"}  # modules that need an extra and are imported by name
LISTED = re.compile(r"^::: pushwise\.([\w.]+)$", re.MULTILINE)


def exported(names: list[str]) -> bool:
    """Whether `pushwise.a.b` is public, a, b being the names: in __all__ of whatever it is in."""
    room: object = pw
    for name in names:
        if not isinstance(room, ModuleType):
            return True  # a method or an attribute
        if room is pw and name in OPTIONAL:
            room = optional(f"pushwise.{name}")
            continue
        if name not in getattr(room, "__all__", ()) and not name.startswith("__version"):
            return False
        room = getattr(room, name)
    return True


def optional(name: str) -> object:
    """Return a module, or nothing without the extra that it needs."""
    try:
        return import_module(name)
    except pw.PushwiseError:
        return None


def uses(code: str) -> Iterator[list[str]]:
    """Yield the names below `pushwise` that a script imports or reads, such as [worlds, Ideal]."""
    tree = ast.parse(code)
    known = {"pushwise"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "pushwise":
                    known.add(alias.asname or alias.name)
                elif alias.name.startswith("pushwise."):
                    yield alias.name.split(".")[1:]
        elif isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("pushwise."):
            base = str(node.module).split(".")[1:]
            yield from ([*base, alias.name] for alias in node.names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            first, *names = ast.unparse(node).split(".")
            if first in known and all(map(str.isidentifier, names)):
                yield names


def test_scripts_and_pages_are_found() -> None:
    """Check something at all: the pages have code in them, and the examples use Pushwise."""
    assert sum(len(CODE_BLOCK.findall(page.read_text(encoding="utf-8"))) for page in PAGES) > 3
    examples = [
        path.read_text(encoding="utf-8") for path in SCRIPTS if path.parent.name == "examples"
    ]
    # As a library, or as a command.
    assert all(any(uses(text)) or '["pushwise", ' in text for text in examples)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_scripts_use_public_names_only(path: Path) -> None:
    """Import nothing in an example that a user would not find in the API reference."""
    private = [name for name in uses(path.read_text(encoding="utf-8")) if not exported(name)]
    assert not private, f"not exported: {sorted({'.'.join(name) for name in private})}"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_pages_use_public_names_only(page: Path) -> None:
    """Name only what is exported, in code and in sentences."""
    text = page.read_text(encoding="utf-8")
    blocks = [block.replace("\n" + indent, "\n") for indent, block in CODE_BLOCK.findall(text)]
    found = [name for block in blocks for name in uses(block)]
    # The reference names the homes of what it documents; the test below compares them.
    for names in MENTION.findall(LISTED.sub("", text)):
        found.append(names[1:].split("."))
    private = [name for name in found if not exported(name)]
    assert not private, f"not exported: {sorted({'.'.join(name) for name in private})}"


def test_the_reference_lists_all_public_names() -> None:
    """Find each exported name, with its home, or as `pw.name` if it is a module."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in REFERENCE)
    listed = {name.rsplit(".", 1)[1] for name in LISTED.findall(text) if "." in name}
    modules = {room.__name__.removeprefix("pushwise.") for room in ROOMS}
    missing = [name for name in pw.__all__ if name not in listed and name not in modules]
    missing += [name for name in sorted(modules) if f"`pw.{name}`" not in text]
    assert not missing, f"docs/reference does not list {missing}"


def test_the_reference_lists_what_exists() -> None:
    """Find what the reference documents where it says it is."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in REFERENCE)
    for place in LISTED.findall(text):
        home, name = f"pushwise.{place}".rsplit(".", 1)
        module = optional(home)
        assert module is None or hasattr(module, name), place


def test_every_public_name_has_an_example() -> None:
    """Find each exported name in the code of the reference, which `test_pages.py` runs."""
    used = {
        name
        for page in REFERENCE
        for _, block in CODE_BLOCK.findall(page.read_text(encoding="utf-8"))
        for names in uses(block)
        for name in names[:1]
    }
    missing = [name for name in pw.__all__ if name not in used]
    assert not missing, f"docs/reference has no example of {missing}"


@pytest.mark.parametrize(
    "package", [pw, *(room for room in ROOMS if hasattr(room, "_HOMES"))], ids=lambda p: p.__name__
)
def test_homes_are_where_type_checkers_look(package: ModuleType) -> None:
    """Load the very names, from the very modules, that are imported for type checkers."""
    tree = ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    typed: dict[str, str] = {}
    modules: set[str] = set()
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        if node.module == package.__name__:
            modules |= {alias.name for alias in node.names}
        else:
            typed |= {alias.name: str(node.module) for alias in node.names}
    assert typed == package._HOMES
    assert sorted(typed.keys() | modules) == sorted(package.__all__)
    assert len(package.__all__) == len(set(package.__all__))


@pytest.mark.parametrize("name", pw.__all__)
def test_public_names_load(name: str) -> None:
    """Load every exported name; one that is defined by us has a docstring."""
    value = getattr(pw, name)
    assert value is getattr(pw, name)
    assert name in dir(pw)
    assert getattr(value, "__doc__", "")
