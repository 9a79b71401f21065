"""The command line and the public names."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import pushwise as pw
from command import pushwise as here
from pushwise import cli
from pushwise.__main__ import main
from pushwise.cli.identify import METHODS
from pushwise.cli.options import OBJECTS, WorldName
from pushwise.errors import PushwiseError, PushwiseWarning, SimulationError
from pushwise.identification.methods.registry import METHODS as IDENTIFY_METHODS
from pushwise.worlds.random_scene import WORLDS

RESUME = "stopped; run the same command again to resume."


def pushwise(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a new process."""
    command = [sys.executable, "-c", "from pushwise.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_version() -> None:
    """Print the version."""
    answer = pushwise("--version")
    assert (answer.returncode, answer.stdout) == (0, f"pushwise {pw.__version__}\n")


@pytest.mark.parametrize("given", [None, "3"])
def test_linear_algebra_has_one_thread(given: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for one before NumPy is loaded, unless somebody has asked for another number."""
    seen: list[str | None] = []
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if given is not None:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", given)
    monkeypatch.setattr(cli, "main", lambda: seen.append(os.environ.get("OPENBLAS_NUM_THREADS")))
    main()
    assert seen == [given or "1"]
    loaded = "import sys, pushwise.__main__; print('numpy' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True)
    assert answer.stdout == "False\n"


def test_help_loads_nothing_heavy() -> None:
    """List the commands without what makes it slow; `pushwise bench` says how long it takes."""
    answer = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "pushwise", "--help"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "bench" in answer.stdout
    loaded = {line.rsplit("|", 1)[1].strip() for line in answer.stderr.splitlines()}
    assert "pushwise.cli" in loaded
    assert not loaded & {"numpy", "numba", "scipy", "mujoco", "matplotlib", "viser", "rosbags"}


def test_no_command_prints_the_help() -> None:
    """Print the help when asked for nothing."""
    answer = pushwise()
    assert answer.returncode == 0
    assert "Usage: pushwise" in answer.stdout


def test_every_command_has_an_example() -> None:
    """Show an example in each command's help, and take --json."""
    commands = "slide scan record convert identify plan export view bench"
    parts = "referee identification samples heatmaps stability planning pregrasp real"
    for command in (*commands.split(), *(f"experiment {part}" for part in parts.split())):
        ran = here(*command.split(), "--help")
        assert ran.code == 0
        assert f"Example: pushwise {command} " in ran.out
        assert "--json" in ran.out


def test_the_help_lists_every_object_and_method() -> None:
    """List what there is in the help, which cannot import it."""
    assert tuple(OBJECTS.split(", ")) == (*pw.objects.names, *pw.objects.shapes)
    assert tuple(METHODS.replace(" or ", ", ").split(", ")) == tuple(IDENTIFY_METHODS)
    assert set(WorldName) == set(WORLDS)


def test_flags_take_no_value() -> None:
    """Show a flag in the help without a type, --help among them."""
    for words in ((), ("scan",), ("experiment",), ("experiment", "reach")):
        lines = here(*words, "--help").out.splitlines()
        flags = [line for line in lines if "--force" in line or "--help" in line]
        assert flags and not any("<" in line for line in flags)


def test_brackets_stay_in_the_help() -> None:
    """Keep what is in brackets, which is also how colours are written, in the help."""
    shown = "".join(here("plan", "--help").out.replace("│", "").split())
    assert shown.count("[[x,y],...]") == 2


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["bench", "--zzz"], "pushwise: No such option: --zzz\n"),
        (["bnch"], "pushwise: No such command 'bnch'. Did you mean 'bench'?\n"),
    ],
)
def test_a_slip_of_the_keyboard_is_one_line(arguments: list[str], line: str) -> None:
    """Answer a wrong word with one line on stderr and a code."""
    answer = pushwise(*arguments)
    assert (answer.returncode, answer.stdout, answer.stderr) == (2, "", line)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["slide", "hammer", "--table", "0x1"], "--table must be wider and deeper than zero;"),
        (["slide", "hammer", "--grasp-width", "0"], "--grasp-width must be greater than zero; got"),
        (["slide", "hammer", "--friction-spread", "-1"], "--friction-spread must be greater"),
        (["slide", "hammer", "--max-fall-probability", "2"], "--max-fall-probability must be a"),
        (["record", "--object", "L", "--pushes", "0", "-o", "l.csv"], "--pushes must be at least"),
        (["plan", "m.json", "--goal", "1", "2", "-o", "p.json"], "--goal takes 3 numbers, X Y TH"),
        (["slide", "L", "--world", "moon"], "Invalid value for '--world': 'moon' is not one of"),
        (["export", ".", "-o", "x.xml"], "cannot read .: it is a folder; give a file name."),
        (["identify", ".", "l.csv", "-o", "m.json"], "cannot read .: it is a folder; give a grid"),
        (["identify", "l.csv", "-o", "l.json"], "l.json would be taken for the header of l.csv;"),
    ],
)
def test_errors_name_what_was_typed(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Name the option or the file, not a parameter of a function, and leave nothing behind."""
    monkeypatch.chdir(tmp_path)
    ran = here(*arguments)
    assert ran.code in (1, 2)
    assert ran.err.startswith(f"pushwise: {said}") and ran.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_an_error_of_ours_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Print a refusal as one line, never a traceback."""

    def refuse(**_: object) -> None:
        raise PushwiseError("mass must be\ngreater than zero; got 0.")

    monkeypatch.setattr(cli, "app", refuse)
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 1
    assert capsys.readouterr().err == "pushwise: mass must be greater than zero; got 0.\n"


def test_a_warning_of_ours_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print a warning as a note, without the line of source that gave it."""

    def warn(**_: object) -> None:
        warnings.warn("the last line\nhas no line end.", PushwiseWarning, stacklevel=1)

    monkeypatch.setattr(cli, "app", warn)
    assert here() == (0, "", "pushwise: note: the last line has no line end.\n")


@pytest.mark.parametrize(
    ("arguments", "stopped_in", "line"),
    [
        (["slide", "crimp"], "sliding.slide.slide", "is kept in {}: run the same command"),
        (["record", "--object", "crimp"], "sliding.record_pushes.record", "so far are in {}"),
        (["experiment", "stability"], "experiments.stability.run", "is kept in {}: run the same"),
        (["experiment", "referee"], "experiments.referee.run", "no file is left half-written."),
    ],
)
def test_ctrl_c_is_one_line_and_130(
    arguments: list[str],
    stopped_in: str,
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Exit as shells expect of a command that was stopped; `identify` has tests of its own."""

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"pushwise.{stopped_in}", stop)
    ran = here(*arguments, "-o", tmp_path / "output")
    assert (ran.code, ran.out) == (130, "")
    last = ran.err.splitlines()[-1]
    assert last.startswith("pushwise: stopped; ")
    assert line.format(tmp_path / "output") in last
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("name", pw.__all__)
def test_public_names_load(name: str) -> None:
    """Load each public name, and list it."""
    assert getattr(pw, name) is not None
    assert name in dir(pw)


def test_importing_the_package_loads_nothing_heavy() -> None:
    """Keep NumPy and all else out of a bare import."""
    code = "import sys, pushwise; print('numpy' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "False\n"


def test_unknown_names_are_attribute_errors() -> None:
    """Refuse a name there is not, as Python does."""
    with pytest.raises(AttributeError, match="'pushwise' has no attribute 'slither'"):
        _ = pw.slither


def test_simulation_errors_are_value_errors() -> None:
    """Let callers catch every error of ours as a ValueError."""
    assert issubclass(SimulationError, PushwiseError)
    assert issubclass(PushwiseError, ValueError)
