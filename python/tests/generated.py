"""Generated programs give from Python what the interpreter gives: `python -m tests.generated FOLDER`.

In: a folder with programs and `cases.json`: for each file its entries with the words of their arguments. tests/suite/python.rs makes it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path

import smoothc

from .test_examples import agree, numbers, plain


def main(folder: Path) -> None:
    warnings.simplefilter("ignore", smoothc.DiagnosticWarning)
    count = 0
    for name, cases in json.loads((folder / "cases.json").read_text()).items():
        module = smoothc.load(folder / name)
        trees = {entry.source_name: entry.result for entry in module._Module__library.manifest.entries}
        for entry, words in cases:
            shown = subprocess.run([smoothc.command(), "eval", "-q", str(folder / name), entry, *words], capture_output=True, text=True)
            try:
                found = plain(trees[entry], module[entry](*(json.loads(word) for word in words)))
            except smoothc.StatusError as error:
                assert shown.returncode == 1, f"{name}: {entry} {words}: {error}, and {shown.stdout}"
                continue
            # optimisation may leave out an error whose value nobody needs
            if shown.returncode == 0:
                wanted = json.loads(shown.stdout)
                scale = max([1.0, *(abs(number) for number in numbers(wanted) if abs(number) < 1e300)])
                assert agree(found, wanted, 1e3 * scale), f"{name}: {entry} {words}: {found} is not {wanted}"
                count += 1
    print(f"{count} calls agree")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
