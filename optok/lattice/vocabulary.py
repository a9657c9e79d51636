"""A vocabulary of pieces, compiled, and the lattices of texts over it (METHOD: edges depend on these two alone)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optok.errors import UserError
from optok.lattice.automaton import Automaton, longest_pieces
from optok.lattice.batches import in_parts, joined
from optok.lattice.compiling import Array, kernel
from optok.lattice.model import Piece, read_unigram, scores_of
from optok.lattice.normalizer import Normalizer
from optok.lattice.texts import content_of, plain_texts

LARGEST = float(np.finfo(np.float32).max)
UNKNOWN_PENALTY = np.float32(10.0)  # SentencePiece's: an unknown character scores the lowest piece less this


class Vocabulary:
    """Pieces by id, P of them.

    `pieces`: the pieces, of every type. `scores` (P,) float32: the model's own. `normal` (P,) bool: whether a piece
    is NORMAL, that is, has a learned score. `unk_id`: the id of an unknown character; P for a vocabulary made by
    hand, whose pieces do not name one.
    """

    def __init__(
        self, pieces: Sequence[str], scores: NDArray[Any] | Sequence[float], unk_score: float | None = None
    ) -> None:
        """A vocabulary made by hand: all pieces NORMAL, texts taken as they are.

        `unk_score`: the score of an unknown character; by default the lowest unbarred score less 10. Raises
        `UserError` for an empty piece, one that stands there twice, and scores that are NaN or of another length.
        """
        self.pieces = tuple(pieces)
        for number, piece in enumerate(self.pieces):
            if not isinstance(piece, str) or not piece:
                raise UserError(f"piece {number} is {piece!r}: a piece is a string of at least one character")
            if any("\ud800" <= character <= "\udfff" for character in piece):
                raise UserError(f"piece {number}, {piece!r}, holds a lone surrogate: it is no Unicode text")
        if len(set(self.pieces)) != len(self.pieces):
            twice = next(piece for number, piece in enumerate(self.pieces) if piece in self.pieces[:number])
            raise UserError(f"the piece {twice!r} stands twice in the vocabulary: name each piece once")
        if unk_score is not None and not abs(unk_score) <= LARGEST:
            raise UserError(f"unk_score is {unk_score}: give a finite number")
        size = len(self.pieces)
        self.scores = self.checked(scores)
        self.normal = np.ones(size, dtype=bool)
        self.unk_id = size
        self.unk_score = None if unk_score is None else float(unk_score)
        self._user_defined = np.zeros(0, dtype=np.int64)
        self._bonuses = np.zeros((2, 0), dtype=np.float32)
        self.byte_ids = np.zeros(0, dtype=np.int32)
        self._normalizer: Normalizer | None = None
        self._compile(range(size))

    @classmethod
    def load(cls, path: str | Path) -> Vocabulary:
        """A SentencePiece unigram `.model`. Raises `UserError` where the file is anything else."""
        model = read_unigram(Path(path))
        vocabulary = cls.__new__(cls)
        vocabulary.pieces = tuple(piece.piece for piece in model.pieces)
        vocabulary.scores = scores_of(model)
        types = np.array([piece.type for piece in model.pieces])
        vocabulary.normal = types == Piece.NORMAL
        vocabulary.unk_id = int(np.flatnonzero(types == Piece.UNKNOWN)[0])
        vocabulary.unk_score = None
        user_defined = np.flatnonzero(types == Piece.USER_DEFINED)
        symbols = [vocabulary.pieces[number] for number in user_defined]
        vocabulary._user_defined = user_defined
        vocabulary._bonuses = np.array(
            [[0.1 * (len(s.encode()) - 1) for s in symbols], [0.1 * (len(s) - 1) for s in symbols]], dtype=np.float32
        ).reshape(2, len(symbols))
        vocabulary.byte_ids = byte_ids_of(vocabulary.pieces, types)
        vocabulary._normalizer = Normalizer.of(model)
        vocabulary._compile(np.flatnonzero(vocabulary.normal | (types == Piece.USER_DEFINED)))
        return vocabulary

    def _compile(self, ids: Any) -> None:
        size = len(self.pieces)
        self.automaton = Automaton.build([(self.pieces[number], int(number)) for number in ids], size)
        self._characters = np.array([number for number in ids if len(self.pieces[number]) == 1], dtype=np.int64)
        self._edge_ids = np.append(np.arange(size, dtype=np.int32), np.int32(-1))

    def __len__(self) -> int:
        return len(self.pieces)

    def normalize(self, texts: Sequence[str]) -> list[str]:
        """The texts as they are segmented: what SentencePiece's `normalize` gives; as they are, if made by hand."""
        return plain_texts(*self._content(texts))

    def lattices(self, texts: Sequence[str], threads: int = 1) -> Lattices:
        """All segmentations of each text. Raises `UserError` where something is not a string of Unicode text."""
        content, offsets = content_of(texts, mark=self._normalizer is None)
        automaton = self.automaton

        def part(first: int, last: int) -> tuple[Array, Array, Array]:
            begins = offsets[first : last + 1]
            segmented = content[begins[0] : begins[-1]], begins - begins[0]
            if self._normalizer is not None:
                segmented = self._normalizer(*segmented)
            longest, codes, ends = longest_pieces(*segmented, automaton.states, automaton.pairs, len(self.byte_ids) > 0)
            return longest, codes, np.diff(ends)

        parts = in_parts(part, offsets, threads)
        longest, codes, characters = (joined([part[column] for part in parts]) for column in range(3))
        starts = np.zeros(len(texts) + 1, dtype=np.int64)
        np.cumsum(characters, out=starts[1:])
        return Lattices(self, longest, codes, starts)

    def _content(self, texts: Sequence[str]) -> tuple[Array, Array]:
        if self._normalizer is None:
            return content_of(texts, mark=True)
        return self._normalizer(*content_of(texts))

    def edge_scores(
        self, scores: NDArray[Any], best_path: bool = False
    ) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """What an edge of each piece scores (P + 1,), the last that of an unknown character; and its id, or −1.

        Equal to `scores`, but for user-defined symbols: SentencePiece gives them 0.1 · (length − 1), the length in
        bytes for its best path and in characters for everything else; −inf bars them too. An edge of a barred piece
        of one character is that of an unknown character.
        """
        checked = self.checked(scores)
        if len(self._user_defined):
            barred = checked[self._user_defined] == -np.inf
            bonus = self._bonuses[0 if best_path else 1]
            checked[self._user_defined] = np.where(barred, -np.inf, bonus)
        edges = np.append(checked, self._unknown_score(checked))
        ids = self._edge_ids
        unknown = self._characters[checked[self._characters] == -np.inf]
        if len(unknown):
            edges[unknown] = edges[-1]
            ids = ids.copy()
            ids[unknown] = -1
        return edges, ids

    def _unknown_score(self, scores: NDArray[np.float32]) -> np.float32:
        if self.unk_score is not None:
            return np.float32(self.unk_score)
        lowest = scores.min(where=self.normal & (scores > -np.inf), initial=np.inf)
        return np.float32(lowest if np.isfinite(lowest) else 0.0) - UNKNOWN_PENALTY

    def checked(self, scores: NDArray[Any] | Sequence[float]) -> NDArray[np.float32]:
        """A float32 copy of scores over the pieces. Raises `UserError` for another length, NaN, +inf and the like."""
        given = np.asarray(scores)
        with np.errstate(over="ignore"):
            checked = np.array(given, dtype=np.float32)
        if checked.shape != (len(self),):
            raise UserError(f"the scores have shape {checked.shape}: give one for each of the {len(self)} pieces")
        wrong = np.isnan(checked) | (np.isinf(checked) & (given != -np.inf))
        if wrong.any():
            number = int(np.flatnonzero(wrong)[0])
            raise UserError(
                f"the score of piece {number} ({self.pieces[number]!r}) is {given[number]}: "
                "give finite numbers (of float32), and −inf to bar a piece"
            )
        return checked


class Lattices:
    """All segmentations of B texts, C characters in all: for each character, the longest piece that ends with it.

    The pieces that end with a character are that piece and those of its suffixes that are in the vocabulary
    (the automaton's chains). An unknown edge stands wherever no unbarred piece of one character does.
    """

    def __init__(self, vocabulary: Vocabulary, longest: Array, codes: Array, offsets: Array) -> None:
        self.vocabulary = vocabulary
        self.longest = longest  # (C,): the number of pieces where none ends
        self.codes = codes  # (C,): code points; (0,) where unknown characters do not become bytes
        self.offsets = offsets  # (B + 1,)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def characters(self) -> NDArray[np.int64]:
        """The length of each text in characters, normalised; shape (B,)."""
        return np.diff(self.offsets)

    def take(self, indices: NDArray[np.integer] | Sequence[int]) -> Lattices:
        """The lattices of some of the texts, in the given order; an index may stand there twice."""
        chosen = np.array(indices, dtype=np.int64).reshape(-1)
        if len(chosen) and (chosen.min() < 0 or chosen.max() >= len(self)):
            raise IndexError(f"an index lies outside the {len(self)} texts")
        offsets = np.zeros(len(chosen) + 1, dtype=np.int64)
        np.cumsum(self.offsets[chosen + 1] - self.offsets[chosen], out=offsets[1:])
        longest = _take(self.longest, self.offsets, chosen, offsets)
        codes = _take(self.codes, self.offsets, chosen, offsets) if len(self.codes) else self.codes
        return Lattices(self.vocabulary, longest, codes, offsets)


@kernel
def _take(values: Array, offsets: Array, chosen: Array, taken: Array) -> Array:
    result = np.empty(taken[-1], values.dtype)
    for k in range(chosen.size):
        begin = offsets[chosen[k]]
        for position in range(taken[k + 1] - taken[k]):
            result[taken[k] + position] = values[begin + position]
    return result


def byte_ids_of(pieces: Sequence[str], types: Array) -> NDArray[np.int32]:
    """The id of the piece of each byte (256,), or (0,) for a model without byte fallback."""
    ids = {pieces[number]: number for number in np.flatnonzero(types == Piece.BYTE).tolist()}
    return np.array([ids[f"<0x{byte:02X}>"] for byte in range(256)] if ids else [], dtype=np.int32)
