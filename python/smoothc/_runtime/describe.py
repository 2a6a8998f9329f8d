"""What ``help`` says of an entry.

In: an entry of the manifest. Out: a docstring in NumPy's form, and annotations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from . import lengths
from .manifest import Array, Entry, Length, Record, Scalar, Tree, is_hollow

_LITERAL: Any = Literal
"""One of these texts."""
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
    if isinstance(tree, Scalar) and tree.cases and not around:
        return f"{tree.record}: {', '.join(map(repr, tree.cases[:-1]))}{' or ' if tree.cases[1:] else ''}{tree.cases[-1]!r}"
    if isinstance(tree, Scalar):
        number = f"{_ELEMENTS[tree.c_type]} array of shape {lengths.shape(around)}" if around else _NUMBERS[tree.kind].__name__
        return f"{tree.record}: {number}, {_tags(tree.cases)}" if tree.cases else number
    if isinstance(tree, Record):
        fields = [f"{name}: {_inside(field, around)}" for name, field in tree.fields]
        if tree.cases:
            fields[0] += f", {_tags([name for name, _ in tree.cases])}"
        return f"{tree.record}: {'; '.join(fields)}"
    return "(" + ", ".join(_inside(part, around) for part in tree.parts) + ")"


def _tags(cases: Sequence[str]) -> str:
    """What each tag says."""
    return ", ".join(f"{at} for {name}" for at, name in enumerate(cases))


def _inside(tree: Tree, around: tuple[Length, ...]) -> str:
    """A field, or a component of a tuple: a record or a value of a sum type in brackets."""
    inner = tree
    while isinstance(inner, Array):
        inner = inner.element
    has_name = not is_hollow(tree) and (isinstance(inner, Record) or (isinstance(inner, Scalar) and inner.cases))
    return f"({phrase(tree, around)})" if has_name else phrase(tree, around)


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
        return _LITERAL[tree.cases] if tree.cases else _NUMBERS[tree.kind]
    return records[tree.class_name] if isinstance(tree, Record) else tuple
