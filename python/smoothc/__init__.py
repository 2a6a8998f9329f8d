"""smoothc: numerical functions and their derivatives, compiled to C, called with NumPy arrays.

>>> import smoothc
>>> m = smoothc.compile("let loss (v: Vector<n>) = vectorSqNorm v", derive="gradient:loss")
>>> m.loss_gradient([1.0, 2.0])
array([2., 4.])
"""

from __future__ import annotations

from ._compiler import Diagnostic, DiagnosticError, DiagnosticWarning, MissingCompilerError, command, version
from ._explanation import Explanation
from ._module import Function, Module, compile, load
from ._runtime.errors import StatusError

__all__ = [
    "Diagnostic",
    "DiagnosticError",
    "DiagnosticWarning",
    "Explanation",
    "Function",
    "MissingCompilerError",
    "Module",
    "StatusError",
    "command",
    "compile",
    "load",
    "version",
]

# tracebacks name what is here as people import it
for _name in __all__:
    globals()[_name].__module__ = __name__
