"""A compiled library as Python functions.

In: a shared library and its manifest. Out: a function for each entry, by its name in the source, and a dataclass for each record.

    library = Library(Path("library.so"), read(text))
    library.functions["dot"](a, b)
"""

from __future__ import annotations

import ctypes
import dataclasses
import math
import operator
import os
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any, Callable

import numpy as np

from . import describe, lengths, source, values
from .errors import StatusError
from .manifest import OWN_NAMES, Array, Entry, Manifest, Record, Tree, Tuple, identifier, leaves

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


_Status: Any = type("_Status", (ctypes._SimpleCData,), {"_type_": "i", "_check_retval_": {0: 0}.__getitem__})
"""What C returns, of which ``ctypes`` itself makes a KeyError where it is no success: so an interrupt, which Python tells of when a call is done and
before its status is seen, is one of a call that has succeeded."""


class Library:
    """The functions and records of one shared library; with ``methods`` functions that take what they are bound to first."""

    _INTERRUPT: Any = KeyboardInterrupt if sys.version_info >= (3, 11) else ()
    """What comes between a call and its result, and from nowhere else: older versions of Python may tell of it before the call, too."""

    def __init__(self, path: Path, manifest: Manifest, *, module: str, copy: bool = True, records: str = "dataclass", methods: bool = False) -> None:
        if records not in ("dataclass", "dict"):
            raise ValueError(f"records: expected 'dataclass' or 'dict', found {records!r}")
        self.path = path
        self.manifest = manifest
        self._least = 0
        self._locals: list[tuple[dict[str, Any], str]] = []
        """Where functions find the workspaces of their thread: a scope, and the name in it."""
        self.records = _records(manifest, module)
        self.functions: dict[str, Callable[..., Any]] = {}
        self._dll = ctypes.CDLL(str(path))
        common: dict[str, Any] = {
            **lengths.HELPERS,
            **values.C_TYPES,
            **{f"{name}_1": kind * 1 for name, kind in values.C_TYPES.items()},
            **{f"{name}_of": dict.fromkeys(values.REALS, kind) for name, kind in values.C_TYPES.items()},
            **{f"{name}_dtype": dtype for name, dtype in values.DTYPES.items()},
            **{f"record_{name}": made for name, made in self.records.items()},
            **{"type": type, "len": len, "getattr": getattr, "int": int, "tuple": tuple, "dict": dict, "str": str, "bool_type": bool},
            "view": values.VIEW,
            "pointer_at": ctypes.c_void_p.from_address,
            "id": id,
            "memmap": np.memmap,
            "overlap": np.may_share_memory,
            "ndarray": np.ndarray,
            "empty": np.empty,
            "zeros": np.zeros,
            "integers": _Integers(),
            "address": values.address,
            "are_bits": values.are_bits,
            "units": values.units,
            "local": threading.local(),
            "reserve": self._reserve,
            "MemoryError": MemoryError,
            "KeyError": KeyError,
            "interrupt": self._INTERRUPT,
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

    def set_workspace(self, bytes: int) -> None:
        """Gives each later call so many bytes of workspace at least: recursion has more room then."""
        found = operator.index(bytes)
        if found < 0:
            raise ValueError(f"workspace: expected a number of bytes, found {found}")
        self._least = found
        # other threads hold smaller ones
        local = threading.local()
        for scope, name in self._locals:
            scope[name] = local

    def _reserve(self, local: Any, name: str, key: tuple[int, ...], needed: int) -> tuple[tuple[int, ...], Any, ctypes.c_size_t, Any]:
        """The workspace of this thread for an entry: the one that it has where that is large enough."""
        needed = max(needed, self._least)
        if needed > sys.maxsize - _ALIGNMENT:
            raise MemoryError(f"{name} needs more workspace than there are addresses")
        held = getattr(local, name, None)
        room = held[3] if held is not None and held[3].size >= needed + _ALIGNMENT else np.empty(needed + _ALIGNMENT, np.uint8)
        start = room.ctypes.data
        made = (key, ctypes.c_void_p(start + -start % _ALIGNMENT), ctypes.c_size_t(needed), room)
        setattr(local, name, made)
        return made

    def _bound(self, entry: Entry) -> tuple[Callable[..., Any], Any]:
        """What calls an entry, with a KeyError for a status other than 0, and what says how much workspace that needs."""
        call = self._dll[entry.c_name]
        measure = self._dll[entry.workspace]
        # no argtypes: what is passed is already what C takes, and is not converted once more
        call.restype = _Status
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
        self._locals.append((scope, prefix + "local"))
        exec(compile(text, f"<smoothc {entry.source_name}>", "exec"), scope)
        made: Callable[..., Any] = scope[name]
        parameters = list(made.__code__.co_varnames[method : method + len(entry.parameters)])
        made.__doc__ = describe.documentation(entry, parameters)
        made.__module__ = module
        made.__annotations__ = describe.annotated(entry, parameters, dict.fromkeys(self.records, dict) if dict_records else self.records)
        return made


def _records(manifest: Manifest, module: str) -> dict[str, type[Any]]:
    """A dataclass for each record that an entry takes or gives."""
    found: dict[str, Record] = {}

    def add(tree: Tree) -> None:
        if isinstance(tree, Array):
            add(tree.element)
        elif isinstance(tree, Tuple):
            for part in tree.parts:
                add(part)
        elif isinstance(tree, Record):
            found.setdefault(tree.class_name, tree)
            for _, field in tree.fields:
                add(field)

    for entry in manifest.entries:
        for _, tree in entry.parameters:
            add(tree)
        add(entry.result)
    return {name: _record(record, module) for name, record in found.items()}


class RecordType(type):
    """The class of the dataclasses of records, by which ``pickle`` knows them."""


_Mask = np.ndarray[Any, np.dtype[np.bool_]]
_EVERYWHERE: _Mask = np.array(True)


class _Compared(metaclass=RecordType):
    """Records are equal where all their fields are, arrays with all their elements; of a sum type the data of other cases does not count.

    As arrays they have no hash.
    """

    __cases__: tuple[str | None, ...] = ()
    """Of a sum type: the attribute with the data of each case."""
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return _equal(self, other, _EVERYWHERE) if _are_of_one_type(self, other) else NotImplemented


def _are_of_one_type(one: object, other: object) -> bool:
    """Whether two records are of one type of one program: `cloudpickle` makes a class once more where it has come from another process."""
    mine, others = type(one), type(other)
    return mine is others or (isinstance(mine, RecordType) and getattr(mine, "_smoothc", mine) == getattr(others, "_smoothc", others))


def _equal(one: Any, other: Any, where: _Mask) -> bool:
    """Whether values are equal, arrays of them at those of their first indices that ``where`` has."""
    if not where.any():
        return True
    if isinstance(one, _Compared) and _are_of_one_type(one, other):
        names = [field.name for field in dataclasses.fields(one)]  # type: ignore[arg-type]
        if not one.__cases__:
            return all(_equal(getattr(one, name), getattr(other, name), where) for name in names)
        if not _equal(getattr(one, names[0]), getattr(other, names[0]), where):
            return False
        tags = np.asarray(getattr(one, names[0]))
        # an array inside a case has a tag for each element
        around = where.reshape(where.shape + (1,) * (tags.ndim - where.ndim))
        own = ((name, np.asarray(around & (tags == at))) for at, name in enumerate(one.__cases__) if name is not None)
        return all(_equal(getattr(one, name), getattr(other, name), of_case) for name, of_case in own)
    # a list inside an array of values of sum types is an array
    sequences = tuple if where.ndim else (tuple, list)
    if isinstance(one, sequences) and isinstance(other, sequences):
        return len(one) == len(other) and all(_equal(a, b, where) for a, b in zip(one, other))
    if where.ndim:
        one, other = np.asarray(one), np.asarray(other)
        return one.shape == other.shape and one.shape[: where.ndim] == where.shape and bool(np.array_equal(one[where], other[where]))
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return bool(np.array_equal(one, other))
    return bool(one == other)


def _record(record: Record, module: str) -> type[Any]:
    # the metaclass has attributes of such names as `mro`, which are no defaults
    fields = [(name, Any, dataclasses.field()) for name in record.attributes]
    attributes = dict(zip((name for name, _ in record.fields), record.attributes))
    cases = tuple(None if field is None else attributes[field] for _, field in record.cases)
    namespace = {"__module__": module, "__cases__": cases}
    return dataclasses.make_dataclass(record.class_name, fields, bases=(_Compared,), eq=False, namespace=namespace)
