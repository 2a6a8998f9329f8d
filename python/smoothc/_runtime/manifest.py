"""The JSON that ``smoothc build --manifest`` writes, as typed values.

In: the text of a manifest. Out: for each entry its names, and for each parameter and for the result a tree whose leaves are C parameters.

    {"kind": "array", "length": "n", "element": {"kind": "double", "parameter": "v"}}   ->   Array("n", Scalar("double", "v", "double"))
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Union

from .errors import StatusError

Length = Union[int, str, "list[Any]"]
"""A number, the C name of a size or of an Index parameter, or an operation: its operator, then its operands."""


_WORDS = "_Out _Real _abc _builtins _dataclasses _library _np _npt _opened _runtime _typing set_workspace"
OWN_NAMES = frozenset([*_WORDS.split(), StatusError.__name__])
"""What has a name in a package already: no entry and no record is called so."""


def identifier(name: str, taken: set[str]) -> str:
    """A Python name for a name of the source, different from those that are taken."""
    name = name.replace("'", "_prime")
    if name.startswith("__") and name.endswith("__"):
        # Python gives a meaning to such names
        name += "_"
    while keyword.iskeyword(name) or name in taken:
        name += "_"
    taken.add(name)
    return name


@dataclass(frozen=True)
class Scalar:
    """A Double, an Index or a Bool, or the elements of an array of such."""

    kind: str
    parameter: str
    """The C parameter."""
    c_type: str
    """``double``, ``float``, ``int64_t`` or ``bool``."""
    below: Length | None = None
    """What an Index must be less than, where its type says so."""
    record: str = ""
    """The name of a sum type whose cases have no data: its values are tags."""
    cases: tuple[str, ...] = ()
    """The names of these cases in the order of tags."""


@dataclass(frozen=True)
class Array:
    length: Length
    element: Tree


@dataclass(frozen=True)
class Tuple:
    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Record:
    record: str
    """The name of its type."""
    fields: tuple[tuple[str, Tree], ...]
    cases: tuple[tuple[str, str | None], ...]
    """Of a sum type: the name of each case in the order of tags, and the field with its data."""
    class_name: str
    """The name of its type in Python."""

    @property
    def attributes(self) -> list[str]:
        """The names of its fields in Python."""
        taken: set[str] = set()
        return [identifier(name, taken) for name, _ in self.fields]


Tree = Union[Scalar, Array, Tuple, Record]


class _Classes:
    """Names for the classes of records: types with other names, fields or cases have one each, the first that entries mention first."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], str] = {}
        self._taken = set(OWN_NAMES)

    def name(self, record: str, fields: list[str], cases: tuple[tuple[str, str | None], ...]) -> str:
        key = (record, tuple(fields), cases)
        if key not in self._known:
            self._known[key] = identifier(record, self._taken)
        return self._known[key]


@dataclass(frozen=True)
class Entry:
    source_name: str
    c_name: str
    doc: str
    signature: str
    """The type as ``smoothc check`` prints it."""
    sizes: tuple[str, ...]
    """The C parameters that come first: lengths."""
    parameters: tuple[tuple[str, Tree], ...]
    result: Tree
    workspace: str
    """The C function that says how many bytes of workspace a call needs."""
    needs_workspace: bool


@dataclass(frozen=True)
class Manifest:
    version: str
    source: str
    options: tuple[str, ...]
    opened: tuple[str, ...]
    """The files that the program opens, from its folder."""
    entries: tuple[Entry, ...]
    library: str
    """The file of the shared library, in a package."""
    processor: tuple[str, ...] | None
    """What the library needs of the processor: None where any will do, or nothing is known."""
    futhark: tuple[str, ...] | None
    """What the entries are called in a library of Futhark; None where the library is of emitted C."""

    @property
    def parallel(self) -> bool:
        return "--parallel" in self.options


def read(text: str) -> Manifest:
    """A manifest from its text."""
    found = json.loads(text)
    described = {entry["name"]: entry for entry in found["entries"]}
    classes = _Classes()
    entries = tuple(_entry(call, described[call["entry"]], classes) for call in found.get("calls", []))
    processor, futhark = found.get("processor"), found.get("futhark")
    return Manifest(
        version=found["version"],
        source=found["source"],
        options=tuple(found["options"]),
        opened=tuple(found.get("opened", [])),
        entries=entries,
        library=found.get("library", ""),
        processor=None if processor is None else tuple(processor),
        futhark=None if futhark is None else tuple(futhark),
    )


def _entry(call: dict[str, Any], described: dict[str, Any], classes: _Classes) -> Entry:
    shown = _shown(call, described["sizes"])
    types = {shown.get(value["name"], value["name"]): value["type"] for value in described["parameters"] + described["results"]}
    return Entry(
        source_name=call["source_name"],
        c_name=described["name"],
        doc=described["doc"],
        signature=call["signature"],
        sizes=tuple(shown.get(name, name) for name in described["sizes"]),
        parameters=tuple((named["name"], _tree(named["value"], types, shown, classes)) for named in call["parameters"]),
        result=_tree(call["result"], types, shown, classes),
        workspace=described["workspace"],
        needs_workspace=call["needs_workspace"],
    )


def _shown(call: dict[str, Any], sizes: list[str]) -> dict[str, str]:
    """The names of the source for sizes and numbers that have another one in C, where an entry has theirs: people are told of lengths in these."""
    names: dict[str, str] = {named["value"]["parameter"]: named["name"] for named in call["parameters"] if "parameter" in named["value"]}
    words = set(re.findall(r"\w+", call["signature"]))
    for size in sizes:
        name = names.get(size, size)
        while name.endswith("_") and name not in words:
            name = name[:-1]
        names[size] = name
    trees = [_tree(named["value"], {}, {}, _Classes()) for named in call["parameters"]]
    taken = {*sizes, *(leaf.scalar.parameter for tree in trees for leaf in leaves(tree, ""))}
    return {c: name for c, name in names.items() if c != name and name in words and name.isidentifier() and name not in taken}


def _tree(value: dict[str, Any], types: dict[str, str], shown: dict[str, str], classes: _Classes) -> Tree:
    kind = value["kind"]
    if kind == "array":
        return Array(_renamed(value["length"], shown), _tree(value["element"], types, shown, classes))
    if kind == "tuple":
        return Tuple(tuple(_tree(part, types, shown, classes) for part in value["parts"]))
    if kind == "record":
        cases = tuple((case["name"], case["field"]) for case in value.get("cases", []))
        # before those of its fields
        class_name = classes.name(value["record"], [field["name"] for field in value["fields"]], cases)
        fields = tuple((field["name"], _tree(field["value"], types, shown, classes)) for field in value["fields"])
        return Record(value["record"], fields, cases, class_name)
    # a size is an int64_t that stands among the sizes
    name = shown.get(value["parameter"], value["parameter"])
    named = tuple(case["name"] for case in value.get("cases", []))
    return Scalar(kind, name, types.get(name, "int64_t"), _renamed(value.get("below"), shown), value.get("record", ""), named)


def _renamed(length: Any, shown: dict[str, str]) -> Any:
    """A length over other names; a list begins with its operator."""
    if isinstance(length, list):
        return [length[0], *(_renamed(operand, shown) for operand in length[1:])]
    return shown.get(length, length) if isinstance(length, str) else length


def components(tree: Tree) -> Sequence[tuple[str, Tree]]:
    """The fields of a record, or the components of a tuple by their numbers; a number and an array have none."""
    if isinstance(tree, Record):
        return tree.fields
    return [(str(at), part) for at, part in enumerate(tree.parts)] if isinstance(tree, Tuple) else ()


def is_hollow(tree: Tree) -> bool:
    """Whether a value is made of `()` alone: of an array of such C takes the length."""
    return not leaves(tree, "")


@dataclass(frozen=True)
class Leaf:
    """A scalar component of a value, inside arrays of these lengths."""

    scalar: Scalar
    lengths: tuple[Length, ...]
    path: str
    """How a person calls it: ``scene.points``."""
    is_of_case: bool
    """Whether it is data of a case of a sum type: C writes those of the value's own case."""


def leaves(tree: Tree, path: str, lengths: tuple[Length, ...] = (), is_of_case: bool = False) -> list[Leaf]:
    """The leaves of a value in the order of the C parameters."""
    if isinstance(tree, Scalar):
        return [Leaf(tree, lengths, path, is_of_case)]
    if isinstance(tree, Array):
        return leaves(tree.element, path, (*lengths, tree.length), is_of_case)
    if isinstance(tree, Tuple):
        return [leaf for at, part in enumerate(tree.parts) for leaf in leaves(part, f"{path}[{at}]", lengths, is_of_case)]
    own = {field for _, field in tree.cases}
    return [leaf for name, field in tree.fields for leaf in leaves(field, f"{path}.{name}", lengths, is_of_case or name in own)]
