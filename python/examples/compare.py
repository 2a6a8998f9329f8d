"""SciPy with derivatives of smoothc, with differences and with JAX: `python python/examples/compare.py [problem-49-7776-pre.txt]`.

In: for the last rows a file of "Bundle Adjustment in the Large". Out: a table: the time of one derivative (a Hessian, a Jacobian) and of the whole
solution, the least of several runs. JAX's functions are compiled before the time is taken. Rows of what is not installed are left out.
"""

from __future__ import annotations

import sys
import timeit
from collections.abc import Callable
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


def report(problem: str, derivative: str, evaluate: Callable[[], Any], solve: Callable[[], Any]) -> None:
    """Prints one row."""
    evaluate()
    once = min(timeit.repeat(evaluate, number=3, repeat=7)) / 3
    whole = min(timeit.repeat(solve, number=1, repeat=3))
    print(f"| {problem} | {derivative} | {once * 1e6:.0f} | {whole:.2f} |", flush=True)


def valley(n: int) -> None:
    m = smoothc.compile(PROGRAM, derive=["hessian:valley", "jvp:valleyGradient"])
    start = np.full(n, -1.0)
    problem = f"`minimize`, trust-exact, {n} variables"
    common: dict[str, Any] = {"method": "trust-exact", "options": {"gtol": 1e-6}}
    report(
        problem, "smoothc", lambda: m.valley_hessian(start), lambda: minimize(m.valley, start, jac=m.valleyGradient, hess=m.valley_hessian, **common)
    )

    def differences(x: Any) -> Any:
        return approx_fprime(x, m.valleyGradient)

    report(
        problem,
        "differences of smoothc's gradient",
        lambda: differences(start),
        lambda: minimize(m.valley, start, jac=m.valleyGradient, hess=differences, **common),
    )
    if HAS_JAX:

        def function(x: Any) -> Any:
            return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

        value, slope, hessian = jax.jit(function), jax.jit(jax.grad(function)), jax.jit(jax.hessian(function))
        numpy: Callable[[Any], Callable[[Any], Any]] = lambda call: lambda x: np.asarray(call(x))  # noqa: E731
        report(problem, "JAX", lambda: numpy(hessian)(start), lambda: minimize(numpy(value), start, jac=numpy(slope), hess=numpy(hessian), **common))


def reaction(n: int) -> None:
    m = smoothc.compile(PROGRAM, derive="jacobian:rates")
    places = np.arange(1, n + 1) / (n + 1)
    start = np.column_stack([1 + np.sin(2 * np.pi * places), np.full(n, 3.0)]).ravel()
    problem = f"`solve_ivp`, BDF, {2 * n} unknowns"
    size = 2 * n

    def rates(t: float, y: Any) -> Any:
        return m.rates(y.reshape(n, 2)).ravel()

    def jacobian(t: float, y: Any) -> Any:
        return m.rates_jacobian(y.reshape(n, 2)).reshape(size, size)

    report(problem, "smoothc", lambda: jacobian(0, start), lambda: solve_ivp(rates, (0, 10), start, method="BDF", jac=jacobian, rtol=1e-6, atol=1e-8))
    report(
        problem,
        "differences",
        lambda: approx_fprime(start, lambda y: rates(0, y)),
        lambda: solve_ivp(rates, (0, 10), start, method="BDF", rtol=1e-6, atol=1e-8),
    )
    if HAS_JAX:

        def function(y: Any) -> Any:
            y = y.reshape(n, 2)
            u, v = y[:, 0], y[:, 1]
            left, right = jnp.vstack([jnp.array([1.0, 3.0]), y[:-1]]), jnp.vstack([y[1:], jnp.array([1.0, 3.0])])
            spread = 0.02 * (n + 1) ** 2 * (left - 2 * y + right)
            return (jnp.column_stack([1 + u * u * v - 4 * u, 3 * u - u * u * v]) + spread).ravel()

        value, derivative = jax.jit(function), jax.jit(jax.jacfwd(function))
        right_side, slopes = lambda t, y: np.asarray(value(y)), lambda t, y: np.asarray(derivative(y))  # noqa: E731
        report(
            problem, "JAX", lambda: slopes(0, start), lambda: solve_ivp(right_side, (0, 10), start, method="BDF", jac=slopes, rtol=1e-6, atol=1e-8)
        )


def bundle(path: Path) -> None:
    fit = Fit(read(path))
    problem = f"`least_squares`, {len(fit.problem.cameras)} cameras, 4 evaluations"
    common: dict[str, Any] = {"tr_solver": "lsmr", "tr_options": {"maxiter": 100}, "x_scale": "jac", "ftol": 1e-6, "max_nfev": 4}
    report(problem, "smoothc", lambda: fit.jacobian(fit.start), lambda: least_squares(fit.residuals, fit.start, fit.jacobian, **common))
    pattern = fit.jacobian(fit.start)
    pattern.data[:] = 1
    groups = group_columns(pattern)
    report(
        problem,
        "differences, with the pattern",
        lambda: approx_derivative(fit.residuals, fit.start, "2-point", sparsity=(pattern, groups)),
        lambda: least_squares(fit.residuals, fit.start, jac_sparsity=pattern, **common),
    )
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
        report(
            problem,
            "JAX",
            lambda: jacobian(fit.start),
            lambda: least_squares(lambda x: np.asarray(value(*arguments(x))).ravel(), fit.start, jacobian, **common),
        )


if __name__ == "__main__":
    print("| problem | derivatives by | one derivative, µs | solution, s |\n| --- | --- | --- | --- |")
    valley(100)
    reaction(100)
    if len(sys.argv) > 1:
        bundle(Path(sys.argv[1]))
