"""Lines of pieces or ids back to text, by stock SentencePiece."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import sentencepiece

from optok.errors import UserError
from optok.lattice.model import Piece, read_model

Input = Literal["pieces", "ids"]


class Decoder:
    """A `.model` of any kind. Lines are numbered over all that it decodes."""

    def __init__(self, model: Path, reads: Input) -> None:
        parsed = read_model(model)
        self._model, self._reads = model, reads
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=parsed.SerializeToString())
        self._size = len(parsed.pieces)
        self._control = {
            piece.piece for piece in parsed.pieces if piece.type in (Piece.CONTROL, Piece.UNKNOWN)
        }  # as text they would vanish, or become ⁇
        self._done = 0

    def decode(self, lines: Sequence[str]) -> list[str]:
        """One text for each line of pieces or ids, separated by one space each.

        The name of a control piece among pieces is text. A line feed spelled by a byte becomes a space, so that one
        line stays one. Raises `UserError` with the number of a line that holds something else than ids.
        """
        read = self._pieces if self._reads == "pieces" else self._ids
        rows = [read(line, number) for number, line in enumerate(lines, start=self._done + 1)]
        self._done += len(lines)
        return [self._processor.decode(row).replace("\n", " ") if row else "" for row in rows]

    def _pieces(self, line: str, number: int) -> list[str] | list[int]:
        pieces = line.split(" ") if line else []
        if self._control.isdisjoint(pieces):
            return pieces
        return [part for piece in pieces for part in (piece if piece in self._control else [piece])]

    def _ids(self, line: str, number: int) -> list[str] | list[int]:
        words = line.split()
        if not all(word.isascii() and word.isdigit() for word in words):
            wrong = next(word for word in words if not (word.isascii() and word.isdigit()))
            raise UserError(f"line {number} holds {wrong[:40]!r}, which is no id: for pieces, say --input pieces")
        ids = [int(word) for word in words]
        if ids and max(ids) >= self._size:
            raise UserError(f"line {number} holds the id {max(ids)}: {self._model} has ids 0 to {self._size - 1}")
        return ids
