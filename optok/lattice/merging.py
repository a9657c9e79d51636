"""The loop of merges behind `optok.lattice.merges`: a text's symbols in a list, the pairs to merge in a heap."""

from __future__ import annotations

import numpy as np

from optok.lattice.compiling import Array, kernel
from optok.lattice.paths import write_bytes
from optok.lattice.piece_table import find
from optok.lattice.sampling import uniform
from optok.lattice.texts import MARK

LEFT, RIGHT, PIECE = 0, 1, 2  # columns of a queued pair: its symbols, and what they make
BEGIN, SIZE, BEFORE, AFTER, FROZEN = 0, 1, 2, 3, 4  # columns of a symbol: its bytes, its neighbours or −1, whether
# it is user-defined and stays as it is; a symbol merged into its neighbour has size 0


@kernel
def _split(content: Array, begin: int, end: int, symbols: Array, user_defined: Array, user_offsets: Array) -> int:
    """A text's first symbols: user-defined ones, the longest first, else characters; returns how many."""
    count = 0
    while begin < end:
        size = 0
        for number in range(user_offsets.size - 1):
            first, length = user_offsets[number], user_offsets[number + 1] - user_offsets[number]
            if length <= end - begin:
                size = length
                for k in range(length):
                    if content[begin + k] != user_defined[first + k]:
                        size = 0
                        break
            if size > 0:
                break
        symbols[count, FROZEN] = size > 0
        if size == 0:
            byte = content[begin]
            size = 1 if byte < 0x80 or byte == MARK else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
        symbols[count, BEGIN], symbols[count, SIZE] = begin, size
        symbols[count, BEFORE], symbols[count, AFTER] = count - 1, count + 1
        begin += size
        count += 1
    if count > 0:
        symbols[count - 1, AFTER] = -1
    return count


@kernel
def _first(scores: Array, queue: Array, one: int, other: int) -> bool:
    """Whether a queued pair is merged before another: for its score, else for standing further left."""
    better, worse = scores[queue[one, PIECE]], scores[queue[other, PIECE]]
    return bool(better > worse or (better == worse and queue[one, LEFT] < queue[other, LEFT]))


@kernel
def _swap(queue: Array, one: int, other: int) -> None:
    for column in range(3):
        queue[one, column], queue[other, column] = queue[other, column], queue[one, column]


@kernel
def _push(queue: Array, queued: int, left: int, right: int, piece: int, scores: Array) -> int:
    """Adds a pair to the heap; returns its size."""
    queue[queued, LEFT], queue[queued, RIGHT], queue[queued, PIECE] = left, right, piece
    place = queued
    while place > 0 and _first(scores, queue, place, (place - 1) // 2):
        _swap(queue, place, (place - 1) // 2)
        place = (place - 1) // 2
    return queued + 1


@kernel
def _pop(queue: Array, queued: int, scores: Array) -> int:
    """Moves the first pair behind the heap's end; returns the heap's size."""
    queued -= 1
    _swap(queue, 0, queued)
    place = 0
    while True:
        child = 2 * place + 1
        if child >= queued:
            return queued
        if child + 1 < queued and _first(scores, queue, child + 1, child):
            child += 1
        if not _first(scores, queue, child, place):
            return queued
        _swap(queue, place, child)
        place = child


@kernel
def segment(
    content: Array,
    text_offsets: Array,
    user_defined: Array,
    user_offsets: Array,
    pieces: Array,
    offsets: Array,
    table: Array,
    scores: Array,
    unused: Array,
    probability: float,
    streams: Array,
    unk_id: int,
    byte_ids: Array,
    merge_unknown: bool,
) -> tuple[Array, Array]:
    texts = text_offsets.size - 1
    widest = 0
    for text in range(texts):
        widest = max(widest, text_offsets[text + 1] - text_offsets[text])
    symbols = np.empty((widest, 5), np.int32)
    queue = np.empty((3 * widest, 3), np.int32)  # a merge adds two pairs and takes one
    halves = np.zeros(unused.size, np.int32)  # of an unused piece: the bytes of the first of the two it was made of
    stack = np.empty((widest + 1, 2), np.int64)
    output = np.empty(3 * content.size if byte_ids.size else content.size, np.int32)
    lengths = np.empty(texts, np.int64)
    size = 0
    for text in range(texts):
        base = text_offsets[text]
        part = content[base : text_offsets[text + 1]]
        count = _split(part, 0, part.size, symbols, user_defined, user_offsets)
        queued = 0
        draws = 0
        for left in range(count - 1):
            queued = _queue(left, left + 1, part, symbols, pieces, offsets, table, scores, halves, queue, queued)
        while queued > 0:
            queued = _pop(queue, queued, scores)
            left, right, piece = queue[queued, LEFT], queue[queued, RIGHT], queue[queued, PIECE]
            together = symbols[left, SIZE] + symbols[right, SIZE]
            if symbols[left, SIZE] == 0 or symbols[right, SIZE] == 0:
                continue
            if together != offsets[piece + 1] - offsets[piece]:
                continue
            if probability > 0.0:
                draws += 1
                if uniform(streams[text], draws - 1) < probability:
                    continue
            symbols[left, SIZE] = together
            symbols[right, SIZE] = 0
            after = symbols[right, AFTER]
            symbols[left, AFTER] = after
            if after >= 0:
                symbols[after, BEFORE] = left
            before = symbols[left, BEFORE]
            queued = _queue(before, left, part, symbols, pieces, offsets, table, scores, halves, queue, queued)
            queued = _queue(left, after, part, symbols, pieces, offsets, table, scores, halves, queue, queued)
        first = size
        after_unknown = False
        symbol = 0 if count > 0 else -1
        while symbol >= 0:
            stack[0, 0], stack[0, 1] = symbols[symbol, BEGIN], symbols[symbol, SIZE]
            depth = 1
            while depth > 0:
                depth -= 1
                begin, length = stack[depth, 0], stack[depth, 1]
                number = find(part, begin, length, pieces, offsets, table)
                if number >= 0 and unused[number] and halves[number] > 0:
                    half = halves[number]
                    stack[depth, 0], stack[depth, 1] = begin + half, length - half
                    stack[depth + 1, 0], stack[depth + 1, 1] = begin, half
                    depth += 2
                elif number >= 0:
                    output[size] = number
                    size += 1
                    after_unknown = False
                elif byte_ids.size > 0:
                    size = _write_raw(part, begin, length, byte_ids, output, size)
                else:
                    if not (after_unknown and merge_unknown):
                        output[size] = unk_id
                        size += 1
                    after_unknown = True
            symbol = symbols[symbol, AFTER]
        lengths[text] = size - first
    return output[:size].copy(), lengths


@kernel
def _queue(
    left: int,
    right: int,
    content: Array,
    symbols: Array,
    pieces: Array,
    offsets: Array,
    table: Array,
    scores: Array,
    halves: Array,
    queue: Array,
    queued: int,
) -> int:
    """Puts two neighbours into the heap where they make a piece; returns the heap's size."""
    if left < 0 or right < 0 or symbols[left, FROZEN] or symbols[right, FROZEN]:
        return queued
    size = symbols[left, SIZE] + symbols[right, SIZE]
    piece = find(content, symbols[left, BEGIN], size, pieces, offsets, table)
    if piece < 0:
        return queued
    halves[piece] = symbols[left, SIZE]
    return _push(queue, queued, left, right, piece, scores)


@kernel
def _write_raw(content: Array, begin: int, size: int, byte_ids: Array, output: Array, at: int) -> int:
    """Writes the byte ids of an unknown character's UTF-8 from output[at] on; returns the new end."""
    for k in range(begin, begin + size):
        if content[k] == MARK:
            at = write_bytes(0x2581, byte_ids, output, at)
        else:
            output[at] = byte_ids[content[k]]
            at += 1
    return at
