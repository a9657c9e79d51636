"""Which pieces of a vocabulary stay (METHOD §5). Single characters, specials, user-defined and byte pieces always
do, so that no text gets a new unknown."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sentencepiece.sentencepiece_model_pb2 import ModelProto

from optok.errors import UserError

NORMAL = ModelProto.SentencePiece.NORMAL


def top(model: ModelProto, keep: float, where: str) -> NDArray[np.int64]:
    """The ids that stay, ascending: the k most probable NORMAL pieces, single characters counted in k.

    k is the share `keep` of the NORMAL pieces. Ties go to the smaller id. Raises `UserError` where k is smaller than
    the number of single characters.
    """
    normal = np.array([number for number, piece in enumerate(model.pieces) if piece.type == NORMAL])
    scores = np.array([model.pieces[number].score for number in normal], dtype=np.float32)
    single = np.array([len(model.pieces[number].piece) == 1 for number in normal], dtype=bool)
    count = round(keep * len(normal))
    if count < single.sum():
        least = np.ceil(1000 * single.sum() / len(normal)) / 1000
        raise UserError(
            f"{where}: keeping {keep:g} of {len(normal)} pieces leaves {count}, but {single.sum()} single characters "
            f"always stay: set restrict.keep to {least:g} or more"
        )
    order = np.lexsort((np.arange(len(normal)), -scores))
    longer = [position for position in order if not single[position]]
    chosen = {int(number) for number in normal[single]}
    chosen |= {int(normal[position]) for position in longer[: count - int(single.sum())]}
    stays = [number for number, piece in enumerate(model.pieces) if piece.type != NORMAL or number in chosen]
    return np.array(stays, dtype=np.int64)
