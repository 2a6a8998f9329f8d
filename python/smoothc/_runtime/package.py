"""Opens a package that ``smoothc build --python`` has made: its library, without any compiler.

In: the path of its ``__init__.py``. Out: its functions and records, or an ImportError that says why the library does not run here.
"""

from __future__ import annotations

from pathlib import Path

from . import machine
from .futhark import FutharkLibrary
from .library import Library
from .manifest import read


def opened(init: str, module: str) -> Library:
    """The library beside an ``__init__.py``."""
    folder = Path(init).parent
    try:
        manifest = read((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise ImportError(f"{module} lacks its manifest.json, or has a damaged one, build it again: {problem!r}", name=module) from problem
    lacking = machine.missing(manifest.processor)
    if lacking:
        raise ImportError(
            f"{module} was built for a processor with {', '.join(lacking)}, and this one has not: build it here, or with --portable", name=module
        )
    path = folder / manifest.library
    try:
        return (Library if manifest.futhark is None else FutharkLibrary)(path, manifest, module=module)
    except OSError as problem:
        raise ImportError(f"{module}: {path.name} does not load here, it may be for another kind of machine: {problem}", name=module) from problem
