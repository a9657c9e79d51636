"""BPE models: SentencePiece's segmentation by merges, and BPE-dropout.

Neighbouring symbols are merged, the pair of the highest score first, of equal ones the leftmost, until no pair is a
piece (R. Sennrich et al., Neural machine translation of rare words with subword units, 2016). With dropout, each
merge is passed over with probability p (I. Provilkov et al., BPE-dropout, 2020, algorithm 1, as SentencePiece does
it: a merge that was passed over comes up again only where one of its symbols has changed).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from optok.errors import UserError
from optok.lattice.compiling import Array
from optok.lattice.merging import segment
from optok.lattice.model import ModelProto, Piece, read_bpe, scores_of
from optok.lattice.normalizer import Normalizer
from optok.lattice.paths import Paths
from optok.lattice.piece_table import table_of
from optok.lattice.sampling import streams_of
from optok.lattice.texts import content_of, marked, plain_texts
from optok.lattice.vocabulary import byte_ids_of


class Merges:
    """A BPE model. `pieces`: the pieces by id, P of them; `unk_id`: the id of an unknown character."""

    def __init__(self, model: ModelProto) -> None:
        self.pieces = tuple(piece.piece for piece in model.pieces)
        types = np.array([piece.type for piece in model.pieces])
        self.unk_id = int(np.flatnonzero(types == Piece.UNKNOWN)[0])
        self.byte_ids = byte_ids_of(self.pieces, types)
        self._unused = types == Piece.UNUSED
        self._scores = scores_of(model)
        self._normalizer = Normalizer.of(model)
        usable = np.isin(types, [Piece.NORMAL, Piece.USER_DEFINED, Piece.UNUSED])
        pieces = [piece if use else "" for piece, use in zip(self.pieces, usable, strict=True)]
        self._content, self._offsets = _joined(pieces)
        self._table = table_of(self._content, self._offsets)
        symbols = [piece.piece for piece in model.pieces if piece.type == Piece.USER_DEFINED]
        self._symbols, self._symbol_offsets = _joined(sorted(symbols, key=lambda symbol: -len(symbol.encode())))

    @classmethod
    def load(cls, path: str | Path) -> Merges:
        """A SentencePiece BPE `.model`. Raises `UserError` where the file is anything else."""
        return cls(read_bpe(Path(path)))

    def __len__(self) -> int:
        return len(self.pieces)

    def encode(self, texts: Sequence[str], merge_unknown: bool = True) -> Paths:
        """The segmentation that SentencePiece's `Encode` gives, of each text.

        `merge_unknown`: whether a run of unknown characters is one <unk>, as in SentencePiece, or one a character.
        """
        return self._merged(texts, 0.0, np.zeros(len(texts), dtype=np.uint64), merge_unknown)

    def dropout(
        self,
        texts: Sequence[str],
        probability: float,
        seed: int,
        epoch: int,
        ids: NDArray[np.integer] | Sequence[int],
        purpose: str = "train",
        merge_unknown: bool = True,
    ) -> Paths:
        """A segmentation drawn for each text, a function of (seed, purpose, epoch, the text's own id).

        `probability`: of passing over a merge; 0 gives `encode`, 1 the single characters. Raises `UserError` for
        one outside 0 to 1, and for ids of another length.
        """
        if not 0.0 <= float(probability) <= 1.0:
            raise UserError(f"dropout is {probability}: give a probability from 0 (no dropout) to 1 (characters)")
        streams = streams_of(seed, purpose, epoch, ids)
        if len(streams) != len(texts):
            raise UserError(f"{len(streams)} ids were given for {len(texts)} texts: give each text its own")
        return self._merged(texts, float(probability), streams, merge_unknown)

    def normalize(self, texts: Sequence[str]) -> list[str]:
        """The texts as they are segmented: what SentencePiece's `normalize` gives."""
        return plain_texts(*self._normalizer(*content_of(texts)))

    def _merged(self, texts: Sequence[str], probability: float, streams: Array, merge_unknown: bool) -> Paths:
        content, offsets = self._normalizer(*content_of(texts))
        ids, lengths = segment(
            content,
            offsets,
            self._symbols,
            self._symbol_offsets,
            self._content,
            self._offsets,
            self._table,
            self._scores,
            self._unused,
            probability,
            streams,
            self.unk_id,
            self.byte_ids,
            merge_unknown,
        )
        return Paths.of(ids, lengths)


def _joined(pieces: Sequence[str]) -> tuple[Array, Array]:
    """The pieces' bytes as the texts have them, and where each begins."""
    encoded = [marked(piece.encode()) for piece in pieces]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(piece) for piece in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets
