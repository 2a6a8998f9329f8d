"""The cache, the compiler's diagnostics, and tools that are missing."""

from __future__ import annotations

import html
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import smoothc
from smoothc import _cache, _compiler
from smoothc._runtime import machine


class Cache(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        settings = mock.patch.dict(os.environ, {"SMOOTHC_CACHE": str(self.path / "cache")})
        settings.start()
        self.addCleanup(settings.stop)

    def made(self) -> int:
        """The number of libraries that are kept."""
        return len(list((self.path / "cache").glob("*/manifest.json")))

    def test_what_a_library_depends_on(self) -> None:
        main, opened = self.path / "main.smooth", self.path / "more.smooth"
        opened.write_text("let twice (x: Double) = 2.0 * x\n")
        main.write_text('open "more.smooth"\nlet f (x: Double) = twice x\n')
        for _ in range(2):
            self.assertEqual(smoothc.load(main).f(1.0), 2.0)
        self.assertEqual(self.made(), 1)
        opened.write_text("let twice (x: Double) = 3.0 * x\n")
        self.assertEqual((smoothc.load(main).f(1.0), self.made()), (3.0, 2))
        self.assertEqual((smoothc.load(main, derive="gradient:f").f_gradient(1.0), self.made()), (3.0, 3))
        opened.write_text("let twice (x: Double) = 2.0 * x\n")
        self.assertEqual((smoothc.load(main).f(1.0), self.made()), (2.0, 3))
        with mock.patch.object(machine, "describe", lambda: "another machine"):
            self.assertEqual((smoothc.load(main).f(1.0), self.made()), (2.0, 4))
        main.write_text("let f (x: Double) = x\n")
        self.assertEqual((smoothc.load(main).f(1.0), self.made()), (1.0, 5))
        # a folder more on the path changes no compiler, other flags do
        with mock.patch.dict(os.environ, {"PATH": f"{os.environ['PATH']}{os.pathsep}{self.path}"}):
            self.assertEqual((smoothc.load(main).f(1.0), self.made()), (1.0, 5))
        with mock.patch.dict(os.environ, {"CFLAGS": "-O1"}):
            self.assertEqual((smoothc.load(main).f(1.0), self.made()), (1.0, 6))
        self.assertEqual(list((self.path / "cache").glob(".making-*")), [])

    def test_files_that_are_edited_while_they_are_compiled(self) -> None:
        main, opened, schedule = self.path / "main.smooth", self.path / "more.smooth", self.path / "mine.strategy"
        texts = {
            main: 'open "more.smooth"\nlet f (x: Double) = 1.0 * twice x + 0.0 + 1.0\n',
            opened: "let twice (x: Double) = 2.0 * x + 0.0 * 1.0\n",
            schedule: "topdown mul-one\n",
        }
        edits = [(main, "+ 1.0", "+ 5.0", 7.0), (opened, "2.0", "3.0", 4.0), (schedule, "mul-one", "add-zero", 3.0)]
        real = _compiler.run
        for after in [False, True]:
            for edited, old, new, value in edits:
                for path, text in texts.items():
                    path.write_text(text)
                shutil.rmtree(self.path / "cache", ignore_errors=True)
                pending = [texts[edited].replace(old, new)]

                def run(words: list[str], *rest: Any, edited: Path = edited, after: bool = after, pending: list[str] = pending) -> Any:
                    done = real(words, *rest) if after else None
                    if pending:
                        edited.write_text(pending.pop())
                    return done or real(words, *rest)

                with self.subTest(edited=edited.name, after=after):
                    with mock.patch.object(_compiler, "run", run):
                        found = smoothc.load(main, schedule=str(schedule)).f(1.0)
                    self.assertIn(found, [3.0, value])
                    self.assertEqual(smoothc.load(main, schedule=str(schedule)).f(1.0), value)
                    edited.write_text(texts[edited])
                    self.assertEqual(smoothc.load(main, schedule=str(schedule)).f(1.0), 3.0)
                    self.assertEqual(list((self.path / "cache").glob(".making-*")), [])
                    for path in (self.path / "cache").glob("*/manifest.json"):
                        self.assertIn("--schedule mine.strategy", json.loads(path.read_text())["options"])
                    self.assertLessEqual(self.made(), 2)

    def test_files_that_are_edited_all_the_time(self) -> None:
        main, real, count = self.path / "main.smooth", _compiler.run, iter(range(1000))

        def run(*given: Any) -> Any:
            main.write_text(f"let f (x: Double) = x + {next(count)}.0\n")
            return real(*given)

        main.write_text("let f (x: Double) = x\n")
        with mock.patch.object(_compiler, "run", run), mock.patch.object(_cache, "_ATTEMPTS", 3):
            with self.assertRaisesRegex(RuntimeError, "edited all the time"):
                smoothc.load(main)
        self.assertEqual((self.made(), list((self.path / "cache").iterdir())), (0, []))
        self.assertEqual(smoothc.load(main).f(1.0), 3.0)

    def test_lines_and_marks_of_other_editors(self) -> None:
        main, opened = self.path / "main.smooth", self.path / "more.smooth"
        main.write_bytes(b'\xef\xbb\xbfopen "more.smooth"\r\nlet f (x: Double) = twice x\r\n')
        opened.write_bytes(b"\xef\xbb\xbflet twice (x: Double) =\r\n  2.0 * x\r\n")
        for _ in range(2):
            self.assertEqual((smoothc.load(main).f(1.0), self.made()), (2.0, 1))

    def test_files_beside_a_link_to_a_folder(self) -> None:
        (self.path / "a" / "inner").mkdir(parents=True)
        (self.path / "a" / "more.smooth").write_text("let twice (x: Double) = 3.0 * x\n")
        (self.path / "more.smooth").write_text("let twice (x: Double) = 2.0 * x\n")
        (self.path / "a" / "inner" / "main.smooth").write_text('open "../more.smooth"\nlet f (x: Double) = twice x\n')
        (self.path / "link").symlink_to(self.path / "a" / "inner", target_is_directory=True)
        for _ in range(2):
            self.assertEqual(smoothc.load(self.path / "link" / "main.smooth").f(1.0), 2.0)
            self.assertEqual(smoothc.load(self.path / "a" / "inner" / "main.smooth").f(1.0), 3.0)
        self.assertEqual(self.made(), 2)

    def test_what_is_wrong_in_a_strategy_file(self) -> None:
        main, schedule = self.path / "main.smooth", self.path / "mine.strategy"
        main.write_text("let f (x: Double) = x\n")
        schedule.write_text("topdown add-zero\n")
        with self.assertWarnsRegex(smoothc.DiagnosticWarning, f"`main` of `{schedule}` applies to no function"):
            smoothc.load(main, schedule=str(schedule))
        schedule.write_text("topdown nothing-of-this-name\n")
        with self.assertRaises(smoothc.DiagnosticError) as caught:
            smoothc.load(main, schedule=str(schedule))
        self.assertIn("nothing-of-this-name", str(caught.exception))
        self.assertNotIn(".making", str(caught.exception))
        with self.assertRaisesRegex(smoothc.DiagnosticError, "E0001"):
            smoothc.load(main, schedule=str(self.path / "none.strategy"))

    def test_what_is_not_whole_is_made_again(self) -> None:
        script = "import smoothc; print(smoothc.compile('let f (x: Double) = x').f(2.0))"

        def called() -> str:
            done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
            return done.stdout + done.stderr

        self.assertEqual(called(), "2.0\n")
        (kept,) = (path.parent for path in (self.path / "cache").glob("*/manifest.json"))
        files = [*kept.iterdir(), *(self.path / "cache").glob("*.opened.json")]
        self.assertEqual(len(files), 5)
        for file in files:
            whole = file.read_bytes()
            for damaged in [whole[: len(whole) // 2], b"", bytes(len(whole)), None]:
                file.unlink()
                if damaged is not None:
                    file.write_bytes(damaged)
                self.assertEqual(called(), "2.0\n", file)
                self.assertEqual(file.read_bytes(), whole)
        self.assertEqual(self.made(), 1)

    def test_what_is_in_the_place_of_something_kept(self) -> None:
        text, cache = "let f (x: Double) = x", self.path / "cache"
        for damaged in ["5", "[1]", '{"a": 1}', "null", '["\\u0000"]']:
            smoothc.compile(text)
            (listed,) = cache.glob("*.opened.json")
            listed.write_text(damaged)
            self.assertEqual(smoothc.compile(text).f(2.0), 2.0)
            self.assertEqual(listed.read_text(), "[]")
        (kept,) = (path.parent for path in cache.glob("*/manifest.json"))
        for file in [kept, listed]:
            for make in [lambda path: path.write_text(""), lambda path: path.mkdir(), lambda path: path.symlink_to("nowhere")]:
                _cache._remove(file)
                make(file)
                self.assertEqual(smoothc.compile(text).f(2.0), 2.0)
                self.assertEqual((listed.read_text(), self.made()), ("[]", 1))

    def test_what_killed_processes_leave_is_removed_after_a_day(self) -> None:
        cache = self.path / "cache"
        for name, age in [("old", 25 * 3600), ("new", 3600)]:
            left = cache / f".making-{name}"
            (left / "library").mkdir(parents=True)
            os.utime(left, times=(time.time() - age,) * 2)
        smoothc.compile("let f (x: Double) = x")
        self.assertEqual([left.name for left in cache.glob(".making-*")], [".making-new"])

    def test_warnings_come_each_time(self) -> None:
        for folder in ["one", "two"]:
            (self.path / folder).mkdir()
            (self.path / folder / "main.smooth").write_text('open "more.smooth"\nlet f (x: Double) (y: Double) = x\n')
            (self.path / folder / "more.smooth").write_text("let g (z: Double) = 1.0\n")
            for _ in range(2):
                with warnings.catch_warnings(record=True) as warned:
                    warnings.simplefilter("always")
                    again = pickle.loads(pickle.dumps(smoothc.load(self.path / folder / "main.smooth")))
                self.assertEqual(again.f(1.0, 2.0), 1.0)
                said = sorted(str(warning.message).split(":")[0] for warning in warned)
                self.assertEqual(said, [str(self.path / folder / name) for name in ["main.smooth", "more.smooth"]])
                self.assertEqual({warning.filename for warning in warned}, {__file__})
        self.assertEqual(self.made(), 1)

    def test_processes_at_once(self) -> None:
        script = "import smoothc; m = smoothc.compile('let f (v: Vector<n>) = vectorSum v'); assert m.f([1, 2]) == 3.0"
        for _ in range(2):
            children = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(4)]
            self.assertEqual([child.wait() for child in children], [0] * 4)
            self.assertEqual((self.made(), list((self.path / "cache").glob(".making-*"))), (1, []))
            # all of them find a damaged one
            for manifest in (self.path / "cache").glob("*/manifest.json"):
                manifest.write_text("{")

    def test_diagnostics(self) -> None:
        with self.assertRaises(smoothc.DiagnosticError) as caught:
            smoothc.compile("let f (x: Double) = y + true\nlet g = z")
        error = caught.exception
        self.assertEqual((error.status, [problem.code for problem in error.diagnostics][:1]), (1, ["E0202"]))
        self.assertEqual((error.diagnostics[0].line, error.diagnostics[0].column), (1, 21))
        self.assertIn("error[E0202]: unknown name `y`", str(error))
        self.assertNotIn("\x1b", str(error))
        self.assertIn("\x1b", "".join(error._render_traceback_()))
        self.assertEqual(str(pickle.loads(pickle.dumps(error))), str(error))
        self.assertEqual(self.made(), 0)
        with self.assertWarns(smoothc.DiagnosticWarning) as warned:
            smoothc.compile("let f (x: Double) (y: Double) = x")
        self.assertEqual(warned.filename, __file__)
        self.assertIn("<stdin>:1:", str(warned.warning))
        with self.assertRaises(FileNotFoundError):
            smoothc.load(self.path / "nothing.smooth")
        with self.assertRaises(smoothc.DiagnosticError) as caught:
            smoothc.compile("let f (x: Double) = x", mode="sideways")
        self.assertIn("auto, forward, reverse", str(caught.exception))
        self.assertEqual(caught.exception.status, 2)

    def test_kinds_of_derivatives(self) -> None:
        for asked in ["hess:f", "gradient", "f:gradient"]:
            with self.assertRaises(ValueError) as caught:
                smoothc.compile("let f (x: Double) = x", derive=["gradient:f", asked])
            said = str(caught.exception)
            self.assertRegex(said, f"^derive: expected 'KIND:FUNCTION' with one of the kinds jvp, .*, found '{asked}'$")
        # the command knows the same
        with self.assertRaises(smoothc.DiagnosticError) as refused:
            _compiler.run(["check", "-", "--derive", "hess:f"], "let f (x: Double) = x")
        kinds = said.partition("the kinds ")[2].partition(", found")[0]
        self.assertIn(f"the kinds are {kinds}\n", str(refused.exception))

    def test_a_diagnostic_in_a_notebook(self) -> None:
        with self.assertRaises(smoothc.DiagnosticError) as caught:
            smoothc.compile("let f (v: Vector<n>) = if v[0] < 1.0 && true then w else 1.0")
        page = caught.exception._repr_html_()
        self.assertIn(
            '<span style="font-weight: bold; color: #d0312d">error[E0202]</span><span style="font-weight: bold">: unknown name `w`</span>', page
        )
        self.assertIn("let f (v: Vector&lt;n&gt;) = if v[0] &lt; 1.0 &amp;&amp; true then w else 1.0\n", page)
        # a reader of the page sees what a terminal shows
        self.assertEqual(html.unescape(re.sub("<[^>]*>", "", page)), str(caught.exception).strip())
        for coloured, expected in [
            (
                "a\x1b[31mb\x1b[1mc\x1b[22md\x1b[39me",
                '<span style="{b}">b</span><span style="font-weight: bold; {b}">c</span><span style="{b}">d</span>e',
            ),
            ("a\x1b[1;31mb\x1b[mc", '<span style="font-weight: bold; {b}">b</span>c'),
            ("a\x1b[97mb\x1b[4mc", "bc"),
            ("a\x1b[91m<script>\x1b[0m", '<span style="{b}">&lt;script&gt;</span>'),
        ]:
            expected = expected.replace("{b}", "color: #d0312d")
            self.assertEqual(smoothc.DiagnosticError([], 1, coloured)._repr_html_(), f"<pre>a{expected}</pre>")

    def test_tools_that_are_missing(self) -> None:
        with mock.patch.dict(os.environ, {"CC": "/nowhere/cc"}), self.assertRaises(smoothc.DiagnosticError) as caught:
            smoothc.compile("let f (x: Double) = x")
        self.assertEqual((caught.exception.status, caught.exception.diagnostics[0].code), (3, "E0903"))
        with mock.patch.dict(os.environ, {"SMOOTHC": "/nowhere/smoothc"}):
            with self.assertRaisesRegex(smoothc.MissingCompilerError, "SMOOTHC names"):
                smoothc.compile("let f (x: Double) = x")
        for other in filter(None, map(shutil.which, ["true", "false", "echo"])):
            with mock.patch.dict(os.environ, {"SMOOTHC": other}):
                for call in [smoothc.version, lambda: smoothc.compile("let f (x: Double) = x")]:
                    with self.assertRaisesRegex(smoothc.MissingCompilerError, f"`{other}` is no smoothc"):
                        call()
        names = {name: value for name, value in os.environ.items() if name not in ("SMOOTHC", "PATH")}
        with (
            mock.patch.dict(os.environ, names, clear=True),
            mock.patch("sysconfig.get_path", lambda *_: "/nowhere"),
            mock.patch("sys.executable", "/nowhere/python"),
        ):
            with self.assertRaisesRegex(smoothc.MissingCompilerError, "pip install"):
                smoothc.compile("let f (x: Double) = x")

    def test_the_command(self) -> None:
        done = subprocess.run([sys.executable, "-m", "smoothc", "check", "-"], input="let f (x: Double) = x", capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "let f (x: Double) : Double\n"))
        done = subprocess.run([sys.executable, "-m", "smoothc", "check", "-"], input="let f = y", capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)

    def test_a_folder_that_cannot_be_written(self) -> None:
        (self.path / "file").write_text("")
        with mock.patch.dict(os.environ, {"SMOOTHC_CACHE": str(self.path / "file" / "cache")}):
            with self.assertRaisesRegex(OSError, "set SMOOTHC_CACHE to a folder"):
                smoothc.compile("let f (x: Double) = x")

    def test_explanations(self) -> None:
        path = self.path / "model.smooth"
        path.write_text("let loss (v: Vector<n>) = vectorSqNorm v\n")
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.path)
        m = smoothc.load("model.smooth", derive="gradient:loss", unchecked=True)
        os.chdir(before)
        explained = m.loss_gradient.explain()
        self.assertIn("loss_gradient of", str(explained))
        page = self.path / "page.html"
        explained.save(page)
        self.assertIn("</html>", page.read_text())
        self.assertIn("<iframe", explained._repr_html_())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertIn("loss of <stdin>", smoothc.compile(path.read_text()).loss.explain().text)

    def test_what_is_explained_was_compiled(self) -> None:
        main, opened, schedule = self.path / "main.smooth", self.path / "more.smooth", self.path / "mine.strategy"
        opened.write_text("let twice (x: Double) = 2.0 * x\n")
        main.write_text('open "more.smooth"\nlet f (x: Double) = 1.0 * twice x\n')
        schedule.write_text("topdown mul-one\n")
        m = smoothc.load(main, schedule=str(schedule))
        self.assertIn("mul-one", m.f.explain().text)
        for edited in [main, opened, schedule]:
            text = edited.read_text()
            for other in [text.replace("twice", "double").replace("one", "zero"), None]:
                edited.unlink()
                if other is not None:
                    edited.write_text(other)
                for show in [lambda: m.f.explain().text, lambda: m.f.explain().html]:
                    with self.assertRaisesRegex(RuntimeError, f"{edited} is not the text any more that `f` was compiled from"):
                        show()
                edited.write_text(text)
        self.assertIn("mul-one", m.f.explain().text)

    def test_explanations_where_the_folder_is_gone(self) -> None:
        folder, elsewhere = self.path / "folder", self.path / "elsewhere.smooth"
        folder.mkdir()
        elsewhere.write_text("let f (x: Double) = 1.0 * x\n")
        (folder / "main.smooth").write_text(elsewhere.read_text())
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder)
        from_there, from_elsewhere, from_text = smoothc.load("main.smooth"), smoothc.load(elsewhere), smoothc.compile(elsewhere.read_text())
        os.chdir(self.path)
        shutil.rmtree(folder)
        for m in [from_elsewhere, from_text]:
            self.assertIn("f of ", m.f.explain().text)
        with self.assertRaisesRegex(RuntimeError, f"{folder / 'main.smooth'} is not the text any more that `f` was compiled from"):
            str(from_there.f.explain())


if __name__ == "__main__":
    unittest.main()
