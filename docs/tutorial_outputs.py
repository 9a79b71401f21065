"""Run the tutorial, and write what it prints and draws into the page.

python docs/tutorial_outputs.py
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent / "tutorial.md"
PICTURES = PAGE.parent / "pictures" / "tutorial"
BLOCK = re.compile(
    r"^```(bash|python)\n(.*?)^```\n(?:\n```text\n.*?^```\n)?", re.DOTALL | re.MULTILINE
)
LONGEST = 118  # columns


def main() -> None:
    """Replace the outputs in the page, and its pictures."""
    names: dict[str, Any] = {}

    def ran(block: re.Match[str]) -> str:
        kind, code = block[1], block[2]
        if kind == "python":
            out = StringIO()
            with redirect_stdout(out):
                exec(code, names)
            said = out.getvalue()
        else:
            command = [sys.executable, "-m", *code.split()]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        shown = f"```{kind}\n{code}```\n"
        return f"{shown}\n```text\n{_wrapped(said)}\n```\n" if said.strip() else shown

    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        text = BLOCK.sub(ran, text)
        PICTURES.mkdir(parents=True, exist_ok=True)
        for picture in Path(folder).glob("*.png"):
            shutil.copy(picture, PICTURES)
        os.chdir(PAGE.parent)
    PAGE.write_text(text, encoding="utf-8")


def _wrapped(text: str) -> str:
    """Return lines that fit on the page; a continued one is indented."""
    lines = []
    for line in text.rstrip().splitlines():
        while len(line) > LONGEST:
            at = line.rfind(" ", 8, LONGEST)
            lines.append(line[:at])
            line = "    " + line[at + 1 :]
        lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    main()
