"""How an entry was differentiated and optimised: ``smoothc explain`` in Python.

In: an entry, the words that compile its program, and its files as they were compiled. Out: text, a page of HTML, and the page in a notebook.

The command reads the files anew: where one is another text by then, that is said, as it would explain what was not compiled.
"""

from __future__ import annotations

import html
import os
import tempfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from . import _cache, _compiler

# these are for the emitted code, which is not shown
_OF_C = ("--unchecked", "--parallel")


class Explanation:
    """The derivation of an entry: print it, save its page, or let a notebook show it."""

    def __init__(self, entry: str, words: list[str], text: str | None, folder: str, files: Mapping[Path, str]) -> None:
        self.entry = entry
        self._words = ["explain", words[0], entry, *(word for word in words[1:] if word not in _OF_C)]
        self._text = text
        # where the program's path leads from
        self._folder = folder
        self._files = files

    @cached_property
    def text(self) -> str:
        """The phases with their rules and the cost."""
        return self._run()

    @cached_property
    def html(self) -> str:
        """A page that needs no other file."""
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            self._run("--html", str(page))
            return page.read_text(encoding="utf-8")

    def _run(self, *words: str) -> str:
        try:
            found = _compiler.run([*self._words, "--quiet", *words], self._text, self._folder)[0]
        except _compiler.DiagnosticError:
            self._must_be_compiled()
            raise
        self._must_be_compiled()
        return found

    def _must_be_compiled(self) -> None:
        for path, text in self._files.items():
            if not path.is_file() or _cache.text(path) != text:
                raise RuntimeError(f"{path} is not the text any more that `{self.entry}` was compiled from: load it again, and explain that")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page."""
        Path(path).write_text(self.html, encoding="utf-8")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<derivation of {self.entry}>"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.html, quote=True)}" style="width: 100%; height: 40em; border: 0"></iframe>'
