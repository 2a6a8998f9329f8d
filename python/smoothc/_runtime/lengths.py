"""Lengths over sizes: as text for people, as Python, and as numbers.

["+", "n", 1]   ->   "n + 1",   "wrap(n + 1)",   4 where n = 3
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, TypeVar

from .manifest import Length

State = TypeVar("State", int, "tuple[int, ...]")


def wrap(value: int) -> int:
    """An Index has 64 bits."""
    return (value + 2**63) % 2**64 - 2**63


def quotient(a: int, b: int) -> int:
    """Truncates toward zero; lengths divide by what is not 0."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    """Has the sign of the left operand."""
    return a - b * quotient(a, b)


def repeat(steps: int, state: State, step: Callable[[State, int], State]) -> State:
    """A fold of so many steps; of less than none it has none."""
    for i in range(steps):
        state = step(state, i)
    return state


def settle(steps: int, state: State, step: Callable[[State, int], State]) -> State:
    """As ``repeat``, of steps that change nothing any more once one has not."""
    for i in range(steps):
        state, before = step(state, i), state
        if state == before:
            break
    return state


HELPERS: dict[str, Callable[..., Any]] = {
    "wrap": wrap,
    "quotient": quotient,
    "remainder": remainder,
    "repeat": repeat,
    "settle": settle,
    "abs": abs,
    "min": min,
    "max": max,
}
"""What the text of ``python`` calls, by its name without ``$``."""

_INFIX = {"+": "+", "-": "-", "*": "*", "=": "==", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "&&": "and", "||": "or"}


def python(length: Length, names: Mapping[str, str]) -> str:
    """A Python expression; ``names`` are the variables of sizes, and names of HELPERS begin with ``$``."""
    if isinstance(length, (int, bool)):
        return repr(length)
    if isinstance(length, str):
        return names[length]
    operator, *operands = length
    if operator == "ifold":
        count, first, step, state, index = operands
        inside = python(step, {**names, state: state, index: index})
        helper = "repeat" if index in names_of(step) else "settle"
        return f"${helper}({python(count, names)}, {python(first, names)}, lambda {state}, {index}: {inside})"
    given = [python(operand, names) for operand in operands]
    if operator == "tuple":
        return f"({', '.join(given)})"
    if operator == "part":
        return f"{given[0]}[{given[1]}]"
    if operator == "if":
        return f"({given[1]} if {given[0]} else {given[2]})"
    if operator == "not":
        return f"(not {given[0]})"
    if operator in ("min", "max"):
        return f"${operator}({', '.join(given)})"
    if operator == "/":
        return f"$wrap($quotient({given[0]}, {given[1]}))"
    if operator == "%":
        return f"$remainder({given[0]}, {given[1]})"
    if operator == "abs":
        return f"$wrap($abs({given[0]}))"
    if len(given) == 1:
        return f"$wrap(-{given[0]})"
    text = f"{given[0]} {_INFIX[operator]} {given[1]}"
    return f"$wrap({text})" if operator in ("+", "-", "*") else f"({text})"


def value(length: Length, sizes: Mapping[str, int]) -> int:
    """The number of a length."""
    if isinstance(length, int):
        return length
    if isinstance(length, str):
        return sizes[length]
    known: dict[str, Any] = {**HELPERS, **{f"size_{name}": number for name, number in sizes.items()}}
    written = python(length, {name: f"size_{name}" for name in sizes}).replace("$", "")
    return int(eval(written, {"__builtins__": {}}, known))


_LEVEL = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2}
_OPERAND = 3


def text(length: Length, level: int = 0) -> str:
    """A length as a person writes it, in brackets where what is around it binds tighter than ``level``."""
    if not isinstance(length, list):
        # only what a fold binds begins so
        return str(length).removeprefix("smooth_")
    operator, *operands = length
    own = _OPERAND if operator in ("tuple", "part") else _LEVEL.get(operator, 0)
    if operator == "ifold":
        count, first, step, state, index = operands
        shown = f"ifold (fun {text(state)} {text(index)} -> {text(step)}) {text(first, _OPERAND)} {text(count, _OPERAND)}"
    elif operator == "tuple":
        shown = f"({', '.join(text(operand) for operand in operands)})"
    elif operator == "part":
        shown = f"{text(operands[0], _OPERAND)}.{operands[1]}"
    elif operator == "if":
        shown = "if {} then {} else {}".format(*(text(operand) for operand in operands))
    elif operator in ("min", "max", "abs", "not") or len(operands) == 1:
        shown = " ".join([operator, *(text(operand, _OPERAND) for operand in operands)])
    else:
        shown = f"{text(operands[0], own)} {operator} {text(operands[1], own + 1)}"
    return f"({shown})" if own < level else shown


def shape(lengths: tuple[Length, ...]) -> str:
    """A shape as Python prints one: ``(n, 2)``."""
    texts = [text(length) for length in lengths]
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


def names_of(length: Length) -> list[str]:
    """The names that a length mentions."""
    if isinstance(length, list):
        bound = length[-2:] if length[0] == "ifold" else []
        return [name for operand in length[1:] for name in names_of(operand) if name not in bound]
    return [length] if isinstance(length, str) else []
