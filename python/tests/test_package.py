"""Packages that `smoothc build --python` makes."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import smoothc

FUTHARK = shutil.which(os.environ.get("FUTHARK") or "futhark") is not None
if not FUTHARK:
    print("skipped: no Futhark compiler here, scripts/install-futhark gets one", file=sys.stderr)

PROGRAM = '''
/// "Where" a camera \\\\ sees.
type Camera = { focal: Double; centre: Vector<2> }
let moved (c: Camera) (by: Vector<2>) : Camera = { c with centre = c.centre + by }
let focals (cs: Array<Camera, n>) = vectorMap cs (fun c -> c.focal)
/// The """sum\\\\n""" of from.
let total (from: Vector<n>) (k: Index) (b: Bool) = if b then vectorSum from else from[k]
let pairs (p: Array<Double * Index, n>) = vectorMap p (fun q -> (snd q, fst q))
let pass (x: Double) = x
type Odd' = { from: Double; inner: Camera }
let odd (o: Odd') : Odd' = { o with from = o.from + o.inner.focal }
let f' = 1.0
let hidden (_: Double) (_: Index) = 1.0
'''

USER = """
import pickle

import numpy as np
import camera

c = camera.Camera(2.0, np.array([1.0, 2.0]))
moved: camera.Camera = camera.moved(c, [1, 1])
moved = camera.moved({"focal": 1.0, "centre": [1, 2]}, np.ones(2))
moved = camera.moved((1.0, [1, 2]), np.ones(2))
focal: float = float(moved.focal)
assert camera.pass_(np.float32(1.0)) == camera.pass_(np.int64(1)) == camera.pass_(1)
number: float = camera.total(from_=[1.0, 2.0], k=1, b=False)
out = camera.focals({"focal": np.ones(3), "centre": np.ones((3, 2))}, out=np.empty(3))
indices, numbers = camera.pairs([(1.0, 2)])
odd = camera.odd(camera.Odd_prime(1.0, c))
print(odd.from_, odd.inner.focal)
assert pickle.loads(pickle.dumps(odd)).inner.focal == 2.0 and pickle.loads(pickle.dumps(camera.f_prime)) is camera.f_prime
print(moved.centre.tolist(), number, out.tolist(), indices.tolist(), camera.pass_(1.0), camera.f_prime())
try:
    camera.total([1.0], 1, False)
except camera.StatusError as error:
    print(error.status)
"""


FORKED = """
import os, signal, threading
import numpy as np
import camera, other

v = np.ones(100_000)
camera.total(v, 0, True)
child = os.fork()
if child == 0:
    try:
        other.total(v, 0, True)
    except RuntimeError as error:
        print(error, flush=True)
    os._exit(0)
threading.Timer(60, os.kill, (child, signal.SIGKILL)).start()
os._exit(os.waitpid(child, 0)[1])
"""


NOTHING = """
type Camera = { focal: Double }
let focal (c: Camera) = c.focal
let Camera (x: Double) = { focal = x }
let _library (x: Double) = x
let _np (x: Double) = x
let __all__ (x: Double) = x
let unit (u: Unit) = u
let units (v: Array<Unit, n>) = (length v, build 2 (fun _ -> ()))
type Field = { nothing: Unit; x: Double }
let field (f: Field) : Field = f
type Shape = Circle of Double | Empty
let name (s: Shape) = match s with Circle r -> r | Empty -> 0.0
"""

NOTHING_USER = """
import pickle

import camera

made: camera.Camera = camera.Camera_(2.0)
assert pickle.loads(pickle.dumps(camera.Camera_)) is camera.Camera_
assert pickle.loads(pickle.dumps(camera.Camera)) is camera.Camera
nothing: tuple[()] = camera.unit(None)
count, units = camera.units(3)
camera.units([(), ()])
field: camera.Field = camera.field(camera.Field((), 1.0))
zero = camera.name("Empty")
print(
    camera.focal(made), made, camera._library_(2.0), camera._np_(2.0), camera.__all___(2.0), nothing, count, units, field.x, zero, flush=True
)
"""

COLOURS = """
type Colour = | Red | Green | Blue
type Car = { paint: Colour; price: Double }
let next (c: Colour) : Colour = match c with | Red -> Green | Green -> Blue | Blue -> Red
let nexts (c: Array<Colour, n>) : Array<Colour, n> = vectorMap c next
let repaint (c: Car) : Car = { c with paint = next c.paint }
"""

COLOURS_USER = """
import typing

import numpy as np
import camera

colour: typing.Literal["Red", "Green", "Blue"] = camera.next("Red")
colour = camera.next(camera.next(colour))
colour = camera.next(np.int64(1))
car = camera.repaint(camera.Car("Red", 1.0))
print(colour, camera.next({"tag": 0}), camera.nexts(["Red", "Blue"]).tolist(), car, camera.next(car.paint))
"""

DEEP = """
let rec deep (x: Double) (n: Index) : Double = if n = 0 then x else x + 0.5 * deep (0.5 * x) (n - 1)
let set_workspace (x: Double) = x
type R' = { q: Double }
type R_prime = { q: Double; r: Double }
let less (r: R') (s: R_prime) = r.q - s.q
"""

DEEP_USER = """
import camera

assert camera.less(camera.R_prime(3.0), camera.R_prime_(1.0, 0.0)) == camera.set_workspace_(2.0)
try:
    camera.deep(1.0, 20_000)
except camera.StatusError as error:
    print(error.status)
camera.set_workspace(1 << 20)
print(camera.deep(1.0, 20_000) == camera.deep(1.0, 60))
"""


RELOADED = """
import importlib
import subprocess
import sys


def build(text):
    with open("circle.smooth", "w") as file:
        file.write(text)
    subprocess.run([sys.argv[1], "build", "-q", "circle.smooth", "--python", "circle"], check=True)


build("let f (x: Double) = 2.0 * x\\nlet g2 (x: Double) = x")
import circle

print(circle.f(1.0))
build("let f (x: Double) = 3.0 * x\\nlet g3 (x: Double) = x")
importlib.reload(circle)
print(circle.f(1.0), circle.g3.__name__)
build("let f (x: Vector<n>) = 4.0 * vectorSum x")
importlib.reload(circle)
print(circle.f([1.0, 2.0]))
"""


class Packages(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "camera.smooth").write_text(PROGRAM)
        (self.folder / "user.py").write_text(USER)

    def smoothc(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([smoothc.command(), *words], cwd=self.folder, capture_output=True, text=True)

    def build(self, *words: str) -> None:
        done = self.smoothc("build", "-q", "camera.smooth", "--python", "camera", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_package_needs_no_compiler(self) -> None:
        self.build()
        # once more over what is there
        self.build("--prefix", "my_", "--portable")
        # neither this package nor a command is on its way
        environment = {"PATH": "/nowhere", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, "user.py"], cwd=self.folder, env=environment, capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout, "3.0 2.0\n[2.0, 3.0] 2.0 [1.0, 1.0, 1.0] [2] 1.0 1.0\nSMOOTH_BOUNDS\n")

    def test_a_package_that_is_built_again_is_reloaded(self) -> None:
        (self.folder / "user.py").write_text(RELOADED)
        done = subprocess.run([sys.executable, "user.py", smoothc.command()], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("2.0\n3.0 g3\n12.0\n", ""))

    def test_a_build_removes_older_libraries_and_nothing_else(self) -> None:
        self.build()
        package = self.folder / "camera"
        suffix = package.joinpath(json.loads((package / "manifest.json").read_text())["library"]).suffix
        older = [f"library{suffix}", f"library-0123456789abcdef{suffix}"]
        others = [f"library-0123{suffix}", f"library_0123456789abcdef{suffix}", "library-0123456789abcdef.txt", f"mine{suffix}"]
        for name in [*older, *others]:
            (package / name).write_bytes(b"")
        before = {path.name for path in package.iterdir()}
        # one that fails loses nothing
        (self.folder / "camera.smooth").write_text("let f (x: Double) = y")
        self.assertEqual(self.smoothc("build", "camera.smooth", "--python", "camera").returncode, 1)
        self.assertEqual({path.name for path in package.iterdir()}, before)
        (self.folder / "camera.smooth").write_text(PROGRAM)
        self.build()
        self.assertEqual({path.name for path in package.iterdir()}, before - set(older))
        # no package of smoothc's
        plain = self.folder / "plain"
        plain.mkdir()
        (plain / older[0]).write_bytes(b"")
        self.assertEqual(self.smoothc("build", "-q", "camera.smooth", "--python", "plain").returncode, 0)
        self.assertTrue((plain / older[0]).exists())

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_packages_share_the_threads_of_a_process(self) -> None:
        self.build("--parallel")
        self.smoothc("build", "-q", "camera.smooth", "--parallel", "--python", "other")
        done = subprocess.run([sys.executable, "-c", FORKED], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("this process was forked", done.stdout)

    @unittest.skipUnless(FUTHARK, "no Futhark compiler here")
    def test_a_package_of_futhark_needs_no_compiler(self) -> None:
        environment = {"PATH": "/nowhere", "PYTHONDONTWRITEBYTECODE": "1"}
        for backend in ["c", "multicore"]:
            self.build("--target", "futhark", "--futhark-backend", backend)
            done = subprocess.run([sys.executable, "user.py"], cwd=self.folder, env=environment, capture_output=True, text=True)
            self.assertEqual(done.stderr, "")
            self.assertEqual(done.stdout, "3.0 2.0\n[2.0, 3.0] 2.0 [1.0, 1.0, 1.0] [2] 1.0 1.0\nSMOOTH_BOUNDS\n")
        # one of C in its place, and what is described beside a package is what was compiled
        self.build()
        self.assertNotIn("futhark", json.loads((self.folder / "camera" / "manifest.json").read_text()))
        self.build("--target", "futhark", "--real", "f32", "--derive", "gradient:total", "--manifest", "described.json")
        self.assertNotIn("calls", json.loads((self.folder / "described.json").read_text()))
        single = "import numpy as np, camera; print(camera.total_gradient(np.ones(2, np.float32), 0, True).dtype)"
        done = subprocess.run([sys.executable, "-c", single], cwd=self.folder, env=environment, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("float32\n", ""))

    @unittest.skipIf(FUTHARK, "a Futhark compiler is here")
    def test_without_a_futhark_compiler_no_package_is_made(self) -> None:
        done = self.smoothc("build", "camera.smooth", "--python", "camera", "--target", "futhark")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertFalse((self.folder / "camera").exists())

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "no mypy here")
    def test_types(self) -> None:
        self.build()
        words = [sys.executable, "-m", "mypy", "--strict", "user.py", "camera"]
        environment = {**os.environ, "MYPYPATH": ""}
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, env=environment)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1][:7]), (0, "Success"), done.stdout)
        (self.folder / "wrong.py").write_text('import camera\ncamera.pass_("1")\ncamera.moved(1.0, [1, 1])\n')
        done = subprocess.run([*words[:4], "wrong.py"], cwd=self.folder, capture_output=True, text=True, env=environment)
        self.assertEqual(done.stdout.count("error: No overload variant"), 2, done.stdout)

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "no mypy here")
    def test_entries_with_names_of_types(self) -> None:
        program = "type Any = { Mapping: Double }\nlet float (x: Double) (k: Index) = x\nlet any (a: Any) (p: Array<Double * Bool, n>) = a.Mapping\n"
        (self.folder / "camera.smooth").write_text(program)
        self.build()
        words = [sys.executable, "-m", "mypy", "--strict", "camera"]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "no mypy here")
    def test_names_that_are_taken_and_values_that_are_nothing(self) -> None:
        (self.folder / "camera.smooth").write_text(NOTHING)
        entries = ["focal", "Camera", "_library", "_np", "__all__", "unit", "units", "field", "name"]
        self.build(*(word for entry in entries for word in ("--entry", entry)))
        (self.folder / "user.py").write_text(NOTHING_USER)
        words = [sys.executable, "-m", "mypy", "--strict", "user.py", "camera"]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": "", "MYPYPATH": ""})
        self.assertEqual(done.returncode, 0, done.stdout)
        done = subprocess.run([sys.executable, "user.py"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("2.0 Camera(focal=2.0) 2.0 2.0 2.0 () 3 [(), ()] 1.0 0.0\n", ""))

    def test_cases_without_data(self) -> None:
        (self.folder / "camera.smooth").write_text(COLOURS)
        (self.folder / "user.py").write_text(COLOURS_USER)
        (self.folder / "wrong.py").write_text('import camera\ncamera.next("Purple")\n')
        self.build()
        done = subprocess.run([sys.executable, "user.py"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("Blue Green [1, 0] Car(paint='Green', price=1.0) Blue\n", ""))
        if importlib.util.find_spec("mypy"):
            words = [sys.executable, "-m", "mypy", "--strict", "user.py", "camera", "wrong.py"]
            done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": "", "MYPYPATH": ""})
            self.assertEqual((done.stdout.count("error: "), "wrong.py:2: error: No overload" in done.stdout), (1, True), done.stdout)

    def test_a_larger_workspace_and_records_of_one_name(self) -> None:
        (self.folder / "camera.smooth").write_text(DEEP)
        (self.folder / "user.py").write_text(DEEP_USER)
        self.build()
        done = subprocess.run([sys.executable, "user.py"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("SMOOTH_WORKSPACE\nTrue\n", ""))
        if importlib.util.find_spec("mypy"):
            words = [sys.executable, "-m", "mypy", "--strict", "user.py", "camera"]
            done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": "", "MYPYPATH": ""})
            self.assertEqual(done.returncode, 0, done.stdout)

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "no mypy here")
    def test_types_of_this_package(self) -> None:
        words = [sys.executable, "-m", "mypy", "--strict", "smoothc"]
        done = subprocess.run(words, cwd=Path(smoothc.__file__).parents[1], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_another_processor_is_named(self) -> None:
        self.build()
        path = self.folder / "camera" / "manifest.json"
        manifest = json.loads(path.read_text())
        self.assertNotEqual(manifest["processor"], None)
        path.write_text(json.dumps({**manifest, "processor": ["avx9000"]}))
        done = subprocess.run([sys.executable, "-c", "import camera"], cwd=self.folder, capture_output=True, text=True)
        self.assertIn("ImportError: camera was built for a processor with avx9000, and this one has not", done.stderr)
        for damaged in ["{", "[]", "5", None]:
            path.unlink()
            if damaged is not None:
                path.write_text(damaged)
            done = subprocess.run([sys.executable, "-c", "import camera"], cwd=self.folder, capture_output=True, text=True)
            self.assertIn("ImportError: camera lacks its manifest.json, or has a damaged one, build it again", done.stderr)
            path.touch()
        path.write_text(json.dumps(manifest))
        (self.folder / "camera" / manifest["library"]).write_bytes(b"no library")
        done = subprocess.run([sys.executable, "-c", "import camera"], cwd=self.folder, capture_output=True, text=True)
        self.assertIn("does not load here, it may be for another kind of machine", done.stderr)

    def test_what_is_refused(self) -> None:
        other = self.folder / "other"
        other.mkdir()
        (other / "__init__.py").write_text("mine = 1\n")
        done = self.smoothc("build", "camera.smooth", "--python", "other")
        self.assertEqual((done.returncode, (other / "__init__.py").read_text()), (1, "mine = 1\n"))
        self.assertIn("error[E0011]: cannot write `other`: it is a Python package that smoothc has not made", done.stderr)
        named = [["--python", name] for name in ["1st", "a-b", "class"]]
        for words in [*named, ["--python", "p", "-o", "p.so"], ["--python", "p", "--futhark-backend", "c"], []]:
            done = self.smoothc("build", "camera.smooth", *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertFalse((self.folder / "p").exists())
        for name in ["numpy", "types"]:
            done = self.smoothc("build", "camera.smooth", "--python", name)
            self.assertEqual((done.returncode, (self.folder / name).exists()), (2, False))
            self.assertIn(f"would stand in the place of the `{name}` that it needs itself", done.stderr)
            done = self.smoothc("build", "-q", "camera.smooth", "--python", f"other/{name}")
            self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
