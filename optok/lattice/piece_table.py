"""A hash table from the bytes of a piece to its id."""

from __future__ import annotations

from typing import Any

import numpy as np

from optok.lattice.compiling import Array, kernel

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd, for polynomial hashes modulo 2^64; equality of bytes is checked too


@kernel
def _hash(content: Array, begin: int, size: int) -> Any:
    value = np.uint64(size)
    for k in range(begin, begin + size):
        value = (value ^ np.uint64(content[k])) * MULTIPLIER
        value ^= value >> np.uint64(29)
    return value


@kernel
def table_of(content: Array, offsets: Array) -> Array:
    """A hash table of the pieces: ids, −1 where a place is free; the size is a power of two."""
    size = 16
    while size < 3 * offsets.size:
        size *= 2
    table = np.full(size, -1, np.int32)
    for number in range(offsets.size - 1):
        begin, length = offsets[number], offsets[number + 1] - offsets[number]
        if length > 0:
            place = np.int64(_hash(content, begin, length) & np.uint64(size - 1))
            while table[place] >= 0:
                place = (place + 1) & (size - 1)
            table[place] = number
    return table


@kernel
def find(content: Array, begin: int, size: int, pieces: Array, offsets: Array, table: Array) -> int:
    """The id of the piece that these bytes of `content` are, or −1."""
    place = np.int64(_hash(content, begin, size) & np.uint64(table.size - 1))
    while table[place] >= 0:
        number = table[place]
        first = offsets[number]
        if offsets[number + 1] - first == size:
            equal = True
            for k in range(size):
                if pieces[first + k] != content[begin + k]:
                    equal = False
                    break
            if equal:
                return int(number)
        place = (place + 1) & (table.size - 1)
    return -1
