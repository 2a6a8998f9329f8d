"""Compiled libraries, kept between runs.

In: a program, options, and what makes a library. Out: the folder with the library and its manifest, made where it is not there yet or not whole, the
warnings of the program, and the texts that it was made from.

A library is found by everything that it depends on: the text of the program and of the files that it opens, the options, the smoothc command, the C
compiler and its flags, and the machine: another machine that shares the folder has libraries of its own. It is made in a folder of another name,
which is then renamed, so that two processes may do so at once: the first one's stays.

The compiler reads the files itself, after this process has. What it read is held against what decides the name of the library, by the hash in the
manifest; where a file was edited in between, the library is not kept, and is made again from the new text.

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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Callable

from ._compiler import Diagnostic
from ._runtime import machine

LIBRARY = "library.so" if sys.platform not in ("win32", "darwin") else "library.dll" if sys.platform == "win32" else "library.dylib"
MANIFEST = "manifest.json"
_KEPT = "kept.json"
"""The warnings, and the digests of the other files."""
_MAKING = ".making-"
_ATTEMPTS = 20
"""So often a library is made while its files change: only what is edited all the time needs more than two."""


@dataclass(frozen=True)
class Texts:
    """The files of a program as they were read."""

    main: str
    schedule: str | None
    """Of a strategy file."""
    opened: tuple[tuple[str, str], ...] = ()
    """Each file that is opened, by its path from the program's folder, and its text."""

    def key(self, parts: Sequence[str]) -> str:
        """A name that these texts and other parts decide."""
        first = key([*parts, self.main, "" if self.schedule is None else f"schedule {self.schedule}"])
        return key([first, *(text for file in self.opened for text in file)]) if self.opened else first

    def are(self, read: Read) -> bool:
        """Whether the compiler read these. A strategy file that is a built-in schedule is no text of the program."""
        texts = [self.main, *(text for _, text in self.opened)]
        wanted = [_hash(texts), *([] if self.schedule is None else [_hash([*texts, self.schedule])])]
        return [name for name, _ in self.opened] == list(read.opened) and read.hash in wanted


@dataclass(frozen=True)
class Read:
    """What the compiler says that it read."""

    opened: tuple[str, ...]
    hash: str


class Changed(Exception):
    """A file of the program was edited while the library was made."""


def text(path: Path) -> str:
    """A file as it is, bytes that are no text included."""
    return path.read_bytes().decode("utf-8", errors="surrogateescape")


def _hash(texts: Sequence[str]) -> str:
    """The ``source_hash`` of a manifest."""
    return key(texts)[:16]


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


def find(
    parts: Sequence[str],
    base: Path,
    read: Callable[[], Texts],
    make: Callable[[Path, Texts], tuple[Sequence[Read], Sequence[Diagnostic]]],
) -> tuple[Path, list[Diagnostic], Texts]:
    """The folder of the library that ``parts`` and the program decide, its warnings, and the texts of the program.

    ``read`` gives the program without the files that it opens from ``base``. ``make`` fills a folder, and gives what each run of the compiler read
    and the warnings.
    """
    root = folder()
    for _ in range(_ATTEMPTS):
        texts = read()
        listed = root / f"{texts.key(parts)}.opened.json"
        try:
            texts = _with_opened(texts, base, _names(listed))
            kept = root / texts.key(parts)
            return kept, _checked(kept), texts
        except (OSError, ValueError):
            pass
        try:
            return _made(root, parts, base, listed, texts, make)
        except Changed:
            continue
    raise RuntimeError("the files of the program are edited all the time: no library is of the texts that were read")


def _made(
    root: Path,
    parts: Sequence[str],
    base: Path,
    listed: Path,
    texts: Texts,
    make: Callable[[Path, Texts], tuple[Sequence[Read], Sequence[Diagnostic]]],
) -> tuple[Path, list[Diagnostic], Texts]:
    """Makes a library and keeps it; ``Changed`` where it is not of the texts that decide its name."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        _sweep(root)
        making = Path(tempfile.mkdtemp(prefix=_MAKING, dir=root))
    except OSError as problem:
        raise OSError(f"compiled libraries cannot be kept in {root}: {problem}; set SMOOTHC_CACHE to a folder that may be written to") from problem
    try:
        made = making / "library"
        made.mkdir()
        runs, found = make(made, texts)
        if not all(texts.are(run) for run in runs):
            # which files are opened is known only now
            try:
                texts = _with_opened(texts, base, runs[0].opened)
            except OSError as problem:
                raise Changed from problem
            if not all(texts.are(run) for run in runs):
                raise Changed
        digests = {path.name: _digest(path) for path in made.iterdir()}
        said = {"files": digests, "warnings": [asdict(problem) for problem in found]}
        (made / _KEPT).write_text(json.dumps(said), encoding="utf-8")
        kept = root / texts.key(parts)
        _place(made, kept)
        (making / "opened").write_text(json.dumps([name for name, _ in texts.opened]), encoding="utf-8")
        if listed.is_dir():
            _remove(listed)
        os.replace(making / "opened", listed)
        return kept, list(found), texts
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _names(listed: Path) -> list[str]:
    """The files that a program opened when it was compiled."""
    found: Any = json.loads(listed.read_text(encoding="utf-8"))
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise ValueError(f"{listed} is not what was kept")
    return found


def _with_opened(texts: Texts, base: Path, names: Sequence[str]) -> Texts:
    # where the folder is a link, `..` is as the compiler takes it
    return Texts(texts.main, texts.schedule, tuple((name, text(Path(os.path.normpath(base / name)))) for name in names))


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
                _remove(kept)


def _remove(path: Path) -> None:
    """What is in the place of something kept, a folder or not."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


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
