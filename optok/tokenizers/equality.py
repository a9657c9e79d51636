"""Where the lattice and stock SentencePiece differ on given texts; nowhere, but for what SentencePiece cuts short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optok.lattice import Merges, Vocabulary, best_path, nbest

PART = 10_000  # texts compared at a time
CUT_FROM = 60_000  # characters × N from which SentencePiece may shrink its agenda or fall back to its best path


def differing_best_paths(
    vocabulary: Vocabulary, processor: Any, texts: Sequence[str], scores: NDArray[Any] | None = None
) -> list[int]:
    """Which texts (from 0) SentencePiece segments otherwise than the best path under `scores`, or the model's own."""
    differing = []
    chosen = vocabulary.scores if scores is None else scores
    for first in range(0, len(texts), PART):
        part = list(texts[first : first + PART])
        ours = best_path(vocabulary.lattices(part), chosen).to_lists()
        theirs = processor.encode(part, num_threads=1)
        differing += [first + k for k, (one, other) in enumerate(zip(ours, theirs, strict=True)) if one != other]
    return differing


def differing_normalization(vocabulary: Vocabulary | Merges, processor: Any, texts: Sequence[str]) -> list[int]:
    """Which texts (from 0) SentencePiece normalises otherwise."""
    pairs = zip(vocabulary.normalize(texts), processor.normalize(list(texts)), strict=True)
    return [number for number, (ours, theirs) in enumerate(pairs) if ours != theirs]


@dataclass
class NBestComparison:
    """Texts (from 0) whose N-best differs, and those exempt from the comparison.

    `cut`: SentencePiece's own search was cut short. `rounded`: the score lists agree only within what SentencePiece
    can lose by adding this many numbers in float32 (a text with hundreds of unknown characters).
    """

    differing: list[int] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    rounded: list[int] = field(default_factory=list)


def compare_nbest(vocabulary: Vocabulary, processor: Any, texts: Sequence[str], n: int) -> NBestComparison:
    """Compares score lists within 1e-6 · |score| + 1e-4, and paths wherever a score stands apart from the others.

    A text is exempt when it is long and SentencePiece found fewer or lower-scoring segmentations than the lattice.
    """
    result = NBestComparison()
    for number, text in enumerate(texts):
        lattices = vocabulary.lattices([text])
        if lattices.characters[0] == 0:
            continue
        found = nbest(lattices, vocabulary.scores, n + 1)
        ours = found.log_probabilities[0][found.mask[0]]
        paths = found.candidates(0)
        theirs = processor.nbest_encode(text, nbest_size=n, return_type="proto").nbests
        their_scores = np.array([path.score for path in theirs])
        kept = min(n, len(ours))
        compared = min(kept, len(theirs))
        close = 1e-6 * np.abs(ours) + 1e-4
        rounding = close + found.edges[0, : len(ours)] * 2.0**-24 * np.abs(ours)
        off = np.abs(their_scores[:compared] - ours[:compared])
        if len(theirs) != kept or (off > rounding[:compared]).any():
            lower = bool((their_scores[:compared] <= ours[:compared] + rounding[:compared]).all())
            cut = lattices.characters[0] * n >= CUT_FROM and len(theirs) <= kept and lower
            (result.cut if cut else result.differing).append(number)
            continue
        if (off > close[:compared]).any():
            result.rounded.append(number)
            close = rounding
        gaps = -np.diff(ours) > 2 * close[1:]
        for rank in range(kept):
            apart = (rank == 0 or gaps[rank - 1]) and (rank + 1 >= len(ours) or gaps[rank])
            if apart and [piece.id for piece in theirs[rank].pieces] != paths[rank].tolist():
                result.differing.append(number)
                break
    return result
