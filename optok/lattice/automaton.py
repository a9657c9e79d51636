"""Which pieces end where: an Aho-Corasick automaton over the bytes of the pieces.

Reading a text once, it tells for every position the longest piece that ends there. The other pieces that end
there are suffixes of that one, a list known beforehand: its chain, from long to short. So the whole lattice of a
text is one number a character, and its edges into a position come ordered by start.
(A. Aho and M. Corasick, Efficient string matching, 1975; transitions as a double array, J. Aoe, 1989.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optok.lattice.compiling import Array, kernel
from optok.lattice.texts import MARK, marked

BASE, CHECK, FAIL, LONGEST = 0, 1, 2, 3  # columns of `Automaton.states`


@dataclass(frozen=True)
class Automaton:
    """S states, E chain entries, P ids.

    `states` (S, 4): base and check of the double array, the state of the longest proper suffix, and the id of the
    longest piece that ends here (P where none does). Where that suffix has at most one byte, it is −1, and `pairs`
    (256, 256) tells the state, from the last two bytes alone.
    `pieces` (E,), `lengths` (E,): the chain of piece w is their part starts[w]:starts[w + 1], the piece itself first;
    lengths in characters. A chain ends with a piece of one character, or with P, the unknown character; so does the
    chain of P itself, of length one. `starts` (P + 2,).
    """

    states: Array
    pairs: Array
    pieces: Array
    lengths: Array
    starts: Array

    @classmethod
    def build(cls, pieces: Sequence[tuple[str, int]], size: int) -> Automaton:
        """`pieces`: the pieces that may have edges, and their ids below `size`; all different."""
        ordered = sorted((marked(piece.encode()), number, len(piece)) for piece, number in pieces)
        offsets = np.zeros(len(ordered) + 1, dtype=np.int64)
        np.cumsum([len(piece) for piece, _, _ in ordered], out=offsets[1:])
        content = np.frombuffer(b"".join(piece for piece, _, _ in ordered), dtype=np.uint8)
        ids = np.array([number for _, number, _ in ordered], dtype=np.int32)
        lengths = np.zeros(size, dtype=np.int32)
        lengths[ids] = [length for _, _, length in ordered]
        states, suffix = _states(*_tree(content, offsets, ids), size)
        chain, chain_lengths, starts = _chains(suffix, lengths)
        return cls(states=states, pairs=_pairs(states), pieces=chain, lengths=chain_lengths, starts=starts)


@kernel
def _tree(content: Array, offsets: Array, ids: Array) -> tuple[Array, Array, Array, Array]:
    """The prefix tree of sorted pieces: label, first child, next sibling and piece (or −1) of every node."""
    capacity = content.size + 1
    label = np.zeros(capacity, np.uint8)
    child = np.full(capacity, -1, np.int32)
    sibling = np.full(capacity, -1, np.int32)
    piece = np.full(capacity, -1, np.int32)
    youngest = np.full(capacity, -1, np.int32)
    path = np.zeros(capacity + 1, np.int32)
    count = 1
    for k in range(ids.size):
        begin, end = offsets[k], offsets[k + 1]
        shared = 0
        if k > 0:
            before = offsets[k - 1]
            while shared < min(end - begin, begin - before) and content[begin + shared] == content[before + shared]:
                shared += 1
        for depth in range(shared, end - begin):
            parent = path[depth]
            if youngest[parent] < 0:
                child[parent] = count
            else:
                sibling[youngest[parent]] = count
            youngest[parent] = count
            label[count] = content[begin + depth]
            path[depth + 1] = count
            count += 1
        piece[path[end - begin]] = ids[k]
    return label[:count], child[:count], sibling[:count], piece[:count]


@kernel
def _base_for(first: int, low: int, used: int, label: Array, sibling: Array, states: Array) -> int:
    """Where a node's children fit, by the first of them: at free slots from `low` on.

    After 512 tries they go to the end: the array stays dense, and the time linear.
    """
    base = low - int(label[first])
    for _ in range(512):
        node = first
        while node >= 0:
            at = base + int(label[node])
            if at < used and states[at, CHECK] >= 0:
                break
            node = sibling[node]
        if node < 0:
            return base
        base += 1
    return used


@kernel
def _states(label: Array, child: Array, sibling: Array, piece: Array, size: int) -> tuple[Array, Array]:
    """The nodes laid out as a double array, with failures; and each piece's longest proper suffix that is a piece.

    A node's children stand at base + label, the root's in the 256 slots behind its own.
    """
    states = np.full((2 * label.size + 1024, 4), -1, np.int32)
    place = np.zeros(label.size, np.int32)
    queue = np.zeros(label.size, np.int32)
    suffix = np.full(size, size, np.int32)
    states[0, BASE] = 0
    states[0, FAIL] = 0
    states[0, LONGEST] = size
    used = 257  # slots from here on are free
    low = 257  # slots below are taken
    head, tail = 0, 1
    while head < tail:
        parent = queue[head]
        head += 1
        here = place[parent]
        states[here, BASE] = 0
        first = child[parent]
        if first < 0:
            continue
        while low < used and states[low, CHECK] >= 0:
            low += 1
        base = 1 if here == 0 else _base_for(first, low, used, label, sibling, states)
        if base + 512 > states.shape[0]:
            larger = np.full((2 * states.shape[0] + 1024, 4), -1, np.int32)
            larger[: states.shape[0]] = states
            states = larger
        states[here, BASE] = base
        node = first
        while node >= 0:
            byte = int(label[node])
            at = base + byte
            states[at, CHECK] = here
            place[node] = at
            used = max(used, at + 1)
            fail = 0
            if here != 0:
                state = states[here, FAIL]
                while True:
                    target = states[state, BASE] + byte
                    if states[target, CHECK] == state:
                        fail = target
                        break
                    if state == 0:
                        break
                    state = states[state, FAIL]
            states[at, FAIL] = fail
            states[at, LONGEST] = states[fail, LONGEST]
            if piece[node] >= 0:
                suffix[piece[node]] = states[fail, LONGEST]
                states[at, LONGEST] = piece[node]
            queue[tail] = node
            tail += 1
            node = sibling[node]
    return states[: used + 256].copy(), suffix


@kernel
def _pairs(states: Array) -> Array:
    """The state after two bytes none of whose predecessors matter; shortens `states` accordingly."""
    pairs = np.zeros((256, 256), np.int32)
    for byte in range(256):
        first = states[0, BASE] + byte
        if states[first, CHECK] != 0:
            continue
        pairs[:, byte] = first
    for byte in range(256):
        first = states[0, BASE] + byte
        if states[first, CHECK] != 0:
            continue
        for following in range(256):
            second = states[first, BASE] + following
            if states[second, CHECK] == first:
                pairs[byte, following] = second
    short = np.zeros(states.shape[0], np.bool_)
    for state in range(states.shape[0]):
        suffix = states[state, FAIL]
        short[state] = suffix <= 0 or states[suffix, CHECK] == 0
    for state in range(states.shape[0]):
        if short[state]:
            states[state, FAIL] = -1
    return pairs


@kernel
def _chains(suffix: Array, lengths: Array) -> tuple[Array, Array, Array]:
    size = lengths.size
    starts = np.zeros(size + 2, np.int32)
    for piece in range(size):
        count = 0
        link = piece
        length = 0
        while link < size and lengths[link] > 0:
            length = lengths[link]
            count += 1
            link = suffix[link]
        if count > 0 and length != 1:
            count += 1
        starts[piece + 1] = starts[piece] + count
    starts[size + 1] = starts[size] + 1
    pieces = np.full(starts[size + 1], size, np.int32)
    chain_lengths = np.ones(starts[size + 1], np.int32)
    for piece in range(size):
        link = piece
        entry = starts[piece]
        while link < size and lengths[link] > 0:
            pieces[entry] = link
            chain_lengths[entry] = lengths[link]
            link = suffix[link]
            entry += 1
    return pieces, chain_lengths, starts


@kernel
def longest_pieces(
    content: Array, offsets: Array, states: Array, pairs: Array, keep_codes: bool
) -> tuple[Array, Array, Array]:
    """For each character of each text: the longest piece that ends with it, and, if wanted, its code point.

    `content`: the texts' UTF-8 with ▁ as one byte, text b at offsets[b]:offsets[b + 1]. Returns
    longest (C,), codes (C,) or (0,), and the texts' offsets in characters (B + 1,).
    """
    longest = np.empty(content.size, np.int32)
    codes = np.empty(content.size if keep_codes else 0, np.uint32)
    characters = np.zeros(offsets.size, np.int64)
    rows = states.reshape(-1)
    count = 0
    for text in range(offsets.size - 1):
        state = 0
        before = 0xFE  # no byte of a text
        end = offsets[text + 1]
        code = 0
        for position in range(offsets[text], end):
            byte = int(content[position])
            while True:
                target = rows[4 * state + BASE] + byte
                if rows[4 * target + CHECK] == state:
                    state = target
                    break
                suffix = rows[4 * state + FAIL]
                if suffix < 0:
                    state = pairs[before, byte]
                    break
                state = suffix
            before = byte
            if keep_codes:
                if byte < 0x80:
                    code = byte
                elif byte == MARK:
                    code = 0x2581
                elif byte < 0xC0:
                    code = code << 6 | (byte & 0x3F)
                elif byte < 0xE0:
                    code = byte & 0x1F
                elif byte < 0xF0:
                    code = byte & 0x0F
                else:
                    code = byte & 0x07
            if position + 1 == end or (content[position + 1] & 0xC0) != 0x80:
                longest[count] = rows[4 * state + LONGEST]
                if keep_codes:
                    codes[count] = code
                count += 1
        characters[text + 1] = count
    return longest[:count].copy(), codes[:count].copy(), characters
