"""Arguments of every form, results, errors, threads and forked processes."""

from __future__ import annotations

import collections
import copy
import dataclasses
import decimal
import importlib.util
import inspect
import math
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import typing
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace as Given
from typing import Any

import numpy as np

import smoothc

PROGRAM = """
/// A pinhole camera.
type Camera = { focal: Double; centre: Vector<2> }
let moved (c: Camera) (by: Vector<2>) : Camera = { c with centre = c.centre + by }
let focals (cs: Array<Camera, n>) = vectorMap cs (fun c -> c.focal)
let pairs (p: Array<Double * Index, n>) = vectorMap p (fun q -> (snd q, fst q))
let indices (p: Array<Index * Index, n>) = vectorMap p fst
/// Sines, weighed by their sum.
let weighed (v: Vector<n>) : Vector<n> = let w = vectorMap v sin in vectorMap w (fun x -> x * vectorSum w)
let element (v: Vector<n>) (i: Index) = v[i]
let scaled (M: Matrix<n, m>) (x: Double) : Matrix<n, m> = x * M
let tall (lambda: Vector<n>) (out: Vector<2 * n>) (_call: Index) (b: Bool) (def': Double) : Matrix<n + 1, _call> =
  build (n + 1) (fun i -> build _call (fun j -> if b then lambda[0] + out[i] * def' else double j))
let halves (v: Vector<n>) = build (n / 2) (fun i -> v[2 * i])
let doubled (n: Index) (x: Double) = build (ifold (fun s i -> 2 * s + i) 1 n) (fun i -> x)
let fibonacci (n: Index) (x: Double) = build (snd (ifold (fun (a, b) _ -> (b, a + b)) (0, 1) n)) (fun i -> x)
let count = 3
let pick (b: Array<Bool, n>) (t: Index<n>) = (b[t], length b)
let rest (v: Vector<n>) (w: Vector<n - 1>) = vectorSum v + vectorSum w
type Odd' = { from: Double; x': Vector<2>; inner: Camera }
let odd (o: Odd') : Odd' = { o with from = o.from + o.x'[0] + o.inner.centre[1] }
let oddSlope (o: Odd') = gradient (fun (o: Odd') -> o.from * o.x'[1] * o.inner.focal) o
let grid (p: Array<Array<Double * Double, m>, n>) = vectorMap p (fun row -> vectorMap row (fun q -> (snd q, fst q)))
let products (n: Index) (m: Index) (v: Vector<n * m>) (b: Bool) (at: Index<n>) =
  build (if b then n + m else 0) (fun i -> double (i + at) * vectorSum v)
let shapes (M: Matrix<n, m>) = jacobian (fun (a, v) -> (vectorMap M (fun r -> a * vectorDot r v), a)) (2.0, vectorOnes m)
let slow (x: Double) (steps: Index) : Vector<1> = [ifold (fun s _ -> 0.5 * s + x) 0.0 steps]
let slowRecord (x: Double) (steps: Index) : Camera = let y = ifold (fun s _ -> 0.5 * s + x) 0.0 steps in { focal = y; centre = [y, y] }
let slowError (x: Double) (steps: Index) : Double = let y = slow x steps in [1.0, 2.0][if y[0] > 0.0 then 5 else 0]
let picks (t: Double * Array<Array<Index<3>, m>, n>) = vectorMap (snd t) (fun row -> [1.0, 2.0, 3.0][row[0]])
let long (n: Index) = build n double
let stored (n: Index) = let w = build n (fun i -> sin (double i)) in vectorSum (build n (fun i -> w[n - 1 - i] * vectorSum w))
let f (x: Double) = x * x
let f' (x: Double) = derivative f x
let rec falling (x: Double) (n: Index) : Double = if n = 0 then x else x + 0.5 * falling (0.5 * x) (n - 1)
"""

SUMS = """
type Q = C of Double | V of Vector<3> | N of Index * Bool | U of Unit
type Option = None | Some of Q
let one (x: Double) : Q = if x < 0.0 then C x else if x < 1.0 then V [x, x, x] else N (3, true)
let many (v: Vector<n>) : Array<Option, n> = vectorMap v (fun x -> if x > 3.0 then None else Some (one x))
let isNone (o: Option) : Bool = match o with None -> true | Some _ -> false
"""


COLOURS = """
type Colour = | Red | Green | Blue | Next'
type Maybe = | Nothing | Just of Colour
type Car = { paint: Colour; price: Double }
type Only = { paint: Colour }
let next (c: Colour) : Colour = match c with | Red -> Green | Green -> Blue | Blue -> Next' | Next' -> Red
let nexts (c: Array<Colour, n>) : Array<Colour, n> = vectorMap c next
let grid (c: Array<Array<Colour, m>, n>) : Array<Array<Colour, m>, n> = vectorMap c (fun c -> vectorMap c next)
let both (c: Colour) (b: Bool) : Colour * Bool = (next c, not b)
let repaint (c: Car) : Car = { c with paint = next c.paint }
let cars (c: Array<Car, n>) : Array<Car, n> = vectorMap c repaint
let only (o: Only) : Only = { paint = next o.paint }
let maybe (m: Maybe) : Maybe =
  match m with
  | Nothing -> Just Red
  | Just c -> (match c with | Red -> Just Green | Green -> Just Blue | Blue -> Just Next' | Next' -> Nothing)
"""
ODD = collections.OrderedDict(x=1.0)
FUTHARK = shutil.which(os.environ.get("FUTHARK") or "futhark") is not None


class Calls(unittest.TestCase):
    m: smoothc.Module

    @classmethod
    def setUpClass(cls) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", smoothc.DiagnosticWarning)
            cls.m = smoothc.compile(PROGRAM)

    def refused(self, kind: type[Exception], message: str, call: Any, *arguments: Any, **named: Any) -> None:
        with self.assertRaises(kind) as caught:
            call(*arguments, **named)
        self.assertIn(message, str(caught.exception))

    def test_sum_types_and_unit(self) -> None:
        m = smoothc.load(Path(__file__).parents[2] / "examples" / "shapes.smooth")
        circle, box, empty = m.Shape(0, 2.0, (0.0, 0.0)), {"tag": 1, "circle": 0.0, "box": (2.0, 3.0)}, m.Shape(2, 0.0, (0.0, 0.0))
        self.assertAlmostEqual(m.area(circle), 4 * math.pi)
        self.assertEqual((m.area(box), m.area(empty)), (6.0, 0.0))
        self.assertEqual(m.areaGradient(box), m.Shape(1, 0.0, (3.0, 2.0)))
        with self.assertRaises(smoothc.StatusError):
            m.area(m.Shape(3, 0.0, (0.0, 0.0)))
        self.assertEqual((m.ignored((), 2.0), m.ignored(None, 2.0), m.nothing(2.0)), (2.0, 2.0, ()))

    def test_one_case_of_a_sum_type(self) -> None:
        m = smoothc.load(Path(__file__).parents[2] / "examples" / "shapes.smooth")
        for given, area in [
            ({"Circle": 1.0}, math.pi),
            ({"tag": 0, "circle": 1.0}, math.pi),
            ({"Box": (2, 3)}, 6.0),
            ({"tag": 1, "box": [2, 3]}, 6.0),
            ("Empty", 0.0),
            ({"Empty": None}, 0.0),
            ({"tag": np.int32(2)}, 0.0),
        ]:
            self.assertAlmostEqual(m.area(given), area)
        self.assertEqual(m.areas([{"Box": [2, 3]}, "Empty", {"Box": (1, 2)}]).tolist(), [6.0, 0.0, 2.0])
        for data, total in [({"Points": [1, 2, 3]}, 6.0), ({"Grid": [[1, 2], [3, 4]]}, 10.0), ({"Chosen": [[1, 2], 1]}, 2.0), ("Nothing", 0.0)]:
            self.assertEqual(m.total(data), total)
        cases = "expected a Shape, which is one of `Circle`, `Box` and `Empty` or has a `tag`, found"
        for wrong, message in [
            ({"Sphere": 1.0}, f"{cases} a dict with `Sphere`"),
            ({"Circle": 1.0, "Box": (1, 2)}, f"{cases} a dict with `Circle` and `Box`"),
            ({}, f"{cases} a dict with no fields"),
            ("Sphere", f"{cases} 'Sphere'"),
            ("Circle", "the case `Circle` of Shape has data: give {'Circle': …}"),
            ({"Empty": 1.0}, "the case `Empty` of Shape has no data: give its name"),
            ({"tag": 0}, "`s` lacks `circle`"),
            ({"tag": 0, "box": (1, 2)}, "`s` lacks `circle`"),
            ({"tag": 0, "circle": 1.0, "more": 1.0}, "`s` has `more`, which a Shape has not"),
            ({"tag": 1.5}, "`s.tag`: expected an integer, found 1.5"),
        ]:
            self.refused(TypeError, message, m.area, wrong)
        self.refused(smoothc.StatusError, "`s.tag`: 7 is not an index below 3", m.area, {"tag": 7})
        # an object has the data of its case as a dict has
        for tagged, area in [(Given(tag=0, circle=1.0), math.pi), (Given(tag=1, box=(2, 3)), 6.0), (Given(tag=2), 0.0)]:
            self.assertAlmostEqual(m.area(tagged), area)
            self.assertAlmostEqual(m.areas([tagged, "Empty"])[0], area)
        self.refused(TypeError, "`s` lacks `circle`", m.area, Given(tag=0, box=(1, 2)))
        self.refused(TypeError, "expected a Shape with `tag`, `circle` and `box`, found a SimpleNamespace", m.area, Given(circle=1.0))
        # a record with a tag is none
        tagged = smoothc.compile("type R = { tag: Index<3>; x: Double }\nlet f (r: R) = r.x")
        self.refused(TypeError, "`r` lacks `x`", tagged.f, {"tag": 0})

    def test_cases_without_data(self) -> None:
        for options in [{}, *([{"target": "futhark"}] if FUTHARK else [])]:
            m = smoothc.compile(COLOURS, **options)
            for given in ["Red", {"Red": None}, {"Red": ()}, {"tag": 0}, Given(tag=0), 0, np.int32(0), np.str_("Red"), np.array("Red"), np.array(0)]:
                self.assertEqual(m.next(given), "Green")
            self.assertEqual((m.next("Blue"), m.next("Next'"), m.both("Red", True)), ("Next'", "Red", ("Green", False)))
            # arrays of them are arrays of tags
            for many in [["Red", "Blue"], [0, "Blue"], ("Red", {"Blue": None}), np.array(["Red", "Blue"]), np.array(["Red", 2], object), [0, 2]]:
                found = m.nexts(many)
                self.assertEqual((found.dtype, found.tolist()), (np.dtype(np.int64), [1, 3]))
            self.assertEqual((m.nexts([]).tolist(), m.grid([["Red", "Blue"], [1, 1]]).tolist()), ([], [[1, 3], [2, 2]]))
            out = np.empty((), np.int64)
            self.assertEqual((m.next("Red", out=out) is out, out[()]), (True, 1))
            # in records and in data of cases
            self.assertEqual(m.repaint({"paint": "Red", "price": 1}), m.Car("Green", 1.0))
            self.assertEqual(m.repaint(("Red", 1.0)), m.Car("Green", 1.0))
            self.assertEqual(m.cars([("Red", 1.0), m.Car("Blue", 2.0)]), m.Car([1, 3], [1.0, 2.0]))
            self.assertEqual((m.only(m.Only("Red")), m.only({"paint": "Red"})), (m.Only("Green"), m.Only("Green")))
            self.assertEqual(m.maybe({"Just": "Red"}), m.Maybe(1, "Green"))
            self.assertEqual((m.maybe("Nothing"), m.maybe(m.Maybe(1, "Next'"))), (m.Maybe(1, "Red"), m.Maybe(0, None)))
            expected = "`c`: expected a Colour, which is one of `Red`, `Green`, `Blue` and `Next'` or has a `tag`, found"
            for wrong, found in [
                ("Purple", "'Purple'"),
                (1.5, "1.5"),
                (True, "True"),
                ({"Red": 1}, "a dict with `Red`"),
                ({}, "a dict with no fields"),
                ({"a": 1, "b": 1}, "a dict with `a` and `b`"),
                (None, "None"),
            ]:
                self.refused(TypeError, f"next: {expected} {found}", m.next, wrong)
            self.refused(TypeError, "nexts: `c[1]`: expected a Colour", m.nexts, ["Red", "Purple"])
            self.refused(TypeError, "repaint: `c.paint`: expected a Colour", m.repaint, {"paint": 1.0, "price": 1.0})
            for given in [-1, 4]:
                self.refused(smoothc.StatusError, f"next: `c`: {given} is not an index below 4", m.next, given)
            self.refused(smoothc.StatusError, "nexts: `c`: 7 is not an index below 4 at [1]", m.nexts, [0, 7])
        strict = smoothc.compile(COLOURS, copy=False)
        self.assertEqual((strict.next("Red"), strict.nexts(["Red"]).tolist()), ("Green", [1]))
        self.refused(TypeError, "expected an array of int64", strict.nexts, np.array(["Red"]))
        m = smoothc.compile(COLOURS, records="dict")
        self.assertEqual(m.repaint(("Red", 1.0)), {"paint": "Green", "price": 1.0})
        hints = typing.get_type_hints(m.next)
        self.assertEqual((hints["c"], hints["return"]), (typing.Literal["Red", "Green", "Blue", "Next'"],) * 2)
        self.assertIn("c : Colour: 'Red', 'Green', 'Blue' or \"Next'\"\n", m.next.__doc__ or "")
        self.assertIn("c : Colour: int64 array of shape (n,), 0 for Red, 1 for Green, 2 for Blue, 3 for Next'\n", m.nexts.__doc__ or "")
        self.assertIn("m : Maybe: tag: int, 0 for Nothing, 1 for Just; just: (Colour: 'Red', 'Green'", m.maybe.__doc__ or "")

    def test_records_are_compared(self) -> None:
        m = self.m
        camera, odd = m.Camera(1.0, np.array([2.0, 3.0])), m.Odd_prime(1.0, np.ones(2), m.Camera(1.0, np.ones(2)))
        self.assertTrue(camera == m.Camera(1, [2, 3]) and not camera != m.Camera(1.0, np.array([2.0, 3.0])))
        for other in [m.Camera(1.0, np.zeros(2)), m.Camera(1.0, np.ones(3)), m.Camera(2.0, camera.centre), (1.0, camera.centre), None]:
            self.assertFalse(camera == other)
        self.assertEqual(odd, copy.deepcopy(odd))
        self.assertNotEqual(odd, dataclasses.replace(odd, inner=camera))
        self.assertEqual(m.moved(camera, [1, 1]), m.Camera(1.0, np.array([3.0, 4.0])))
        self.refused(TypeError, "unhashable", hash, camera)

    def test_values_of_sum_types_are_compared_by_their_case(self) -> None:
        m = smoothc.compile(SUMS)
        data = (np.ones(3), (3, True), ())
        for one, other, is_equal in [
            (m.Q(0, 1.0, *data), m.Q(0, 1.0, None, None, None), True),
            (m.Q(0, 1.0, *data), m.Q(0, 2.0, *data), False),
            (m.Q(1, 1.0, *data), m.Q(1, 2.0, [1, 1, 1], None, None), True),
            (m.Q(1, 1.0, *data), m.Q(1, 1.0, [1, 1, 2], *data[1:]), False),
            (m.Q(2, 1.0, *data), m.Q(2, 1.0, None, (3, True), None), True),
            (m.Q(2, 1.0, *data), m.Q(2, 1.0, None, (3, False), None), False),
            (m.Q(3, 1.0, *data), m.Q(3, 2.0, None, None, ()), True),
            (m.Q(3, 1.0, *data), m.Q(0, 1.0, *data), False),
        ]:
            self.assertEqual((one == other, one != other), (is_equal, not is_equal), f"{one} {other}")
        given = np.array([-1.0, 0.5, 2.0, 6.0])
        # memory that was freed is not shown
        for n in (4, 12):
            np.full(n, 7.0)
        found = m.many(given)
        self.assertEqual((found.some.c.tolist(), found.some.v[:, 0].tolist()), ([-1.0, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0]))
        self.assertEqual((found.some.n[0].tolist(), found.some.n[1].tolist()), ([0, 0, 3, 0], [False, False, True, False]))
        self.assertEqual(m.many([]), m.many([]))
        self.assertNotEqual(found, m.many(given[:3]))
        for where, is_equal in [((3, 0), True), ((2, 1), True), ((1, 2), False)]:
            changed = copy.deepcopy(found)
            changed.some.v[where] = 9.0
            self.assertEqual(found == changed, is_equal, where)
        changed.tag[:] = 0
        self.assertNotEqual(found, changed)
        self.assertTrue(m.isNone({"None": None}))

    def test_records_of_one_name(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "a.smooth").write_text("type P = { x: Double }\nlet inA (x: Double) : P = { x = x }\n")
            (folder / "b.smooth").write_text("type P = { y: Double; z: Double }\nlet inB (x: Double) : P = { y = x; z = x }\n")
            (folder / "main.smooth").write_text(
                'open "a.smooth"\nopen "b.smooth"\n'
                "type R' = { q: Double }\ntype R_prime = { q: Double }\n"
                "let one (x: Double) = (inA x, inB x, inA x)\nlet less (r: R') (s: R_prime) = r.q - s.q\nlet P_ (x: Double) = x\n"
            )
            m = smoothc.load(folder / "main.smooth", entries=["one", "less", "P_"])
        found = m.one(2.0)
        self.assertEqual(found, (m.P(2.0), m.P_(2.0, 2.0), m.P(2.0)))
        self.assertEqual(pickle.loads(pickle.dumps(found)), found)
        self.assertEqual((m.less(m.R_prime(3.0), m.R_prime_(1.0)), m.P__(1.0)), (2.0, 1.0))
        self.assertIsNot(m.R_prime, m.R_prime_)

    def test_types_of_functions(self) -> None:
        found = typing.get_type_hints(self.m.moved)
        self.assertEqual(found, {"c": self.m.Camera, "by": np.ndarray, "out": Any, "return": self.m.Camera})
        self.assertEqual(inspect.signature(self.m.element, eval_str=True).return_annotation, float)
        as_dicts = smoothc.compile(PROGRAM, records="dict", entries="moved")
        self.assertEqual(typing.get_type_hints(as_dicts.moved)["return"], dict)

    def test_docstrings_of_records_in_records(self) -> None:
        described = "o : Odd': from: float; x': float64 array of shape (2,); inner: (Camera: focal: float; centre: float64 array of shape (2,))\n"
        self.assertIn(described, self.m.odd.__doc__ or "")

    def test_names_that_are_taken(self) -> None:
        m = smoothc.compile(
            """
type Camera = { focal: Double }
let focal (c: Camera) = c.focal
let Camera (x: Double) = { focal = x }
let k (x: Double) = x
let n (x: Double) = x
let _library (x: Double) = x
let __doc__ (x: Double) = x
let both (k: Index) (v: Vector<k>) (i: Index<k>) (w: Vector<n>) (_u: Vector<n + k>) = v[i]
""",
            entries=["focal", "Camera", "k", "n", "_library", "__doc__", "both"],
        )
        self.assertEqual((m.focal(m.Camera(2.0)), m.Camera_(2.0), m["Camera"](2.0)), (2.0, m.Camera(2.0), m.Camera(2.0)))
        self.assertEqual(pickle.loads(pickle.dumps(m["Camera"]))(2.0), m.Camera(2.0))
        self.assertEqual((m._library_(2.0), m["_library"](2.0), m.__doc___(2.0), m["__doc__"](2.0)), (2.0,) * 4)
        self.assertEqual(m.both(2, [1, 2], 1, [1], [1, 2, 3]), 2.0)
        # in messages lengths have the names of the source, which are others in C
        self.refused(ValueError, "`v` has shape (1,), expected (k,) with k = 2", m.both, 2, [1], 1, [1], [1, 2, 3])
        self.refused(ValueError, "`_u` has shape (2,), expected (k + n,) with k = 2, n = 1 from `w`", m.both, 2, [1, 2], 1, [1], [1, 2])
        self.refused(smoothc.StatusError, "`i`: 2 is not an index below 2 (`k` = 2)", m.both, 2, [1, 2], 2, [1], [1, 2, 3])
        self.assertIn("w : float64 array of shape (n,)", m.both.__doc__)

    def test_arrays_of_nothing(self) -> None:
        m = smoothc.compile(
            """
let count (v: Array<Unit, n>) : Index = length v
let other (x: Double) = x
let units (n: Index) = build n (fun _ -> ())
let squares (v: Array<Array<Unit, m>, n>) (w: Vector<m>) = (length v + length w, build (length v) (fun _ -> build 2 (fun _ -> ())))
let same (v: Array<Unit, n>) (w: Vector<n>) = double (length v) * vectorSum w
let through (v: Array<Array<Unit, m> * Double, n>) = vectorMap v (fun q -> (fst q, snd q))
type Empty = { nothing: Unit; x: Double }
let field (e: Empty) = e.x
let unit (_u: Unit) = 1.0
let three (_v: Array<Unit, 3>) = 1.0
""",
            entries=["count", "other", "units", "squares", "same", "through", "field", "unit", "three"],
        )
        self.assertEqual(m.other(2.0), 2.0)
        for given in [3, np.int64(3), [(), (), ()], ((), (), ()), np.empty((3, 0)), [None] * 3, m.units(3)]:
            self.assertEqual(m.count(given), 3)
        self.assertEqual((m.count([]), m.count(()), m.units(2), m.units(0)), (0, 0, [(), ()], []))
        self.refused(ValueError, "count: `v`: -1 is no length", m.count, -1)
        for wrong in [1.5, True, None, "abc", [1.0, 2.0]]:
            self.refused(TypeError, "count: `v`: expected a list of () of shape (n,) or its length, found", m.count, wrong)
        self.refused(smoothc.StatusError, "SMOOTH_NEGATIVE", m.units, -1)
        self.assertEqual(m.squares([[(), ()]] * 3, [1, 2]), (5, [[(), ()]] * 3))
        self.assertEqual(m.squares([], [1, 2]), (2, []))
        self.refused(ValueError, "`v` has shape (3, 2), expected (n, m) with m = 1 from `w`", m.squares, [[(), ()]] * 3, [1])
        self.assertEqual(m.same(2, [1, 2]), 6.0)
        self.refused(ValueError, "`v` has shape (3,), expected (n,) with n = 2 from `w`", m.same, 3, [1, 2])
        units, numbers = m.through(m.through([([(), ()], 1.0)] * 3))
        self.assertEqual((units, numbers.tolist()), ([[(), ()]] * 3, [1.0] * 3))
        self.assertIn("v : list of () of shape (n,)", m.count.__doc__)
        for nothing in [(), None]:
            self.assertEqual((m.field({"nothing": nothing, "x": 2.0}), m.unit(nothing), m.three(3)), (2.0, 1.0, 1.0))
        for wrong in [3, "", [], "abc", (1,), np.ones(0)]:
            self.refused(TypeError, "unit: `_u`: expected () or None, found", m.unit, wrong)
            self.refused(TypeError, "field: `e.nothing`: expected () or None", m.field, {"nothing": wrong, "x": 2.0})
        self.refused(ValueError, "`_v` has shape (2,), expected (3,)", m.three, [(), ()])

    def test_bools_of_any_byte(self) -> None:
        text = """
type Mask = { on: Array<Bool, 6>; other: Double }
type Choice = All of Double | Some of Array<Bool, 6>
let sel (b: Array<Bool, n>) (x: Vector<2>) : Vector<n> = build n (fun i -> x[if b[i] then 1 else 0])
let inside (m: Mask) (x: Vector<2>) : Vector<6> = build 6 (fun i -> x[if m.on[i] then 1 else 0])
let pairs (p: Array<Bool, n> * Double) (x: Vector<2>) : Vector<n> = build n (fun i -> x[if (fst p)[i] then 1 else 0])
let rows (p: Array<Bool * Double, n>) (x: Vector<2>) : Vector<n> = build n (fun i -> x[if fst p[i] then 1 else 0])
let cases (c: Choice) (x: Vector<2>) : Vector<6> =
  match c with
  | All y -> build 6 (fun _ -> y)
  | Some b -> build 6 (fun i -> x[if b[i] then 1 else 0])
"""
        b = np.array([0, 1, 2, 3, 255, 128], np.uint8).view(bool)
        frozen = np.frombuffer(b.tobytes(), bool)
        fields = np.zeros(6, [("on", bool)])
        fields.view(np.uint8)[:] = b.view(np.uint8)
        wide = np.stack([b, b], 1)
        x, wanted = [10.0, 20.0], [10.0] + [20.0] * 5
        targets: list[dict[str, Any]] = [{}]
        if shutil.which(os.environ.get("FUTHARK") or "futhark"):
            targets.append({"target": "futhark"})
        for options in targets:
            m = smoothc.compile(text, **options)
            for given in [b, frozen, fields["on"], wide[:, 1], b[::-1][::-1].copy(), b.view(np.ndarray)]:
                self.assertEqual(m.sel(given, x).tolist(), wanted)
                self.assertEqual(m.inside({"on": given, "other": 1.0}, x).tolist(), wanted)
                self.assertEqual(m.inside(m.Mask(given, 1.0), x).tolist(), wanted)
                self.assertEqual(m.pairs((given, 1.0), x).tolist(), wanted)
                self.assertEqual(m.rows((given, np.ones(6)), x).tolist(), wanted)
                self.assertEqual(m.cases(m.Choice(1, 0.0, given), x).tolist(), wanted)
            self.assertEqual(m.sel(b[::-1], x).tolist(), wanted[::-1])
            self.assertEqual(m.sel(b[:0], x).tolist(), [])
        strict = smoothc.compile(text, copy=False, entries="sel")
        self.assertEqual(strict.sel(b[:2], x).tolist(), wanted[:2])
        self.refused(TypeError, "`b` has bytes other than 0 and 1, and a copy is refused by copy=False", strict.sel, b, x)

    def test_records(self) -> None:
        m = self.m

        @dataclasses.dataclass
        class Mine:
            focal: float
            centre: list[float]

        for camera in [{"focal": 2, "centre": [1, 2]}, m.Camera(2.0, np.array([1.0, 2.0])), Mine(2, [1, 2]), (2, [1, 2]), [2, (1, 2)]]:
            moved = m.moved(camera, [1, 1])
            self.assertEqual((type(moved), moved.focal, moved.centre.tolist()), (m.Camera, 2.0, [2.0, 3.0]))
        self.refused(TypeError, "`c` lacks `centre`; the fields of Camera are `focal` and `centre`", m.moved, {"focal": 1}, [1, 1])
        self.refused(TypeError, "`c` has `skew`, which a Camera has not", m.moved, {"focal": 1, "centre": [1, 2], "skew": 0}, [1, 1])
        self.refused(TypeError, "`c`: expected a Camera with `focal` and `centre`, found 3", m.moved, 3, [1, 1])
        self.refused(ValueError, "`c.centre` has shape (3,), expected (2,)", m.moved, m.Camera(1.0, np.ones(3)), [1, 1])
        many = {"focal": np.arange(3.0), "centre": np.ones((3, 2))}
        listed = [{"focal": at, "centre": [1, 1]} for at in range(3)]
        fields = np.zeros(3, [("focal", float), ("centre", float, 2)])
        fields["focal"] = np.arange(3)
        for cameras in [many, m.Camera(**many), listed, [m.Camera(**camera) for camera in listed], fields]:
            self.assertEqual(m.focals(cameras).tolist(), [0.0, 1.0, 2.0])
        self.assertEqual(m.focals([]).shape, (0,))
        as_dicts = smoothc.compile(PROGRAM, records="dict", entries="moved")
        self.assertEqual(as_dicts.moved((2, [1, 2]), [0, 0])["focal"], 2.0)

    def test_names_of_fields(self) -> None:
        m = self.m
        camera = m.Camera(1.0, np.array([2.0, 3.0]))
        odd = m.Odd_prime(from_=1.0, x_prime=np.array([10.0, 20.0]), inner=camera)
        self.assertEqual(m.odd(odd).from_, 14.0)
        self.assertEqual(m.odd({"from": 1.0, "x'": [10, 20], "inner": {"focal": 1, "centre": [2, 3]}}).from_, 14.0)
        slope = m.oddSlope(odd)
        self.assertEqual((slope.from_, slope.x_prime.tolist(), slope.inner.focal), (20.0, [0.0, 1.0], 20.0))
        out = m.Odd_prime(np.empty(()), np.empty(2), {"focal": np.empty(()), "centre": np.empty(2)})
        self.assertEqual(float(m.odd(odd, out=out).from_), 14.0)

    def test_names_of_fields_that_python_has_too(self) -> None:
        m = smoothc.compile("""
type P = { count: Double; index: Vector<2> }
let sum (p: P) = p.count + vectorSum p.index
let sums (ps: Array<P, n>) = vectorMap ps sum
type T = { shape: Vector<2>; T: Vector<2> }
let less (t: T) = vectorSum t.shape - vectorSum t.T
type M = { mro: Double; self: Double; cls: Double; MISSING: Double; fields: Double }
let same (m: M) : M = m
""")
        named = collections.namedtuple("named", ["index", "count"])([2, 3], 1.0)
        fields = {"count": 1, "index": [2, 3]}
        all_forms = [[1, [2, 3]], (1.0, (2, 3)), named, fields, m.P(1.0, np.array([2.0, 3.0])), Given(**fields)]
        for given in all_forms:
            self.assertEqual(m.sum(given), 6.0)
        self.assertEqual(m.sums(all_forms).tolist(), [6.0] * len(all_forms))
        self.assertEqual((m.less([[1, 2], [3, 4]]), m.less(([3, 4], [1, 2]))), (-4.0, 4.0))
        self.refused(TypeError, "expected a P with `count` and `index`, found a list", m.sum, [1.0])
        self.refused(TypeError, "expected a T with `shape` and `T`, found an array", m.less, np.ones((2, 2)))
        self.assertEqual(m.same([0, 1, 2, 3, 4]), m.M(0, 1, 2, 3, 4))
        self.assertEqual(m.same(m.M(mro=1, self=2, cls=3, MISSING=4, fields=5)).mro, 1.0)

    def test_shapes_inside_shapes(self) -> None:
        m = self.m
        grid = np.arange(12.0).reshape(2, 3, 2)
        for given in [grid, grid.tolist(), [[tuple(pair) for pair in row] for row in grid], (grid[..., 0].copy(), grid[..., 1])]:
            second, first = m.grid(given)
            self.assertEqual((second.tolist(), first.tolist()), (grid[..., 1].tolist(), grid[..., 0].tolist()))
        self.assertEqual([part.shape for part in m.grid([])], [(0, 0)] * 2)
        self.assertEqual(m.products(2, 3, np.ones(6), True, 1).tolist(), [6.0, 12.0, 18.0, 24.0, 30.0])
        self.assertEqual(m.products(2, 3, np.ones(6), False, 1).tolist(), [])
        self.refused(ValueError, "`v` has shape (5,), expected (n * m,) with n = 2, m = 3", m.products, 2, 3, np.ones(5), True, 1)
        (by_a, by_v), (one, zero) = m.shapes(np.arange(6.0).reshape(2, 3))
        self.assertEqual((by_a.tolist(), by_v.tolist(), one, zero.tolist()), ([3.0, 12.0], [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]], 1.0, [0.0] * 3))

    def test_tuples(self) -> None:
        m = self.m
        for pairs in [[(1, 2), (3, 4)], [[1, 2], [3, 4]], (np.array([1.0, 3.0]), np.array([2, 4]))]:
            indices, numbers = m.pairs(pairs)
            self.assertEqual((indices.tolist(), indices.dtype, numbers.tolist()), ([2, 4], np.int64, [1.0, 3.0]))
        self.assertEqual([part.shape for part in m.pairs([])], [(0,), (0,)])
        self.refused(ValueError, "`p[1]` has shape (2,), expected (n,) with n = 3 from `p[0]`", m.pairs, (np.ones(3), np.arange(2)))
        self.refused(TypeError, "expected an array of int64 of shape (n,), found an array of float64", m.pairs, (np.ones(3), np.ones(3)))

    def test_arrays(self) -> None:
        m, v = self.m, np.arange(3.0)
        wanted = np.sin(v) * np.sin(v).sum()
        buffer = np.frombuffer(bytearray(8 * 3 + 1), np.float64, 3, 1)
        buffer[:] = v
        fixed = v.copy()
        fixed.flags.writeable = False
        for given in [
            v,
            [0, 1, 2],
            (0, 1, 2),
            np.arange(6.0)[::2] / 2,
            v.astype(np.float32),
            np.arange(3),
            v.astype(">f8"),
            buffer,
            fixed,
            range(3),
            v.view(np.recarray),
        ]:
            np.testing.assert_allclose(m.weighed(given), wanted, rtol=1e-7)
        for empty in [[], np.empty(0), np.empty(0, np.float32)]:
            self.assertEqual(m.weighed(empty).shape, (0,))
        M = np.arange(6.0).reshape(2, 3)
        for given in [M, np.asfortranarray(M), M.tolist(), M[::-1][::-1]]:
            self.assertEqual(m.scaled(given, 2).tolist(), (2 * M).tolist())
        for shape in [(0, 3), (3, 0), (0, 0), (1, 1)]:
            self.assertEqual(m.scaled(np.ones(shape), 2.0).shape, shape)
        # NumPy has no type of such integers; each of them is as it is alone
        for integers in [[2**70, 1, 0.5], (2**70, 1, Fraction(1, 2)), np.array([2**70, 1, 0.5], object)]:
            self.assertEqual(m.halves(integers).tolist(), [2.0**70])
        self.refused(OverflowError, "`v`: the number does not fit in 64 bits", m.weighed, [10**400, 1])
        self.refused(OverflowError, f"`p[0]`: {2**70} does not fit in 64 bits", m.indices, ([2**70, 1], [1, 2]))
        for wrong in [[2**70, None], [2**70, "1"], [2**70, 1j]]:
            self.refused(TypeError, "expected an array of float64 of shape (n,), found an array of object", m.weighed, wrong)
        large = np.linspace(0, 1, 10**6)
        np.testing.assert_allclose(m.scaled(large.reshape(1000, 1000), 3.0).ravel(), 3 * large)
        self.refused(TypeError, "expected an array of float64 of shape (n,), found an array of complex128", m.weighed, v.astype(complex))
        self.refused(TypeError, "found an array of object", m.weighed, [None])
        self.refused(TypeError, "found an array of bool", m.weighed, [True])
        self.refused(ValueError, "`v` has shape (1, 3), expected (n,)", m.weighed, v[None])
        self.refused(ValueError, "`v` has shape (), expected (n,)", m.weighed, 1.0)
        self.refused(TypeError, "masked", m.weighed, np.ma.masked_array(v, v > 1))
        # n - 1 of no element is no length
        self.refused(ValueError, "`w` has shape (0,), expected (n - 1,) with n = 0 from `v`", m.rest, [], [])

    def test_numbers(self) -> None:
        m, v = self.m, np.arange(3.0)
        for index in [2, np.int64(2), np.uint8(2), np.array(2)]:
            self.assertEqual(m.element(v, index), 2.0)
        self.refused(TypeError, "`i`: expected an integer, found 1.0", m.element, v, 1.0)
        self.refused(TypeError, "`i`: expected an integer, found True", m.element, v, True)
        self.refused(OverflowError, "does not fit in 64 bits", m.element, v, 2**63)
        for number in [3, 3.0, np.float32(3), np.array(3.0), np.int8(3)]:
            self.assertEqual(m.f(number), 9.0)
        with warnings.catch_warnings():
            # nothing is lost on the way to the error
            warnings.simplefilter("error")
            for wrong in ["3", 3j, None, [3.0], np.ones(2), np.ones(1), np.complex128(3 + 4j), np.complex64(3), np.timedelta64(3, "s")]:
                self.refused(TypeError, "`x`: expected a number, found", m.f, wrong)
            for masked in [np.ma.masked, np.ma.masked_array(2.0, True)]:
                self.refused(TypeError, "f: `x`: a masked number has no value", m.f, masked)
        self.assertEqual(m.f(np.ma.masked_array(2.0)), 4.0)
        for large in [10**400, decimal.Decimal("1e400"), *([np.longdouble("1e400")] if np.finfo(np.longdouble).max > 1.8e308 else [])]:
            self.refused(OverflowError, "f: `x`: the number does not fit in 64 bits", m.f, large)
        for infinite in [np.longdouble(np.inf), decimal.Decimal("inf"), np.float16(np.inf)]:
            self.assertEqual(m.f(infinite), np.inf)
        self.refused(OverflowError, "`c.focal`: the number does not fit", m.moved, {"focal": 10**400, "centre": [1, 2]}, [1, 1])
        self.assertTrue(np.isnan(m.f(np.nan)))
        self.assertEqual(m.f(np.inf), np.inf)
        self.assertEqual((m.count(), type(m.count())), (3.0, float))
        self.assertEqual(m.pick([False, True], 1), (True, 2))
        self.assertEqual(m.pick(np.array([False, True]), np.int32(0)), (False, 2))
        self.refused(TypeError, "`b`: expected an array of bool of shape (n,), found an array of int64", m.pick, [1, 0], 1)

    def test_names_and_lengths(self) -> None:
        tall = self.m.tall
        found = tall(lambda_=[1, 2], out_=np.ones(4), _call=2, b=np.bool_(True), def_prime=3)
        self.assertEqual(found.tolist(), [[4.0, 4.0]] * 3)
        self.assertEqual(tall(np.ones(2), np.ones(4), 0, False, 1.0).shape, (3, 0))
        self.refused(ValueError, "`out` has shape (3,), expected (2 * n,) with n = 2 from `lambda`", tall, [1, 2], [1, 2, 3], 1, True, 1)
        self.refused(smoothc.StatusError, "SMOOTH_NEGATIVE", tall, [1, 2], [1, 2, 3, 4], -1, True, 1)
        self.assertEqual([self.m.halves(np.arange(n)).tolist() for n in (0.0, 1.0, 5.0)], [[], [], [0.0, 2.0]])
        self.assertEqual([self.m.doubled(n, 0.5).shape for n in (0, 3)], [(1,), (12,)])
        self.refused(ValueError, "`out` has shape (3,), the result has (12,)", lambda: self.m.doubled(3, 0.5, out=np.ones(3)))
        self.assertIn("float64 array of shape (ifold (fun s1 i1 -> 2 * s1 + i1) 1 n,)", self.m.doubled.__doc__)
        self.assertEqual([self.m.fibonacci(n, 0.5).shape for n in (0, 5)], [(1,), (8,)])
        self.assertIn("shape ((ifold (fun s1 i1 -> (s1.1, s1.1 + s1.0)) (0, 1) n).1,)", self.m.fibonacci.__doc__)
        self.assertEqual(self.m["f'"](3.0), self.m.f_prime(3.0))
        self.assertEqual(list(self.m), [entry for entry in self.m])
        self.assertIn("weighed (v: Vector<n>) : Vector<n>", repr(self.m))
        for part in ["Sines, weighed by their sum.", "v : float64 array of shape (n,)"]:
            self.assertIn(part, self.m.weighed.__doc__)
        self.refused(AttributeError, "has no entry `nothing`; its entries are moved, focals", getattr, self.m, "nothing")

    def test_out(self) -> None:
        m, v = self.m, np.arange(3.0)
        out = np.empty(3)
        self.assertIs(m.weighed(v, out=out), out)
        self.assertEqual(out.tolist(), m.weighed(v).tolist())
        number = np.empty(())
        self.assertEqual(float(m.f(3.0, out=number)), 9.0)
        record = m.Camera(np.empty(()), np.empty(2))
        self.assertIs(m.moved((2, [1, 2]), [0, 0], out=record), record)
        self.assertEqual((float(record.focal), record.centre.tolist()), (2.0, [1.0, 2.0]))
        given = {"focal": np.empty(()), "centre": np.empty(2)}
        self.assertIs(m.moved((2, [1, 2]), [0, 0], out=given), given)
        both = (np.empty(2, np.int64), np.empty(2))
        m.pairs([(1, 2), (3, 4)], out=both)
        self.assertEqual(both[0].tolist(), [2, 4])
        rows = np.zeros((2, 3))
        self.assertEqual(m.weighed(v, out=rows[1]).tolist(), out.tolist())
        self.assertEqual(rows.tolist(), [[0.0] * 3, out.tolist()])
        self.assertEqual(m.weighed(rows[1], out=rows[0]).tolist(), m.weighed(out).tolist())
        # the same object, a view of what is read, what is read a view, and two views
        for read, written in [(v, v), (v, v[:]), (out[:], out), (rows[0], rows[0])]:
            self.refused(ValueError, "`out` overlaps another array", m.weighed, read, out=written)
        self.refused(ValueError, "`out` is not aligned: results", m.weighed, v, out=np.empty(25, np.uint8)[1:].view(np.float64))
        swapped = np.dtype(np.float64).newbyteorder()
        order = "big" if swapped.byteorder == ">" else "little"
        self.refused(TypeError, f"float64 to write to, found an array of {order}-endian float64", m.weighed, v, out=np.empty(3, swapped))
        self.refused(TypeError, "expected an array of float64 to write to, found a list", m.weighed, v, out=[0.0, 0.0, 0.0])
        self.refused(ValueError, "`out` has shape (2,), the result has (3,)", m.weighed, v, out=np.empty(2))
        self.refused(TypeError, "expected an array of float64 to write to, found an array of float32", m.weighed, v, out=np.empty(3, np.float32))
        self.refused(ValueError, "not contiguous", m.weighed, v, out=np.empty(6)[::2])
        self.refused(TypeError, "expected a tuple of 2 arrays", m.pairs, [(1, 2)], out=np.empty(1))
        same = np.empty(2, np.int64)
        self.refused(ValueError, "overlaps", m.pairs, [(1, 2), (3, 4)], out=(same, same.view(np.float64)))
        out.flags.writeable = False
        self.refused(ValueError, "may not be written to", m.weighed, v, out=out)

    def test_words_for_what_was_found(self) -> None:
        m = smoothc.compile(
            "type Opt = | None | Some of Double\nlet f (o: Opt) = match o with None -> 0.0 | Some x -> x\nlet g (v: Vector<n>) = v[0]"
        )
        self.refused(TypeError, "`o`: expected an Opt, which is one of `None` and `Some` or has a `tag`, found an OrderedDict with", m.f, ODD)
        self.refused(TypeError, "expected an Opt with `tag` and `some`, found an object", m.f, object())
        pair = np.dtype([("a", np.float64)])
        for wrong, named in [
            (np.array(["x" * 32]), "text"),
            (["x"], "text"),
            (np.array([b"x"]), "bytes"),
            (np.zeros(1, pair), "records"),
            (np.array(["x"], ">U1"), "big-endian text"),
            (np.array([None]), "object"),
        ]:
            self.refused(TypeError, f"`v`: expected an array of float64 of shape (n,), found an array of {named}", m.g, wrong)

    def test_what_is_only_read_is_passed_as_it_is(self) -> None:
        program = (
            "let dot (a: Vector<n>) (b: Vector<n>) = vectorDot a b\nlet count (b: Array<Bool, n>) (i: Array<Index, n>) = if b[0] then i[0] else 0"
        )
        m = smoothc.compile(program)

        def none(*arguments: Any) -> Any:
            raise AssertionError("was converted")

        for entry in m:
            (converter,) = [name for name in m[entry].__func__.__globals__ if name.endswith("_convert")]
            m[entry].__func__.__globals__[converter] = none
        a, fixed = np.arange(3.0), np.arange(3.0)
        fixed.flags.writeable = False
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.npy"
            np.save(path, a)
            for mode in ["r", "r+", "c"]:
                mapped = np.load(path, mmap_mode=mode)
                self.assertEqual((m.dot(a, mapped), m.dot(mapped, fixed), m.dot(mapped[1:], a[:2])), (5.0, 5.0, 2.0))
            del mapped
        self.assertEqual((m.dot(fixed, fixed), m.dot(fixed[1:], fixed[:2]), m.dot(np.broadcast_to(2.0, (1,)), fixed[1:2])), (5.0, 2.0, 2.0))
        bits, numbers = np.frombuffer(b"\1\0", np.bool_), np.frombuffer(bytes(8) * 2, np.int64)
        self.assertEqual((m.count(bits, numbers), m.dot(fixed[:0], fixed[:0])), (0, 0.0))
        # what is not in order is a copy
        for wrong in [fixed[::2], fixed.astype(np.float32), np.zeros(17, np.uint8)[1:].view(np.float64), np.frombuffer(b"\2", np.bool_)]:
            with self.assertRaisesRegex(AssertionError, "was converted"):
                m.count(wrong, numbers[:1]) if wrong.dtype == bool else m.dot(wrong, wrong)

    def test_addresses_are_asked_of_numpy_where_its_arrays_are_others(self) -> None:
        text = (
            "import sys; sys.implementation.name = 'other'\n"
            "import numpy as np, smoothc\n"
            "m = smoothc.compile('let dot (a: Vector<n>) (b: Vector<n>) = vectorDot a b')\n"
            "a = np.arange(6.0)\n"
            "print(m.dot(a, a), m.dot(a[::2], a[1::2]), m.dot(np.broadcast_to(2.0, (3,)), a[:3]), m.dot([1.0], (2.0,)))\n"
        )
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("55.0 26.0 6.0 2.0\n", ""))

    def test_copies_are_refused_where_that_is_asked(self) -> None:
        strict = smoothc.compile(PROGRAM, copy=False, entries=["weighed", "scaled"])
        strict.weighed(np.arange(3.0))
        strict.weighed([1, 2])
        self.refused(TypeError, "is not contiguous in C order", strict.weighed, np.arange(6.0)[::2])
        self.refused(TypeError, "is an array of float32", strict.weighed, np.ones(3, np.float32))
        swapped = np.ones(3).astype(np.dtype(float).newbyteorder())
        self.refused(TypeError, "-endian float64, and a copy to an array of float64", strict.weighed, swapped)
        self.refused(TypeError, "found an array of object", strict.weighed, np.ones(3, object))
        self.refused(TypeError, "is not contiguous in C order", strict.scaled, np.asfortranarray(np.ones((2, 3))), 1.0)

    def test_floats(self) -> None:
        single = smoothc.compile(PROGRAM, real="f32", entries=["weighed", "f"])
        v = np.arange(3, dtype=np.float32)
        self.assertEqual(single.weighed(v).dtype, np.float32)
        np.testing.assert_allclose(single.weighed(v), self.m.weighed(v), rtol=1e-5)
        self.assertEqual(single.f(1 / 3), float(np.float32(np.float32(1 / 3) ** 2)))
        for number in [1e39, -1e39, np.float64(1e39)]:
            self.refused(OverflowError, f"f: `x`: {float(number)} does not fit in 32 bits", single.f, number)
        self.refused(OverflowError, "`v`: 1e+39 does not fit in 32 bits", single.weighed, [np.inf, 1e39])
        if np.finfo(np.longdouble).max > np.finfo(np.float64).max:
            self.refused(OverflowError, "`v`: 1e+400 does not fit in 64 bits", self.m.weighed, np.array(["1e400"], np.longdouble))
        self.assertEqual(single.f(-np.inf), np.inf)
        self.assertTrue(np.isnan(single.f(np.nan)) and np.isnan(single.weighed([np.inf])[0]))

    def test_statuses(self) -> None:
        with self.assertRaises(smoothc.StatusError) as caught:
            self.m.element([1.0], 1)
        self.assertEqual((caught.exception.status, caught.exception.code, caught.exception.entry), ("SMOOTH_BOUNDS", 1, "element"))
        self.assertIn("smoothc.StatusError: element:", traceback.format_exception_only(type(caught.exception), caught.exception)[0])
        for message, call, *arguments in [
            ("element: an array was read out of bounds (SMOOTH_BOUNDS); `smoothc eval`", self.m.element, [1.0], 1),
            ("pick: `t`: 2 is not an index below 2 (`n` = 2) (SMOOTH_RANGE)", self.m.pick, [True, False], 2),
            ("pick: `t`: -1 is not an index below 0 (`n` = 0)", self.m.pick, [], -1),
            ("picks: `t[1]`: 3 is not an index below 3 at [1][0]", self.m.picks, (1.0, [[0, 1], [3, 7]])),
        ]:
            with self.assertRaises(smoothc.StatusError) as caught:
                call(*arguments)
            self.assertIn(message, str(caught.exception))
            again = pickle.loads(pickle.dumps(caught.exception))
            self.assertEqual((str(again), again.code), (str(caught.exception), caught.exception.code))

    def test_no_room(self) -> None:
        for n in [2**62, 2**63 - 1]:
            self.refused(MemoryError, "long: there is no room for the result", self.m.long, n)
            self.refused(MemoryError, "stored needs more workspace than there are addresses", self.m.stored, n)

    def test_a_larger_workspace_is_deeper(self) -> None:
        m = self.m
        advice = "falling: recursion is deeper than the workspace has room for (SMOOTH_WORKSPACE); `workspace=BYTES` of `load`"
        self.refused(smoothc.StatusError, advice, m.falling, 1.0, 20_000)
        roomy = smoothc.compile(PROGRAM, workspace=1 << 20, entries=["falling", "weighed", "stored"])
        self.assertEqual(roomy.falling(1.0, 20_000), m.falling(1.0, 60))
        self.assertEqual(pickle.loads(pickle.dumps(roomy)).falling(1.0, 20_000), m.falling(1.0, 60))
        self.refused(smoothc.StatusError, advice, roomy.falling, 1.0, 1 << 20)
        # other workspaces are as large, and no smaller than they were
        self.assertEqual((roomy.stored(10), roomy.stored(200_000)), (m.stored(10), m.stored(200_000)))
        # in all threads, whatever they have called
        library = roomy._Module__library
        with ThreadPoolExecutor(1) as pool:
            self.assertEqual(pool.submit(roomy.falling, 1.0, 10).result(), m.falling(1.0, 10))
            library.set_workspace(16 << 20)
            self.assertEqual(pool.submit(roomy.falling, 1.0, 1 << 20).result(), m.falling(1.0, 60))
        # where each call needs none, too
        program = "let rec deep (x: Double) (n: Index) : Double = if n <= 0 then x else sin (deep x (n - 1)) + x"
        self.refused(smoothc.StatusError, "deep: recursion is deeper", smoothc.compile(program).deep, 0.5, 50_000)
        wanted = 0.5
        for _ in range(50_000):
            wanted = math.sin(wanted) + 0.5
        self.assertTrue(math.isclose(smoothc.compile(program, workspace=1 << 20).deep(0.5, 50_000), wanted))
        self.refused(ValueError, "workspace: expected a number of bytes, found -1", library.set_workspace, -1)
        self.refused(TypeError, "cannot be interpreted as an integer", smoothc.compile, PROGRAM, workspace=1e6)

    @unittest.skipIf(sys.platform == "win32", "a folder that a process is in stays")
    def test_a_working_directory_that_was_removed(self) -> None:
        text = (
            "import os, sys, tempfile, smoothc\n"
            "os.chdir(sys.argv[1]); os.rmdir(sys.argv[1])\n"
            "print(smoothc.load(sys.argv[2]).half(3.0))\n"
            "for call in (lambda: smoothc.compile('let f = 1.0'), lambda: smoothc.load('half.smooth')):\n"
            "    try:\n"
            "        call()\n"
            "    except FileNotFoundError as error:\n"
            "        print(error)\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            gone, program = Path(folder) / "gone", Path(folder) / "half.smooth"
            gone.mkdir()
            program.write_text("let half (x: Double) = x / 2.0")
            packages = str(Path(smoothc.__file__).parents[1])
            words = [sys.executable, "-c", text, str(gone), str(program)]
            environment = {**os.environ, "PYTHONPATH": packages, "SMOOTHC": os.path.abspath(smoothc.command())}
            done = subprocess.run(words, capture_output=True, text=True, env=environment)
        said = "the working directory was removed, and {} is found from there: go to one that is there with `os.chdir`\n"
        self.assertEqual((done.stdout, done.stderr), (f"1.5\n{said.format('what a program opens')}{said.format('half.smooth')}", ""))

    def test_texts_that_are_none(self) -> None:
        self.refused(TypeError, "compile: expected the text of a program, found bytes", smoothc.compile, b"let f = 1.0")
        self.refused(ValueError, "the text has '\\udc80' at 8, which is half a character", smoothc.compile, "let f = \udc80")

    @unittest.skipUnless(hasattr(signal, "setitimer"), "no timer here")
    def test_an_interrupt_comes_after_the_call(self) -> None:
        def interrupt(number: int, frame: Any) -> None:
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        out = np.zeros(1)
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with self.assertRaises(KeyboardInterrupt):
            self.m.slow(1.0, 10**8, out=out)
        self.assertEqual(out[0], 2.0)
        self.assertEqual(self.m.slow(1.0, 100)[0], 2.0)
        # the exception has the result, where there is one
        for call, wanted in [(self.m.slow, 2.0), (self.m.slowRecord, self.m.Camera(2.0, np.array([2.0, 2.0]))), (self.m.slowError, None)]:
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            with self.assertRaises(KeyboardInterrupt) as caught:
                call(1.0, 10**8)
            result = getattr(caught.exception, "result", None)
            if sys.version_info >= (3, 11):
                self.assertEqual(result, wanted)
                self.assertEqual(type(caught.exception.__cause__), smoothc.StatusError if wanted is None else type(None))
            else:
                self.assertIsNone(result)
        # in a thread of its own a call goes on
        with ThreadPoolExecutor(1) as pool:
            call = pool.submit(self.m.slow, 1.0, 10**8)
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            with self.assertRaises(KeyboardInterrupt):
                call.result()
                # where the call was done before
                time.sleep(60)
            self.assertEqual(call.result()[0], 2.0)

    def test_modules_entries_and_records_are_pickled(self) -> None:
        m = self.m
        self.assertIs(pickle.loads(pickle.dumps(m)), m)
        self.assertEqual(pickle.loads(pickle.dumps(m.f_prime)), m["f'"])
        for record in [m.Camera, m.Odd_prime]:
            self.assertIs(pickle.loads(pickle.dumps(record)), record)
        odd = m.Odd_prime(1.0, np.array([10.0, 20.0]), m.Camera(1.0, np.array([2.0, 3.0])))
        for again in [pickle.loads(pickle.dumps(odd)), copy.deepcopy(odd)]:
            self.assertEqual((type(again), type(again.inner), again.x_prime.tolist()), (m.Odd_prime, m.Camera, [10.0, 20.0]))
        for way in multiprocessing.get_all_start_methods():
            with multiprocessing.get_context(way).Pool(1) as pool:
                self.assertEqual(pool.map_async(m.f, [1.0, 2.0, 3.0]).get(60), [1.0, 4.0, 9.0])
                (moved,) = pool.starmap_async(m.moved, [(odd.inner, [1, 1])]).get(60)
                self.assertEqual((type(moved), moved.centre.tolist()), (m.Camera, [3.0, 4.0]))
                self.assertEqual(pool.apply_async(made, [m.Camera]).get(60), m.Camera(1.0, 2.0))

    @unittest.skipUnless(importlib.util.find_spec("cloudpickle"), "no cloudpickle here")
    def test_cloudpickle_sends_what_lambdas_mention(self) -> None:
        import cloudpickle  # type: ignore[import-untyped,unused-ignore]

        m = self.m
        Camera, Odd = m.Camera, m.Odd_prime

        def call() -> Any:
            moved = m.moved(Camera(1.0, np.ones(2)), [1, 1])
            same = [Camera(1.0, np.array([2, 2])) == moved, moved == Camera(1.0, [2, 2]), moved == Camera(1.0, [2, 3])]
            inner = m.odd(Odd(1.0, np.ones(2), Camera(1.0, np.ones(2)))) == Odd(3.0, np.ones(2), Camera(1.0, np.ones(2)))
            return [*same, inner], moved, Camera(3.0, np.zeros(2)), Camera, cloudpickle.dumps(moved)

        with tempfile.TemporaryDirectory() as folder:
            sent, came = Path(folder) / "sent", Path(folder) / "came"
            sent.write_bytes(cloudpickle.dumps(call))
            text = "import cloudpickle, sys; open(sys.argv[2], 'wb').write(cloudpickle.dumps(cloudpickle.load(open(sys.argv[1], 'rb'))()))"
            # what the compiler warns of here is no concern
            done = subprocess.run([sys.executable, "-c", text, str(sent), str(came)], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            same, moved, made, kind, again = cloudpickle.loads(came.read_bytes())
        self.assertEqual(same, [True, True, False, True])
        self.assertEqual((moved, made, cloudpickle.loads(again)), (Camera(1.0, [2, 2]), Camera(3.0, [0, 0]), Camera(1.0, [2, 2])))
        self.assertTrue(type(moved) is type(made) is kind is Camera)
        way_out = "`moved` is compiled code, which is not pickled by value, as `cloudpickle` does: send its module"
        self.refused(pickle.PicklingError, way_out, cloudpickle.dumps, m.moved)
        function = m.moved
        self.refused(pickle.PicklingError, way_out, cloudpickle.dumps, lambda: function)

    def test_threads_have_a_workspace_each(self) -> None:
        failures: list[int] = []

        def work(seed: int) -> None:
            for at in range(200):
                v = np.linspace(seed, seed + 1, 1 + (at * 37 + seed) % 500)
                if not np.allclose(self.m.weighed(v), np.sin(v) * np.sin(v).sum()):
                    failures.append(seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_forked_processes(self) -> None:
        self.m.weighed(np.ones(3))
        self.assertEqual(in_child(lambda: self.m.weighed(np.ones(3)).tolist()), self.m.weighed(np.ones(3)).tolist())
        text = "let sines (v: Vector<n>) = vectorMap v sin"
        sines, other = smoothc.compile(text, parallel=True), smoothc.compile("let cosines (v: Vector<n>) = vectorMap v cos", parallel=True)
        v = np.zeros(100_000)
        # threads start in the child
        self.assertEqual(in_child(lambda: sines.sines(v).sum()), 0.0)
        self.assertEqual(sines.sines(v).sum(), 0.0)
        # they belong to the process: no other library may start them anew in a child, one that the child loads or is sent as little
        for call in [lambda: sines.sines(v), lambda: other.cosines(v), lambda: smoothc.compile(text, parallel=True).sines(v)]:
            self.assertIn("was forked", str(in_child(call)))
        with multiprocessing.get_context("fork").Pool(1) as pool, self.assertRaisesRegex(RuntimeError, "was forked"):
            pool.map_async(sum_of_sines, [sines]).get(60)


def made(record: Any) -> Any:
    return record(1.0, 2.0)


def sum_of_sines(m: smoothc.Module) -> float:
    return float(m.sines(np.zeros(100_000)).sum())


def in_child(call: Any) -> Any:
    """What a call gives in a forked process, or its error."""
    receive, send = multiprocessing.Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        try:
            send.send(call())
        except RuntimeError as problem:
            send.send(str(problem))
        finally:
            os._exit(0)
    found = receive.recv() if receive.poll(60) else "nothing came back"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return found


if __name__ == "__main__":
    unittest.main()
