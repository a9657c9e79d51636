"""Log-partition, expected counts and entropy of the distribution p(s')^α over a text's segmentations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optok.lattice.batches import in_parts
from optok.lattice.compiling import Array, kernel
from optok.lattice.paths import joined
from optok.lattice.scaled import NOTHING, STEP, forward, in_range, plus, shifted, weights_of
from optok.lattice.vocabulary import Lattices


@dataclass(frozen=True)
class Counts:
    """Expected counts of the pieces in each of B texts, those above zero only.

    Text b has `values[offsets[b]:offsets[b + 1]]` of the pieces `ids[offsets[b]:offsets[b + 1]]`, ascending;
    `size`: ids are below it (the unknown character counts under the vocabulary's `unk_id`).
    """

    ids: NDArray[np.int32]
    values: NDArray[np.float64]
    offsets: NDArray[np.int64]
    size: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def total(self) -> NDArray[np.float64]:
        """Summed over the texts, by id; shape (size,)."""
        return np.bincount(self.ids, weights=self.values, minlength=self.size).astype(np.float64)

    def dense(self) -> NDArray[np.float64]:
        """One row a text, shape (B, size)."""
        rows = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        result = np.zeros((len(self), self.size))
        result[rows, self.ids] = self.values
        return result


def log_partition(
    lattices: Lattices, scores: NDArray[Any], alpha: float = 1.0, threads: int = 1
) -> NDArray[np.float64]:
    """log Σ_s' p(s')^α of each text, (B,). Raises `UserError` for a negative α and for scores that do not fit."""
    _, weights, exponents = weights_of(lattices.vocabulary, scores, alpha)
    automaton = lattices.vocabulary.automaton

    def part(first: int, last: int) -> Array:
        offsets = lattices.offsets[first : last + 1]
        return _log_partitions(lattices.longest, offsets, automaton.chains, automaton.starts, weights, exponents)

    return np.asarray(joined(in_parts(part, lattices, threads)))


def entropy(lattices: Lattices, scores: NDArray[Any], alpha: float = 1.0, threads: int = 1) -> NDArray[np.float64]:
    """The entropy in nats of each text's segmentation under p(s')^α / Σ p^α, (B,). Raises as `log_partition`."""
    edge_scores, weights, exponents = weights_of(lattices.vocabulary, scores, alpha)
    automaton = lattices.vocabulary.automaton

    def part(first: int, last: int) -> Array:
        offsets = lattices.offsets[first : last + 1]
        return _entropies(
            lattices.longest, offsets, automaton.chains, automaton.starts, edge_scores, weights, exponents, float(alpha)
        )

    return np.asarray(joined(in_parts(part, lattices, threads)))


def expected_counts(lattices: Lattices, scores: NDArray[Any], alpha: float = 1.0, threads: int = 1) -> Counts:
    """E[count of w] of each piece in each text, under p(s')^α / Σ p^α. Raises as `log_partition`."""
    vocabulary = lattices.vocabulary
    _, weights, exponents = weights_of(vocabulary, scores, alpha)
    automaton = vocabulary.automaton

    def part(first: int, last: int) -> tuple[Array, Array, Array]:
        offsets = lattices.offsets[first : last + 1]
        return _expected_counts(
            lattices.longest,
            offsets,
            automaton.chains,
            automaton.starts,
            weights,
            exponents,
            vocabulary.unk_id,
        )

    parts = in_parts(part, lattices, threads)
    ids, values, lengths = (joined([part[column] for part in parts]) for column in range(3))
    offsets = np.zeros(len(lattices) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return Counts(ids, values, offsets, max(len(vocabulary), vocabulary.unk_id + 1))


@kernel
def _widest(offsets: Array) -> int:
    widest = 0
    for text in range(offsets.size - 1):
        widest = max(widest, offsets[text + 1] - offsets[text])
    return widest


@kernel
def _log_partitions(
    longest: Array, offsets: Array, chains: Array, starts: Array, weights: Array, exponents: Array
) -> Array:
    widest = _widest(offsets)
    sums = np.empty(widest + 1, np.float64)
    scales = np.empty(widest + 1, np.int64)
    result = np.empty(offsets.size - 1, np.float64)
    for text in range(offsets.size - 1):
        count = offsets[text + 1] - offsets[text]
        forward(longest, offsets[text], count, chains, starts, weights, exponents, sums, scales)
        result[text] = np.log(sums[count]) + scales[count] * STEP
    return result


@kernel
def _entropies(
    longest: Array,
    offsets: Array,
    chains: Array,
    starts: Array,
    scores: Array,
    weights: Array,
    exponents: Array,
    alpha: float,
) -> Array:
    """H = log Z − α E[log p(s')]; the expectation goes forward with the sums, position by position."""
    widest = _widest(offsets)
    sums = np.empty(widest + 1, np.float64)
    scales = np.empty(widest + 1, np.int64)
    means = np.zeros(widest + 1, np.float64)
    result = np.empty(offsets.size - 1, np.float64)
    unknown = weights.size - 1
    for text in range(offsets.size - 1):
        begin = offsets[text]
        count = offsets[text + 1] - begin
        forward(longest, begin, count, chains, starts, weights, exponents, sums, scales)
        for end in range(1, count + 1):
            piece = longest[begin + end - 1]
            first, last = starts[piece], starts[piece + 1]
            mean = 0.0
            for entry in range(first, last):
                number = chains[entry, 0]
                start = end - chains[entry, 1]
                steps = scales[start] + exponents[number] - scales[end]
                if weights[number] > 0.0:
                    share = shifted(sums[start] * weights[number], steps) / sums[end]
                    mean += share * (means[start] + scores[number])
            if first == last or chains[last - 1, 1] != 1 or weights[chains[last - 1, 0]] == 0.0:
                steps = scales[end - 1] + exponents[unknown] - scales[end]
                share = shifted(sums[end - 1] * weights[unknown], steps) / sums[end]
                mean += share * (means[end - 1] + scores[unknown])
            means[end] = mean
        result[text] = max(0.0, np.log(sums[count]) + scales[count] * STEP - alpha * means[count])
    return result


@kernel
def _expected_counts(
    longest: Array, offsets: Array, chains: Array, starts: Array, weights: Array, exponents: Array, unk_id: int
) -> tuple[Array, Array, Array]:
    """Forward and backward sums; an edge's expected count is forward · weight · backward / Z."""
    texts = offsets.size - 1
    widest = _widest(offsets)
    sums = np.empty(widest + 1, np.float64)
    scales = np.empty(widest + 1, np.int64)
    behind = np.empty(widest + 1, np.float64)
    behind_scales = np.empty(widest + 1, np.int64)
    unknown = weights.size - 1
    counts = np.zeros(max(unknown, unk_id + 1), np.float64)
    seen = np.zeros(counts.size, np.bool_)
    touched = np.empty(counts.size, np.int32)
    ids = np.empty(1024, np.int32)
    values = np.empty(1024, np.float64)
    lengths = np.empty(texts, np.int64)
    size = 0
    for text in range(texts):
        begin = offsets[text]
        count = offsets[text + 1] - begin
        forward(longest, begin, count, chains, starts, weights, exponents, sums, scales)
        behind[: count + 1] = 0.0
        behind_scales[: count + 1] = NOTHING
        behind[count], behind_scales[count] = 1.0, 0
        kinds = 0
        for end in range(count, 0, -1):
            behind[end], behind_scales[end] = in_range(behind[end], behind_scales[end])
            piece = longest[begin + end - 1]
            first, last = starts[piece], starts[piece + 1]
            for entry in range(first, last + 1):
                if entry < last:
                    number, identity, start = chains[entry, 0], chains[entry, 0], end - chains[entry, 1]
                elif first == last or chains[last - 1, 1] != 1 or weights[chains[last - 1, 0]] == 0.0:
                    number, identity, start = unknown, unk_id, end - 1
                else:
                    break
                if weights[number] == 0.0:
                    continue
                beyond = weights[number] * behind[end]
                scale = exponents[number] + behind_scales[end]
                behind[start], behind_scales[start] = plus(behind[start], behind_scales[start], beyond, scale)
                share = shifted(sums[start] * beyond, scales[start] + scale - scales[count]) / sums[count]
                if not seen[identity]:
                    seen[identity] = True
                    touched[kinds] = identity
                    kinds += 1
                counts[identity] += share
        if ids.size - size < kinds:
            ids = _longer(ids, size, kinds)
            values = _longer(values, size, kinds)
        ordered = np.sort(touched[:kinds])
        for k in range(kinds):
            identity = ordered[k]
            ids[size + k] = identity
            values[size + k] = counts[identity]
            counts[identity] = 0.0
            seen[identity] = False
        size += kinds
        lengths[text] = kinds
    return ids[:size].copy(), values[:size].copy(), lengths


@kernel
def _longer(array: Array, size: int, more: int) -> Array:
    larger = np.empty(2 * array.size + more, array.dtype)
    larger[:size] = array[:size]
    return larger
