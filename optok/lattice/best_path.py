"""The best path, identical to SentencePiece's `Encode`: float32, and of equal paths the one it meets first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optok.lattice.batches import in_parts, joined
from optok.lattice.compiling import Array, kernel
from optok.lattice.paths import Paths, write_path
from optok.lattice.vocabulary import Lattices

REBASE = np.float32(100000.0)  # SentencePiece subtracts a value beyond this, so that float32 stays exact enough


def best_path(lattices: Lattices, scores: NDArray[Any], threads: int = 1, merge_unknown: bool = True) -> Paths:
    """The segmentation that SentencePiece's `Encode` gives, of each text.

    `scores` (P,): log p of every piece, −inf bars it. `merge_unknown`: whether a run of
    unknown characters is one <unk>, as in SentencePiece, or one a character. Raises `UserError` for scores of another
    length or NaN.
    """
    vocabulary = lattices.vocabulary
    edge_scores, ids = vocabulary.edge_scores(scores, best_path=True)
    automaton = vocabulary.automaton

    def part(first: int, last: int) -> tuple[Array, Array]:
        return _best_paths(
            lattices.longest,
            lattices.codes,
            lattices.offsets[first : last + 1],
            automaton.pieces,
            automaton.lengths,
            automaton.starts,
            edge_scores,
            ids,
            vocabulary.unk_id,
            vocabulary.byte_ids,
            merge_unknown,
        )

    parts = in_parts(part, lattices.offsets, threads)
    return Paths.of(joined([ids for ids, _ in parts]), joined([lengths for _, lengths in parts]))


@kernel
def _best_paths(
    longest: Array,
    codes: Array,
    offsets: Array,
    pieces: Array,
    chain_lengths: Array,
    starts: Array,
    scores: Array,
    ids: Array,
    unk_id: int,
    byte_ids: Array,
    merge_unknown: bool,
) -> tuple[Array, Array]:
    """METHOD's best path: into each position, over its edges by ascending start, a strictly greater value wins."""
    texts = offsets.size - 1
    widest = 0
    for text in range(texts):
        widest = max(widest, offsets[text + 1] - offsets[text])
    best = np.empty(widest + 1, np.float32)
    back = np.empty(widest + 1, np.int32)
    shifts = np.zeros(widest + 1, np.float32)
    path = np.empty(widest, np.int32)
    width = 4 if byte_ids.size else 1
    output = np.empty(width * (offsets[texts] - offsets[0]), np.int32)
    lengths = np.empty(texts, np.int64)
    size = 0
    lowest = np.float32(-np.inf)
    for text in range(texts):
        begin = offsets[text]
        count = offsets[text + 1] - begin
        best[0] = 0.0
        shifted = -1  # the last position whose value was subtracted
        for end in range(1, count + 1):
            first = starts[longest[begin + end - 1]]
            last = starts[longest[begin + end - 1] + 1]
            top = lowest
            entry = -1
            if end - chain_lengths[first] < shifted:
                top, entry = _across_shift(end, first, last, pieces, chain_lengths, scores, best, shifts)
            else:
                for candidate in range(first, last):
                    value = scores[pieces[candidate]] + best[end - chain_lengths[candidate]]
                    if value > top:
                        top = value
                        entry = candidate
            best[end] = top
            back[end] = entry
            if abs(top) > REBASE and end < count:
                shifts[end] = top
                best[end] = 0.0
                shifted = end
            else:
                shifts[end] = 0.0
        steps = 0
        end = count
        while end > 0:
            path[steps] = back[end]
            end -= chain_lengths[back[end]]
            steps += 1
        before = size
        size = write_path(
            path, steps, pieces, chain_lengths, ids, codes, begin, unk_id, byte_ids, merge_unknown, output, size
        )
        lengths[text] = size - before
    return output[:size].copy(), lengths


@kernel
def _across_shift(
    end: int, first: int, last: int, pieces: Array, lengths: Array, scores: Array, best: Array, shifts: Array
) -> tuple[Any, int]:
    """The best edge into a position when values were subtracted between the starts of its edges."""
    top = np.float32(-np.inf)
    entry = -1
    position = end
    for candidate in range(first, last):
        start = end - lengths[candidate]
        for between in range(position + 1, start + 1):
            top -= shifts[between]
        position = start
        value = scores[pieces[candidate]] + best[start]
        if value > top:
            top = value
            entry = candidate
    return top, entry
