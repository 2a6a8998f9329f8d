"""Libraries of Futhark give what emitted C gives, values and errors, by the backends that need no device and by CUDA where it is."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import itertools
import os
import pickle
import shutil
import signal
import sys
import unittest
import warnings
from typing import Any
from unittest import mock

import numpy as np

import smoothc
from smoothc._runtime import futhark as _futhark

from .test_calls import in_child

HERE = shutil.which(os.environ.get("FUTHARK") or "futhark") is not None
if not HERE:
    print("skipped: no Futhark compiler here, scripts/install-futhark gets one", file=sys.stderr)

PROGRAM = """
type P = { a: Double; k: Index; b: Vector<2> }
let f' (n: Index) (p: P) (ps: Array<P, m>) (flag: Bool) : P * Array<Bool, n> * Index =
  ({ p with a = p.a + vectorSum (vectorMap ps (fun q -> q.a)) }, build n (fun i -> flag && i > 0), m)
let last (v: Vector<n + 1>) (w: Vector<n>) = v[n] + vectorSum w
let one = 1.5
let pick (v: Vector<n>) (i: Index) = v[i]
let shifted (v: Vector<n>) (k: Index) : Vector<n + k> = build (n + k) (fun i -> v[i % n])
let loss (M: Matrix<n, m>) (v: Vector<m>) : Double = vectorSqNorm (vectorMap (M * v) tanh)
let constant (n: Index) : Vector<n> = vectorZeros n
let quotient (a: Index) (b: Index) : Index = a / b
"""


def backends() -> list[str]:
    """Those that need no device, and CUDA where it is here."""
    try:
        total = smoothc.compile("let total (v: Vector<n>) = vectorSum v", target="futhark", backend="cuda")["total"]
        return ["c", "multicore", "cuda"] if total([1.0, 2.0, 4.0]) == 7.0 else ["c", "multicore"]
    except (smoothc.DiagnosticError, OSError, RuntimeError) as error:
        print(f"skipped: no CUDA here, {str(error).splitlines()[0]}", file=sys.stderr)
        return ["c", "multicore"]


def arrays(value: Any) -> list[np.ndarray]:
    """The arrays and numbers of a result."""
    if isinstance(value, tuple):
        return [array for part in value for array in arrays(part)]
    if dataclasses.is_dataclass(value):
        return [array for field in dataclasses.fields(value) for array in arrays(getattr(value, field.name))]
    return [np.asarray(value)]


class Errors(unittest.TestCase):
    def test_an_interrupt_loses_no_result(self) -> None:
        m = smoothc.compile("let f (v: Vector<n>) (i: Index) = build n (fun j -> 2.0 * v[if j > 0 then j else i])", target="futhark")
        v, out = np.arange(4.0), np.zeros(4)
        # a shell's background job ignores interrupts
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        run = _futhark._Call._run

        def interrupted(self: Any, *given: Any) -> int:
            os.kill(os.getpid(), signal.SIGINT)
            return run(self, *given)

        def found(i: int, **options: Any) -> Any:
            with mock.patch.object(_futhark._Call, "_run", interrupted), self.assertRaises(KeyboardInterrupt) as caught:
                m.f(v, i, **options)
            return caught.exception

        self.assertEqual(found(0).result.tolist(), [0.0, 2.0, 4.0, 6.0])
        self.assertIs(found(3, out=out).result, out)
        self.assertEqual(out.tolist(), [6.0, 2.0, 4.0, 6.0])
        failed = found(4)
        self.assertIsNone(getattr(failed, "result", None))
        self.assertEqual(failed.__cause__.status, "SMOOTH_BOUNDS")
        self.assertEqual(signal.getsignal(signal.SIGINT), signal.default_int_handler)
        self.assertEqual(m.f(v, 1).tolist(), [2.0, 2.0, 4.0, 6.0])

    def test_what_is_missing_is_said(self) -> None:
        with mock.patch.dict(os.environ, {"FUTHARK": "/nowhere/futhark"}), self.assertRaises(smoothc.DiagnosticError) as caught:
            smoothc.compile("let f (x: Double) = x", target="futhark")
        self.assertEqual((caught.exception.status, caught.exception.diagnostics[0].code), (3, "E0903"))
        self.assertIn("/nowhere/futhark", str(caught.exception))
        self.assertNotIn("--quiet", str(caught.exception))


@unittest.skipUnless(HERE, "no Futhark compiler here")
class Futhark(unittest.TestCase):
    def load(self, **options: Any) -> smoothc.Module:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", smoothc.DiagnosticWarning)
            return smoothc.compile(PROGRAM, derive=["valueAndGradient:loss:M,v", "jacobian:shifted:v"], **options)

    def test_values_are_those_of_c(self) -> None:
        c = self.load()
        random = np.random.default_rng(1)
        p = c.P(1.5, 7, np.array([1.0, 2.0]))
        records = [c.P(float(k), k, np.array([k, -k], float)) for k in range(3)]
        matrix = random.normal(size=(4, 3))
        frozen = random.normal(size=3)
        frozen.flags.writeable = False
        calls: list[tuple[str, tuple[Any, ...]]] = [
            ("f'", (3, p, records, True)),
            ("f'", (0, p, [], False)),
            ("last", (np.arange(4.0), [1, 2, 3])),
            ("last", ([2.0], [])),
            ("one", ()),
            ("pick", (np.arange(4.0), 3)),
            ("shifted", (np.arange(2.0), 3)),
            ("shifted_jacobian_v", (np.arange(2.0), 3)),
            ("loss", (matrix, frozen)),
            ("loss_valueAndGradient_M_v", (matrix, frozen)),
            ("loss_valueAndGradient_M_v", (np.empty((0, 3)), frozen)),
            ("loss_valueAndGradient_M_v", (np.asfortranarray(matrix), frozen.astype(np.float32))),
            ("constant", (0,)),
            ("quotient", (-7, 2)),
        ]
        for backend, (name, arguments) in itertools.product(backends(), calls):
            module = self.load(target="futhark", backend=backend)
            self.assertEqual(list(module), list(c))
            with self.subTest(name=name, backend=backend):
                found, wanted = arrays(module[name](*arguments)), arrays(c[name](*arguments))
                self.assertEqual(len(found), len(wanted))
                for one, other in zip(found, wanted):
                    self.assertEqual((one.shape, one.dtype), (other.shape, other.dtype))
                    np.testing.assert_allclose(one, other, rtol=1e-12)
        module = self.load(target="futhark")
        result = (np.empty(()), (np.empty((4, 3)), np.empty(3)))
        module["loss_valueAndGradient_M_v"](matrix, frozen, out=result)
        np.testing.assert_allclose(result[1][1], c["loss_valueAndGradient_M_v"](matrix, frozen)[1][1], rtol=1e-12)

    def test_errors_are_those_of_c(self) -> None:
        module = self.load(target="futhark")
        for name, arguments, wanted in [
            ("pick", (np.arange(2.0), 2), "SMOOTH_BOUNDS"),
            ("quotient", (1, 0), "SMOOTH_DIV_ZERO"),
            ("constant", (-1,), "SMOOTH_NEGATIVE"),
        ]:
            with self.subTest(name=name):
                with self.assertRaises(smoothc.StatusError) as caught:
                    module[name](*arguments)
                self.assertEqual(caught.exception.status, wanted)
                # the next call has a context of its own
                self.assertEqual(module["pick"]([3.0, 4.0], 1), 4.0)
        with self.assertRaisesRegex(ValueError, r"`v` has shape \(3,\), expected \(m,\) with m = 2"):
            module["loss"](np.ones((1, 2)), np.ones(3))

    def test_threads_wait_and_processes_have_their_own(self) -> None:
        module = self.load(target="futhark", backend="multicore")
        self.assertEqual(module["one"](), 1.5)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda k: module["last"]([0.0, k], [1.0]), range(20)))
        self.assertEqual(found, [k + 1.0 for k in range(20)])
        sent = pickle.loads(pickle.dumps(module))
        self.assertEqual(sent["pick"]([1.0, 2.0], 1), 2.0)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_a_process_that_is_forked_in_a_call(self) -> None:
        for backend in ["c", "multicore"]:
            module = self.load(target="futhark", backend=backend)
            self.assertEqual(module["one"](), 1.5)
            # as another thread holds it
            with module._Module__library._context.lock:
                found = in_child(lambda module=module: module["last"]([0.0, 2.0], [1.0]))
            self.assertEqual(found, 3.0)
            self.assertEqual(module["last"]([0.0, 2.0], [1.0]), 3.0)

    def test_float32(self) -> None:
        module = self.load(target="futhark", real="f32")
        self.assertEqual(module["shifted"](np.ones(2, np.float32), 1).dtype, np.float32)

    def test_what_is_refused(self) -> None:
        for words, options in [
            ("target", {"target": "rust"}),
            ("backend", {"target": "futhark", "backend": "metal"}),
            ("backend", {"backend": "cuda"}),
        ]:
            with self.assertRaisesRegex(ValueError, f"^{words}: expected"):
                self.load(**options)
        with self.assertRaisesRegex(ValueError, "^workspace: a library of Futhark has none"):
            self.load(target="futhark", workspace=1 << 20)

    def test_messages_are_statuses(self) -> None:
        for message, wanted in [
            ("Error: Assertion is false: (shape (n == m))\n\nBacktrace:\n-> #0  a.fut:17:3-43", 2),
            ("Error: Assertion is false: (range ((0 <= i) && (i < n)))", 5),
            ("Error: Assertion is false: (negative (0 <= n))", 3),
            ("Error: Index [5] out of bounds for array of shape [3].\n\nBacktrace:", 1),
            ("Error: Range 0..1..<-1 is invalid.", 3),
            ("Error: division by zero", 4),
            ("Error: entry point arguments have invalid sizes.", 2),
            ("Error: Assertion is false: (n == m)", None),
            ("something else", None),
        ]:
            self.assertEqual(_futhark.status(message), wanted, message)


if __name__ == "__main__":
    unittest.main()
