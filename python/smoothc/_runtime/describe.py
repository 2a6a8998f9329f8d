"""What ``help`` says of an entry.

In: an entry of the manifest. Out: a docstring in NumPy's form, and annotations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import lengths
from .manifest import Array, Entry, Length, Record, Scalar, Tree, is_hollow

_NUMBERS = {"double": float, "index": int, "bool": bool}
_ELEMENTS = {"double": "float64", "float": "float32", "int64_t": "int64", "bool": "bool"}


def documentation(entry: Entry, names: list[str]) -> str:
    lines = [*(entry.doc or entry.source_name).splitlines(), "", entry.signature]
    if entry.parameters:
        lines += ["", "Parameters", "----------"]
        lines += [f"{name} : {phrase(tree)}" for name, (_, tree) in zip(names, entry.parameters)]
    lines += ["", "Returns", "-------", phrase(entry.result)]
    return "\n".join(lines)


def phrase(tree: Tree, around: tuple[Length, ...] = ()) -> str:
    """A value in words."""
    if isinstance(tree, Array) and is_hollow(tree):
        while isinstance(tree, Array):
            around, tree = (*around, tree.length), tree.element
        return f"list of () of shape {lengths.shape(around)}"
    if isinstance(tree, Array):
        return phrase(tree.element, (*around, tree.length))
    if isinstance(tree, Scalar):
        return f"{_ELEMENTS[tree.c_type]} array of shape {lengths.shape(around)}" if around else _NUMBERS[tree.kind].__name__
    if isinstance(tree, Record):
        return f"{tree.record}: " + "; ".join(f"{name}: {phrase(field, around)}" for name, field in tree.fields)
    return "(" + ", ".join(phrase(part, around) for part in tree.parts) + ")"


def annotated(entry: Entry, names: list[str], records: Mapping[str, type[Any]]) -> dict[str, Any]:
    """Types that no name stands for: the function's own scope has none of theirs."""
    found = {name: _annotation(tree, records) for name, (_, tree) in zip(names, entry.parameters)}
    return {**found, "out": Any, "return": _annotation(entry.result, records)}


def _annotation(tree: Tree, records: Mapping[str, type[Any]]) -> Any:
    if isinstance(tree, Array) and is_hollow(tree):
        return list
    while isinstance(tree, Array):
        tree = tree.element
        if isinstance(tree, Scalar):
            return np.ndarray
    if isinstance(tree, Scalar):
        return _NUMBERS[tree.kind]
    return records[tree.class_name] if isinstance(tree, Record) else tuple
