"""Where an array has the address of its data: what takes that least time.

In: nothing. Out: the offset in the array, and the flags of one that C can read. To ask NumPy for the address takes a microsecond, and a buffer that
``ctypes`` makes is only for what may be written to; C reads its arguments, so that an array that is read-only or a file's is as good as another.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np

READY = 0x101
"""C_CONTIGUOUS and ALIGNED, as NumPy numbers its flags."""


def _place() -> int | None:
    """The address is the first that an array has after what each object has, by the binary interface of NumPy; None where that is not so."""
    if sys.implementation.name != "cpython":
        return None
    place = object.__basicsize__
    whole = np.arange(4.0)
    samples = [whole, whole[1:], np.zeros((2, 0)), np.ones(3, np.bool_)]
    return place if all(ctypes.c_void_p.from_address(id(array) + place).value == array.ctypes.data for array in samples) else None


PLACE = _place()
