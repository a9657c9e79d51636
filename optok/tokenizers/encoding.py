"""Lines of text to lines of pieces, of ids or of JSON: best path, N-best, sampled, or with BPE-dropout."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from optok import lattice
from optok.errors import UserError
from optok.lattice.batches import checked_alpha
from optok.lattice.model import kind_of, read_model

Output = Literal["pieces", "ids", "json"]
BETWEEN = "\t"  # stands between several segmentations of one line
PURPOSE = "encode"  # of the draws


@dataclass(frozen=True)
class Request:
    """What to give for each line: the best path by default.

    `nbest`: that many best segmentations. `alpha`: one drawn with p(s)^α. `dropout`: one with merges of a BPE model
    passed over with this probability. `copies`: that many draws, the k-th being epoch k. `seed` is for draws.
    """

    nbest: int | None = None
    alpha: float | None = None
    dropout: float | None = None
    seed: int = 1
    copies: int = 1
    output: Output = "pieces"
    threads: int = 1

    def __post_init__(self) -> None:
        """Raises `UserError` for what does not go together."""
        chosen = [name for name in ("nbest", "alpha", "dropout") if getattr(self, name) is not None]
        if len(chosen) > 1:
            raise UserError(f"{chosen[0]} and {chosen[1]} exclude each other: choose one")
        if self.nbest is not None and self.nbest < 1:
            raise UserError(f"nbest is {self.nbest}: ask for 1 segmentation or more")
        if self.alpha is not None:
            checked_alpha(self.alpha)
        if self.dropout is not None and not 0.0 <= self.dropout <= 1.0:
            raise UserError(f"dropout is {self.dropout}: give a probability from 0 (no dropout) to 1 (characters)")
        if self.threads < 1:
            raise UserError(f"threads is {self.threads}: give 1 or more")
        if self.copies < 1:
            raise UserError(f"copies is {self.copies}: ask for 1 or more")
        if self.copies > 1 and self.alpha is None and self.dropout is None:
            raise UserError("copies of a line are draws: ask for samples (--sample --alpha A) or --dropout too")

    @property
    def several(self) -> bool:
        """Whether a line gets a list of segmentations."""
        return self.nbest is not None or self.copies > 1


@dataclass(frozen=True)
class Segmentation:
    """Of one line: `ids` with one id a character where unknown; `log_probability` where N-best was asked."""

    ids: list[int]
    log_probability: float | None = None


Segment = Callable[[Sequence[str], NDArray[np.int64]], list[list[Segmentation]]]


class Encoder:
    """A unigram or BPE `.model` and what is asked of it. Lines are numbered over all that it encodes."""

    def __init__(self, model: Path, request: Request) -> None:
        """Raises `UserError` where the model is of another kind than the request needs."""
        self._request = request
        self._done = 0
        kind = kind_of(read_model(model))
        if kind not in ("unigram", "bpe"):
            raise UserError(f"{model} is a {kind} model: give a unigram or a BPE model")
        if kind == "bpe" and (request.nbest is not None or request.alpha is not None):
            raise UserError(f"{model} is a bpe model: N-best and samples need a unigram model; for BPE use --dropout P")
        if kind == "unigram" and request.dropout is not None:
            raise UserError(f"{model} is a unigram model: --dropout is for BPE; use --sample --alpha A")
        self._tokenizer: lattice.Vocabulary | lattice.Merges
        if kind == "bpe":
            self._tokenizer = merges = lattice.Merges.load(model)
            self._segment = _by_merges(merges, request)
        else:
            self._tokenizer = vocabulary = lattice.Vocabulary.load(model)
            self._segment = _on_the_lattice(vocabulary, request)
        self._unknown = self._tokenizer.unk_id

    def encode(self, texts: Sequence[str]) -> list[str]:
        """One line of output for each text; the next call goes on numbering where this one ends."""
        numbers = np.arange(self._done, self._done + len(texts))
        self._done += len(texts)
        found = self._segment(texts, numbers)
        write = {"pieces": self._pieces_line, "ids": self._ids_line, "json": self._json_line}[self._request.output]
        unknown = any(self._unknown in one.ids for line in found for one in line)
        normalized = (
            self._tokenizer.normalize(texts) if unknown and self._request.output != "ids" else [""] * len(texts)
        )
        return [write(line, text) for line, text in zip(found, normalized, strict=True)]

    def _merged_ids(self, one: Segmentation) -> list[int]:
        """The ids with each run of unknown characters as one, as SentencePiece has them."""
        if self._unknown not in one.ids:
            return one.ids
        before = [None, *one.ids[:-1]]
        return [number for number, last in zip(one.ids, before, strict=True) if not number == last == self._unknown]

    def pieces_of(self, one: Segmentation, text: str) -> list[str]:
        """The pieces; of a run of unknown characters, those characters."""
        if self._unknown not in one.ids:
            return [self._tokenizer.pieces[number] for number in one.ids]
        spelled: list[str] = []
        position = 0
        for unknown, run in groupby(one.ids, key=lambda number: number == self._unknown):
            ids = list(run)
            if unknown:
                found = [text[position : position + len(ids)]]
            else:
                found = [self._tokenizer.pieces[number] for number in ids]
            spelled += found
            position += sum(map(len, found))
        return spelled

    def _pieces_line(self, line: list[Segmentation], text: str) -> str:
        return BETWEEN.join(" ".join(self.pieces_of(one, text)) for one in line)

    def _ids_line(self, line: list[Segmentation], text: str) -> str:
        return BETWEEN.join(" ".join(map(str, self._merged_ids(one))) for one in line)

    def _json_line(self, line: list[Segmentation], text: str) -> str:
        described = []
        for one in line:
            entry: dict[str, object] = {"ids": self._merged_ids(one), "pieces": self.pieces_of(one, text)}
            if one.log_probability is not None:
                entry["log_probability"] = one.log_probability
            described.append(entry)
        return json.dumps(described if self._request.several else described[0], ensure_ascii=False)


def _on_the_lattice(vocabulary: lattice.Vocabulary, request: Request) -> Segment:
    scores, alpha, threads = vocabulary.scores, request.alpha, request.threads

    def segment(texts: Sequence[str], numbers: NDArray[np.int64]) -> list[list[Segmentation]]:
        lattices = vocabulary.lattices(texts, threads)
        if request.nbest is not None:
            found = lattice.nbest(lattices, scores, request.nbest, threads, merge_unknown=False)
            ids, ends = found.flat.tolist(), found.offsets.tolist()
            kept, values = found.mask.sum(axis=1).tolist(), found.log_probabilities.tolist()
            n = request.nbest
            return [
                [
                    Segmentation(ids[ends[row * n + rank] : ends[row * n + rank + 1]], values[row][rank])
                    for rank in range(kept[row])
                ]
                for row in range(len(texts))
            ]
        if alpha is None:
            return _in_rows([lattice.best_path(lattices, scores, threads, merge_unknown=False)])
        return _in_rows(
            lattice.sample(
                lattices, scores, alpha, request.seed, copy, numbers, PURPOSE, threads=threads, merge_unknown=False
            )
            for copy in range(request.copies)
        )

    return segment


def _by_merges(merges: lattice.Merges, request: Request) -> Segment:
    probability = request.dropout

    def segment(texts: Sequence[str], numbers: NDArray[np.int64]) -> list[list[Segmentation]]:
        if probability is None:
            return _in_rows([merges.encode(texts, merge_unknown=False)])
        return _in_rows(
            merges.dropout(texts, probability, request.seed, copy, numbers, PURPOSE, merge_unknown=False)
            for copy in range(request.copies)
        )

    return segment


def _in_rows(draws: Iterable[lattice.Paths]) -> list[list[Segmentation]]:
    return [list(map(Segmentation, row)) for row in zip(*(paths.to_lists() for paths in draws), strict=True)]
