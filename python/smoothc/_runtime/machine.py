"""The processor that a library was compiled for.

In: nothing, or what a library needs. Out: the instruction sets of this processor by the names of the kernel; what is missing here.
"""

from __future__ import annotations

import platform
from pathlib import Path

# what compilers generate code for; the rest of the kernel's list are features of the system
_PREFIXES = (
    "sse",
    "ssse",
    "avx",
    "fma",
    "f16c",
    "bmi",
    "popcnt",
    "abm",
    "movbe",
    "adx",
    "sha",
    "vaes",
    "vpclmul",
    "gfni",
    "amx",
    "aes",
    "asimd",
    "sve",
    "sme",
)


def features(text: str) -> tuple[str, ...]:
    """The instruction sets in the text of ``/proc/cpuinfo``; every processor of a machine has the same."""
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("flags", "Features"):
            return tuple(sorted(word for word in value.split() if word.startswith(_PREFIXES)))
    return ()


def processor() -> tuple[str, ...]:
    """The instruction sets of this processor, where the system tells."""
    try:
        return features(Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ()


def describe() -> str:
    """This machine, for a key: system, kind of processor, its instruction sets or its name."""
    return " ".join([platform.system(), platform.machine(), " ".join(processor()) or platform.processor(), *platform.libc_ver()])


def missing(needed: tuple[str, ...] | None) -> list[str]:
    """The instruction sets that a library may use and this processor lacks."""
    here = processor()
    return [name for name in needed or () if name not in here] if here else []
