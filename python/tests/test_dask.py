"""Sums over rows by Dask: on a local cluster of two processes, with data larger than a process may hold, and with a process that is lost."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import smoothc

HERE = importlib.util.find_spec("distributed") is not None
if HERE:
    import smoothc.dask
else:
    print("skipped: no Dask here, scripts/install-python installs it", file=sys.stderr)

PROGRAM = """
/// Half the squared distances of points from a circle.
let misfit (circle: Vector<3>) (points: Matrix<n, 2>) : Double =
  0.5 * vectorSum (vectorMap points (fun p -> (hypot (p[0] - circle[0]) (p[1] - circle[1]) - circle[2]) ** 2.0))

type Line = { slope: Double; offset: Double }
type Seen = { at: Double; height: Double }
let error (l: Line) (seen: Array<Seen, n>) (weight: Double) : Double =
  weight * vectorSum (vectorMap seen (fun s -> (l.slope * s.at + l.offset - s.height) ** 2.0))

let heights (l: Line) (at: Vector<n>) : Vector<n> = vectorMap at (fun x -> l.slope * x + l.offset)
let counted (k: Index) (at: Vector<n>) : Index * Bool = (n, k = n)
let pick (at: Vector<n>) : Double = at[2]
let paired (l: Line * Line) (rows: Double * Array<Seen, n>) (other: Vector<m>) : Vector<n + 1> * Vector<m> =
  (build (n + 1) (fun i -> (fst l).slope * (snd rows)[min i (n - 1)].at), other)
type Size = Small of Double | Large
let size (at: Vector<n>) : Double * Size = (1.0, if n < 3 then Small at[0] else Large)
let sizes (at: Vector<n>) (m: Index) : Array<Size, m> = build m (fun i -> if i < n then Small at[i] else Large)
let units (at: Vector<n>) = (n, build 2 (fun i -> ()))
let products (x: Matrix<n, 2>) : Matrix<2, 2> = matrixMult (matrixTranspose x) x
"""
DERIVATIVES = ["valueAndGradient:misfit", "valueAndGradient:error"]

# a process has about 110 MB before it does anything
LIMIT = 256 * 2**20
POINTS = 20_000_000


def lost(block: Any, at: int, mark: str) -> Any:
    """The block; the first process that asks for this one is killed."""
    if at == 5:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return block
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def weighed_error(line: Any, seen: Any, weight: float) -> Any:
    """What is no entry."""
    return smoothc.compile(PROGRAM).error(line, seen, weight)


class Missing(unittest.TestCase):
    def test_the_extra_is_named(self) -> None:
        program = "import sys; sys.modules['dask'] = None; import smoothc; import smoothc.dask"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertIn("ImportError: smoothc.dask needs Dask (", done.stderr)
        self.assertIn('pip install "dask[array,distributed]"', done.stderr)


@unittest.skipUnless(HERE, "no Dask here")
class InOneProcess(unittest.TestCase):
    def setUp(self) -> None:
        import dask

        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "points.npy"
        self.module = smoothc.compile(PROGRAM, derive=DERIVATIVES)
        settings = dask.config.set(scheduler="synchronous")
        settings.__enter__()
        self.addCleanup(settings.__exit__, None, None, None)

    def test_every_split_is_the_sum(self) -> None:
        import dask.array

        points = np.random.default_rng(1).normal(size=(103, 2))
        np.save(self.path, points)
        value, gradient = self.module.misfit_valueAndGradient([0.1, 0, 1], points)
        stored = smoothc.dask.stored(self.path)
        in_dask = dask.array.from_array(points, chunks=(20, 1))
        for data, rows in [(stored, None), (stored, 1), (stored, 50), (stored, 1000), (in_dask, None), (in_dask, 7), (in_dask[3:] * 1.0, 50)]:
            wanted = (value, gradient) if data.shape[0] == 103 else self.module.misfit_valueAndGradient([0.1, 0, 1], points[3:])
            found = smoothc.dask.value_and_gradient(self.module.misfit_valueAndGradient, data, rows=rows)([0.1, 0, 1])
            np.testing.assert_allclose(found[0], wanted[0], rtol=1e-13)
            np.testing.assert_allclose(found[1], wanted[1], rtol=1e-12)
        np.testing.assert_allclose(smoothc.dask.total(self.module.products, stored, rows=9), points.T @ points, rtol=1e-13)

    def test_no_rows(self) -> None:
        for rows in (None, 3):
            np.save(self.path, np.empty((0, 2)))
            loss = smoothc.dask.value_and_gradient(self.module.misfit_valueAndGradient, smoothc.dask.stored(self.path), rows=rows)
            value, gradient = loss([1, 2, 3])
            self.assertEqual((value, gradient.tolist()), (0.0, [0.0, 0.0, 0.0]))

    def test_records(self) -> None:
        import dask.array

        at = np.linspace(0, 1, 50)
        np.save(self.path, at)
        for seen in (
            {"at": smoothc.dask.stored(self.path), "height": dask.array.from_array(3 * at, chunks=8)},
            (dask.array.from_array(at, chunks=8), dask.array.from_array(3 * at, chunks=8)),
        ):
            data = seen if isinstance(seen, dict) else {"at": seen[0], "height": seen[1]}
            loss = smoothc.dask.value_and_gradient(self.module.error_valueAndGradient, data, 2.0)
            value, gradient = loss(self.module.Line(1.0, 0.5))
            wanted, slope = self.module.error_valueAndGradient(self.module.Line(1.0, 0.5), {"at": at, "height": 3 * at}, 2.0)
            np.testing.assert_allclose(value, wanted)
            self.assertIs(type(gradient), self.module.Line)
            np.testing.assert_allclose([gradient.slope, gradient.offset], [slope.slope, slope.offset])

    def test_dataclasses_of_records(self) -> None:
        at = np.linspace(0, 1, 50)
        np.save(self.path, at)
        data = smoothc.dask.stored(self.path)
        m = self.module
        line = m.Line(3.0, 0.5)
        wanted = m.error(line, {"at": at, "height": at}, 2.0)

        @dataclasses.dataclass
        class Own:
            at: Any
            height: Any

        for seen in (m.Seen(data, data), Own(data, data), SimpleNamespace(at=data, height=data)):
            np.testing.assert_allclose(smoothc.dask.total(m.error, line, seen, 2.0, rows=7), wanted)
            # of no entry the fields are those of the dataclass
            if dataclasses.is_dataclass(seen):
                found = smoothc.dask.total(weighed_error, line, seen, 2.0, rows=20)
                np.testing.assert_allclose(found, wanted)
        with self.assertRaisesRegex(ValueError, "no argument is split"):
            smoothc.dask.total(m.error, line, m.Seen(at, at), 2.0)
        # inside of others, and with names that Python has not
        program = """
        type Seen = { lambda: Double; inner: Double * Double }
        type All<n> = { seen: Array<Seen, n>; scale: Double }
        let sum (all: All<n>) : Double = all.scale * vectorSum (vectorMap all.seen (fun s -> s.lambda * fst s.inner + snd s.inner))
        """
        m = smoothc.compile(textwrap.dedent(program))
        found = smoothc.dask.total(m.sum, m.All(m.Seen(data, (data, data)), 2.0), rows=9)
        np.testing.assert_allclose(found, 2.0 * (at * at + at).sum())
        with self.assertRaisesRegex(TypeError, "`n` is the number of rows"):
            smoothc.dask.total(self.module.paired, (line, line), (1.0, self.module.Seen(data, data)), np.ones(2))

    def test_a_package_of_build(self) -> None:
        folder = self.path.parent
        (folder / "p.smooth").write_text(PROGRAM)
        subprocess.run([smoothc.command(), "build", "-q", "p.smooth", "--python", "summed_package"], cwd=folder, check=True)
        sys.path.insert(0, str(folder))
        self.addCleanup(sys.path.pop, 0)
        made = importlib.import_module("summed_package")
        np.save(self.path, np.ones((7, 2)))
        found = smoothc.dask.total(made.products, smoothc.dask.stored(self.path), rows=2)
        self.assertEqual(found.tolist(), [[7.0, 7.0], [7.0, 7.0]])
        self.refuse_what_is_no_sum(made)
        # built again, what was imported is still what it was
        (folder / "p.smooth").write_text("let other (x: Double) = x")
        subprocess.run([smoothc.command(), "build", "-q", "p.smooth", "--python", "summed_package"], cwd=folder, check=True)
        np.save(self.path, np.ones((7, 2)))
        self.assertEqual(smoothc.dask.total(made.products, smoothc.dask.stored(self.path), rows=2).tolist(), found.tolist())

    def refuse_what_is_no_sum(self, m: Any) -> None:
        np.save(self.path, np.ones(10))
        data = smoothc.dask.stored(self.path)
        line = m.Line(1.0, 1.0)
        seen = {"at": data, "height": data}
        rows = "gives an array of shape (.*), and `n` is the number of rows"
        for words, function, arguments in [
            (rows, m.heights, (line, data)),
            (rows, m.paired, ((line, line), (1.0, seen), np.ones(2))),
            ("`m` is the number of rows", m.paired, ((line, line), (1.0, [(1.0, 2.0)]), data)),
            ("gives truth values", m.counted, (1, data)),
            ("gives values of the sum type Size, which are not summed", m.size, (data,)),
            ("gives values of the sum type Size, which are not summed", m.sizes, (data, 3)),
            (r"gives a list of \(\), which is not summed", m.units, (data,)),
        ]:
            with self.subTest(function=function.__name__), self.assertRaisesRegex(TypeError, words):
                smoothc.dask.total(function, *arguments)

    def test_files_that_are_no_arrays(self) -> None:
        folder = self.path.parent
        np.savez(folder / "several.npz", a=np.ones(3), b=np.ones(3))
        np.save(folder / "objects.npy", np.array([None, 1]))
        np.save(self.path, np.ones(1000))
        whole = self.path.read_bytes()
        for name, content in [
            ("cut.npy", whole[:-8]),
            ("head.npy", whole[:20]),
            ("empty.npy", b""),
            ("text.npy", b"1 2 3\n"),
            ("cut.npz", b"PK\3\4"),
        ]:
            (folder / name).write_bytes(content)
        for path in [path for path in folder.iterdir() if path != self.path]:
            what = "a `.npz` file of several arrays" if path.name == "several.npz" else "no `.npy` file of numbers"
            with self.subTest(path=path.name), self.assertRaisesRegex(ValueError, f"{path.name} is {what}"):
                smoothc.dask.stored(path)
        with self.assertRaises(FileNotFoundError):
            smoothc.dask.stored(folder / "none.npy")

    def test_what_is_refused(self) -> None:
        import dask.array

        m = self.module
        np.save(self.path, np.ones(10))
        data = smoothc.dask.stored(self.path)
        other = dask.array.ones(9, chunks=4)
        self.refuse_what_is_no_sum(m)
        for error, words, call in [
            (ValueError, "no argument is split", lambda: smoothc.dask.total(m.pick, np.ones(3))),
            (
                ValueError,
                "different numbers of rows, or unknown ones: 9, 10",
                lambda: smoothc.dask.total(m.error, 1, {"at": data, "height": other}, 1),
            ),
            (ValueError, "at least one row", lambda: smoothc.dask.total(m.pick, data, rows=0)),
            (ValueError, "into different blocks", lambda: smoothc.dask.total(m.error, 1, {"at": other, "height": other.rechunk(5)}, 1)),
            (
                TypeError,
                "derive it with `valueAndGradient",
                lambda: smoothc.dask.value_and_gradient(m.error, {"at": other, "height": other}, 1.0)(m.Line(1, 1)),
            ),
            (smoothc.StatusError, "out of bounds", lambda: smoothc.dask.total(m.pick, data, rows=2)),
        ]:
            with self.subTest(words=words), self.assertRaisesRegex(error, words):
                call()
        np.save(self.path, np.ones(4))
        with self.assertRaisesRegex(RuntimeError, "another array here than it was: float64 of shape"):
            smoothc.dask.total(m.pick, data)


@unittest.skipUnless(HERE, "no Dask here")
class OnACluster(unittest.TestCase):
    def test_two_processes(self) -> None:
        """The same bits as in one process, with data that is larger than a process may hold, and when one of them is lost."""
        import dask
        import dask.array
        from distributed import Client, LocalCluster

        with tempfile.TemporaryDirectory() as name, dask.config.set({"distributed.worker.memory.terminate": 0.95}):
            folder = Path(name)
            (folder / "circle.smooth").write_text(PROGRAM)
            module = smoothc.load(folder / "circle.smooth", derive=DERIVATIVES)
            points = np.lib.format.open_memmap(folder / "points.npy", mode="w+", dtype=np.float64, shape=(POINTS, 2))
            self.assertGreater(points.nbytes, LIMIT)
            some = np.random.default_rng(1).normal(size=(POINTS // 20, 2))
            for at in range(20):
                points[at * len(some) : (at + 1) * len(some)] = some + at
            points.flush()
            x = np.array([0.5, 0.1, 2.0])
            data = smoothc.dask.stored(folder / "points.npy")
            loss = smoothc.dask.value_and_gradient(module.misfit_valueAndGradient, data, rows=POINTS // 40)
            with dask.config.set(scheduler="synchronous"):
                value, gradient = loss(x)
            whole = module.misfit_valueAndGradient(x, points)
            np.testing.assert_allclose(value, whole[0], rtol=1e-11)
            np.testing.assert_allclose(gradient, whole[1], rtol=1e-11)

            few = dask.array.from_array(some[:160_000], chunks=(10_000, 2))
            split = smoothc.dask.value_and_gradient(module.misfit_valueAndGradient, few)
            with dask.config.set(scheduler="synchronous"):
                wanted = split(x)
            mark = str(folder / "mark")
            fragile = dask.array.map_blocks(lambda block, block_info: lost(block, block_info[0]["chunk-location"][0], mark), few, dtype=np.float64)

            with (
                LocalCluster(n_workers=2, threads_per_worker=1, processes=True, memory_limit=LIMIT, dashboard_address=None) as cluster,
                Client(cluster) as client,
            ):
                before = client.run(os.getpid)
                self.assertEqual(len(before), 2)
                self.assertNotIn(os.getpid(), before.values())
                for _ in range(2):
                    found, slope = loss(x)
                    self.assertEqual((found, slope.tolist()), (value, gradient.tolist()))
                self.assertEqual(client.run(os.getpid), before)

                found, slope = smoothc.dask.value_and_gradient(module.misfit_valueAndGradient, fragile)(x)
                self.assertTrue(Path(mark).exists())
                self.assertEqual((found, slope.tolist()), (wanted[0], wanted[1].tolist()))
                client.wait_for_workers(2, timeout=30)
                after = client.run(os.getpid)
                self.assertEqual((len(after), len(set(after.values()) & set(before.values()))), (2, 1))

                # the file has changed since it was loaded
                other = smoothc.load(folder / "circle.smooth", derive=DERIVATIVES[0])
                (folder / "circle.smooth").write_text(PROGRAM + "\nlet more = 1.0\n")
                with self.assertRaisesRegex(RuntimeError, "is not the program here that it is"):
                    smoothc.dask.total(other.misfit, x, few)


if __name__ == "__main__":
    unittest.main()
