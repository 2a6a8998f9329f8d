"""What a call costs beside what is computed: `python python/examples/call_overhead.py`.

In: nothing. Out: a table of microseconds a call, the least of several runs, for entries of a few small arrays; the same through NumPy, and through
jax.jit and CasADi where they are installed.
"""

from __future__ import annotations

import timeit
from typing import Any, Callable

import numpy as np

import smoothc

PROGRAM = """
let square (x: Double) = x * x
let dot (a: Vector<n>) (b: Vector<n>) : Double = vectorDot a b
let sum (a: Vector<n>) : Vector<n> = a + a
let misfit (circle: Vector<3>) (points: Matrix<n, 2>) : Double =
  0.5 * vectorSum (vectorMap points (fun p ->
    let d = hypot (p[0] - circle[0]) (p[1] - circle[1]) - circle[2]
    d * d))
let weighed (v: Vector<n>) : Double = let w = vectorMap v sin in vectorSum (vectorMap w (fun x -> x * vectorSum w))
"""


def microseconds(call: Callable[[], Any]) -> float:
    call()
    number = 20000
    return min(timeit.repeat(call, number=number, repeat=7)) / number * 1e6


def main() -> None:
    m = smoothc.compile(PROGRAM, derive="gradient:misfit")
    a, circle, points = np.arange(3.0), np.array([0.0, 0.0, 1.0]), np.ones((4, 2))
    out = np.empty(3)
    rows: list[tuple[str, Callable[[], Any]]] = [
        ("square x", lambda: m.square(2.0)),
        ("dot a b", lambda: m.dot(a, a)),
        ("misfit circle points", lambda: m.misfit(circle, points)),
        ("its gradient", lambda: m.misfit_gradient(circle, points)),
        ("its gradient, out=", lambda: m.misfit_gradient(circle, points, out=out)),
        ("with workspace", lambda: m.weighed(a)),
        ("lists in place of arrays", lambda: m.dot([0.0, 1.0, 2.0], [0.0, 1.0, 2.0])),
        ("numpy: a @ b", lambda: a @ a),
        ("numpy: misfit", lambda: 0.5 * np.sum((np.hypot(points[:, 0] - circle[0], points[:, 1] - circle[1]) - circle[2]) ** 2)),
    ]
    try:
        import jax  # type: ignore[import-not-found,unused-ignore]

        jax.config.update("jax_enable_x64", True)
        jitted = jax.jit(lambda x, y: x @ y)
        rows.append(("jax.jit: a @ b", lambda: float(jitted(a, a))))
    except ImportError:
        pass
    try:
        import casadi  # type: ignore[import-not-found,unused-ignore]

        x, y = casadi.SX.sym("x", 3), casadi.SX.sym("y", 3)
        function = casadi.Function("dot", [x, y], [casadi.dot(x, y)])
        rows.append(("casadi.Function: a . b", lambda: float(function(a, a))))
    except ImportError:
        pass
    for name, call in rows:
        print(f"{name:28} {microseconds(call):7.2f} us")


if __name__ == "__main__":
    main()
