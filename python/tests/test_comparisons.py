"""The scripts whose tables compare smoothc with JAX, CasADi and differences: they run, and all ways give the same derivatives.

In: `compare.py` and `call_overhead.py` of python/examples, with small problems and few turns. Out: failures where derivatives differ.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import sys
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

EXAMPLES = Path(__file__).parents[1] / "examples"
ABSENT = [name for name in ("jax", "casadi") if not importlib.util.find_spec(name)]
if ABSENT:
    print(f"skipped: no comparison with {' and '.join(ABSENT)}, not installed", file=sys.stderr)
HAS_SCIPY = importlib.util.find_spec("scipy") is not None
if not HAS_SCIPY:
    print("skipped: no comparison of solvers without SciPy", file=sys.stderr)


def example(name: str) -> Any:
    """A script of the examples as a module."""
    with mock.patch.object(sys, "path", [str(EXAMPLES), *sys.path]):
        return importlib.import_module(name)


class Comparisons(unittest.TestCase):
    @unittest.skipIf(not HAS_SCIPY, "no SciPy here")
    def test_derivatives_of_the_table_agree(self) -> None:
        compare = example("compare")
        problems: dict[str, list[Any]] = {}

        def note(problem: str, rows: list[Any], turns: int) -> None:
            problems[problem] = rows

        with mock.patch.object(compare, "report", note):
            compare.exact(6)
            compare.krylov(8)
            compare.reaction(5)
        self.assertEqual(len(problems), 3)
        for problem, rows in problems.items():
            self.assertEqual(len(rows), 3 if compare.HAS_JAX else 2, problem)
            wanted = np.asarray(rows[0].derivative())
            scale = float(np.max(np.abs(wanted)))
            for row in rows[1:]:
                with self.subTest(problem=problem, row=row.name):
                    error = float(np.max(np.abs(np.asarray(row.derivative()) - wanted)))
                    self.assertLessEqual(error, scale * (1e-12 if row.name == "JAX" else 1e-5))
                    row.solve()
            rows[0].solve()

    def test_the_table_of_calls_has_all_rows(self) -> None:
        overhead = example("call_overhead")
        printed = io.StringIO()
        with mock.patch.multiple(overhead, TURNS=1, CALLS=1), contextlib.redirect_stdout(printed):
            # what JAX and CasADi give is compared there
            overhead.main()
        lines = printed.getvalue().splitlines()
        self.assertEqual(sum(line.endswith("not installed") for line in lines), len(ABSENT), printed.getvalue())
        self.assertEqual(len(lines), 12 + len(ABSENT) + 4 * (2 - len(ABSENT)), printed.getvalue())


if __name__ == "__main__":
    unittest.main()
