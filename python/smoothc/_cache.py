"""Compiled libraries, kept between runs.

In: a program, options, and what makes a library. Out: the folder with the library and its manifest, made where it is not there yet or not whole, and
the warnings of the program.

A library is found by everything that it depends on: the text of the program and of the files that it opens, the options, the smoothc command, the C
compiler and its flags, and the machine: another machine that shares the folder has libraries of its own. It is made in a folder of another name,
which is then renamed, so that two processes may do so at once: the first one's stays.

The folder is SMOOTHC_CACHE, else ``smoothc`` in the user's folder for caches.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Callable

from ._compiler import Diagnostic
from ._runtime import machine

LIBRARY = "library.so" if sys.platform not in ("win32", "darwin") else "library.dll" if sys.platform == "win32" else "library.dylib"
MANIFEST = "manifest.json"
_KEPT = "kept.json"
"""The warnings, and the digests of the other files."""
_MAKING = ".making-"


def folder() -> Path:
    """Where libraries are kept."""
    named = os.environ.get("SMOOTHC_CACHE")
    if named:
        return Path(named)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "smoothc" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "smoothc"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "smoothc"


def key(parts: Sequence[str]) -> str:
    """One name for a list of texts."""
    hasher = hashlib.sha256()
    for part in parts:
        text = part.encode("utf-8", errors="surrogateescape")
        hasher.update(len(text).to_bytes(8, "little"))
        hasher.update(text)
    return hasher.hexdigest()[:32]


def tools(command: str) -> list[str]:
    """The compilers that make a library, and the machine that it is for."""
    names = ("CC", "CFLAGS")
    settings = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.split("_")[0] in names or name.split("_")[-1] in names]
    return [_identity(command), _identity((os.environ.get("CC", "").split() or ["cc"])[0]), *settings, machine.describe()]


def futhark() -> str:
    """The Futhark compiler."""
    return _identity(os.environ.get("FUTHARK") or "futhark")


def _identity(command: str) -> str:
    """What changes when a program is replaced; nothing where it is missing, which its user says."""
    found = shutil.which(command)
    if found is None:
        return command
    status = os.stat(found)
    return f"{os.path.realpath(found)} {status.st_size} {status.st_mtime_ns}"


def find(parts: Sequence[str], base: Path, make: Callable[[Path], tuple[Sequence[str], Sequence[Diagnostic]]]) -> tuple[Path, list[Diagnostic]]:
    """The folder of the library that ``parts`` decide, and its warnings.

    ``make`` fills a folder, and gives the files that the program opens from ``base`` and the warnings.
    """
    root = folder()
    first = key(parts)
    opened = root / f"{first}.opened.json"
    try:
        kept = root / complete(first, base, json.loads(opened.read_text(encoding="utf-8")))
        return kept, _checked(kept)
    except (OSError, ValueError):
        pass
    try:
        root.mkdir(parents=True, exist_ok=True)
        _sweep(root)
        making = Path(tempfile.mkdtemp(prefix=_MAKING, dir=root))
    except OSError as problem:
        raise OSError(f"compiled libraries cannot be kept in {root}: {problem}; set SMOOTHC_CACHE to a folder that may be written to") from problem
    try:
        made = making / "library"
        made.mkdir()
        names, found = make(made)
        digests = {path.name: _digest(path) for path in made.iterdir()}
        said = {"files": digests, "warnings": [asdict(problem) for problem in found]}
        (made / _KEPT).write_text(json.dumps(said), encoding="utf-8")
        kept = root / complete(first, base, names)
        _place(made, kept)
        (making / "opened").write_text(json.dumps(list(names)), encoding="utf-8")
        os.replace(making / "opened", opened)
        return kept, list(found)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _place(made: Path, kept: Path) -> None:
    """Gives a library its name, unless another process was first; what was there and is not whole goes, as often as others do the same."""
    for attempts in (2, 1, 0):
        try:
            made.rename(kept)
            return
        except OSError:
            try:
                _checked(kept)
                return
            except (OSError, ValueError):
                if not attempts:
                    raise
                shutil.rmtree(kept, ignore_errors=True)


def _checked(kept: Path) -> list[Diagnostic]:
    """The warnings of a library; a ValueError where a file is not the one that was made, as a full disk or a crash of the machine leaves it."""
    said = json.loads((kept / _KEPT).read_text(encoding="utf-8"))
    try:
        files, warnings = dict(said["files"]), [Diagnostic(**problem) for problem in said["warnings"]]
    except (KeyError, TypeError) as problem:
        raise ValueError(f"{kept / _KEPT} is not what was kept") from problem
    for name, digest in files.items():
        if _digest(kept / name) != digest:
            raise ValueError(f"{kept / name} is not what was kept")
    return warnings


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _sweep(root: Path) -> None:
    """Removes what processes that were killed have left. Nothing takes a day to make, so that none of another process's work goes."""
    for left in root.glob(f"{_MAKING}*"):
        try:
            is_old = left.stat().st_mtime < time.time() - 24 * 3600
        except FileNotFoundError:
            # another process was first
            continue
        if is_old:
            shutil.rmtree(left, ignore_errors=True)


def complete(first: str, base: Path, names: Sequence[str]) -> str:
    """A name that the texts of the files that the program opens decide too."""
    if not names:
        return first
    return key([first, *(text for name in names for text in (name, (base / name).read_text(encoding="utf-8", errors="surrogateescape")))])
