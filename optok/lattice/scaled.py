"""Sums over all segmentations without logarithms: numbers m · 2^(512 q), m between 2^−256 and 2^256.

A path's weight is p(s')^α, far below what float64 holds for a long text. Each position therefore carries its own
exponent q, and most additions need no more than a look that both exponents are equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optok.errors import UserError
from optok.lattice.compiling import Array, kernel
from optok.lattice.vocabulary import Vocabulary

STEP = 512 * np.log(2.0)  # log of the base
UP, DOWN = 2.0**512, 2.0**-512
LARGE, SMALL = 2.0**256, 2.0**-256
NOTHING = -(2**62)  # the exponent of zero


def weights_of(
    vocabulary: Vocabulary, scores: NDArray[Any], alpha: float
) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.int64]]:
    """Edge scores (P + 1,), and exp(α · score) as m and q (P + 1,); the last is that of an unknown character.

    A barred piece has m = 0. Raises `UserError` for scores that are of another length or NaN, and for an α that is
    negative or too large to compute with.
    """
    factor = float(alpha)
    if not 0.0 <= factor < np.inf:
        raise UserError(f"alpha is {alpha}: give a number from 0 (all segmentations alike) upwards, such as 0.3")
    edge_scores, unknown = vocabulary.edge_scores(scores)
    edge_scores = np.append(edge_scores, unknown)
    barred = edge_scores == -np.inf
    logarithms = factor * np.where(barred, 0.0, edge_scores.astype(np.float64))
    if np.abs(logarithms).max() > 1e9:
        raise UserError(f"alpha {alpha} times the largest score is beyond 1e9: use a smaller alpha")
    exponents = np.rint(logarithms / STEP)
    mantissas = np.exp(logarithms - exponents * STEP)
    mantissas[barred] = 0.0
    return edge_scores, mantissas, exponents.astype(np.int64)


@kernel
def plus(mantissa: float, exponent: int, more: float, more_exponent: int) -> tuple[float, int]:
    """The sum of two numbers, not yet brought back into range."""
    if exponent == more_exponent:
        return mantissa + more, exponent
    if more == 0.0:
        return mantissa, exponent
    if more_exponent > exponent:
        if more_exponent - exponent == 1:
            return mantissa * DOWN + more, more_exponent
        return more, more_exponent
    if exponent - more_exponent == 1:
        return mantissa + more * DOWN, exponent
    return mantissa, exponent


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
    chains: Array,
    starts: Array,
    weights: Array,
    exponents: Array,
    sums: Array,
    scales: Array,
) -> None:
    """The summed weight of all paths into each of `count` positions: sums · 2^(512 · scales)."""
    unknown = weights.size - 1
    sums[0], scales[0] = 1.0, 0
    for end in range(1, count + 1):
        piece = longest[begin + end - 1]
        first, last = starts[piece], starts[piece + 1]
        total, scale = 0.0, NOTHING
        for entry in range(first, last):
            number = chains[entry, 0]
            start = end - chains[entry, 1]
            total, scale = plus(total, scale, sums[start] * weights[number], scales[start] + exponents[number])
        if first == last or chains[last - 1, 1] != 1 or weights[chains[last - 1, 0]] == 0.0:
            total, scale = plus(total, scale, sums[end - 1] * weights[unknown], scales[end - 1] + exponents[unknown])
        sums[end], scales[end] = in_range(total, scale)
