"""What a call costs beside what is computed: `python python/examples/call_overhead.py`.

In: nothing. Out: a table of microseconds a call, for entries of a few small arrays; the same through NumPy, jax.jit and CasADi, or a word that one is
not installed. Rows take turns, and the least time of many turns is shown: other work on the machine meets them all.

JAX and CasADi are called in two ways: with NumPy arrays in and out, as smoothc is, and in the way that costs each of them least.
"""

from __future__ import annotations

import timeit
from typing import Any, Callable

import numpy as np

import smoothc

PROGRAM = """
let square (x: Double) = x * x
let dot (a: Vector<n>) (b: Vector<n>) : Double = vectorDot a b
let twice (a: Vector<n>) : Vector<n> = a + a
let misfit (circle: Vector<3>) (points: Matrix<n, 2>) : Double =
  0.5 * vectorSum (vectorMap points (fun p ->
    let d = hypot (p[0] - circle[0]) (p[1] - circle[1]) - circle[2]
    d * d))
let weighed (v: Vector<n>) : Double = let w = vectorMap v sin in vectorSum (vectorMap w (fun x -> x * vectorSum w))
"""
TURNS = 200
CALLS = 200
"""So many of a row in one turn; of what takes long, one."""

Row = tuple[str, Callable[[], Any]]
CIRCLE, POINTS = np.array([0.0, 0.0, 1.0]), np.array([[0.0, 1.5], [1.0, 1.0], [-2.0, 0.5], [0.5, -1.0]])


def by_numpy() -> float:
    return float(0.5 * np.sum((np.hypot(POINTS[:, 0] - CIRCLE[0], POINTS[:, 1] - CIRCLE[1]) - CIRCLE[2]) ** 2))


def measure(rows: list[Row]) -> list[float]:
    """Microseconds a call."""
    numbers = [CALLS if min(timeit.repeat(call, number=1, repeat=5)) < 1e-4 else 1 for _, call in rows]
    least = [float("inf")] * len(rows)
    for _ in range(TURNS):
        for at, (_, call) in enumerate(rows):
            least[at] = min(least[at], timeit.timeit(call, number=numbers[at]) / numbers[at])
    return [seconds * 1e6 for seconds in least]


def own() -> list[Row]:
    m = smoothc.compile(PROGRAM, derive="gradient:misfit")
    a, slope = np.arange(3.0), np.empty(3)
    many = np.arange(1e6)
    room = np.empty_like(many)
    fixed = a.copy()
    fixed.flags.writeable = False
    return [
        ("square x", lambda: m.square(2.0)),
        ("dot a b, three numbers each", lambda: m.dot(a, a)),
        ("dot, read-only arrays", lambda: m.dot(fixed, fixed)),
        ("misfit circle points, four points", lambda: m.misfit(CIRCLE, POINTS)),
        ("its gradient", lambda: m.misfit_gradient(CIRCLE, POINTS)),
        ("its gradient, out=", lambda: m.misfit_gradient(CIRCLE, POINTS, out=slope)),
        ("an entry with workspace", lambda: m.weighed(a)),
        ("dot, lists in place of arrays", lambda: m.dot([0.0, 1.0, 2.0], [0.0, 1.0, 2.0])),
        ("a + a, a million numbers", lambda: m.twice(many)),
        ("a + a, a million numbers, out=", lambda: m.twice(many, out=room)),
        ("NumPy: a @ b", lambda: a @ a),
        ("NumPy: the misfit", by_numpy),
    ]


def with_jax() -> list[Row]:
    import jax  # type: ignore[import-not-found,unused-ignore]
    import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]

    jax.config.update("jax_enable_x64", True)

    def misfit(circle: Any, points: Any) -> Any:
        return 0.5 * jnp.sum((jnp.hypot(points[:, 0] - circle[0], points[:, 1] - circle[1]) - circle[2]) ** 2)

    value, slope = jax.jit(misfit), jax.jit(jax.grad(misfit))
    circle, points = jnp.asarray(CIRCLE), jnp.asarray(POINTS)
    assert np.isclose(value(circle, points), by_numpy())
    return [
        ("jax.jit: the misfit", lambda: value(CIRCLE, POINTS).item()),
        ("jax.jit: its gradient", lambda: np.asarray(slope(CIRCLE, POINTS))),
        ("jax.jit: the misfit, arrays of JAX", lambda: value(circle, points).block_until_ready()),
        ("jax.jit: its gradient, arrays of JAX", lambda: slope(circle, points).block_until_ready()),
    ]


def with_casadi() -> list[Row]:
    import casadi  # type: ignore[import-not-found,unused-ignore]

    circle, points = casadi.SX.sym("circle", 3), casadi.SX.sym("points", 4, 2)
    far = casadi.sqrt((points[:, 0] - circle[0]) ** 2 + (points[:, 1] - circle[1]) ** 2) - circle[2]
    misfit = 0.5 * casadi.sumsqr(far)
    value = casadi.Function("misfit", [circle, points], [misfit])
    slope = casadi.Function("slope", [circle, points], [casadi.gradient(misfit, circle)])

    def buffered(function: Any, size: int) -> tuple[Callable[[], Any], Any]:
        """What calls a function with memory that is told once; columns come one after the other."""
        buffer, call = function.buffer()
        inputs: list[Any] = [CIRCLE.copy(), POINTS.ravel(order="F").copy()]
        out: Any = np.empty(size)
        for at, given in enumerate(inputs):
            buffer.set_arg(at, memoryview(given))
        buffer.set_res(0, memoryview(out))
        # the buffer and what it points to live as long as what calls it
        return lambda _=(buffer, inputs): call(), out

    call_value, number = buffered(value, 1)
    call_slope, gradient = buffered(slope, 3)
    call_value(), call_slope()
    assert np.isclose(number[0], by_numpy()) and np.allclose(gradient, slope(CIRCLE, POINTS).full().ravel())
    return [
        ("casadi.Function: the misfit", lambda: float(value(CIRCLE, POINTS))),
        ("casadi.Function: its gradient", lambda: slope(CIRCLE, POINTS).full()),
        ("casadi.Function.buffer: the misfit", call_value),
        ("casadi.Function.buffer: its gradient", call_slope),
    ]


def main() -> None:
    rows = own()
    missing = []
    for name, more in (("jax.jit", with_jax), ("casadi.Function", with_casadi)):
        try:
            rows += more()
        except ImportError:
            missing.append(name)
    for (row, _), microseconds in zip(rows, measure(rows)):
        print(f"{row:38} {microseconds:8.2f} us")
    for name in missing:
        print(f"{name:38} not installed")


if __name__ == "__main__":
    main()
