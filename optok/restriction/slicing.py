"""A translator with fewer pieces: the matching embedding rows, new dense ids, smaller SentencePiece models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sentencepiece.sentencepiece_model_pb2 import ModelProto


def sliced_model(model: ModelProto, stays: NDArray[np.int64]) -> ModelProto:
    """The pieces `stays` of a SentencePiece model, in order; everything else as it was."""
    if len(stays) == len(model.pieces):
        return model
    smaller = ModelProto()
    smaller.CopyFrom(model)
    del smaller.pieces[:]
    smaller.pieces.extend(model.pieces[int(number)] for number in stays)
    smaller.trainer_spec.vocab_size = len(stays)
    new_id = {int(old): new for new, old in enumerate(stays)}
    for name in ("unk_id", "bos_id", "eos_id", "pad_id"):
        old = getattr(model.trainer_spec, name)
        if old >= 0:
            setattr(smaller.trainer_spec, name, new_id[old])
    return smaller


def sliced_weights(
    weights: dict[str, NDArray[np.float32]], stays: dict[str, NDArray[np.int64]]
) -> dict[str, NDArray[np.float32]]:
    """A translator's weights with the embedding rows `stays` of each side (`source`, `target`)."""
    smaller = dict(weights)
    for side, rows in stays.items():
        smaller[f"{side}_embedding.weight"] = np.ascontiguousarray(weights[f"{side}_embedding.weight"][rows])
    return smaller
