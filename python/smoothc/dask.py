"""Sums over rows of data that one machine need not hold, by Dask.

In: an entry that is a sum over the rows of some of its arguments, and those rows, in a file or as Dask arrays. Out: the sum of what the entry gives
for blocks of rows, or a value and its gradient for an optimiser.

    points = smoothc.dask.stored("points.npy")
    loss = smoothc.dask.value_and_gradient(m.misfit_valueAndGradient, points)
    scipy.optimize.minimize(loss, start, jac=True)

A task opens its block of rows, calls the entry, and gives back its result; results are added in a tree that depends on the blocks alone, so that
the sum has the same bits whichever worker computed what, and however often. A task depends on nothing but its arguments: where a worker is lost, its
tasks run once more elsewhere, and each result is in the sum once.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
import os
import pickle
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from ._module import described
from ._runtime import lengths
from ._runtime.manifest import Array, Entry, Length, Record, Scalar, Tree, components, is_hollow, leaves

try:
    _dask: Any = importlib.import_module("dask")
    _Collection: Any = importlib.import_module("dask.array").Array
except ImportError as problem:
    raise ImportError(f'smoothc.dask needs Dask ({problem}): pip install "dask[array,distributed]"', name="dask") from problem

__all__ = ["Stored", "stored", "total", "value_and_gradient"]

_BLOCK_BYTES = 64 * 2**20
_TOGETHER = 8
"""So many results are added by one task."""


@dataclass(frozen=True)
class Stored:
    """An array in a ``.npy`` file, of which a task maps the rows that it needs."""

    path: str
    """Where every worker finds the file."""
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def stored(path: str | os.PathLike[str]) -> Stored:
    """The array in a ``.npy`` file that all workers can read; nothing but its shape is read now."""
    array = _mapped(os.path.abspath(path))
    if array.ndim == 0:
        raise ValueError(f"{path} has a number, which has no rows")
    return Stored(os.path.abspath(path), array.shape, array.dtype)


def total(function: Callable[..., Any], *arguments: Any, rows: int | None = None) -> Any:
    """The sum of ``function`` over blocks of those arguments that are ``stored`` or Dask arrays, or have such parts; each block has the others whole.

    Blocks are of ``rows`` rows, else those of the Dask arrays, else of about 64 MB. The sum has the form of the function's result: numbers, arrays,
    tuples and records. It is computed by Dask's current client, or its current scheduler.
    """
    return _prepared(function, arguments, 0, rows)(())


def value_and_gradient(function: Callable[..., Any], *data: Any, rows: int | None = None) -> Callable[[Any], tuple[float, Any]]:
    """A function of the first parameter of an entry that ``derive="valueAndGradient:…"`` made, for ``scipy.optimize.minimize(…, jac=True)``.

    ``data`` are the entry's other arguments, and are taken as ``total`` takes them.
    """
    compute = _prepared(function, data, 1, rows)

    def summed(x: Any) -> tuple[float, Any]:
        found = compute((x,))
        if not isinstance(found, tuple) or len(found) != 2 or isinstance(found[0], np.ndarray):
            raise TypeError(f"{function.__name__} gives no number with a gradient: derive it with `valueAndGradient:…`")
        return found

    return summed


@dataclass(frozen=True)
class _Rows:
    """Rows of a stored array."""

    array: Stored
    start: int
    stop: int

    def read(self) -> np.ndarray[Any, Any]:
        found = _mapped(self.array.path)
        if (found.shape, found.dtype) != (self.array.shape, self.array.dtype):
            raise RuntimeError(f"{self.array.path} is another array here than it was: {_shown(found)}, and it was {_shown(self.array)}")
        return found[self.start : self.stop]


def _mapped(path: str) -> np.ndarray[Any, Any]:
    try:
        try:
            found: Any = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError:
            # an array without elements is not mapped
            found = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as problem:
        raise ValueError(f"{path} is no `.npy` file of numbers: {problem}") from problem
    if not isinstance(found, np.ndarray):
        found.close()
        raise ValueError(f"{path} is a `.npz` file of several arrays: save the one that has the rows by `numpy.save`")
    return found


def _prepared(function: Callable[..., Any], data: tuple[Any, ...], leading: int, rows: int | None) -> Callable[[tuple[Any, ...]], Any]:
    """The sum as a function of the arguments before ``data``, which are ``leading``."""
    entry = described(function)
    trees = [] if entry is None else [tree for _, tree in entry.parameters[leading:]]
    data = tuple(_opened(argument, tree) for argument, tree in zip(data, [*trees, *[None] * len(data)]))
    split = [array for argument in data for array in _arrays(argument)]
    if not split:
        raise ValueError(f"{function.__name__}: no argument is split: give smoothc.dask.stored(path) or a Dask array")
    if entry is not None:
        _must_have_a_sum(entry, [*[None] * leading, *data])
    bounds = _bounds(function.__name__, split, rows)
    # what every block has is sent once
    data = tuple(argument if _arrays(argument) else _dask.delayed(argument, traverse=False) for argument in data)
    blocks = [[_block(argument, start, stop) for argument in data] for start, stop in zip(bounds, bounds[1:])]
    # a text of bytes: a program is loaded by the task that calls it, and not where its way there leads
    sent = pickle.dumps(function)
    call, add = _dask.delayed(_call, pure=False), _dask.delayed(_add, pure=False)

    def compute(first: tuple[Any, ...]) -> Any:
        shared = [_dask.delayed(argument, traverse=False) for argument in first]
        level = [call(sent, [*shared, *block]) for block in blocks]
        while len(level) > 1:
            level = [add(level[at : at + _TOGETHER]) for at in range(0, len(level), _TOGETHER)]
        (found,) = _dask.compute(level[0])
        return found

    return compute


def _opened(argument: Any, tree: Tree | None) -> Any:
    """An argument with a dict in the place of each record that has split parts."""
    while isinstance(tree, Array):
        tree = tree.element
    types: dict[str, Tree] = dict(components(tree)) if tree is not None else {}
    if isinstance(argument, (Stored, _Collection)):
        return argument
    made: Any
    if isinstance(argument, Mapping):
        made = {name: _opened(part, types.get(name)) for name, part in argument.items()}
        return made if _arrays(made) else argument
    if isinstance(argument, tuple):
        made = tuple(_opened(part, kind) for part, kind in zip(argument, [*types.values(), *[None] * len(argument)]))
        return made if _arrays(made) else argument
    if isinstance(tree, Record) and all(hasattr(argument, attribute) for attribute in tree.attributes):
        fields = dict(zip(types, tree.attributes))
    elif dataclasses.is_dataclass(argument) and not isinstance(argument, type):
        fields = {field.name: field.name for field in dataclasses.fields(argument)}
    else:
        return argument
    made = {name: _opened(getattr(argument, attribute), types.get(name)) for name, attribute in fields.items()}
    return made if _arrays(made) else argument


def _arrays(argument: Any) -> list[Any]:
    """What of an argument is split."""
    if isinstance(argument, (Stored, _Collection)):
        return [argument]
    parts = argument.values() if isinstance(argument, Mapping) else argument if isinstance(argument, tuple) else ()
    return [array for part in parts for array in _arrays(part)]


def _must_have_a_sum(entry: Entry, arguments: Sequence[Any]) -> None:
    """A result as long as the data is none of a sum, and what is no number is not added."""
    name = entry.source_name
    _must_be_numbers(name, entry.result)
    own = {size for (_, tree), argument in zip(entry.parameters, arguments) for size in _row_sizes(tree, argument)}
    for leaf in leaves(entry.result, "result"):
        lost = own.intersection(size for length in leaf.lengths for size in lengths.names_of(length))
        if lost:
            raise TypeError(
                f"{name} gives an array of shape {lengths.shape(leaf.lengths)}, and `{min(lost)}` is the number of rows: no sum over rows"
            )


def _must_be_numbers(name: str, tree: Tree) -> None:
    if isinstance(tree, Array) and is_hollow(tree):
        raise TypeError(f"{name} gives a list of (), which is not summed")
    if isinstance(tree, (Record, Scalar)) and tree.cases:
        raise TypeError(f"{name} gives values of the sum type {tree.record}, which are not summed")
    if isinstance(tree, Scalar) and tree.kind == "bool":
        raise TypeError(f"{name} gives truth values, which are not summed")
    for _, part in [("", tree.element)] if isinstance(tree, Array) else components(tree):
        _must_be_numbers(name, part)


def _row_sizes(tree: Tree, argument: Any, around: tuple[Length, ...] = ()) -> set[str]:
    """The sizes in the numbers of rows of what is split in an argument."""
    if isinstance(argument, (Stored, _Collection)):
        return {size for leaf in leaves(tree, "", around) for length in leaf.lengths[:1] for size in lengths.names_of(length)}
    if not _arrays(argument):
        return set()
    while isinstance(tree, Array):
        around, tree = (*around, tree.length), tree.element
    given = argument if isinstance(argument, Mapping) else dict(zip((name for name, _ in components(tree)), argument))
    return {size for name, part in components(tree) for size in _row_sizes(part, given.get(name), around)}


def _bounds(name: str, split: list[Any], rows: int | None) -> list[int]:
    """Where blocks begin, and where the last one ends."""
    counts = {array.shape[0] for array in split}
    if len(counts) > 1 or any(math.isnan(count) for count in counts):
        raise ValueError(f"{name}: the split arguments have different numbers of rows, or unknown ones: {', '.join(map(str, sorted(counts)))}")
    (count,) = counts
    chunks = {array.chunks[0] for array in split if isinstance(array, _Collection)}
    if rows is None and chunks:
        if len(chunks) > 1:
            raise ValueError(f"{name}: the Dask arrays are split into different blocks of rows: give `rows`, or rechunk them")
        (sizes,) = chunks
        return [sum(sizes[:at]) for at in range(len(sizes) + 1)]
    if rows is None:
        rows = max(1, _BLOCK_BYTES // max(1, sum(math.prod(array.shape[1:]) * array.dtype.itemsize for array in split)))
    if rows < 1:
        raise ValueError(f"{name}: rows={rows}: a block has at least one row")
    return [*range(0, max(count, 1), rows), count]


def _block(argument: Any, start: int, stop: int) -> Any:
    """An argument with rows ``start`` to ``stop`` of what is split in it."""
    if isinstance(argument, Stored):
        return _Rows(argument, start, stop)
    if isinstance(argument, _Collection):
        (block,) = argument[start:stop].rechunk(-1).to_delayed().ravel()
        return block
    if isinstance(argument, Mapping):
        return {name: _block(part, start, stop) for name, part in argument.items()}
    if isinstance(argument, tuple):
        return tuple(_block(part, start, stop) for part in argument)
    return argument


def _call(entry: bytes, arguments: list[Any]) -> Any:
    """A task: the entry's result for a block."""
    return pickle.loads(entry)(*(_read(argument) for argument in arguments))


def _read(argument: Any) -> Any:
    if isinstance(argument, _Rows):
        return argument.read()
    if isinstance(argument, Mapping):
        return {name: _read(part) for name, part in argument.items()}
    return tuple(_read(part) for part in argument) if isinstance(argument, tuple) else argument


def _add(parts: Sequence[Any]) -> Any:
    """A task: the sum of some results, from left to right."""
    first = parts[0]
    if isinstance(first, tuple):
        return tuple(_add(column) for column in zip(*parts))
    if isinstance(first, Mapping):
        return {name: _add([part[name] for part in parts]) for name in first}
    if dataclasses.is_dataclass(first):
        made: Any = type(first)
        return made(*(_add([getattr(part, field.name) for part in parts]) for field in dataclasses.fields(first)))
    if not isinstance(first, np.ndarray):
        return sum(parts[1:], first)
    if any(part.shape != first.shape for part in parts):
        shapes = sorted({part.shape for part in parts})
        raise TypeError(f"blocks give arrays of different shapes, {', '.join(map(str, shapes))}: they are not summed")
    found = first.copy()
    for part in parts[1:]:
        found += part
    return found


def _shown(array: Any) -> str:
    return f"{array.dtype} of shape {array.shape}"
