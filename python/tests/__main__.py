"""Runs one module of tests: `python -m tests tests.test_calls [FOLDER]`."""

import sys
import unittest

unittest.main(module=None, argv=["tests", *sys.argv[1:2]])
