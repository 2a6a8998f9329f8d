"""Gradients on a GPU beside the processor's cores and JAX: `python python/examples/gpu.py [cuda|hip|opencl|multicore]`.

Out: a table, the time of a call with NumPy arrays in and out: emitted C in one thread and in all, the same program by the Futhark compiler, and JAX
on its own device. JAX has float64, and its functions are compiled before the time is taken. Rows of what is not installed are left out. A value
that differs from that of C ends the program.
"""

from __future__ import annotations

import sys
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import smoothc

try:
    import jax  # type: ignore[import-not-found,unused-ignore]
    import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]

    jax.config.update("jax_enable_x64", True)
    HAS_JAX = True
except ImportError:
    HAS_JAX = False

BENCHES = Path(__file__).parents[2] / "benches"
RANDOM = np.random.default_rng(1)


def measure(problem: str, file: str, entry: str, arguments: list[Any], backend: str, reference: Callable[..., Any] | None = None) -> None:
    """Prints the rows of one problem."""
    wanted: Any = None

    def row(name: str, call: Callable[..., Any]) -> None:
        nonlocal wanted
        found = call(*arguments)
        found = [np.asarray(part) for part in (found if isinstance(found, (tuple, list)) else [found])]
        if wanted is None:
            wanted = found
        for one, other in zip(found, wanted):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8 * np.abs(other).max(), err_msg=f"{problem}, {name}")
        once = min(timeit.repeat(lambda: call(*arguments), number=1, repeat=5))
        print(f"| {problem} | {name} | {once * 1e3:.2f} |", flush=True)

    source = str(BENCHES / file)
    row("C, one thread", smoothc.load(source)[entry])
    row("C, all threads", smoothc.load(source, parallel=True)[entry])
    row(f"Futhark, {backend}", smoothc.load(source, target="futhark", backend=backend)[entry])
    if HAS_JAX and reference is not None:
        compiled = jax.jit(reference)
        row(f"JAX, {jax.devices()[0].platform}", lambda *given: jax.tree.map(np.asarray, compiled(*given)))


def logistic(n: int, d: int, backend: str) -> None:
    def loss(w: Any, x: Any, y: Any) -> Any:
        z = x @ w
        return jnp.sum(jnp.log(1 + jnp.exp(z)) - y * z)

    def gradient(*given: Any) -> Any:
        return jax.grad(loss)(*given)

    arguments = [RANDOM.normal(size=d), RANDOM.normal(size=(n, d)), RANDOM.integers(0, 2, n).astype(float)]
    measure(f"logistic regression, {n} x {d}", "logistic.smooth", "logisticGradient", arguments, backend, gradient)


def perceptron(n: int, d: int, h: int, c: int, backend: str) -> None:
    def loss(weights: Any, x: Any, y: Any) -> Any:
        W1, b1, W2, b2, W3, b3 = weights
        z = jnp.tanh(jnp.tanh(x @ W1.T + b1) @ W2.T + b2) @ W3.T + b3
        return jnp.mean(jax.nn.logsumexp(z, axis=1) - jnp.take_along_axis(z, y[:, None], 1)[:, 0])

    def gradient(*given: Any) -> Any:
        return jax.grad(loss)(given[:6], *given[6:])

    shapes = [(h, d), (h,), (h, h), (h,), (c, h), (c,), (n, d)]
    arguments = [RANDOM.normal(size=shape) / np.sqrt(shape[-1]) for shape in shapes]
    arguments.append(RANDOM.integers(0, c, n))
    measure(f"perceptron, {n} samples, {d}, {h}, {h}, {c}", "mlp.smooth", "mlpGradient", arguments, backend, gradient)


def mixture(n: int, d: int, k: int, backend: str) -> None:
    def loss(given: Any, x: Any, gamma: Any, m: Any) -> Any:
        alphas, means, icf = given
        sums, diagonals = icf[:, :d].sum(axis=1), jnp.exp(icf[:, :d])
        rows, columns = np.tril_indices(d, -1)
        places = d + columns * (2 * d - columns - 1) // 2 + rows - columns - 1
        factors = jnp.zeros((k, d, d)).at[:, rows, columns].set(icf[:, places]) + jax.vmap(jnp.diag)(diagonals)
        whitened = jnp.einsum("kab,nkb->nka", factors, x[:, None, :] - means[None])
        terms = jax.nn.logsumexp(alphas + sums - 0.5 * jnp.sum(whitened**2, axis=2), axis=1)
        squares = jnp.sum(diagonals**2) + jnp.sum(icf[:, d:] ** 2)
        return jnp.sum(terms) - n * jax.nn.logsumexp(alphas) + 0.5 * gamma**2 * squares - m * jnp.sum(sums)

    def gradient(*given: Any) -> Any:
        return jax.grad(loss)(given[:3], *given[3:])

    shapes = [(k,), (k, d), (k, d * (d + 1) // 2), (n, d)]
    arguments: list[Any] = [RANDOM.normal(size=shape) * scale for shape, scale in zip(shapes, [1, 1, 0.1, 1])]
    measure(f"mixture, {n} points, d = {d}, k = {k}", "mixture.smooth", "mixtureGradient", [*arguments, 1.0, 0.0], backend, gradient)


def bundle(n: int, backend: str) -> None:
    cameras, points = n // 100, n // 5
    arguments = [
        RANDOM.normal(size=(cameras, 11)) * 0.1 + np.array([0, 0, 0, 0, 0, -5, 500, 0, 0, 0, 0]),
        RANDOM.normal(size=(points, 3)),
        np.ones(n),
        RANDOM.integers(0, cameras, n),
        RANDOM.integers(0, points, n),
        RANDOM.normal(size=(n, 2)),
    ]
    measure(f"bundle adjustment, Jacobians of {n} observations", "bundle.smooth", "reprojectionJacobians", arguments, backend)


def main() -> None:
    backend = sys.argv[1] if len(sys.argv) > 1 else "cuda"
    print("| gradient | by | ms |\n| --- | --- | ---: |")
    logistic(1_000_000, 20, backend)
    perceptron(100_000, 32, 32, 10, backend)
    perceptron(100_000, 64, 64, 10, backend)
    mixture(100_000, 10, 25, backend)
    bundle(1_000_000, backend)


if __name__ == "__main__":
    main()
