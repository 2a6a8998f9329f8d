"""Arguments that are not yet what C takes: converted, or refused by name.

In: a value of any form that a parameter may have, and the parameter's tree. Out: for each leaf a C number, or a NumPy array of the right type that is
contiguous, aligned and in C order. This is the way for what the generated functions do not pass as it is; it is not fast.

    {"focal": 1, "centre": [0, 0]}   ->   c_double(1.0), array([0.0, 0.0])
"""

from __future__ import annotations

import ctypes
import math
import numbers
import operator
from collections.abc import Mapping, Sequence
from typing import Any, Callable, NoReturn, Union

import numpy as np

from . import lengths
from .manifest import Array, Leaf, Length, Record, Scalar, Tree, Tuple, is_hollow, leaves

DTYPES: dict[str, np.dtype[Any]] = {
    "double": np.dtype(np.float64),
    "float": np.dtype(np.float32),
    "int64_t": np.dtype(np.int64),
    "bool": np.dtype(np.bool_),
}
REALS = frozenset([float, int, *(np.dtype(code).type for code in np.typecodes["AllInteger"] + "efd")])
"""The types of what is a number as it is."""
C_TYPES: dict[str, Any] = {"double": ctypes.c_double, "float": ctypes.c_float, "int64_t": ctypes.c_int64, "bool": ctypes.c_bool}

Plain = Union[ctypes.c_double, ctypes.c_float, ctypes.c_int64, ctypes.c_bool, "np.ndarray[Any, Any]"]
"""What C takes."""
_Shape = tuple[str, tuple[Length, ...], tuple[int, ...]]
"""Of an array of `()`, which is not passed: its path, the lengths of its type, and those that it has."""


class Address(ctypes.c_void_p):
    """The data of an array that is only read, which it keeps alive."""

    array: np.ndarray[Any, Any]


VIEW: Callable[[Any], Any] = (ctypes.c_char * 0).from_buffer
"""The data of an array, which it keeps alive: an error unless the array is contiguous and may be written to."""


def address(array: np.ndarray[Any, Any]) -> Any:
    """The data of a contiguous array."""
    if array.flags.writeable:
        return VIEW(array)
    found = Address(array.ctypes.data)
    found.array = array
    return found


def units(element: Any, *shape: int) -> list[Any]:
    """An array of what is nothing in C: a list, which has a length."""
    count, *rest = shape
    return [units(element, *rest) for _ in range(count)] if rest else [element] * count


def are_bits(array: np.ndarray[Any, Any]) -> bool:
    """Whether the bytes of Bools are 0 and 1: NumPy takes any other for True, and C must not be given one."""
    return not array.size or bool(array.view(np.uint8).max() <= 1)


class Converter:
    """Makes the arguments of one entry what C takes."""

    def __init__(self, entry: str, parameters: tuple[tuple[str, Tree], ...], sizes: tuple[str, ...], copy: bool) -> None:
        self.entry = entry
        self.parameters = parameters
        self.copy = copy
        self.leaves = [leaf for name, tree in parameters for leaf in leaves(tree, name)]
        self.sizes = sizes

    def __call__(self, *arguments: Any) -> tuple[list[Plain], dict[str, int]]:
        """Each leaf as C takes it, and the sizes."""
        plain: list[Plain] = []
        shapes: list[_Shape] = []
        for (name, tree), argument in zip(self.parameters, arguments):
            self._flatten(tree, argument, name, (), plain, shapes)
        return plain, self._sizes(plain, shapes)

    def _flatten(self, tree: Tree, value: Any, path: str, around: tuple[Length, ...], plain: list[Plain], shapes: list[_Shape]) -> None:
        if isinstance(tree, Scalar):
            plain.append(self._array(tree, value, path, around) if around else self._number(tree, value, path))
        elif isinstance(tree, Array) and is_hollow(tree):
            while isinstance(tree, Array):
                around, tree = (*around, tree.length), tree.element
            shapes.append((path, around, self._units(value, path, around)))
        elif isinstance(tree, Array):
            self._flatten(tree.element, value, path, (*around, tree.length), plain, shapes)
        elif isinstance(tree, Tuple):
            parts = self._parts(value, len(tree.parts), path, len(around))
            for at, part in enumerate(tree.parts):
                self._flatten(part, parts(at), f"{path}[{at}]", around, plain, shapes)
        else:
            field = self._fields(tree, value, path, len(around))
            for at, (name, part) in enumerate(tree.fields):
                self._flatten(part, field(at, name), f"{path}.{name}", around, plain, shapes)

    def _units(self, value: Any, path: str, around: tuple[Length, ...]) -> tuple[int, ...]:
        """The lengths of an array of `()`, which may be one number; less of them where the array is empty."""
        if len(around) == 1 and hasattr(value, "__index__") and not isinstance(value, (bool, np.bool_, np.ndarray)):
            count = operator.index(value)
            if not 0 <= count < 2**63:
                self._refuse(ValueError, path, f"{count} is no length")
            return (count,)
        try:
            found = np.asarray(value)
        except ValueError as problem:
            self._refuse(TypeError, path, f"expected a list of () of shape {lengths.shape(around)}: {problem}")
        is_open = 0 < found.ndim < len(around) and found.size == 0
        if (found.ndim < len(around) and not is_open) or (found.size and found.dtype != object):
            number = " or its length" if len(around) == 1 else ""
            self._refuse(TypeError, path, f"expected a list of () of shape {lengths.shape(around)}{number}, found {_what(value)}")
        return found.shape[: len(around)]

    def _parts(self, value: Any, count: int, path: str, depth: int) -> Callable[[int], Any]:
        """The components of a tuple, or of all tuples of an array."""
        if count == 0 and value is None:
            return lambda _: None
        if count == 0 and not depth and not (isinstance(value, tuple) and not value):
            self._refuse(TypeError, path, f"expected () or None, found {_what(value)}")
        if depth and isinstance(value, np.ndarray) and value.ndim == depth + 1 and value.shape[-1] == count:
            # numbers of one type, each tuple a row
            return lambda at: value[..., at]
        if depth and not isinstance(value, tuple):
            # a list of tuples, as JSON has it
            if not isinstance(value, (list, np.ndarray)):
                self._refuse(TypeError, path, f"expected a tuple of {count} arrays or a list of tuples, found {_what(value)}")
            return lambda at: [self._parts(item, count, f"{path}[{i}]", depth - 1)(at) for i, item in enumerate(value)]
        if not isinstance(value, (tuple, list)):
            self._refuse(TypeError, path, f"expected a tuple of {count}, found {_what(value)}")
        if len(value) != count:
            self._refuse(ValueError, path, f"expected a tuple of {count}, found {len(value)}")
        return lambda at: value[at]

    def _fields(self, tree: Record, value: Any, path: str, depth: int) -> Callable[[int, str], Any]:
        """The fields of a record, or of all records of an array."""
        names = [name for name, _ in tree.fields]
        if isinstance(value, np.ndarray) and value.dtype.names is not None:
            self._check_names(tree, list(value.dtype.names), path)
            return lambda _, name: value[name]
        attributes = dict(zip(names, tree.attributes))
        if isinstance(value, (list, tuple, np.ndarray)):
            # what every list has, such as `count`, is no field; a named tuple has some
            named = [name for name, attribute in attributes.items() if attribute in getattr(value, "_fields", ())]
        else:
            named = [name for name, attribute in attributes.items() if hasattr(value, attribute)]
        if tree.cases and not depth and (isinstance(value, (str, Mapping)) or "tag" in named):
            given = value if isinstance(value, (str, Mapping)) else {name: getattr(value, attributes[name]) for name in named}
            chosen = self._chosen(tree, given, path)
            return lambda at, name: chosen[name] if name in chosen else _nothing(tree.fields[at][1])
        if isinstance(value, Mapping):
            self._check_names(tree, list(value), path)
            return lambda _, name: value[name]
        if named == names:
            return lambda _, name: getattr(value, attributes[name])
        if depth and isinstance(value, (list, tuple)):
            return lambda at, name: [self._fields(tree, item, f"{path}[{i}]", depth - 1)(at, name) for i, item in enumerate(value)]
        if not depth and isinstance(value, (list, tuple)) and len(value) == len(names):
            # the fields in their order
            return lambda at, _: value[at]
        self._refuse(TypeError, path, f"expected {_a(tree.record)} with {_words(names)}, found {_what(value)}")

    def _chosen(self, tree: Record, value: str | Mapping[Any, Any], path: str) -> Mapping[Any, Any]:
        """The tag of a value of a sum type and the data of its case, given so or by the name of the case: ``{"Circle": 1.0}``, ``"Empty"``."""
        names = [name for name, _ in tree.cases]
        given = {value: None} if isinstance(value, str) else value
        if "tag" not in given:
            name = next(iter(given), None)
            if len(given) != 1 or name not in names:
                self._refuse(TypeError, path, _no_case(tree.record, names, value))
            field = dict(tree.cases)[name]
            if (field is None) == isinstance(value, Mapping) and not (field is None and given[name] in ((), None)):
                what = "has no data: give its name" if field is None else f"has data: give {{{name!r}: …}}"
                self._refuse(TypeError, path, f"the case `{name}` of {tree.record} {what}")
            return {"tag": names.index(name), **({} if field is None else {field: given[name]})}
        more = [name for name in given if name not in dict(tree.fields)]
        tag: Any = given["tag"]
        try:
            own = dict(enumerate(field for _, field in tree.cases)).get(operator.index(tag))
        except TypeError:
            # said of the tag where it is converted
            own = None
        if more or (own is not None and own not in given):
            self._check_names(tree, [*given, *(name for name, _ in tree.fields if name != own)], path)
        return given

    def _check_names(self, tree: Record, found: list[Any], path: str) -> None:
        names = [name for name, _ in tree.fields]
        missing = [name for name in names if name not in found]
        more = [name for name in found if name not in names]
        if missing or more:
            what = f"lacks {_words(missing)}" if missing else f"has {_words(more)}, which {_a(tree.record)} has not"
            self._refuse(TypeError, path, f"{what}; the fields of {tree.record} are {_words(names)}")

    def _number(self, scalar: Scalar, value: Any, path: str) -> Plain:
        self._must_not_be_masked(value, path)
        if isinstance(value, np.ndarray) and value.shape == ():
            value = value[()]
        if scalar.cases:
            value = self._tag(scalar, value, path)
        if scalar.kind == "bool":
            if not isinstance(value, (bool, np.bool_)):
                self._refuse(TypeError, path, f"expected True or False, found {_what(value)}")
            return ctypes.c_bool(bool(value))
        if scalar.kind == "index":
            if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
                self._refuse(TypeError, path, f"expected an integer, found {_what(value)}")
            number = operator.index(value)
            if not -(2**63) <= number < 2**63:
                self._refuse(OverflowError, path, f"{number} does not fit in 64 bits")
            return ctypes.c_int64(number)
        if isinstance(value, (str, bytes, complex, np.ndarray)) or (isinstance(value, np.generic) and value.dtype.kind not in "biuf"):
            self._refuse(TypeError, path, f"expected a number, found {_what(value)}")
        try:
            real = float(value)
            # a longdouble may become infinite
            fits = not math.isinf(real) or bool(value == real)
        except (TypeError, ValueError):
            self._refuse(TypeError, path, f"expected a number, found {_what(value)}")
        except OverflowError:
            fits = False
        if not fits:
            self._refuse(OverflowError, path, "the number does not fit in 64 bits")
        if scalar.c_type == "double":
            return ctypes.c_double(real)
        single = ctypes.c_float(real)
        if math.isinf(single.value) and not math.isinf(real):
            self._refuse(OverflowError, path, f"{real} does not fit in 32 bits")
        return single

    def _tag(self, scalar: Scalar, value: Any, path: str) -> Any:
        """The tag of a case without data, given by its name, as ``{"Red": None}``, or as a record with a ``tag``; what is a number stays one."""
        given = value
        if isinstance(given, Mapping) and len(given) == 1:
            ((name, data),) = given.items()
            given = data if name == "tag" else name if data is None or (isinstance(data, tuple) and not data) else given
        elif not isinstance(given, Mapping):
            given = getattr(given, "tag", given)
        if isinstance(given, str) and given in scalar.cases:
            return scalar.cases.index(given)
        if isinstance(given, (bool, np.bool_)) or not hasattr(given, "__index__"):
            self._refuse(TypeError, path, _no_case(scalar.record, scalar.cases, value))
        return given

    def _tags(self, scalar: Scalar, value: Any, path: str) -> Any:
        """An array of cases without data, as ``_tag`` takes each of them."""
        if isinstance(value, np.ndarray):
            if value.dtype.kind not in "OUT":
                return value
            value = value.tolist()
        if isinstance(value, (list, tuple)):
            return [self._tags(scalar, item, f"{path}[{i}]") for i, item in enumerate(value)]
        return self._tag(scalar, value, path)

    def _must_not_be_masked(self, value: Any, path: str) -> None:
        if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
            what = "a masked array has elements without a value: fill it first" if value.ndim else "a masked number has no value"
            self._refuse(TypeError, path, what)

    def _array(self, scalar: Scalar, value: Any, path: str, around: tuple[Length, ...]) -> np.ndarray[Any, Any]:
        wanted = DTYPES[scalar.c_type]
        self._must_not_be_masked(value, path)
        named = scalar.cases and (self.copy or not isinstance(value, np.ndarray))
        tags = self._tags(scalar, value, path) if named else value
        try:
            found = np.asarray(tags)
        except (TypeError, ValueError, OverflowError) as problem:
            self._refuse(TypeError, path, f"expected {_many(wanted)} of shape {lengths.shape(around)}: {problem}")
        if found.dtype == object and (self.copy or found is not value) and all(isinstance(item, numbers.Real) for item in found.flat):
            # NumPy has no type of integers of any length
            plain: list[Any] = [self._number(scalar, item, path) for item in found.flat]
            found = np.array([number.value for number in plain]).reshape(found.shape)
        if found.size and not _may_become(found.dtype, wanted):
            self._refuse(TypeError, path, f"expected {_many(wanted)} of shape {lengths.shape(around)}, found {_many(found.dtype)}")
        # an empty list does not say how long its rows would be
        is_open = 0 < found.ndim < len(around) and found.size == 0
        if found.ndim != len(around) and not is_open:
            self._refuse(ValueError, path, f"has shape {found.shape}, expected {lengths.shape(around)}")
        flags = found.flags
        is_ready = found.dtype == wanted and flags.c_contiguous and flags.aligned
        if not self.copy and isinstance(value, np.ndarray) and not is_ready:
            what = _many(found.dtype) if found.dtype != wanted else "not contiguous in C order" if not flags.c_contiguous else "not aligned"
            self._refuse(TypeError, path, f"is {what}, and a copy to {_many(wanted)} in C order is refused by copy=False")
        if wanted == np.dtype(np.int64) and found.dtype.kind == "u" and found.size and found.max() > 2**63 - 1:
            self._refuse(OverflowError, path, f"{found.max()} does not fit in 64 bits")
        with np.errstate(over="ignore"):
            made = found if is_ready else np.require(found, wanted, ["C_CONTIGUOUS", "ALIGNED"])
        if wanted.kind == "b" and not are_bits(made):
            if not self.copy and isinstance(value, np.ndarray):
                self._refuse(TypeError, path, "has bytes other than 0 and 1, and a copy is refused by copy=False")
            return np.not_equal(made.view(np.uint8), 0)
        if wanted.itemsize < found.dtype.itemsize and wanted.kind == "f":
            too_large = np.isinf(made) & np.isfinite(found)
            if too_large.any():
                self._refuse(OverflowError, path, f"{found[too_large][0]!s} does not fit in {8 * wanted.itemsize} bits")
        return made

    def _sizes(self, plain: list[Plain], shapes: list[_Shape]) -> dict[str, int]:
        """What sizes are in these arguments; empty lists get the shapes that these say."""
        known: dict[str, int] = {}
        origins: dict[str, str] = {}
        for leaf, value in zip(self.leaves, plain):
            # lengths may mention an Index or a Bool
            if not isinstance(value, np.ndarray) and leaf.scalar.kind != "double":
                known[leaf.scalar.parameter] = int(value.value)
                origins[leaf.scalar.parameter] = leaf.path
        for leaf, value in zip(self.leaves, plain):
            for at, length in enumerate(leaf.lengths):
                if isinstance(value, np.ndarray) and at < value.ndim and isinstance(length, str) and length not in known:
                    known[length] = value.shape[at]
                    origins[length] = leaf.path
        for path, around, shape in shapes:
            for length, extent in zip(around, shape):
                if isinstance(length, str) and length not in known:
                    known[length], origins[length] = extent, path
        # an inner size of an empty array that no other argument decides
        known = {**{size: 0 for size in self.sizes}, **known}
        for at, (leaf, value) in enumerate(zip(self.leaves, plain)):
            if isinstance(value, np.ndarray):
                if value.ndim < len(leaf.lengths):
                    inner = [max(0, lengths.value(length, known)) for length in leaf.lengths[value.ndim :]]
                    value = plain[at] = value.reshape((*value.shape, *inner))
                self._check_shape(leaf.path, leaf.lengths, value.shape, known, origins)
        for path, around, shape in shapes:
            self._check_shape(path, around[: len(shape)], shape, known, origins)
        return {size: known[size] for size in self.sizes}

    def _check_shape(self, path: str, around: tuple[Length, ...], shape: tuple[int, ...], known: dict[str, int], origins: dict[str, str]) -> None:
        expected = tuple(lengths.value(length, known) for length in around)
        if shape == expected:
            return
        mentioned = [name for name in origins if any(name in lengths.names_of(length) for length in around)]
        origin = {name: f" from `{place}`" if place != name else "" for name, place in origins.items()}
        given = ", ".join(f"{name} = {known[name]}{origin[name]}" for name in mentioned if origins[name] != path)
        self._refuse(ValueError, path, f"has shape {shape}, expected {lengths.shape(around)}{' with ' if given else ''}{given}")

    def _refuse(self, kind: type[Exception], path: str, what: str) -> NoReturn:
        raise kind(f"{self.entry}: `{path}` {what}" if what.startswith(("has ", "is ", "lacks ")) else f"{self.entry}: `{path}`: {what}")


def _nothing(tree: Tree) -> Any:
    """The data of a case that a value has not."""
    if isinstance(tree, Array):
        return [_nothing(tree.element)] * (tree.length if isinstance(tree.length, int) else 0)
    if isinstance(tree, Tuple):
        return tuple(_nothing(part) for part in tree.parts)
    if isinstance(tree, Record):
        return tuple(_nothing(field) for _, field in tree.fields)
    return False if tree.kind == "bool" else 0


def out_of_range(inputs: list[Leaf], arguments: list[Any], sizes: dict[str, int]) -> str | None:
    """The first Index that its type does not allow, as ``smoothc run`` says it."""
    for leaf, argument in zip(inputs, arguments):
        below = leaf.scalar.below
        if below is None:
            continue
        limit, found = lengths.value(below, sizes), np.asarray(argument)
        for place in np.argwhere((found < 0) | (found >= limit)):
            name = "" if isinstance(below, int) else f" (`{lengths.text(below)}` = {limit})"
            at = f" at {''.join(f'[{i}]' for i in place)}" if len(place) else ""
            return f"`{leaf.path}`: {found[tuple(place)]} is not an index below {limit}{name}{at}"
    return None


def destinations(entry: str, results: list[Leaf], tree: Tree, out: Any, shapes: list[tuple[int, ...]], inputs: list[Any]) -> list[Any]:
    """The arrays that results are written to, held against what C needs: nothing is converted here."""
    found: list[Any] = []
    _collect(entry, tree, out, "out", found)
    for at, (leaf, array, shape) in enumerate(zip(results, found, shapes)):
        wanted = DTYPES[leaf.scalar.c_type]
        if not isinstance(array, np.ndarray) or array.dtype != wanted:
            raise TypeError(f"{entry}: `{leaf.path}`: expected {_many(wanted)} to write to, found {_what(array)}")
        if array.shape != shape:
            raise ValueError(f"{entry}: `{leaf.path}` has shape {array.shape}, the result has {shape}")
        flags = array.flags
        if not (flags.c_contiguous and flags.aligned and flags.writeable):
            what = "is not aligned" if flags.c_contiguous else "is not contiguous in C order"
            what = what if flags.writeable else "may not be written to"
            raise ValueError(f"{entry}: `{leaf.path}` {what}: results are written in place, without a copy")
        for other in [*inputs, *found[:at]]:
            if isinstance(other, np.ndarray) and np.may_share_memory(array, other):
                raise ValueError(f"{entry}: `{leaf.path}` overlaps another array of the call: results have memory of their own")
    return [address(array) for array in found]


def _collect(entry: str, tree: Tree, out: Any, path: str, found: list[Any]) -> None:
    while isinstance(tree, Array):
        tree = tree.element
    if isinstance(tree, Scalar):
        found.append(out)
    elif isinstance(tree, Tuple):
        if tree.parts and (not isinstance(out, (tuple, list)) or len(out) != len(tree.parts)):
            raise TypeError(f"{entry}: `{path}`: expected a tuple of {len(tree.parts)} arrays, found {_what(out)}")
        for at, part in enumerate(tree.parts):
            _collect(entry, part, out[at], f"{path}[{at}]", found)
    else:
        for (name, part), attribute in zip(tree.fields, tree.attributes):
            if isinstance(out, Mapping) and name in out:
                _collect(entry, part, out[name], f"{path}.{name}", found)
            elif hasattr(out, attribute):
                _collect(entry, part, getattr(out, attribute), f"{path}.{name}", found)
            else:
                raise TypeError(f"{entry}: `{path}` lacks `{name}`: expected {_a(tree.record)} of arrays, found {_what(out)}")


def _may_become(found: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    """Integers and floats of other lengths may; what would lose a kind of number may not."""
    if wanted.kind == "b" or found.kind == "b":
        return found.kind == wanted.kind
    return bool(np.can_cast(found, wanted, "same_kind")) or (wanted.kind == "i" and found.kind == "u")


def _many(dtype: np.dtype[Any]) -> str:
    # one of this machine's order has none of these
    order = {">": "big-endian ", "<": "little-endian "}.get(dtype.byteorder, "")
    # NumPy's names of these have their lengths in bits
    named = {"U": "text", "S": "bytes", "V": "raw bytes" if dtype.names is None else "records"}
    return f"an array of {order}{named.get(dtype.kind, dtype.name)}"


def _a(name: str) -> str:
    """A name behind its article."""
    return f"{'an' if name[:1] in 'AEIOaeio' else 'a'} {name}"


def _what(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{_many(value.dtype)} of shape {value.shape}"
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        shown = repr(value)
        return shown if len(shown) <= 40 else _a(type(value).__name__)
    return _a(type(value).__name__)


def _no_case(record: str, cases: Sequence[str], value: Any) -> str:
    found = f"{_a(type(value).__name__)} with {_words(list(value))}" if isinstance(value, Mapping) else _what(value)
    return f"expected {_a(record)}, which is one of {_words(list(cases))} or has a `tag`, found {found}"


def _words(names: list[Any]) -> str:
    shown = [f"`{name}`" for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else "no fields"
