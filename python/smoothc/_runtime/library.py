"""A compiled library as Python functions.

In: a shared library and its manifest. Out: a function for each entry, by its name in the source, and a dataclass for each record.

    library = Library(Path("library.so"), read(text))
    library.functions["dot"](a, b)
"""

from __future__ import annotations

import ctypes
import dataclasses
import math
import os
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any, Callable

import numpy as np

from . import describe, lengths, source, values
from .errors import StatusError
from .manifest import OWN_NAMES, Array, Entry, Manifest, Record, Scalar, Tree, Tuple, identifier, leaves

_ALIGNMENT = 64
_RANGE = 5
"""SMOOTH_RANGE, by which C refuses an Index among the arguments."""


class _Integers(dict[int, ctypes.c_int64]):
    """Sizes as C takes them: those of the last calls."""

    def __missing__(self, value: int) -> ctypes.c_int64:
        if len(self) >= 1024:
            self.clear()
        made = self[value] = ctypes.c_int64(value)
        return made


_OPENMP: dict[str, int] = vars(sys.modules.setdefault("_smoothc_openmp", ModuleType("_smoothc_openmp")))
"""The process that called a library with parallel=True first. OpenMP's threads belong to the process, whichever library starts them: so this is in
one place for all libraries, and for the copies of this file that packages have."""


def check_threads() -> None:
    """Before loops are shared: a forked process does not have the threads that its parent started, and would wait for them for ever."""
    here = os.getpid()
    if _OPENMP.setdefault("process", here) != here:
        raise RuntimeError(
            "this process was forked after the threads of a library with parallel=True had started, and it does not have them: "
            "start processes with multiprocessing.get_context('spawn'), or load without parallel=True"
        )


def reserve(local: Any, name: str, key: tuple[int, ...], needed: int) -> tuple[tuple[int, ...], Any, ctypes.c_size_t, Any]:
    """The workspace of this thread for an entry: the one that it has where that is large enough."""
    if needed > sys.maxsize - _ALIGNMENT:
        raise MemoryError(f"{name} needs more workspace than there are addresses")
    held = getattr(local, name, None)
    room = held[3] if held is not None and held[3].size >= needed + _ALIGNMENT else np.empty(needed + _ALIGNMENT, np.uint8)
    start = room.ctypes.data
    made = (key, ctypes.c_void_p(start + -start % _ALIGNMENT), ctypes.c_size_t(needed), room)
    setattr(local, name, made)
    return made


class Library:
    """The functions and records of one shared library; with ``methods`` functions that take what they are bound to first."""

    def __init__(self, path: Path, manifest: Manifest, *, module: str, copy: bool = True, records: str = "dataclass", methods: bool = False) -> None:
        if records not in ("dataclass", "dict"):
            raise ValueError(f"records: expected 'dataclass' or 'dict', found {records!r}")
        self.path = path
        self.manifest = manifest
        self.records = _records(manifest, module)
        self.functions: dict[str, Callable[..., Any]] = {}
        self._dll = ctypes.CDLL(str(path))
        common: dict[str, Any] = {
            **lengths.HELPERS,
            **values.C_TYPES,
            **{f"{name}_1": kind * 1 for name, kind in values.C_TYPES.items()},
            **{f"{name}_dtype": dtype for name, dtype in values.DTYPES.items()},
            **{f"record_{name}": made for name, made in self.records.items()},
            **{"type": type, "len": len, "getattr": getattr, "int": int, "tuple": tuple, "dict": dict, "bool_type": bool},
            "view": values.VIEW,
            "overlap": np.may_share_memory,
            "ndarray": np.ndarray,
            "empty": np.empty,
            "integers": _Integers(),
            "address": values.address,
            "are_bits": values.are_bits,
            "units": values.units,
            "local": threading.local(),
            "reserve": reserve,
            "MemoryError": MemoryError,
            "ValueError": ValueError,
            "expected": (TypeError, ValueError, OverflowError, AttributeError, KeyError, BufferError),
            "no_bytes": ctypes.c_size_t(0),
            "check_threads": check_threads,
            "lowest": -(2**63),
            "highest": 2**63 - 1,
            "infinity": math.inf,
        }
        taken = {*OWN_NAMES, *self.records}
        for entry in manifest.entries:
            name = identifier(entry.source_name, taken)
            self.functions[name] = self._function(entry, name, module, common, copy, records == "dict", methods)

    def _bound(self, entry: Entry) -> tuple[Callable[..., int], Any]:
        """What calls an entry, and what says how much workspace that needs."""
        call = self._dll[entry.c_name]
        measure = self._dll[entry.workspace]
        # no argtypes: what is passed is already what C takes, and is not converted once more
        call.restype = ctypes.c_int
        measure.restype = ctypes.c_size_t
        return call, measure

    def _function(
        self, entry: Entry, name: str, module: str, common: dict[str, Any], copy: bool, dict_records: bool, method: bool
    ) -> Callable[..., Any]:
        call, measure = self._bound(entry)
        results = leaves(entry.result, "out")

        def destinations(out: Any, shapes: list[tuple[int, ...]], inputs: list[Any]) -> list[Any]:
            return values.destinations(entry.source_name, results, entry.result, out, shapes, inputs)

        inputs = [leaf for parameter, tree in entry.parameters for leaf in leaves(tree, parameter)]

        def stopped(status: int, arguments: list[Any], sizes: dict[str, int]) -> StatusError:
            return StatusError(entry.source_name, status, values.out_of_range(inputs, arguments, sizes) if status == _RANGE else None)

        names = {**common, "call": call, "measure": measure, "destinations": destinations, "stopped": stopped}
        names["convert"] = values.Converter(entry.source_name, entry.parameters, entry.sizes, copy)
        text, prefix = source.function(entry, name, dict_records=dict_records, parallel=self.manifest.parallel, method=method)
        scope = {prefix + known: value for known, value in names.items()}
        exec(compile(text, f"<smoothc {entry.source_name}>", "exec"), scope)
        made: Callable[..., Any] = scope[name]
        parameters = list(made.__code__.co_varnames[method : method + len(entry.parameters)])
        made.__doc__ = describe.documentation(entry, parameters)
        made.__module__ = module
        made.__annotations__ = describe.annotated(entry, parameters, dict.fromkeys(self.records, dict) if dict_records else self.records)
        return made


def _records(manifest: Manifest, module: str) -> dict[str, type[Any]]:
    """A dataclass for each record that an entry takes or gives."""
    found: dict[str, list[str]] = {}

    def add(tree: Tree) -> None:
        if isinstance(tree, Array):
            add(tree.element)
        elif isinstance(tree, Tuple):
            for part in tree.parts:
                add(part)
        elif isinstance(tree, Record):
            found.setdefault(tree.class_name, tree.attributes)
            for _, field in tree.fields:
                add(field)
        else:
            assert isinstance(tree, Scalar)

    for entry in manifest.entries:
        for _, tree in entry.parameters:
            add(tree)
        add(entry.result)
    return {name: _record(name, fields, module) for name, fields in found.items()}


class RecordType(type):
    """The class of the dataclasses of records, by which ``pickle`` knows them."""


class _Compared(metaclass=RecordType):
    """Records are equal where all their fields are, arrays with all their elements. As arrays they have no hash."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        names = [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        return all(_equal(getattr(self, name), getattr(other, name)) for name in names)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return bool(np.array_equal(one, other))
    return bool(one == other)


def _record(name: str, fields: list[str], module: str) -> type[Any]:
    return dataclasses.make_dataclass(name, fields, bases=(_Compared,), eq=False, namespace={"__module__": module})
