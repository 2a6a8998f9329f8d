"""Every case of examples/*.smooth gives from Python what the interpreter gives.

In: the `run:` and `fails:` lines of the head comments. Out: failures where a result is not that of `smoothc eval`, or no error is raised.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import unittest
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import smoothc
from smoothc._runtime.manifest import Array, Record, Tree, Tuple

ROOT = Path(__file__).parents[2]


def split(text: str) -> tuple[list[str], list[Any]]:
    """The words of a case, and its arguments."""
    entry, _, rest = text.strip().partition(" ")
    words, arguments = [entry], []
    while rest and not rest.startswith(("= ", "with ")):
        if rest.startswith("@"):
            word, _, rest = rest.partition(" ")
            path = ROOT / word[1:]
            arguments.append(np.load(path) if path.suffix == ".npy" else json.loads(path.read_text()))
            words.append(word)
        else:
            value, end = json.JSONDecoder().raw_decode(rest)
            arguments.append(value)
            words.append(rest[:end])
            rest = rest[end:].lstrip()
    return words, arguments


def field(value: Any, name: str) -> Any:
    return value[name] if isinstance(value, dict) else getattr(value, name)


def take(tree: Tree, value: Any, at: int) -> Any:
    """An element of an array, of all its components."""
    if isinstance(tree, Array):
        return take(tree.element, value, at)
    if isinstance(tree, Tuple):
        return tuple(take(part, item, at) for part, item in zip(tree.parts, value))
    if isinstance(tree, Record):
        return {name: take(part, field(value, name), at) for name, part in tree.fields}
    return value[at]


def length(tree: Tree, value: Any) -> int:
    if isinstance(tree, Array):
        return length(tree.element, value)
    if isinstance(tree, Tuple):
        return length(tree.parts[0], value[0])
    if isinstance(tree, Record):
        return length(tree.fields[0][1], field(value, tree.fields[0][0]))
    return len(value)


def plain(tree: Tree, value: Any) -> Any:
    """A result as JSON has it."""
    if isinstance(tree, Array):
        return [plain(tree.element, take(tree.element, value, at)) for at in range(length(tree.element, value))]
    if isinstance(tree, Tuple):
        return [plain(part, item) for part, item in zip(tree.parts, value)]
    if isinstance(tree, Record):
        return {name: plain(part, field(value, name)) for name, part in tree.fields}
    return value


def agree(found: Any, wanted: Any, scale: float) -> bool:
    if isinstance(wanted, dict):
        return isinstance(found, dict) and found.keys() == wanted.keys() and all(agree(found[name], wanted[name], scale) for name in wanted)
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(agree(a, b, scale) for a, b in zip(found, wanted))
    if isinstance(wanted, float) and math.isfinite(wanted):
        return abs(float(found) - wanted) <= 1e-9 * max(scale, abs(wanted))
    return isinstance(wanted, float) or bool(found == wanted)


def numbers(value: Any) -> list[float]:
    """All numbers of a value."""
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers(item)]
    return [number for item in value for number in numbers(item)] if isinstance(value, list) else [float(value)]


OF_CASES = "shapes.smooth"
"""Its arguments and results are cases, as the command line writes them; in Python they are records: ``test_calls`` calls some."""


class Examples(unittest.TestCase):
    def check(self, path: Path) -> None:
        text = path.read_text()
        head = [line.lstrip("/ ") for line in text.splitlines() if line.startswith("//")]
        cases = [line for line in head if line.startswith(("run: ", "fails: "))]
        if not cases:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", smoothc.DiagnosticWarning)
            module = smoothc.load(path)
        for line in cases:
            kind, _, rest = line.partition(": ")
            words, arguments = split(rest)
            with self.subTest(file=path.name, case=line):
                if kind == "fails":
                    with self.assertRaises((smoothc.StatusError, TypeError, ValueError, OverflowError)):
                        module[words[0]](*arguments)
                    continue
                tree = next(entry.result for entry in module._Module__library.manifest.entries if entry.source_name == words[0])
                found = plain(tree, module[words[0]](*arguments))
                command = [smoothc.command(), "eval", "-q", str(path), *words]
                wanted = json.loads(subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout)
                self.assertTrue(agree(found, wanted, 1.0), f"{found} is not {wanted}")

    def test_examples(self) -> None:
        for path in sorted((ROOT / "examples").glob("*.smooth")):
            if path.name == OF_CASES:
                print(f"skipped: {path.name} writes cases of sum types as the command line does, Python takes records", file=sys.stderr)
                continue
            self.check(path)


if __name__ == "__main__":
    unittest.main()
