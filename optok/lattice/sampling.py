"""Sampling a segmentation: s' ~ p(s')^α / Σ p^α, over the whole lattice or over the N best.

A draw is a function of (seed, purpose, epoch, sentence id) alone: each sentence has a stream of random numbers of
its own, counted up from a hash of these four (G. Steele, D. Lea and C. Flood, Fast splittable pseudorandom number
generators, 2014).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optok.errors import UserError
from optok.lattice.batches import in_parts, joined
from optok.lattice.compiling import Array, kernel
from optok.lattice.nbest import nbest
from optok.lattice.paths import Paths, write_path
from optok.lattice.scaled import Weights, forward, shifted
from optok.lattice.vocabulary import Lattices

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def sample(
    lattices: Lattices,
    scores: NDArray[Any],
    alpha: float,
    seed: int,
    epoch: int,
    ids: NDArray[np.integer] | Sequence[int],
    purpose: str = "train",
    candidates: int | None = None,
    threads: int = 1,
    merge_unknown: bool = True,
) -> Paths:
    """One segmentation of each text. `ids` (B,): the texts' own numbers, whatever batch they come in.

    `candidates`: draw among that many best segmentations; by default among all. `merge_unknown`: whether
    a run of unknown characters is one <unk>, or one a character. Raises `UserError` for a negative
    α, for scores of another length or NaN, for ids of another length, and for less than one candidate.
    """
    streams = streams_of(seed, purpose, epoch, ids)
    if len(streams) != len(lattices):
        raise UserError(f"{len(streams)} ids were given for {len(lattices)} texts: give each text its own")
    vocabulary = lattices.vocabulary
    weights = Weights.of(vocabulary, scores, alpha)
    if candidates is not None:
        best = nbest(lattices, scores, candidates, threads, merge_unknown)
        shares = np.where(best.mask, alpha * np.where(best.mask, best.log_probabilities, 0.0), -np.inf)
        chosen = _choose(np.exp(shares - shares.max(axis=1, keepdims=True)), streams)
        return Paths.of(*_chosen_paths(best.flat, best.lengths, chosen))
    automaton = vocabulary.automaton

    def part(first: int, last: int) -> tuple[Array, Array]:
        return _samples(
            lattices.longest,
            lattices.codes,
            lattices.offsets[first : last + 1],
            automaton.pieces,
            automaton.lengths,
            automaton.starts,
            weights.mantissas,
            weights.exponents,
            weights.ids,
            vocabulary.unk_id,
            vocabulary.byte_ids,
            merge_unknown,
            streams[first:last],
        )

    parts = in_parts(part, lattices.offsets, threads)
    return Paths.of(joined([ids for ids, _ in parts]), joined([lengths for _, lengths in parts]))


def streams_of(seed: int, purpose: str, epoch: int, ids: NDArray[np.integer] | Sequence[int]) -> NDArray[np.uint64]:
    """Where each sentence's stream of random numbers starts, (B,)."""
    key = hashlib.sha256(f"{int(seed)}:{purpose}:{int(epoch)}".encode()).digest()
    numbers = np.array(ids)
    if numbers.ndim != 1 or (len(numbers) and not np.issubdtype(numbers.dtype, np.integer)):
        raise UserError("ids must be a list of whole numbers, one for each text")
    first, second = (np.uint64(int.from_bytes(key[k : k + 8], "little")) for k in (0, 8))
    return _mixed(numbers.astype(np.int64).view(np.uint64) + first) ^ second


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    numbers = (numbers ^ numbers >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ numbers >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return numbers ^ numbers >> np.uint64(31)


@kernel
def uniform(stream: Any, count: int) -> float:
    """The `count`-th number of a stream, between 0 and 1 (53 bits)."""
    bits = stream + np.uint64(count + 1) * GOLDEN
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits = bits ^ (bits >> np.uint64(31))
    return np.float64(bits >> np.uint64(11)) * 2.0**-53


@kernel
def _samples(
    longest: Array,
    codes: Array,
    offsets: Array,
    pieces: Array,
    chain_lengths: Array,
    starts: Array,
    weights: Array,
    exponents: Array,
    ids: Array,
    unk_id: int,
    byte_ids: Array,
    merge_unknown: bool,
    streams: Array,
) -> tuple[Array, Array]:
    """Forward filtering, backward sampling."""
    texts = offsets.size - 1
    widest = 0
    for text in range(texts):
        widest = max(widest, offsets[text + 1] - offsets[text])
    sums = np.empty(widest + 1, np.float64)
    scales = np.empty(widest + 1, np.int64)
    path = np.empty(widest, np.int32)
    width = 4 if byte_ids.size else 1
    output = np.empty(width * (offsets[texts] - offsets[0]), np.int32)
    lengths = np.empty(texts, np.int64)
    size = 0
    for text in range(texts):
        begin = offsets[text]
        count = offsets[text + 1] - begin
        forward(longest, begin, count, pieces, chain_lengths, starts, weights, exponents, sums, scales)
        steps = 0
        end = count
        while end > 0:
            piece = longest[begin + end - 1]
            left = uniform(streams[text], steps) * sums[end]
            chosen = -1
            for entry in range(starts[piece], starts[piece + 1]):
                number = pieces[entry]
                if weights[number] == 0.0:
                    continue
                start = end - chain_lengths[entry]
                chosen = entry
                left -= shifted(sums[start] * weights[number], scales[start] + exponents[number] - scales[end])
                if left < 0.0:
                    break
            path[steps] = chosen
            steps += 1
            end -= chain_lengths[chosen]
        before = size
        size = write_path(
            path, steps, pieces, chain_lengths, ids, codes, begin, unk_id, byte_ids, merge_unknown, output, size
        )
        lengths[text] = size - before
    return output[:size].copy(), lengths


@kernel
def _choose(shares: Array, streams: Array) -> Array:
    chosen = np.zeros(streams.size, np.int64)
    for text in range(streams.size):
        left = uniform(streams[text], 0) * shares[text].sum()
        for rank in range(shares.shape[1]):
            if shares[text, rank] == 0.0:
                continue
            chosen[text] = rank
            left -= shares[text, rank]
            if left < 0.0:
                break
    return chosen


@kernel
def _chosen_paths(flat: Array, lengths: Array, chosen: Array) -> tuple[Array, Array]:
    output = np.empty(flat.size, np.int32)
    taken = np.empty(chosen.size, np.int64)
    size = 0
    position = 0
    for text in range(chosen.size):
        for rank in range(lengths.shape[1]):
            length = lengths[text, rank]
            if rank == chosen[text]:
                output[size : size + length] = flat[position : position + length]
                size += length
                taken[text] = length
            position += length
    return output[:size].copy(), taken
