"""Runs the smoothc command.

In: its words. Out: what it prints and its warnings; a DiagnosticError with its diagnostics where it fails.

The command is the one that the environment variable SMOOTHC names, else the one that was installed with this package, else the one on the PATH.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

_NAME = "smoothc" + (sysconfig.get_config_var("EXE") or "")
_COLOUR = re.compile("\x1b\\[([0-9;]*)m")
_COLOURS = {1: "#d0312d", 2: "#2e8b57", 3: "#b07d00", 4: "#3b78d8", 5: "#a347ba", 6: "#1f8a9e"}
"""Those of a terminal by their number, dark enough for a white page and light enough for a black one; black and white are the page's own."""


@dataclass(frozen=True)
class Diagnostic:
    """One complaint of the compiler."""

    code: str
    """Such as ``E0201``; ``smoothc explain E0201`` prints its page."""
    severity: str
    """``error`` or ``warning``."""
    message: str
    help: str | None
    file: str | None
    line: int | None
    column: int | None

    def renamed(self, path: str, shown: str) -> Diagnostic:
        """With another path for a file."""
        note = None if self.help is None else self.help.replace(path, shown)
        return replace(self, message=self.message.replace(path, shown), help=note, file=shown if self.file == path else self.file)


class DiagnosticError(Exception):
    """The program is at fault, or a tool that is needed is missing: what the compiler says of it."""

    diagnostics: list[Diagnostic]
    status: int
    """The exit status of smoothc: 1 the program, 2 the options, 3 a tool is missing."""
    coloured: str
    """The diagnostics as a terminal shows them."""

    def __init__(self, diagnostics: list[Diagnostic], status: int, coloured: str) -> None:
        self.diagnostics = diagnostics
        self.status = status
        self.coloured = coloured
        super().__init__("\n" + _COLOUR.sub("", coloured).rstrip())

    def renamed(self, path: str, shown: str) -> DiagnosticError:
        """With another path for a file."""
        return DiagnosticError([problem.renamed(path, shown) for problem in self.diagnostics], self.status, self.coloured.replace(path, shown))

    def __reduce__(self) -> tuple[type[DiagnosticError], tuple[list[Diagnostic], int, str]]:
        return DiagnosticError, (self.diagnostics, self.status, self.coloured)

    def _render_traceback_(self) -> list[str]:
        """What IPython and Jupyter show: the diagnostics in colour, without the frames of this package."""
        return self.coloured.splitlines()

    def _repr_html_(self) -> str:
        return f"<pre>{_as_html(self.coloured.rstrip())}</pre>"


def _as_html(coloured: str) -> str:
    """Text with the colours of a terminal as HTML with styles of its own."""
    found = []
    bold, colour = False, ""
    # texts, and between two of them the numbers of an escape sequence
    for at, part in enumerate(_COLOUR.split(coloured)):
        if at % 2:
            for number in (int(word or 0) for word in part.split(";")):
                if number in (0, 1, 22):
                    bold = number == 1
                if number in (0, 39) or 30 <= number <= 37 or 90 <= number <= 97:
                    colour = _COLOURS.get(number % 10, "") if number >= 30 else ""
        elif part:
            style = "; ".join([*(["font-weight: bold"] if bold else []), *([f"color: {colour}"] if colour else [])])
            text = html.escape(part)
            found.append(f'<span style="{style}">{text}</span>' if style else text)
    return "".join(found)


class DiagnosticWarning(UserWarning):
    """A warning of the compiler."""


class MissingCompilerError(RuntimeError):
    """There is no smoothc command."""


def command() -> str:
    """The path of the smoothc command."""
    named = os.environ.get("SMOOTHC")
    if named:
        if shutil.which(named) is None:
            raise MissingCompilerError(f"SMOOTHC names `{named}`, and there is no such command")
        return named
    schemes = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user"), str(Path(sys.executable).parent)]
    for folder in schemes:
        found = Path(folder) / _NAME
        if found.is_file():
            return str(found)
    on_path = shutil.which("smoothc")
    if on_path is None:
        raise MissingCompilerError("there is no smoothc command: `pip install .` in its repository installs it, or set SMOOTHC to its path")
    return on_path


def version() -> str:
    """What ``smoothc --version`` says."""
    return _known().strip()


def _known() -> str:
    """The version, where the command is one of smoothc."""
    said = _started(["--version"], None).stdout
    if not said.startswith("smoothc "):
        raise MissingCompilerError(f"`{command()}` is no smoothc: asked for its version it says {said[:80].partition(chr(10))[0]!r}")
    return said


def _started(words: Sequence[str], text: str | None, folder: str | None = None) -> subprocess.CompletedProcess[str]:
    try:
        # where it is gone, so are the files that paths lead to from there, which the command says
        there = None if folder is None else next(path for path in [Path(folder), *Path(folder).parents] if path.is_dir())
        return subprocess.run([command(), *words], input=text, capture_output=True, encoding="utf-8", check=False, cwd=there)
    except OSError as problem:
        raise MissingCompilerError(f"cannot run `{command()}`: {problem}") from problem


def run(words: Sequence[str], text: str | None = None, folder: str | None = None) -> tuple[str, list[Diagnostic]]:
    """Runs smoothc with these words, with this text as its standard input, and in a folder: what it prints, and its warnings."""
    done = _started([*words, "--message-format", "json"], text, folder)
    diagnostics = [_diagnostic(line) for line in done.stderr.splitlines() if line.startswith("{")]
    if done.returncode == 0:
        return done.stdout, diagnostics
    if not diagnostics:
        _known()
    # once more for the drawing
    quiet = [] if "--quiet" in words else ["--quiet"]
    drawn = _started([*words, "--color", "always", *quiet], text, folder)
    coloured = drawn.stderr or done.stderr or f"smoothc stopped with exit status {done.returncode}"
    raise DiagnosticError([problem for problem in diagnostics if problem.severity == "error"], done.returncode, coloured)


def made(path: Path) -> str:
    """A text that a run has written."""
    if not path.is_file():
        _known()
    return path.read_text(encoding="utf-8")


def warn(problems: Sequence[Diagnostic]) -> None:
    """A Python warning for each of these, at the caller of this package."""
    for problem in problems:
        place = f"{problem.file}:{problem.line}:{problem.column}: " if problem.file is not None and problem.line is not None else ""
        warnings.warn(f"{place}{problem.message} [{problem.code}]", DiagnosticWarning, stacklevel=_outside())


def _diagnostic(line: str) -> Diagnostic:
    found: dict[str, Any] = json.loads(line)
    return Diagnostic(found["code"], found["severity"], found["message"], found["help"], found["file"], found["line"], found["column"])


def _outside() -> int:
    """The number of frames up to the caller of this package."""
    frame, count = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).split(".")[0] == __name__.split(".")[0]:
        frame, count = frame.f_back, count + 1
    return count
