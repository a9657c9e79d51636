"""The N best paths, exactly, found lazily (L. Huang and D. Chiang, Better k-best parsing, 2005, algorithm 3).

A forward pass finds the best value of every position. A second or later value is found only where a path asks
for it: it is the best among the next values of the edges into the position, and since the last one was taken
only the edge that gave it has a new next value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optok.errors import UserError
from optok.lattice.automaton import Array
from optok.lattice.batches import in_parts
from optok.lattice.compiling import kernel
from optok.lattice.paths import NBest, joined, write_path
from optok.lattice.vocabulary import Lattices

ENTRY, RANK = 0, 1  # columns of a found path into a position: its last edge, and the rank of what precedes it
FOUND, PENDING, OVER = 0, 1, 2  # of a position: paths found, the edge taken last, whether there are no more


def nbest(lattices: Lattices, scores: NDArray[Any], n: int, threads: int = 1) -> NBest:
    """The `n` segmentations of highest log p, descending; float64 sums of the float32 scores.

    Equal ones stand in the order of their last edge's start, then of the rank of what precedes it; so a larger `n`
    only appends. Raises `UserError` for n < 1, and for scores of another length or NaN.
    """
    if n < 1:
        raise UserError(f"n is {n}: ask for 1 segmentation or more")
    vocabulary = lattices.vocabulary
    edge_scores, unknown = vocabulary.edge_scores(scores)
    automaton = vocabulary.automaton

    def part(first: int, last: int) -> tuple[Array, Array, Array, Array, Array]:
        return _nbest(
            lattices.longest,
            lattices.codes,
            lattices.offsets[first : last + 1],
            automaton.chains,
            automaton.starts,
            edge_scores,
            float(unknown),
            vocabulary.unk_id,
            vocabulary.byte_ids,
            int(n),
        )

    parts = in_parts(part, lattices, threads)
    return NBest(*(joined([part[column] for part in parts]) for column in range(5)))


@kernel
def best_values(
    longest: Array,
    begin: int,
    count: int,
    chains: Array,
    starts: Array,
    scores: Array,
    unknown: float,
    values: Array,
    back: Array,
) -> None:
    """The highest log p of a path into each of `count` positions, and its last edge (−1: an unknown character)."""
    lowest = np.float32(-np.inf)
    values[0] = 0.0
    for end in range(1, count + 1):
        piece = longest[begin + end - 1]
        first, last = starts[piece], starts[piece + 1]
        top = -np.inf
        entry = -1
        for candidate in range(first, last):
            value = values[end - chains[candidate, 1]] + scores[chains[candidate, 0]]
            if value > top:
                top = value
                entry = candidate
        if first == last or chains[last - 1, 1] != 1 or scores[chains[last - 1, 0]] == lowest:
            value = values[end - 1] + unknown
            if value > top:
                top = value
                entry = -1
        values[end] = top
        back[end] = entry


@kernel
def _nbest(
    longest: Array,
    codes: Array,
    offsets: Array,
    chains: Array,
    starts: Array,
    scores: Array,
    unknown: float,
    unk_id: int,
    byte_ids: Array,
    n: int,
) -> tuple[Array, Array, Array, Array, Array]:
    texts = offsets.size - 1
    widest = 0
    for text in range(texts):
        widest = max(widest, offsets[text + 1] - offsets[text])
    values = np.empty(widest + 1, np.float64)
    back = np.empty(widest + 1, np.int32)
    stack = np.empty(widest + 1, np.int32)
    path = np.empty(widest, np.int32)
    slots = np.full(widest + 1, -1, np.int32)  # where a position's later paths are kept
    positions = np.empty(widest + 1, np.int32)  # and back
    edges_at_most = 1
    for piece in range(starts.size - 1):
        edges_at_most = max(edges_at_most, starts[piece + 1] - starts[piece] + 1)
    capacity = 256
    state = np.empty((capacity, 3), np.int32)
    ranks = np.empty((capacity, edges_at_most), np.int32)  # each edge's next; −1: none
    found = np.empty((capacity, n, 2), np.int32)
    found_values = np.empty((capacity, n), np.float64)
    width = 4 if byte_ids.size else 1
    output = np.empty(4 * widest + 1024, np.int32)
    lengths = np.zeros((texts, n), np.int64)
    edges = np.zeros((texts, n), np.int64)
    log_probabilities = np.full((texts, n), -np.inf)
    mask = np.zeros((texts, n), np.bool_)
    lowest = np.float32(-np.inf)
    size = 0
    for text in range(texts):
        begin = offsets[text]
        count = offsets[text + 1] - begin
        best_values(longest, begin, count, chains, starts, scores, unknown, values, back)
        used = 0
        for rank in range(n):
            depth = 0
            if rank > 0:
                stack[0] = count
                depth = 1
            while depth > 0:  # find the next path into the position on top of the stack
                here = stack[depth - 1]
                if here == 0:
                    break
                piece = longest[begin + here - 1]
                first, last = starts[piece], starts[piece + 1]
                slot = slots[here]
                if slot < 0:
                    if used == capacity:
                        state = _doubled(state)
                        ranks = _doubled(ranks)
                        found = _doubled(found)
                        found_values = _doubled(found_values)
                        capacity *= 2
                    slot = used
                    used += 1
                    slots[here] = slot
                    positions[slot] = here
                    for edge in range(last - first):
                        ranks[slot, edge] = 0 if scores[chains[first + edge, 0]] != lowest else -1
                    known = first < last and chains[last - 1, 1] == 1 and ranks[slot, last - first - 1] == 0
                    ranks[slot, last - first] = -1 if known else 0
                    found[slot, 0, ENTRY] = back[here]
                    found[slot, 0, RANK] = 0
                    found_values[slot, 0] = values[here]
                    state[slot, FOUND] = 1
                    state[slot, PENDING] = last - first if back[here] < 0 else back[here] - first
                    state[slot, OVER] = 0
                pending = state[slot, PENDING]
                if pending >= 0:
                    start = here - (1 if pending == last - first else chains[first + pending, 1])
                    wanted = ranks[slot, pending] + 1
                    before = slots[start]
                    available = before >= 0 and state[before, FOUND] > wanted
                    if not available and start > 0 and (before < 0 or state[before, OVER] == 0):
                        stack[depth] = start
                        depth += 1
                        continue
                    ranks[slot, pending] = wanted if available else -1
                    state[slot, PENDING] = -1
                top = -np.inf
                best = -1
                for edge in range(last - first + 1):
                    if ranks[slot, edge] < 0:
                        continue
                    if edge == last - first:
                        start = here - 1
                        score = np.float64(unknown)
                    else:
                        start = here - chains[first + edge, 1]
                        score = np.float64(scores[chains[first + edge, 0]])
                    if ranks[slot, edge] == 0:
                        value = values[start] + score
                    else:
                        value = found_values[slots[start], ranks[slot, edge]] + score
                    if value > top:
                        top = value
                        best = edge
                if best < 0:
                    state[slot, OVER] = 1
                else:
                    place = state[slot, FOUND]
                    found[slot, place, ENTRY] = -1 if best == last - first else first + best
                    found[slot, place, RANK] = ranks[slot, best]
                    found_values[slot, place] = top
                    state[slot, FOUND] = place + 1
                    state[slot, PENDING] = best
                depth -= 1
            slot = slots[count]
            if rank > 0 and (count == 0 or state[slot, FOUND] <= rank):
                break
            log_probabilities[text, rank] = values[count] if rank == 0 else found_values[slot, rank]
            mask[text, rank] = True
            steps = 0
            here = count
            behind = rank
            while here > 0:
                if behind == 0:
                    entry = back[here]
                else:
                    slot = slots[here]
                    entry = found[slot, behind, ENTRY]
                    behind = found[slot, behind, RANK]
                path[steps] = entry
                steps += 1
                here -= 1 if entry < 0 else chains[entry, 1]
            edges[text, rank] = steps
            if output.size - size < width * count:
                larger = np.empty(2 * output.size + width * count, np.int32)
                larger[:size] = output[:size]
                output = larger
            before_writing = size
            size = write_path(path, steps, chains, codes, begin, unk_id, byte_ids, output, size)
            lengths[text, rank] = size - before_writing
        for slot in range(used):
            slots[positions[slot]] = -1
    return output[:size].copy(), lengths, edges, log_probabilities, mask


@kernel
def _doubled(array: Array) -> Array:
    larger = np.empty((2 * array.shape[0], *array.shape[1:]), array.dtype)
    larger[: array.shape[0]] = array
    return larger
