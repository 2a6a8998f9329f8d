"""The smoothc command, where its folder is not on the PATH: `python -m smoothc check model.smooth`."""

from __future__ import annotations

import subprocess
import sys

from ._compiler import MissingCompilerError, command

try:
    sys.exit(subprocess.run([command(), *sys.argv[1:]], check=False).returncode)
except MissingCompilerError as problem:
    sys.exit(str(problem))
