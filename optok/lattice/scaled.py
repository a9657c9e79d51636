"""Sums over all segmentations without logarithms: numbers m · 2^(512 q), m between 2^−256 and 2^256.

A path's weight is p(s')^α, far below what float64 holds for a long text. Each position therefore carries its own
exponent q, and most additions need no more than a look that both exponents are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optok.errors import UserError
from optok.lattice.batches import checked_alpha
from optok.lattice.compiling import Array, kernel
from optok.lattice.vocabulary import Vocabulary

STEP = 512 * np.log(2.0)  # log of the base
UP, DOWN = 2.0**512, 2.0**-512
LARGE, SMALL = 2.0**256, 2.0**-256
NOTHING = -(2**62)  # the exponent of zero


@dataclass(frozen=True)
class Weights:
    """exp(α · score) of an edge of each piece as `mantissas` and `exponents` (P + 1,); the last: an unknown character.

    A barred piece has mantissa 0. `scores` (P + 1,) and `ids` (P + 1,) are the vocabulary's `edge_scores`.
    """

    mantissas: NDArray[np.float64]
    exponents: NDArray[np.int64]
    scores: NDArray[np.float32]
    ids: NDArray[np.int32]

    @classmethod
    def of(cls, vocabulary: Vocabulary, scores: NDArray[Any], alpha: float) -> Weights:
        """Raises `UserError` for scores of another length or NaN, and for an α that is negative or too large."""
        factor = checked_alpha(alpha)
        edge_scores, ids = vocabulary.edge_scores(scores)
        barred = edge_scores == -np.inf
        logarithms = factor * np.where(barred, 0.0, edge_scores.astype(np.float64))
        if np.abs(logarithms).max() > 1e9:
            raise UserError(f"alpha {alpha} times the largest score is beyond 1e9: use a smaller alpha")
        exponents = np.rint(logarithms / STEP)
        mantissas = np.exp(logarithms - exponents * STEP)
        mantissas[barred] = 0.0
        return cls(mantissas, exponents.astype(np.int64), edge_scores, ids)


@kernel
def plus(mantissa: float, exponent: int, more: float, more_exponent: int) -> tuple[float, int]:
    """The sum of two numbers, not yet brought back into range; both mantissas lie between 2^−512 and 2^512."""
    if exponent == more_exponent:
        return mantissa + more, exponent
    if more == 0.0:
        return mantissa, exponent
    if more_exponent > exponent:
        mantissa, exponent, more, more_exponent = more, more_exponent, mantissa, exponent
    if exponent - more_exponent == 1:
        return mantissa + more * DOWN, exponent
    if exponent - more_exponent == 2:
        return mantissa + more * DOWN * DOWN, exponent
    return mantissa, exponent  # the other is less than 2^−512 of it


@kernel
def in_range(mantissa: float, exponent: int) -> tuple[float, int]:
    if mantissa > LARGE:
        return mantissa * DOWN, exponent + 1
    if mantissa < SMALL:
        return mantissa * UP, exponent - 1
    return mantissa, exponent


@kernel
def shifted(mantissa: float, steps: int) -> float:
    """m · 2^(512 · steps) as a plain number."""
    while steps < 0 and mantissa > 0.0:
        mantissa *= DOWN
        steps += 1
    while steps > 0:
        mantissa *= UP
        steps -= 1
    return mantissa


@kernel
def forward(
    longest: Array,
    begin: int,
    count: int,
    pieces: Array,
    chain_lengths: Array,
    starts: Array,
    weights: Array,
    exponents: Array,
    sums: Array,
    scales: Array,
) -> None:
    """The summed weight of all paths into each of `count` positions: sums · 2^(512 · scales)."""
    sums[0], scales[0] = 1.0, 0
    for end in range(1, count + 1):
        piece = longest[begin + end - 1]
        total, scale = 0.0, NOTHING
        for entry in range(starts[piece], starts[piece + 1]):
            number = pieces[entry]
            start = end - chain_lengths[entry]
            total, scale = plus(total, scale, sums[start] * weights[number], scales[start] + exponents[number])
        sums[end], scales[end] = in_range(total, scale)
