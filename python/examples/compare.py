"""SciPy with derivatives of smoothc, with differences and with JAX: `python python/examples/compare.py [problem-49-7776-pre.txt]`.

In: for the last rows a file of "Bundle Adjustment in the Large". Out: a table: the time of one derivative (a Hessian, a product with it, a Jacobian),
and the time from the start to the same cost, which each row of a problem must reach; of a differential equation to the end, with the same tolerances.
The rows of a problem take turns, and the least times are shown. JAX's functions are compiled before the time is taken. Rows of what is not installed
say so.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bundle_adjustment import Fit, read
from scipy.integrate import solve_ivp  # type: ignore[import-untyped,unused-ignore]
from scipy.optimize import approx_fprime, least_squares, minimize  # type: ignore[import-untyped,unused-ignore]
from scipy.optimize._numdiff import approx_derivative, group_columns  # type: ignore[import-untyped,unused-ignore]
from scipy.sparse import csr_matrix  # type: ignore[import-untyped,unused-ignore]

import smoothc

try:
    import jax  # type: ignore[import-not-found,unused-ignore]
    import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]

    jax.config.update("jax_enable_x64", True)
    HAS_JAX = True
except ImportError:
    HAS_JAX = False

PROGRAM = """
/// The function of Rosenbrock.
let valley (x: Vector<n>) : Double =
  vectorSum (build (n - 1) (fun i -> 100.0 * (x[i + 1] - x[i] * x[i]) ** 2.0 + (1.0 - x[i]) ** 2.0))

let valleyGradient (x: Vector<n>) : Vector<n> = gradient valley x

/// A reaction of two substances that diffuse along a line (the Brusselator).
let rates (y: Matrix<n, 2>) : Matrix<n, 2> =
  let spread = 0.02 * double (n + 1) * double (n + 1)
  build n (fun i ->
    let u = y[i][0]
    let v = y[i][1]
    let leftU = if i > 0 then y[i - 1][0] else 1.0
    let leftV = if i > 0 then y[i - 1][1] else 3.0
    let rightU = if i < n - 1 then y[i + 1][0] else 1.0
    let rightV = if i < n - 1 then y[i + 1][1] else 3.0
    [ 1.0 + u * u * v - 4.0 * u + spread * (leftU - 2.0 * u + rightU),
      3.0 * u - u * u * v + spread * (leftV - 2.0 * v + rightV) ])
"""


class Reached(Exception):
    """The cost is low enough."""


@dataclass
class Row:
    """One way to derivatives."""

    name: str
    derivative: Callable[[], Any]
    solve: Callable[[], Any]


def until(cost: float, function: Callable[[Any], Any], measure: Callable[[Any], Any] = lambda value: value) -> Callable[[Any], Any]:
    """The function, whose first value of this cost ends the search."""

    def watched(x: Any) -> Any:
        value = function(x)
        if measure(value) <= cost:
            raise Reached
        return value

    return watched


def reaching(search: Callable[[], Any]) -> Callable[[], None]:
    """A search that must get to its cost."""

    def run() -> None:
        try:
            found = search()
        except Reached:
            return
        raise RuntimeError(f"the search ended before its cost: {found}")

    return run


def seconds(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def report(problem: str, rows: list[Row], turns: int) -> None:
    """Prints the rows of a problem."""
    for row in rows:
        row.derivative()
    once, whole = [float("inf")] * len(rows), [float("inf")] * len(rows)
    for _ in range(turns):
        for at, row in enumerate(rows):
            once[at] = min(once[at], *(seconds(row.derivative) for _ in range(7)))
            whole[at] = min(whole[at], seconds(row.solve))
    for at, row in enumerate(rows):
        print(f"| {'' if at else problem} | {row.name} | {once[at] * 1e6:.0f} | {whole[at]:.3f} |")
    if not HAS_JAX:
        print("| | JAX | not installed | |")
    sys.stdout.flush()


def numpy(call: Callable[..., Any]) -> Callable[..., Any]:
    """A function of JAX with a result of NumPy."""
    return lambda *arguments: np.asarray(call(*arguments))


def valley_of_jax(x: Any) -> Any:
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


COST = 1e-12


def exact(n: int) -> None:
    """The whole Hessian."""
    m = smoothc.compile(PROGRAM, derive="hessian:valley")
    start = np.full(n, -1.0)

    def row(name: str, value: Any, slope: Any, hessian: Any) -> Row:
        def search() -> Any:
            return minimize(until(COST, value), start, method="trust-exact", jac=slope, hess=hessian, options={"gtol": 1e-9})

        return Row(name, lambda: hessian(start), reaching(search))

    rows = [
        row("smoothc", m.valley, m.valleyGradient, m.valley_hessian),
        row("differences of smoothc's gradient", m.valley, m.valleyGradient, lambda x: approx_fprime(x, m.valleyGradient)),
    ]
    if HAS_JAX:
        f = valley_of_jax
        rows.append(row("JAX", numpy(jax.jit(f)), numpy(jax.jit(jax.grad(f))), numpy(jax.jit(jax.hessian(f)))))
    report(f"`minimize`, trust-exact, Rosenbrock in {n} variables, to cost {COST:.0e}: Hessian", rows, 5)


def krylov(n: int) -> None:
    """The Hessian times a vector."""
    m = smoothc.compile(PROGRAM, derive="jvp:valleyGradient")
    start = np.full(n, -1.0)
    along = np.cos(np.arange(n))

    def row(name: str, value: Any, slope: Any, times: Any) -> Row:
        def search() -> Any:
            return minimize(until(COST, value), start, method="trust-krylov", jac=slope, hessp=times, options={"gtol": 1e-9})

        return Row(name, lambda: times(start, along), reaching(search))

    def differences(x: Any, p: Any) -> Any:
        step = 1.5e-8 * max(1.0, float(np.linalg.norm(x))) / float(np.linalg.norm(p))
        return (m.valleyGradient(x + step * p) - m.valleyGradient(x)) / step

    rows = [
        row("smoothc", m.valley, m.valleyGradient, m.valleyGradient_jvp),
        row("differences of smoothc's gradient", m.valley, m.valleyGradient, differences),
    ]
    if HAS_JAX:
        slope = jax.grad(valley_of_jax)
        times = jax.jit(lambda x, p: jax.jvp(slope, (x,), (p,))[1])
        rows.append(row("JAX", numpy(jax.jit(valley_of_jax)), numpy(jax.jit(slope)), numpy(times)))
    report(f"`minimize`, trust-krylov, Rosenbrock in {n} variables, to cost {COST:.0e}: Hessian times vector", rows, 5)


def reaction(n: int) -> None:
    m = smoothc.compile(PROGRAM, derive="jacobian:rates")
    places = np.arange(1, n + 1) / (n + 1)
    start = np.column_stack([1 + np.sin(2 * np.pi * places), np.full(n, 3.0)]).ravel()
    size = 2 * n

    def solve(right_side: Any, **more: Any) -> Any:
        return solve_ivp(right_side, (0, 10), start, method="BDF", rtol=1e-6, atol=1e-8, **more)

    def row(name: str, right_side: Any, jacobian: Any) -> Row:
        return Row(name, lambda: jacobian(0, start), lambda: solve(right_side, jac=jacobian))

    def rates(t: float, y: Any) -> Any:
        return m.rates(y.reshape(n, 2)).ravel()

    def jacobian(t: float, y: Any) -> Any:
        return m.rates_jacobian(y.reshape(n, 2)).reshape(size, size)

    rows = [
        row("smoothc", rates, jacobian),
        Row("differences", lambda: approx_fprime(start, lambda y: rates(0, y)), lambda: solve(rates)),
    ]
    if HAS_JAX:

        def function(y: Any) -> Any:
            y = y.reshape(n, 2)
            u, v = y[:, 0], y[:, 1]
            left, right = jnp.vstack([jnp.array([1.0, 3.0]), y[:-1]]), jnp.vstack([y[1:], jnp.array([1.0, 3.0])])
            spread = 0.02 * (n + 1) ** 2 * (left - 2 * y + right)
            return (jnp.column_stack([1 + u * u * v - 4 * u, 3 * u - u * u * v]) + spread).ravel()

        value, derivative = jax.jit(function), jax.jit(jax.jacfwd(function))
        rows.append(row("JAX", lambda t, y: np.asarray(value(y)), lambda t, y: np.asarray(derivative(y))))
    report(f"`solve_ivp`, BDF, a reaction with diffusion, {size} unknowns: Jacobian", rows, 5)


def bundle(path: Path) -> None:
    fit = Fit(read(path))
    cost = 1.35e4
    common: dict[str, Any] = {"tr_solver": "lsmr", "tr_options": {"maxiter": 100}, "x_scale": "jac", "ftol": 1e-9}

    def row(name: str, residuals: Any, derivative: Any, **how: Any) -> Row:
        def search() -> Any:
            return least_squares(until(cost, residuals, lambda r: 0.5 * r @ r), fit.start, **how, **common)

        return Row(name, lambda: derivative(fit.start), reaching(search))

    pattern = fit.jacobian(fit.start)
    pattern.data[:] = 1
    groups = group_columns(pattern)
    rows = [
        row("smoothc", fit.residuals, fit.jacobian, jac=fit.jacobian),
        row(
            "differences, with the pattern",
            fit.residuals,
            lambda x: approx_derivative(fit.residuals, x, "2-point", sparsity=(pattern, groups)),
            jac_sparsity=pattern,
        ),
    ]
    if HAS_JAX:

        def residual(both: Any, seen: Any) -> Any:
            turn, rest, at = both[:3], both[3:9], both[9:]
            angle = jnp.sqrt(turn @ turn)
            axis = turn / angle
            turned = at * jnp.cos(angle) + jnp.cross(axis, at) * jnp.sin(angle) + axis * (axis @ at) * (1 - jnp.cos(angle))
            moved = turned + rest[:3]
            flat = -moved[:2] / moved[2]
            far = flat @ flat
            return flat * rest[3] * (1 + rest[4] * far + rest[5] * far * far) - seen

        def arguments(x: Any) -> tuple[Any, Any]:
            cameras, points, camera, point, observed = fit.arguments(x)
            return np.hstack([cameras[camera], points[point]]), observed

        value, derivative = jax.jit(jax.vmap(residual)), jax.jit(jax.vmap(jax.jacfwd(residual)))
        shape = pattern.shape

        def jacobian(x: Any) -> Any:
            return csr_matrix((np.asarray(derivative(*arguments(x))).ravel(), pattern.indices, pattern.indptr), shape)

        assert np.allclose(np.asarray(value(*arguments(fit.start))).ravel(), fit.residuals(fit.start), atol=1e-6)
        rows.append(row("JAX", lambda x: np.asarray(value(*arguments(x))).ravel(), jacobian, jac=jacobian))
    report(f"`least_squares`, {len(fit.problem.cameras)} cameras, to cost {cost:.2e}: sparse Jacobian", rows, 3)


if __name__ == "__main__":
    print("| problem | derivatives by | one derivative, µs | solution, s |\n| --- | --- | ---: | ---: |")
    exact(100)
    krylov(1000)
    reaction(100)
    if len(sys.argv) > 1:
        bundle(Path(sys.argv[1]))
