"""The blocks of docs/python.md and docs/clusters.md are run, those of a page in their order and in one folder.

A block `fsharp NAME` is that file; a `pycon` block is a session whose output is compared; a `python NAME` block is that file, one without a name is
run. A `sh` block is run by the shell, with `smoothc` on the path; not `pip install .`, and one for Futhark only where its compiler is.
"""

from __future__ import annotations

import doctest
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import smoothc

ROOT = Path(__file__).parents[2]
FUTHARK = shutil.which(os.environ.get("FUTHARK") or "futhark") is not None
if not FUTHARK:
    print("skipped: no Futhark compiler here, scripts/install-futhark gets one", file=sys.stderr)
INSTALL = "pip install .\n"


def blocks(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Line, language, name and text of each fenced block."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        if lines[at].startswith("```"):
            language, _, name = lines[at][3:].partition(" ")
            end = next(k for k in range(at + 1, len(lines)) if lines[k] == "```")
            yield at + 2, language, name, "\n".join(lines[at + 1 : end]) + "\n"
            at = end
        at += 1


class Page(unittest.TestCase):
    @unittest.skipUnless(importlib.util.find_spec("scipy"), "no SciPy here, which the page uses")
    def test_python(self) -> None:
        self.run_blocks(ROOT / "docs" / "python.md")

    @unittest.skipUnless(importlib.util.find_spec("distributed") and importlib.util.find_spec("scipy"), "no Dask or no SciPy here")
    def test_clusters(self) -> None:
        self.run_blocks(ROOT / "docs" / "clusters.md")

    def run_blocks(self, page: Path) -> None:
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        names: dict[str, Any] = {"__name__": "page"}
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            os.chdir(folder)
            for line, language, name, text in blocks(page.read_text()):
                if name:
                    Path(name).write_text(text)
                elif language == "pycon":
                    report: list[str] = []
                    test = doctest.DocTestParser().get_doctest(text, names, "page", str(page), line)
                    if runner.run(test, out=report.append, clear_globs=False).failed:
                        self.fail("".join(report))
                    names.update(test.globs)
                elif language == "python":
                    exec(compile("\n" * (line - 1) + text, str(page), "exec"), names)
                elif language == "sh" and text != INSTALL and (FUTHARK or "futhark" not in text):
                    self.run_commands(text, Path(folder))
            os.chdir(before)

    def run_commands(self, text: str, folder: Path) -> None:
        commands = folder / "bin"
        if not commands.exists():
            commands.mkdir()
            (commands / "smoothc").symlink_to(Path(shutil.which(smoothc.command()) or "").resolve())
        path = os.pathsep.join([str(commands), os.environ["PATH"]])
        done = subprocess.run(["sh", "-e", "-c", text], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{text}{done.stdout}{done.stderr}")

    def test_the_readme(self) -> None:
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(ROOT)
        names: dict[str, Any] = {}
        found = [text for _, language, name, text in blocks((ROOT / "README.md").read_text()) if language == "python" and not name]
        for text in found:
            exec(compile(text, "README.md", "exec"), names)
        self.assertEqual(names["m"].slope([0, 0, 1], [[2, 0], [0, 3]]).tolist(), [-1.0, -2.0, -3.0])


if __name__ == "__main__":
    unittest.main()
