"""SciPy on real problems, with the derivatives of the compiler."""

from __future__ import annotations

import importlib.util
import os
import sys
import unittest
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("SMOOTHC_BAL", ROOT.parent / "shared" / "data" / "bal" / "problem-49-7776-pre.txt"))


@unittest.skipUnless(importlib.util.find_spec("scipy"), "no SciPy here")
class BundleAdjustment(unittest.TestCase):
    def setUp(self) -> None:
        sys.path.insert(0, str(ROOT / "python" / "examples"))
        self.addCleanup(sys.path.pop, 0)

    def test_a_small_problem(self) -> None:
        from bundle_adjustment import Fit, Problem  # type: ignore[import-not-found,unused-ignore]

        def data(name: str) -> np.ndarray:
            return np.load(ROOT / "examples" / "data" / f"{name}.npy")

        fit = Fit(Problem(data("cameras"), data("points"), data("camera"), data("point"), data("observed")))
        found = fit.jacobian(fit.start).toarray()
        for column in range(0, fit.start.size, 5):
            step = np.zeros_like(fit.start)
            step[column] = 1e-6 * max(1.0, abs(fit.start[column]))
            slope = (fit.residuals(fit.start + step) - fit.residuals(fit.start - step)) / (2 * step[column])
            np.testing.assert_allclose(found[:, column], slope, rtol=1e-5, atol=1e-4)

    @unittest.skipUnless(DATA.exists(), f"no {DATA.name} here")
    def test_cameras_of_a_public_problem(self) -> None:
        from bundle_adjustment import main

        # four evaluations are the greatest part of the way, all of them take a minute
        cost = main(DATA, int(os.environ.get("SMOOTHC_EVALUATIONS", "4")))
        self.assertLess(cost, 1.42e4)


if __name__ == "__main__":
    unittest.main()
