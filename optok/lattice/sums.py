"""Log-partition, expected counts and entropy of the distribution p(s')^α over a text's segmentations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optok.lattice.batches import in_parts, joined
from optok.lattice.compiling import Array, kernel
from optok.lattice.scaled import NOTHING, STEP, Weights, forward, in_range, plus, shifted
from optok.lattice.vocabulary import Lattices


@dataclass(frozen=True)
class Counts:
    """Expected counts of the pieces in each of B texts, of those that some segmentation of it has.

    Text b has `values[offsets[b]:offsets[b + 1]]` of the pieces `ids[offsets[b]:offsets[b + 1]]`, in no set order;
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
    weights = Weights.of(lattices.vocabulary, scores, alpha)
    return np.asarray(_joined_parts(_log_partitions, lattices, weights, threads)[0])


def entropy(lattices: Lattices, scores: NDArray[Any], alpha: float = 1.0, threads: int = 1) -> NDArray[np.float64]:
    """The entropy in nats of each text's segmentation under p(s')^α / Σ p^α, (B,). Raises as `log_partition`."""
    weights = Weights.of(lattices.vocabulary, scores, alpha)
    totals, means = _joined_parts(_log_partitions_and_means, lattices, weights, threads)
    return np.maximum(0.0, totals - float(alpha) * means)


def expected_counts(lattices: Lattices, scores: NDArray[Any], alpha: float = 1.0, threads: int = 1) -> Counts:
    """E[count of w] of each piece in each text, under p(s')^α / Σ p^α. Raises as `log_partition`."""
    vocabulary = lattices.vocabulary
    weights = Weights.of(vocabulary, scores, alpha)
    numbers = np.where(weights.ids < 0, np.int32(vocabulary.unk_id), weights.ids)
    ids, values, lengths = _joined_parts(_expected_counts, lattices, weights, threads, numbers)
    offsets = np.zeros(len(lattices) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return Counts(ids, values, offsets, max(len(vocabulary), vocabulary.unk_id + 1))


def _joined_parts(operation: Any, lattices: Lattices, weights: Weights, threads: int, *more: Array) -> list[Array]:
    """A kernel's results for the whole batch, column by column; `more`: what it takes besides."""
    automaton = lattices.vocabulary.automaton

    def part(first: int, last: int) -> tuple[Array, ...]:
        found: tuple[Array, ...] = operation(
            lattices.longest,
            lattices.offsets[first : last + 1],
            automaton.pieces,
            automaton.lengths,
            automaton.starts,
            weights.mantissas,
            weights.exponents,
            weights.scores,
            *more,
        )
        return found

    return [joined(list(column)) for column in zip(*in_parts(part, lattices.offsets, threads), strict=True)]


@kernel
def _widest(offsets: Array) -> int:
    widest = 0
    for text in range(offsets.size - 1):
        widest = max(widest, offsets[text + 1] - offsets[text])
    return widest


@kernel
def _log_partitions(
    longest: Array,
    offsets: Array,
    pieces: Array,
    chain_lengths: Array,
    starts: Array,
    weights: Array,
    exponents: Array,
    scores: Array,
) -> tuple[Array]:
    widest = _widest(offsets)
    sums = np.empty(widest + 1, np.float64)
    scales = np.empty(widest + 1, np.int64)
    result = np.empty(offsets.size - 1, np.float64)
    for text in range(offsets.size - 1):
        count = offsets[text + 1] - offsets[text]
        forward(longest, offsets[text], count, pieces, chain_lengths, starts, weights, exponents, sums, scales)
        result[text] = np.log(sums[count]) + scales[count] * STEP
    return (result,)


@kernel
def _log_partitions_and_means(
    longest: Array,
    offsets: Array,
    pieces: Array,
    chain_lengths: Array,
    starts: Array,
    weights: Array,
    exponents: Array,
    scores: Array,
) -> tuple[Array, Array]:
    """log Z and E[log p(s')], as H = log Z − α E[log p(s')]; the mean goes forward with the sums."""
    widest = _widest(offsets)
    sums = np.empty(widest + 1, np.float64)
    scales = np.empty(widest + 1, np.int64)
    means = np.zeros(widest + 1, np.float64)
    totals = np.empty(offsets.size - 1, np.float64)
    expectations = np.empty(offsets.size - 1, np.float64)
    for text in range(offsets.size - 1):
        begin = offsets[text]
        count = offsets[text + 1] - begin
        forward(longest, begin, count, pieces, chain_lengths, starts, weights, exponents, sums, scales)
        for end in range(1, count + 1):
            piece = longest[begin + end - 1]
            mean = 0.0
            for entry in range(starts[piece], starts[piece + 1]):
                number = pieces[entry]
                start = end - chain_lengths[entry]
                if weights[number] > 0.0:
                    steps = scales[start] + exponents[number] - scales[end]
                    share = shifted(sums[start] * weights[number], steps) / sums[end]
                    mean += share * (means[start] + scores[number])
            means[end] = mean
        totals[text] = np.log(sums[count]) + scales[count] * STEP
        expectations[text] = means[count]
    return totals, expectations


@kernel
def _expected_counts(
    longest: Array,
    offsets: Array,
    pieces: Array,
    chain_lengths: Array,
    starts: Array,
    weights: Array,
    exponents: Array,
    scores: Array,
    identities: Array,
) -> tuple[Array, Array, Array]:
    """Forward and backward sums; an edge's expected count is forward · weight · backward / Z."""
    texts = offsets.size - 1
    widest = _widest(offsets)
    sums = np.empty(widest + 1, np.float64)
    scales = np.empty(widest + 1, np.int64)
    behind = np.empty(widest + 1, np.float64)
    behind_scales = np.empty(widest + 1, np.int64)
    counts = np.zeros(weights.size, np.float64)
    seen = np.zeros(counts.size, np.bool_)
    touched = np.empty(counts.size, np.int32)
    ids = np.empty(1024, np.int32)
    values = np.empty(1024, np.float64)
    lengths = np.empty(texts, np.int64)
    size = 0
    for text in range(texts):
        begin = offsets[text]
        count = offsets[text + 1] - begin
        forward(longest, begin, count, pieces, chain_lengths, starts, weights, exponents, sums, scales)
        behind[: count + 1] = 0.0
        behind_scales[: count + 1] = NOTHING
        behind[count], behind_scales[count] = 1.0, 0
        kinds = 0
        for end in range(count, 0, -1):
            behind[end], behind_scales[end] = in_range(behind[end], behind_scales[end])
            piece = longest[begin + end - 1]
            for entry in range(starts[piece], starts[piece + 1]):
                number = pieces[entry]
                identity = identities[number]
                start = end - chain_lengths[entry]
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
        for k in range(kinds):
            identity = touched[k]
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
