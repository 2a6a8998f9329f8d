"""Programs as Python modules: ``load`` and ``compile``.

In: a program, as a file or a text, and options. Out: a Module, whose attributes are the entries of the program as functions.
"""

from __future__ import annotations

import copyreg
import dataclasses
import functools
import json
import operator
import os
import pickle
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MethodType
from typing import Any, Callable, Protocol

from . import _cache, _compiler
from ._explanation import Explanation
from ._runtime import futhark as _futhark
from ._runtime.library import Library, RecordType
from ._runtime.manifest import Entry, read

_KINDS = ("jvp", "vjp", "gradient", "valueAndGradient", "jacobian", "sparse_jacobian", "hessian", "revf", "revr")
"""What `--derive` makes."""
_FUTHARK = "futhark.json"
"""What the compiler says of a library of Futhark."""


class Function(Protocol):
    """An entry of a program."""

    __name__: str
    __doc__: str | None
    module: Module
    """What it is an entry of."""

    def __call__(self, *arguments: Any, out: Any = None) -> Any:
        """The result; written to ``out`` and not allocated where that is given."""

    def explain(self) -> Explanation:
        """How the entry was differentiated and optimised."""


class _Compiled:
    """Beside a function what says that it is not pickled as its code, which is C. ``pickle`` sends a module and a name, and does not meet this."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __reduce__(self) -> tuple[Any, ...]:
        raise pickle.PicklingError(
            f"`{self._name}` is compiled code, which is not pickled by value, as `cloudpickle` does: "
            f"send its module and take the function from that where it is called, as `lambda x: m.{self._name}(x)` does"
        )


class Module:
    """A compiled program: an attribute for each entry, and a dataclass for each record.

    Entries are found by their names in the source too: ``module["f'"]``.
    """

    def __init__(self, name: str, library: Library, explain: Callable[[str], Explanation], identity: str, made_by: tuple[Any, ...]) -> None:
        self.__name__ = name
        self.__library = library
        self.__identity = identity
        self.__made_by = made_by
        self.__entries: dict[str, Function] = {}
        made: Any
        for record, made in library.records.items():
            made.__reduce__ = functools.partialmethod(_reduced, self, record)
            made._smoothc = (self, record)
            setattr(self, record, made)
        for (attribute, function), entry in zip(library.functions.items(), library.manifest.entries):
            known: Any = function
            known.explain = functools.partial(explain, entry.source_name)
            known.module = self
            known._smoothc = _Compiled(attribute)
            # a method is pickled as the module and its name
            method: Any = MethodType(function, self)
            self.__entries[entry.source_name] = method
            setattr(self, attribute, method)
        _LOADED[identity] = self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name.startswith("_Module__"):
            raise AttributeError(name)
        raise AttributeError(f"`{self.__name__}` has no entry `{name}`; its entries are {', '.join(self.__entries)}")

    def __getitem__(self, name: str) -> Function:
        return self.__entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.__entries)

    def __len__(self) -> int:
        return len(self.__entries)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process loads the program again, from the cache, once; this one has it."""
        return _sent, (self.__identity, self.__made_by)

    def __repr__(self) -> str:
        signatures = "".join(f"\n    {entry.signature.removeprefix('let ')}" for entry in self.__library.manifest.entries)
        return f"<smoothc module {self.__name__}:{signatures}>"


def described(function: Callable[..., Any]) -> Entry | None:
    """What the compiler says of the entry that a function is, of a module or of a package; None where it is none."""
    module = getattr(function, "module", None)
    if isinstance(module, Module):
        library: Any = module._Module__library
        manifest = library.manifest
    else:
        library = getattr(sys.modules.get(function.__module__), "_library", None)
        if function not in getattr(library, "functions", {}).values():
            return None
        # a package has a manifest of types of its own, which is another one where it was built again since
        manifest = read((library.path.parent / _cache.MANIFEST).read_text(encoding="utf-8"))
        if manifest.library != library.path.name:
            return None
    called = getattr(function, "__func__", function)
    entries: dict[Any, Entry] = dict(zip(library.functions.values(), manifest.entries))
    return entries[called]


_LOADED: dict[str, Module] = {}
"""The programs of this process by their identity: what comes from other processes belongs to them."""


def _sent(identity: str, made_by: tuple[Any, ...]) -> Module:
    if identity not in _LOADED and _module(*made_by, warn=False)._Module__identity != identity:
        raise RuntimeError(f"{made_by[0]} is not the program here that it is in the process that sent it: its text, or that of a file it opens")
    return _LOADED[identity]


def _reduced(value: Any, module: Module, record: str) -> tuple[Any, ...]:
    """How a record is pickled."""
    return _record, (module, record, *(getattr(value, field.name) for field in dataclasses.fields(value)))


def _record(module: Module, record: str, *fields: Any) -> Any:
    return _class(module, record)(*fields)


def _reduced_class(made: Any) -> Any:
    # what records are made from is found by its name
    return (_class, made._smoothc) if "_smoothc" in vars(made) else made.__qualname__


def _class(module: Module, record: str) -> type[Any]:
    library: Library = module._Module__library
    return library.records[record]


# a class is found by its module's name otherwise, and no program is imported by one
copyreg.pickle(RecordType, _reduced_class)


def load(
    path: str | os.PathLike[str],
    *,
    derive: str | Sequence[str] = (),
    entries: str | Sequence[str] = (),
    sizes: Mapping[str, int] | None = None,
    mode: str = "auto",
    checkpoint: int | None = None,
    schedule: str | None = None,
    disable: str | Sequence[str] = (),
    real: str = "f64",
    strict_fp: bool = False,
    unchecked: bool = False,
    parallel: bool = False,
    copy: bool = True,
    records: str = "dataclass",
    target: str = "c",
    backend: str = "c",
    workspace: int = 0,
) -> Module:
    """Compiles a file and gives its entries as functions; a library that was compiled before is taken from the cache.

    The options are those of the command line: ``derive=["gradient:loss"]`` adds the entry ``loss_gradient``. With ``copy=False`` an array that C
    cannot take as it is, of another type or order, is a TypeError; with ``records="dict"`` results are dicts in place of dataclasses. With
    ``target="futhark"`` the Futhark compiler makes the library, for its ``backend``: c, multicore, opencl, cuda or hip. A call has
    ``workspace`` bytes at least: with more of them recursion goes deeper.
    """
    path = Path(path)
    options = _options(derive, entries, sizes, mode, checkpoint, schedule, disable, real, strict_fp, unchecked, parallel)
    file = f"./{path}" if str(path).startswith("-") else str(path)
    return _module(file, path.stem, None, options, schedule, copy, records, _backend(target, backend, workspace), operator.index(workspace))


def compile(  # noqa: A001
    text: str,
    *,
    derive: str | Sequence[str] = (),
    entries: str | Sequence[str] = (),
    sizes: Mapping[str, int] | None = None,
    mode: str = "auto",
    checkpoint: int | None = None,
    schedule: str | None = None,
    disable: str | Sequence[str] = (),
    real: str = "f64",
    strict_fp: bool = False,
    unchecked: bool = False,
    parallel: bool = False,
    copy: bool = True,
    records: str = "dataclass",
    target: str = "c",
    backend: str = "c",
    workspace: int = 0,
) -> Module:
    """Compiles the text of a program, as ``load`` does a file; what it opens is found from the working directory."""
    if not isinstance(text, str):
        raise TypeError(f"compile: expected the text of a program, found {type(text).__name__}: `load` takes the path of a file")
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        raise ValueError(f"compile: the text has {text[problem.start]!r} at {problem.start}, which is half a character") from None
    options = _options(derive, entries, sizes, mode, checkpoint, schedule, disable, real, strict_fp, unchecked, parallel)
    return _module("-", "program", text, options, schedule, copy, records, _backend(target, backend, workspace), operator.index(workspace))


def _many(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _options(
    derive: str | Sequence[str],
    entries: str | Sequence[str],
    sizes: Mapping[str, int] | None,
    mode: str,
    checkpoint: int | None,
    schedule: str | None,
    disable: str | Sequence[str],
    real: str,
    strict_fp: bool,
    unchecked: bool,
    parallel: bool,
) -> list[str]:
    """The words of the command line."""
    for asked in _many(derive):
        kind, colon, _ = asked.partition(":")
        if kind not in _KINDS or not colon:
            raise ValueError(f"derive: expected 'KIND:FUNCTION' with one of the kinds {', '.join(_KINDS[:-1])} and {_KINDS[-1]}, found {asked!r}")
    words = [
        word
        for option, given in (("--derive", derive), ("--entry", entries), ("--disable", disable))
        for name in _many(given)
        for word in (option, name)
    ]
    words += [word for name, size in (sizes or {}).items() for word in ("--size", f"{name}={size}")]
    for option, value, usual in (
        ("--mode", mode, "auto"),
        ("--checkpoint", checkpoint, None),
        ("--schedule", schedule, None),
        ("--real", real, "f64"),
    ):
        if value != usual:
            words += [option, str(value)]
    return words + [option for option, given in (("--strict-fp", strict_fp), ("--unchecked", unchecked), ("--parallel", parallel)) if given]


def _backend(target: str, backend: str, workspace: int) -> str | None:
    """That of Futhark; None for emitted C."""
    if target not in ("c", "futhark"):
        raise ValueError(f"target: expected 'c' or 'futhark', found {target!r}")
    if backend not in (_futhark.BACKENDS if target == "futhark" else ("c",)):
        known = " or ".join(repr(name) for name in _futhark.BACKENDS)
        raise ValueError(f"backend: expected {known} with target='futhark', found {backend!r}")
    if target == "futhark" and workspace:
        raise ValueError("workspace: a library of Futhark has none, and no recursion")
    return backend if target == "futhark" else None


def _module(
    file: str,
    name: str,
    text: str | None,
    options: list[str],
    schedule: str | None,
    copy: bool,
    records: str,
    backend: str | None,
    workspace: int,
    *,
    warn: bool = True,
) -> Module:
    here = _here(None if text is not None else file)
    base = Path(file).parent if text is None else Path()
    schedule = None if schedule is None else os.fspath(schedule)
    # a name without these is a built-in schedule
    strategy = Path(schedule) if schedule is not None and any(letter in schedule for letter in "./\\") else None

    def texts() -> _cache.Texts:
        # a strategy file is a part of the program
        is_there = strategy is not None and strategy.is_file()
        return _cache.Texts(_cache.text(Path(file)) if text is None else text, _cache.text(strategy) if strategy is not None and is_there else None)

    def make(folder: Path, known: _cache.Texts) -> tuple[Sequence[_cache.Read], list[_compiler.Diagnostic]]:
        described = folder / _cache.MANIFEST
        library = str(folder / _cache.LIBRARY)
        given, said = options, ("", "")
        if strategy is not None and known.schedule is not None:
            copied = _copied(folder.parent, strategy, known.schedule)
            given = [copied if word == schedule else word for word in options]
            said = (copied, str(schedule))

        def run(command: str, *words: str) -> list[_compiler.Diagnostic]:
            try:
                return [problem.renamed(*said) for problem in _compiler.run([command, file, *given, *words], text)[1]]
            except _compiler.DiagnosticError as error:
                raise error.renamed(*said) from None

        if backend is None:
            found = run("build", "-o", library, "--manifest", str(described))
        else:
            # how values become arguments is said of C; the warnings are the same
            found = run("emit", "-o", str(folder / "program.c"), "--manifest", str(described))
            run("build", "-o", library, "--quiet", "--target", "futhark", "--futhark-backend", backend, "--manifest", str(folder / _FUTHARK))
        # the same program in another folder has these warnings too
        found = [dataclasses.replace(problem, file=os.path.relpath(problem.file, base)) if problem.file else problem for problem in found]
        manifests = [described] if backend is None else [described, folder / _FUTHARK]
        made = [json.loads(_compiler.made(path)) for path in manifests]
        return [_cache.Read(tuple(manifest["opened"]), manifest["source_hash"]) for manifest in made], found

    parts = [Path(file).name, *_cache.tools(_compiler.command()), *options]
    if backend is not None:
        parts += ["futhark", backend, _cache.futhark()]
    kept, warnings, compiled = _cache.find(parts, base, texts, make)
    if warn:
        _compiler.warn([dataclasses.replace(problem, file=str(base / problem.file)) if problem.file else problem for problem in warnings])
    manifest = read((kept / _cache.MANIFEST).read_text(encoding="utf-8"))
    if backend is None:
        library = Library(kept / _cache.LIBRARY, manifest, module=name, copy=copy, records=records, methods=True)
    else:
        names = [entry["name"] for entry in json.loads((kept / _FUTHARK).read_text(encoding="utf-8"))["entries"]]
        named = dataclasses.replace(manifest, futhark=tuple(names))
        library = _futhark.FutharkLibrary(kept / _cache.LIBRARY, named, module=name, copy=copy, records=records, methods=True)
    library.set_workspace(workspace)
    made_by = (os.path.abspath(file) if text is None else file, name, text, options, schedule, copy, records, backend, workspace)
    # what another process must find, whatever its compilers are
    identity = compiled.key([repr(made_by)])
    files = {} if text is not None else {Path(os.path.abspath(file)): compiled.main}
    files.update({Path(os.path.abspath(base / other)): known for other, known in compiled.opened})
    if strategy is not None and compiled.schedule is not None:
        files[Path(os.path.abspath(strategy))] = compiled.schedule
    explain = functools.partial(Explanation, words=[file, *options], text=text, folder=here, files=files)
    return Module(name, library, explain, identity, made_by)


def _here(file: str | None) -> str:
    """The working directory; where it was removed, that of a file with a whole path, which needs no other."""
    try:
        return os.getcwd()
    except FileNotFoundError as problem:
        if file is not None and os.path.isabs(file):
            return os.path.dirname(file)
        needs = "what a program opens is found from there" if file is None else f"{file} is found from there"
        raise FileNotFoundError(f"the working directory was removed, and {needs}: go to one that is there with `os.chdir`") from problem


def _copied(folder: Path, strategy: Path, text: str) -> str:
    """A strategy file with the text that decides the name of the library, whatever is written to the caller's meanwhile."""
    copied = folder / "schedule" / strategy.name
    copied.parent.mkdir(exist_ok=True)
    copied.write_bytes(text.encode("utf-8", errors="surrogateescape"))
    return str(copied)
