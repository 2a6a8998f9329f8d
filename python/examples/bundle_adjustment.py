"""Cameras and points of a public problem, fitted by SciPy: `python python/examples/bundle_adjustment.py problem-49-7776-pre.txt [EVALUATIONS]`.

In: a file of "Bundle Adjustment in the Large" (https://grail.cs.washington.edu/projects/bal), and how often the residuals may be computed. Out:
SciPy's report, and the cost, half the sum of the squared residuals.

An observation depends on one camera and one point. smoothc finds that in the program: `sparse_jacobian` gives rows, columns and values. Nothing
dense is made.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares  # type: ignore[import-untyped,unused-ignore]
from scipy.sparse import csr_matrix  # type: ignore[import-untyped,unused-ignore]

import smoothc

PROGRAM = Path(__file__).parents[2] / "examples" / "bundle_adjustment.smooth"

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass
class Problem:
    cameras: Floats
    points: Floats
    camera: Integers
    """The camera of each observation."""
    point: Integers
    observed: Floats


def read(path: Path) -> Problem:
    with path.open() as file:
        cameras, points, observations = map(int, file.readline().split())
        seen = np.array([file.readline().split() for _ in range(observations)], float)
        rest = np.array(file.read().split(), float)
    return Problem(
        rest[: 9 * cameras].reshape(cameras, 9),
        rest[9 * cameras :].reshape(points, 3),
        seen[:, 0].astype(np.int64),
        seen[:, 1].astype(np.int64),
        seen[:, 2:].copy(),
    )


class Fit:
    """Residuals and their Jacobian as functions of one vector, as SciPy wants them."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.module = smoothc.load(PROGRAM, derive="sparse_jacobian:residuals:cameras,points")
        self.start = np.concatenate([problem.cameras.ravel(), problem.points.ravel()])
        # the places are the same for all parameters; rows are in order, so that each begins where the ones before it end
        rows, columns, _ = self.entries(self.start)
        self._columns = columns.astype(np.int32)
        self._starts = np.searchsorted(rows, np.arange(problem.observed.size + 1)).astype(np.int32)

    def arguments(self, x: Floats) -> tuple[Any, ...]:
        """The arguments of the entries at a vector of all parameters."""
        problem = self.problem
        first = problem.cameras.size
        return x[:first].reshape(-1, 9), x[first:].reshape(-1, 3), problem.camera, problem.point, problem.observed

    def residuals(self, x: Floats) -> Floats:
        found: Floats = self.module.residuals(*self.arguments(x))
        return found.ravel()

    def entries(self, x: Floats) -> tuple[Integers, Integers, Floats]:
        """The rows, columns and values of the Jacobian."""
        found: tuple[Integers, Integers, Floats] = self.module.residuals_sparse_jacobian_cameras_points(*self.arguments(x))
        return found

    def jacobian(self, x: Floats) -> Any:
        *_, values = self.entries(x)
        return csr_matrix((values, self._columns, self._starts), (len(self._starts) - 1, x.size))


def main(path: Path, evaluations: int = 100) -> float:
    fit = Fit(read(path))
    begin = time.perf_counter()
    # a step that is solved to the last digit takes minutes and leads no further than one that is not
    inexact = {"maxiter": 100}
    found = least_squares(
        fit.residuals, fit.start, fit.jacobian, tr_solver="lsmr", tr_options=inexact, x_scale="jac", ftol=1e-6, max_nfev=evaluations, verbose=2
    )
    print(f"cost {found.cost:.4e} after {found.nfev} evaluations and {time.perf_counter() - begin:.1f} s")
    return float(found.cost)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
