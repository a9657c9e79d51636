"""SentencePiece `.model` files: read, written with other scores, and compared with the lattice's best path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
from numpy.typing import NDArray

from optok.errors import UserError
from optok.files import write_bytes
from optok.lattice import Vocabulary
from optok.lattice.model import ModelProto, Piece, kind_of, proto, read_model, read_unigram, scores_of
from optok.tokenizers.equality import differing_best_paths

__all__ = [
    "ModelProto",
    "Piece",
    "check_model",
    "kind_of",
    "read_model",
    "read_unigram",
    "scores_of",
    "with_scores",
    "write_scores",
]

NAMED = 20  # lines that a message names


def with_scores(model: ModelProto, scores: NDArray[Any]) -> ModelProto:
    """A copy of a unigram model with other scores, (P,): the same ids, types and normaliser.

    A barred piece (−inf) becomes UNUSED, with the score of the lowest piece that is not; a score of −inf leaves
    control, unknown and byte pieces as they are. Raises `UserError` where every NORMAL piece is barred.
    """
    changed = proto.ModelProto()
    changed.CopyFrom(model)
    values = np.asarray(scores, dtype=np.float32)
    usable = np.array([piece.type == Piece.NORMAL for piece in model.pieces]) & (values > -np.inf)
    if not usable.any():
        raise UserError("the scores bar every normal piece: a model needs at least one")
    lowest = values[usable].min()
    for piece, score in zip(changed.pieces, values, strict=True):
        if score > -np.inf:
            piece.score = float(score)
        elif piece.type in (Piece.NORMAL, Piece.USER_DEFINED):
            piece.type = Piece.UNUSED
            piece.score = float(lowest)
    return changed


def write_scores(source: Path, scores: NDArray[Any], target: Path) -> None:
    """Writes the unigram model `source` with other scores (see `with_scores`) as `target`, and reads it back.

    Raises `UserError` for scores of another length, NaN, or all barred.
    """
    checked = Vocabulary.load(source).checked(scores)
    changed = with_scores(read_unigram(source), checked)
    write_bytes(target, changed.SerializeToString())
    if read_unigram(target) != changed:
        raise UserError(f"{target} does not read back as it was written: write it again, on a sound disk")


def check_model(path: Path, texts: Sequence[str], scores: NDArray[Any] | None = None) -> None:
    """Raises `UserError`, saying which lines, unless stock SentencePiece segments every text as our best path does.

    `scores` (P,): those that the best path is found under; by default the model's own.
    """
    vocabulary = Vocabulary.load(path)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    differing = differing_best_paths(vocabulary, processor, texts, scores)
    if differing:
        named = ", ".join(str(line + 1) for line in differing[:NAMED])
        more = f" and {len(differing) - NAMED} more" if len(differing) > NAMED else ""
        raise UserError(
            f"{path}: SentencePiece segments {len(differing)} of {len(texts)} lines otherwise than the lattice "
            f"(lines {named}{more}): do not use this model; report the lines"
        )
