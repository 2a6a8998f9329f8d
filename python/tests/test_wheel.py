"""`pip install .`: the wheel holds the package and the command, and nothing else is needed to call a function."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
MISSING = [name for name in ("maturin", "pip") if not importlib.util.find_spec(name)]
if MISSING:
    print(f"skipped: no wheel without {' and '.join(MISSING)}", file=sys.stderr)

USER = """
import numpy as np
import smoothc

m = smoothc.compile("let f (v: Vector<n>) : Double = vectorSqNorm v", derive=["gradient:f"])
print(Path(smoothc.__file__).is_relative_to(sys.argv[1]), m.f_gradient(np.array([1.0, 2.0])).tolist())
"""


class Wheel(unittest.TestCase):
    @unittest.skipIf(MISSING, "no maturin or no pip here")
    def test_what_pip_installs_needs_nothing_of_the_repository(self) -> None:
        command = Path(os.environ["SMOOTHC"])
        # the folder that cargo has built the command in is named after the profile
        profile = {"debug": "dev"}.get(command.parent.name, command.parent.name)
        outside = {name: value for name, value in os.environ.items() if name not in ("SMOOTHC", "PYTHONPATH")}
        with tempfile.TemporaryDirectory() as folder:
            # what is built already serves again, and the command that other tests call stays where it is; a cargo before 1.91 builds all anew
            places = {"CARGO_BUILD_BUILD_DIR": str(command.parents[1]), "CARGO_TARGET_DIR": str(Path(folder) / "target")}
            words = ["--manifest-path", str(ROOT / "Cargo.toml"), "--profile", profile, "--locked", "--out", folder]
            try:
                run([sys.executable, "-m", "maturin", "build", *words], {**outside, **places})
            except AssertionError as problem:
                # crates of other platforms, which maturin asks for and cargo did not need
                if "download" not in str(problem):
                    raise
                print("skipped: no wheel without a registry", file=sys.stderr)
                return
            (wheel,) = Path(folder).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                names = archive.namelist()
            self.assertIn("smoothc/py.typed", names)
            self.assertFalse([name for name in names if "tests" in name or "examples" in name])
            self.assertTrue(any(name.endswith("LICENSE-MIT") for name in names), names)
            site = Path(folder) / "site"
            run([sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--quiet", "--target", str(site), str(wheel)], outside)
            user = {**outside, "PYTHONPATH": str(site), "PATH": f"{site / 'bin'}{os.pathsep}{outside.get('PATH', '')}"}
            said = run([sys.executable, "-c", "import sys\nfrom pathlib import Path\n" + USER, str(site)], user, folder)
            self.assertEqual(said, "True [2.0, 4.0]\n")


def run(words: list[str], environment: dict[str, str], folder: str | None = None) -> str:
    """What a command prints; what it said where it fails."""
    done = subprocess.run(words, env=environment, cwd=folder, capture_output=True, text=True, encoding="utf-8")
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    unittest.main()
