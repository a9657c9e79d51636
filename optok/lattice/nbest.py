"""The N best paths, exactly, as the best path with a few other edges.

A forward pass finds the best value of every position and its last edge; these edges are a tree, whose every path is
the best to where it leads. Any other path leaves the tree at some edges, and loses at each the difference of two
known numbers. So the paths form a tree too: a path's children take one more other edge, before all those it has
taken, and a queue of the best N seen so far gives one path after the other (D. Eppstein, Finding the k shortest
paths, 1998, without his heaps, which would only pay for a larger N).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optok.errors import UserError
from optok.lattice.batches import in_parts, joined
from optok.lattice.compiling import Array, kernel
from optok.lattice.paths import NBest, write_path
from optok.lattice.vocabulary import Lattices

PARENT, POSITION, ENTRY, DEPTH = 0, 1, 2, 3  # columns of a path: its parent, where it leaves it, by which edge


def nbest(lattices: Lattices, scores: NDArray[Any], n: int, threads: int = 1, merge_unknown: bool = True) -> NBest:
    """The `n` segmentations of highest log p, descending; float64 sums of the float32 scores.

    Equal ones stand in the order of their last edge's start, then of the rank of what precedes it; so a larger `n`
    only appends. `merge_unknown`: whether a run of unknown characters is one <unk>, or one a character. Raises
    `UserError` for n < 1, and for scores of another length or NaN.
    """
    if n < 1 or n != int(n):
        raise UserError(f"n is {n}: ask for 1 segmentation or more")
    vocabulary = lattices.vocabulary
    edge_scores, ids = vocabulary.edge_scores(scores)
    automaton = vocabulary.automaton

    def part(first: int, last: int) -> tuple[Array, Array, Array, Array, Array]:
        return _nbest(
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
            int(n),
            merge_unknown,
        )

    parts = in_parts(part, lattices.offsets, threads)
    return NBest(*(joined([part[column] for part in parts]) for column in range(5)))


@kernel
def best_values(
    longest: Array,
    begin: int,
    count: int,
    pieces: Array,
    chain_lengths: Array,
    starts: Array,
    scores: Array,
    values: Array,
    back: Array,
) -> None:
    """The highest log p of a path into each of `count` positions, and its last edge."""
    values[0] = 0.0
    before = 0.0
    for end in range(1, count + 1):
        piece = longest[begin + end - 1]
        first, final = starts[piece], starts[piece + 1] - 1
        top = values[end - chain_lengths[first]] + scores[pieces[first]]
        entry = first
        for candidate in range(first + 1, final):
            value = values[end - chain_lengths[candidate]] + scores[pieces[candidate]]
            entry = candidate if value > top else entry
            top = value if value > top else top
        # The last edge starts one character back: only it waits for the value just found.
        value = before + scores[pieces[final]]
        entry = final if value > top else entry
        before = value if value > top else top
        values[end] = before
        back[end] = entry


@kernel
def _nbest(
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
    n: int,
    merge_unknown: bool,
) -> tuple[Array, Array, Array, Array, Array]:
    texts = offsets.size - 1
    widest = 0
    for text in range(texts):
        widest = max(widest, offsets[text + 1] - offsets[text])
    values = np.empty(widest + 1, np.float64)
    back = np.empty(widest + 1, np.int32)
    gaps = np.empty(widest + 1, np.float64)  # what the best other edge into a position loses; −1: not known yet
    path = np.empty(widest, np.int32)
    paths = np.empty((2 * n + 1, 4), np.int32)  # those taken and those in the queue
    totals = np.empty(2 * n + 1, np.float64)
    queue = np.empty(n + 1, np.int32)  # paths, the best first
    taken = np.empty(n, np.int32)
    free = np.empty(2 * n + 1, np.int32)
    line = np.empty(n, np.int32)
    width = 4 if byte_ids.size else 1
    output = np.empty(4 * widest + 1024, np.int32)
    lengths = np.zeros((texts, n), np.int64)
    edges = np.zeros((texts, n), np.int64)
    log_probabilities = np.full((texts, n), -np.inf)
    mask = np.zeros((texts, n), np.bool_)
    size = 0
    for text in range(texts):
        begin = offsets[text]
        count = offsets[text + 1] - begin
        best_values(longest, begin, count, pieces, chain_lengths, starts, scores, values, back)
        gaps[: count + 1] = -1.0
        for slot in range(2 * n + 1):
            free[slot] = slot
        paths[0, PARENT], paths[0, POSITION], paths[0, ENTRY], paths[0, DEPTH] = -1, count, -1, 0
        totals[0] = values[count]
        used, queued = 1, 1
        queue[0] = 0
        for rank in range(n):
            if queued == 0:
                break
            taken[rank] = queue[0]
            queued -= 1
            for place in range(queued):
                queue[place] = queue[place + 1]
            if rank + 1 < n:
                queued, used = _branch(
                    taken[rank],
                    n - rank - 1,
                    longest,
                    begin,
                    pieces,
                    chain_lengths,
                    starts,
                    scores,
                    values,
                    back,
                    gaps,
                    paths,
                    totals,
                    queue,
                    queued,
                    free,
                    used,
                )
            log_probabilities[text, rank] = totals[taken[rank]]
            mask[text, rank] = True
            steps = _edges_of(taken[rank], count, chain_lengths, back, paths, line, path)
            edges[text, rank] = steps
            if output.size - size < width * count:
                larger = np.empty(2 * output.size + width * count, np.int32)
                larger[:size] = output[:size]
                output = larger
            before = size
            size = write_path(
                path, steps, pieces, chain_lengths, ids, codes, begin, unk_id, byte_ids, merge_unknown, output, size
            )
            lengths[text, rank] = size - before
    return output[:size].copy(), lengths, edges, log_probabilities, mask


@kernel
def _branch(
    parent: int,
    limit: int,
    longest: Array,
    begin: int,
    pieces: Array,
    chain_lengths: Array,
    starts: Array,
    scores: Array,
    values: Array,
    back: Array,
    gaps: Array,
    paths: Array,
    totals: Array,
    queue: Array,
    queued: int,
    free: Array,
    used: int,
) -> tuple[int, int]:
    """Puts a path's children into the queue of at most `limit`; returns how many it holds, and the slots in use."""
    while queued > limit:
        queued -= 1
        used -= 1
        free[used] = queue[queued]
    worst = totals[queue[queued - 1]] if queued == limit else -np.inf
    total = totals[parent]
    here = paths[parent, POSITION]
    if paths[parent, DEPTH] > 0:
        here -= chain_lengths[paths[parent, ENTRY]]
    while here > 0 and total >= worst:
        least = gaps[here]
        if least < 0.0 or total - least >= worst:
            piece = longest[begin + here - 1]
            least = np.inf
            for entry in range(starts[piece], starts[piece + 1]):
                loss = values[here] - (values[here - chain_lengths[entry]] + scores[pieces[entry]])
                if entry == back[here] or loss == np.inf:
                    continue
                least = min(least, loss)
                if total - loss < worst:
                    continue
                slot = free[used]
                paths[slot, PARENT], paths[slot, POSITION], paths[slot, ENTRY] = parent, here, entry
                paths[slot, DEPTH] = paths[parent, DEPTH] + 1
                totals[slot] = total - loss
                place = queued
                while place > 0:
                    before = queue[place - 1]
                    if totals[before] > totals[slot]:
                        break
                    if totals[before] == totals[slot] and _first_of_equals(before, slot, back, paths):
                        break
                    queue[place] = before
                    place -= 1
                queue[place] = slot
                used += 1
                if queued < limit:
                    queued += 1
                else:
                    used -= 1
                    free[used] = queue[queued]
                if queued == limit:
                    worst = totals[queue[queued - 1]]
            gaps[here] = least
        here -= chain_lengths[back[here]]
    return queued, used


@kernel
def _first_of_equals(one: int, other: int, back: Array, paths: Array) -> bool:
    """Which of two paths that score the same stands first.

    From the end of the text backwards, the first edge in which they differ decides: the lower start is first.
    """
    shorter = paths[one, DEPTH] < paths[other, DEPTH]
    while paths[one, DEPTH] > paths[other, DEPTH]:
        one = paths[one, PARENT]
    while paths[other, DEPTH] > paths[one, DEPTH]:
        other = paths[other, PARENT]
    if one == other:
        return bool(shorter)  # of equal edges into a position, the best is the first
    while paths[one, PARENT] != paths[other, PARENT]:
        one, other = paths[one, PARENT], paths[other, PARENT]
    here = max(paths[one, POSITION], paths[other, POSITION])
    by_one = paths[one, ENTRY] if paths[one, POSITION] == here else back[here]
    by_other = paths[other, ENTRY] if paths[other, POSITION] == here else back[here]
    return bool(by_one < by_other)  # entries into a position are in the order of their starts


@kernel
def _edges_of(
    number: int, count: int, chain_lengths: Array, back: Array, paths: Array, line: Array, path: Array
) -> int:
    """Writes the edges of a path, the last one first; returns how many there are."""
    depth = paths[number, DEPTH]
    for level in range(depth - 1, -1, -1):
        line[level] = number
        number = paths[number, PARENT]
    here = count
    level = 0
    steps = 0
    while here > 0:
        entry = back[here]
        if level < depth and paths[line[level], POSITION] == here:
            entry = paths[line[level], ENTRY]
            level += 1
        path[steps] = entry
        steps += 1
        here -= chain_lengths[entry]
    return steps
