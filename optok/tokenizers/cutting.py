"""One side of a training text and its tokenizer: how each epoch cuts each sentence.

`FixedCutter` is stock SentencePiece, of any kind; `DropoutCutter` passes over merges of a BPE model; `LatticeCutter`
samples segmentations of a unigram model from ready lattices, whose scores may change while training goes on.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import sentencepiece
from numpy.typing import NDArray

from optok import lattice

Ids = NDArray[np.int32]
Items = NDArray[np.int64]


class FixedCutter:
    """The same segmentation in every epoch: SentencePiece's own."""

    def __init__(self, model: Path, texts: list[str]) -> None:
        self._processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
        self._ids = self.best(texts)

    def cut(self, items: Items, epoch: int) -> list[Ids]:
        """The ids of the training sentences `items`."""
        return [self._ids[item] for item in items]

    def best(self, texts: list[str]) -> list[Ids]:
        """The ids of any texts."""
        return [np.array(ids, dtype=np.int32) for ids in self._processor.encode(texts)]


class DropoutCutter:
    """BPE-dropout, anew in every epoch, a function of (seed, side, epoch, sentence); the best segmentation is BPE's."""

    def __init__(self, model: Path, texts: list[str], probability: float, seed: int, side: str) -> None:
        self._merges = lattice.Merges.load(model)
        self._texts = texts
        self._probability, self._seed, self._side = probability, seed, side

    def cut(self, items: Items, epoch: int) -> list[Ids]:
        """The ids of the training sentences `items`, with merges passed over."""
        part = [self._texts[item] for item in items]
        paths = self._merges.dropout(part, self._probability, self._seed, epoch, items, purpose=self._side)
        return [paths[position] for position in range(len(paths))]

    def best(self, texts: list[str]) -> list[Ids]:
        """The ids of any texts, all merges made."""
        paths = self._merges.encode(texts)
        return [paths[position] for position in range(len(paths))]


class LatticeCutter:
    """A segmentation drawn with p(s)^α anew in every epoch, a function of (seed, side, epoch, sentence)."""

    def __init__(self, model: Path, texts: list[str], alpha: float, seed: int, side: str) -> None:
        self.vocabulary = lattice.Vocabulary.load(model)
        self.scores: NDArray[np.float32] = self.vocabulary.scores
        self._lattices = self.vocabulary.lattices(texts)
        self._alpha, self._seed, self._side = alpha, seed, side
        self._held_out: tuple[list[str], lattice.Lattices] | None = None

    def cut(self, items: Items, epoch: int) -> list[Ids]:
        """The ids of the training sentences `items`, drawn under the present scores."""
        part = self._lattices.take(items)
        paths = lattice.sample(part, self.scores, self._alpha, self._seed, epoch, items, purpose=self._side)
        return [paths[position] for position in range(len(paths))]

    def best(self, texts: list[str]) -> list[Ids]:
        """The ids of any texts on the best path under the present scores."""
        if self._held_out is None or self._held_out[0] is not texts:
            self._held_out = (texts, self.vocabulary.lattices(texts))  # the same text at every validation
        paths = lattice.best_path(self._held_out[1], self.scores)
        return [paths[position] for position in range(len(paths))]

    def nbest(self, items: Items, candidates: int) -> lattice.NBest:
        """The N-best segmentations of the training sentences `items` under the present scores."""
        return lattice.nbest(self._lattices.take(items), self.scores, candidates)
