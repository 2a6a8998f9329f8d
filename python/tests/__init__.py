"""Tests of the Python package: `python -m unittest discover -s python/tests -t python`.

tests/suite/python.rs runs them with the command that cargo built.
"""
