"""What goes wrong in a call of a compiled entry.

In: the status that an entry returned, and which argument was wrong, where that is known. Out: a StatusError, which says what the status means and
how to find the place.
"""

from __future__ import annotations

_MEANING = {
    1: ("SMOOTH_BOUNDS", "an array was read out of bounds"),
    2: ("SMOOTH_SHAPE", "lengths contradict each other"),
    3: ("SMOOTH_NEGATIVE", "a build, a fold, a slice or a size has a negative count"),
    4: ("SMOOTH_DIV_ZERO", "an Index was divided by zero"),
    5: ("SMOOTH_RANGE", "a number does not fit in an Index or its range"),
    6: ("SMOOTH_WORKSPACE", "recursion is deeper than the workspace has room for"),
}
_ADVICE = {
    # each call has as much as its entry asks for: only a stack is ever too small
    6: "`workspace=BYTES` of `load` and `compile`, or `set_workspace(BYTES)` of a package, makes room, "
    "but not where `decreases` says how deep it goes",
}


class StatusError(ArithmeticError):
    """A compiled entry stopped with a status other than SMOOTH_OK; its results are unspecified."""

    entry: str
    """The entry by its source name."""
    code: int
    """The number of the status in C."""
    status: str
    """Its name in C, such as ``SMOOTH_BOUNDS``."""

    # tracebacks name it as people import it
    __module__ = __name__.rpartition("._runtime")[0]

    def __init__(self, entry: str, code: int, argument: str | None = None) -> None:
        self.entry = entry
        self.code = code
        self.status, meaning = _MEANING.get(code, (f"status {code}", "an unknown status"))
        self._argument = argument
        if argument is not None:
            super().__init__(f"{entry}: {argument} ({self.status})")
        else:
            advice = _ADVICE.get(code, "`smoothc eval` with the same arguments shows the place")
            super().__init__(f"{entry}: {meaning} ({self.status}); {advice}")

    def __reduce__(self) -> tuple[type[StatusError], tuple[str, int, str | None]]:
        return StatusError, (self.entry, self.code, self._argument)
