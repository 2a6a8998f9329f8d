"""Calls entries of a library that the Futhark compiler made, as if it were emitted C.

In: the library, and what smoothc says of the same entries in C, with their names in Futhark. Out: for each entry a function of C's arguments, sizes
first, with a KeyError for C's status. Arrays are copied to the device and back; results have the lengths that the source gives them.

    f (v: Vector<n>) : Vector<n>   ->   call(n, v, out, no workspace)
                                        = futhark_new_f64_1d, futhark_entry_f, futhark_values_f64_1d, futhark_free_f64_1d

A library has one context, which is opened at the first call, in each process that forks one of its own. Calls wait for each other.
"""

from __future__ import annotations

import ctypes
import dataclasses
import os
import signal
import threading
from pathlib import Path
from types import FrameType
from typing import Any, Callable

from . import lengths
from .library import Library
from .manifest import Entry, Leaf, Length, Manifest, leaves

BACKENDS = ("c", "multicore", "opencl", "cuda", "hip")

_TYPES = {"double": ("f64", ctypes.c_double), "float": ("f32", ctypes.c_float), "int64_t": ("i64", ctypes.c_int64), "bool": ("bool", ctypes.c_bool)}
_OUT_OF_MEMORY = 3
_WORDS = {"bounds": 1, "shape": 2, "negative": 3, "div_zero": 4, "range": 5}
"""The conditions of emitted assertions, and the statuses of C."""
_OWN_ERRORS = (
    (("out of bounds",), 1),
    (("Range ", "is invalid"), 3),
    (("division by zero",), 4),
    (("shape",), 2),
    (("sizes",), 2),
)
"""What Futhark's own errors say."""


def status(message: str) -> int | None:
    """The status of C for the same error; None for what no emitted program should do."""
    _, found, condition = message.partition("Assertion is false: ")
    if found:
        words = condition.lstrip("(").replace("(", " ").replace(")", " ").split()
        return _WORDS.get(words[0]) if words else None
    return next((code for parts, code in _OWN_ERRORS if all(part in message for part in parts)), None)


class _Interrupted(KeyboardInterrupt):
    """An interrupt that came in a call, after which it is raised."""

    status: int | None = None
    """What the call ended with; None where it succeeded."""


class _Delayed:
    """Interrupts of the main thread wait for the end of the call: between two of its steps they would leave its results on the device."""

    def __init__(self) -> None:
        self._came: tuple[int, FrameType | None] | None = None
        found = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
        self._handler = found if callable(found) else None

    def __enter__(self) -> _Delayed:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *problem: Any) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came = (number, frame)

    def tell(self, status: int | None) -> None:
        """Does now what an interrupt does, where one came."""
        if self._came is None or self._handler is None:
            return
        try:
            self._handler(*self._came)
        except KeyboardInterrupt as problem:
            told = _Interrupted(*problem.args)
            told.status = status
            raise told from None


class FutharkLibrary(Library):
    """The functions and records of one library of Futhark."""

    def __init__(self, path: Path, manifest: Manifest, *, module: str, copy: bool = True, records: str = "dataclass", methods: bool = False) -> None:
        self._names = dict(zip([entry.source_name for entry in manifest.entries], manifest.futhark or ()))
        self._context: _Context | None = None
        # what C needs as workspace Futhark allocates
        entries = tuple(dataclasses.replace(entry, needs_workspace=False) for entry in manifest.entries)
        super().__init__(path, dataclasses.replace(manifest, entries=entries), module=module, copy=copy, records=records, methods=methods)

    _INTERRUPT = _Interrupted

    def _bound(self, entry: Entry) -> tuple[Callable[..., Any], Any]:
        if self._context is None:
            self._context = _Context(self._dll)
        return _Call(self._context, entry, self._names[entry.source_name]), None


class _Context:
    """What Futhark keeps between calls: a device, its memory, threads."""

    def __init__(self, dll: ctypes.CDLL) -> None:
        self.dll = dll
        self._locks: dict[int, threading.Lock] = {}
        self.opened: ctypes.c_void_p | None = None
        self._process = 0
        for name in ("futhark_context_config_new", "futhark_context_new", "futhark_context_get_error"):
            getattr(dll, name).restype = ctypes.c_void_p
        self._config: ctypes.c_void_p | None = None

    @property
    def lock(self) -> threading.Lock:
        """The lock of this process: where another thread was in a call when it forked, nobody here would ever release its parent's."""
        return self._locks.setdefault(os.getpid(), threading.Lock())

    def open(self) -> ctypes.c_void_p:
        """The context of this process: threads and devices do not survive a fork."""
        if self.opened is None or self._process != os.getpid():
            self._config = ctypes.c_void_p(self.dll.futhark_context_config_new())
            self.opened = ctypes.c_void_p(self.dll.futhark_context_new(self._config))
            self._process = os.getpid()
            problem = self.error()
            if problem:
                self.close()
                raise RuntimeError(f"Futhark cannot start: {problem}")
        return self.opened

    def error(self) -> str:
        """What went wrong; nothing where nothing did."""
        found = self.dll.futhark_context_get_error(self.opened)
        return ctypes.string_at(found).decode(errors="replace").strip() if found else ""

    def close(self) -> None:
        """After an error there is a new context: the scheduler of ``multicore`` remembers one for ever."""
        self.dll.futhark_context_free(self.opened)
        self.dll.futhark_context_config_free(self._config)
        self.opened = self._config = None


class _Array:
    """What the interface of Futhark does with arrays of one type and rank."""

    def __init__(self, dll: ctypes.CDLL, leaf: Leaf) -> None:
        suffix = f"{_TYPES[leaf.scalar.c_type][0]}_{len(leaf.lengths)}d"
        self.rank = len(leaf.lengths)
        self.new = dll[f"futhark_new_{suffix}"]
        self.values = dll[f"futhark_values_{suffix}"]
        self.free = dll[f"futhark_free_{suffix}"]
        self.shape = dll[f"futhark_shape_{suffix}"]
        self.new.restype = ctypes.c_void_p
        self.shape.restype = ctypes.POINTER(ctypes.c_int64)


class _Call:
    """An entry with the arguments and the status that it has in C."""

    def __init__(self, context: _Context, entry: Entry, name: str) -> None:
        self._context = context
        self._entry = entry
        self._call = context.dll[f"futhark_entry_{name}"]
        self._inputs = [leaf for parameter, tree in entry.parameters for leaf in leaves(tree, parameter)]
        self._results = leaves(entry.result, "out")
        self._arrays = {leaf.scalar.parameter: _Array(context.dll, leaf) for leaf in [*self._inputs, *self._results] if leaf.lengths}

    def __call__(self, *given: Any) -> None:
        with _Delayed() as delayed, self._context.lock:
            found, message = self._done(given)
        known = status(message) if found else None
        delayed.tell(known)
        if found == 0:
            return
        if known is not None:
            raise KeyError(known)
        if found == _OUT_OF_MEMORY or "memory" in message:
            raise MemoryError(f"{self._entry.source_name}: {message}")
        raise RuntimeError(f"{self._entry.source_name} stopped in Futhark: {message or f'status {found}'}")

    def _done(self, given: tuple[Any, ...]) -> tuple[int, str]:
        """What Futhark's functions gave, and what went wrong."""
        opened = self._context.open()
        used: list[tuple[_Array, ctypes.c_void_p]] = []
        try:
            found = self._run(opened, given, used)
            message = self._context.error() if found else ""
        finally:
            for array, held in used:
                if held:
                    array.free(opened, held)
        if found:
            self._context.close()
        return found, message

    def _run(self, opened: ctypes.c_void_p, given: tuple[Any, ...], used: list[tuple[_Array, ctypes.c_void_p]]) -> int:
        sizes = {name: int(size.value) for name, size in zip(self._entry.sizes, given)}
        rest = iter(given[len(sizes) :])
        values = {leaf.scalar.parameter: next(rest) for leaf in self._inputs if leaf.scalar.parameter not in sizes}
        for leaf in self._inputs:
            if not leaf.lengths and leaf.scalar.kind == "index" and leaf.scalar.parameter not in sizes:
                sizes[leaf.scalar.parameter] = int(values[leaf.scalar.parameter].value)
        passed: list[Any] = []
        for leaf in self._inputs:
            name = leaf.scalar.parameter
            if not leaf.lengths:
                passed.append(ctypes.c_int64(sizes[name]) if name in sizes else values[name])
                continue
            array = self._arrays[name]
            extents = [ctypes.c_int64(self._extent(length, sizes)) for length in leaf.lengths]
            made = ctypes.c_void_p(array.new(opened, values[name], *extents))
            if not made:
                return _OUT_OF_MEMORY
            used.append((array, made))
            passed.append(made)
        targets = [next(rest) for _ in self._results]
        outs = [ctypes.c_void_p() if leaf.lengths else target for leaf, target in zip(self._results, targets)]
        found = int(self._call(opened, *(ctypes.byref(out) if leaf.lengths else out for leaf, out in zip(self._results, outs)), *passed))
        pairs = [(leaf, target, out) for leaf, target, out in zip(self._results, targets, outs) if leaf.lengths]
        used += [(self._arrays[leaf.scalar.parameter], out) for leaf, _, out in pairs]
        found = found or int(self._context.dll.futhark_context_sync(opened))
        for leaf, target, out in pairs:
            if found:
                break
            array = self._arrays[leaf.scalar.parameter]
            shape = array.shape(opened, out)
            wanted = [self._extent(length, sizes) for length in leaf.lengths]
            if [max(shape[at], 0) for at in range(array.rank)] != wanted:
                raise RuntimeError(f"{self._entry.source_name} gave an array of other lengths than its type has")
            found = int(array.values(opened, out, target))
        return found or int(self._context.dll.futhark_context_sync(opened))

    @staticmethod
    def _extent(length: Length, sizes: dict[str, int]) -> int:
        return max(lengths.value(length, sizes), 0)
