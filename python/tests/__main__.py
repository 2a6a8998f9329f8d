"""Runs one module of tests: `python -m tests tests.test_calls [FOLDER]`."""

import sys
import unittest

# not in the processes that a test spawns
if __name__ == "__main__":
    unittest.main(module=None, argv=["tests", *sys.argv[1:2]])
