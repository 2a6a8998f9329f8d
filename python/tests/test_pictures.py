"""The pictures of docs/pictures.md are drawn anew: the same files, small, and what the page says was found."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
MISSING = [name for name in ("scipy", "matplotlib") if not importlib.util.find_spec(name)]
if MISSING:
    print(f"skipped: no pictures without {' and '.join(MISSING)}", file=sys.stderr)


class Pictures(unittest.TestCase):
    @unittest.skipIf(MISSING, "no matplotlib or no SciPy here")
    def test_the_script_draws_what_the_page_shows(self) -> None:
        page = (ROOT / "docs" / "pictures.md").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            script = ROOT / "python" / "examples" / "plots.py"
            done = subprocess.run([sys.executable, str(script), folder], capture_output=True, text=True, encoding="utf-8", env=ENVIRONMENT)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(f"```text\n{done.stdout}```\n", page)
            drawn = {picture.name: texts(picture) for picture in Path(folder).iterdir()}
        kept = {picture.name: texts(picture) for picture in (ROOT / "docs" / "pictures").iterdir()}
        self.assertEqual(kept.keys(), drawn.keys())
        # what is counted of a program has no last digits that differ
        for name in ("derivation.svg", "house.svg"):
            self.assertEqual(kept[name], drawn[name], "python python/examples/plots.py draws the pictures anew")

    def test_the_page_shows_each_picture(self) -> None:
        page = (ROOT / "docs" / "pictures.md").read_text(encoding="utf-8")
        pictures = list((ROOT / "docs" / "pictures").iterdir())
        self.assertEqual(sorted(re.findall(r"\]\(pictures/(.*?)\)", page)), sorted(picture.name for picture in pictures))
        for picture in pictures:
            self.assertLess(picture.stat().st_size, 60_000, picture.name)
            self.assertTrue(texts(picture), picture.name)


ENVIRONMENT = {**os.environ, "PYTHONIOENCODING": "utf-8"}


def texts(picture: Path) -> list[str]:
    """What is written in a picture."""
    return [text.text or "" for text in ElementTree.parse(picture).iter("{http://www.w3.org/2000/svg}text")]


if __name__ == "__main__":
    unittest.main()
