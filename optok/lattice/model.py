"""Reading SentencePiece `.model` files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray
from sentencepiece import sentencepiece_model_pb2

from optok.errors import UserError

ModelProto: TypeAlias = Any  # a parsed model; protobuf makes the class at run time
proto: Any = sentencepiece_model_pb2
Piece = proto.ModelProto.SentencePiece
Kinds = proto.TrainerSpec
NAMES = {Kinds.UNIGRAM: "unigram", Kinds.BPE: "bpe", Kinds.WORD: "word", Kinds.CHAR: "char"}


def read_model(path: Path) -> ModelProto:
    """The parsed file. Raises `UserError` where it is missing, truncated, or something else."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}: give a SentencePiece .model file") from None
    model = proto.ModelProto()
    advice = "it is not a SentencePiece .model file, or it was cut off: copy or train it again"
    try:
        model.ParseFromString(content)
    except DecodeError:
        raise UserError(f"{path}: {advice}") from None
    if not model.pieces or not model.HasField("trainer_spec") or not model.HasField("normalizer_spec"):
        raise UserError(f"{path}: {advice}")
    return model


def kind_of(model: ModelProto) -> str:
    """unigram, bpe, word or char."""
    return NAMES[model.trainer_spec.model_type]


def read_unigram(path: Path) -> ModelProto:
    """A unigram model; `UserError` for every other kind."""
    model = read_model(path)
    kind = kind_of(model)
    if kind != "unigram":
        raise UserError(f"{path} is a {kind} model; this needs a unigram model, whose pieces have probabilities")
    return model


def read_bpe(path: Path) -> ModelProto:
    """A BPE model; `UserError` for every other kind."""
    model = read_model(path)
    kind = kind_of(model)
    if kind != "bpe":
        raise UserError(f"{path} is a {kind} model; this needs a BPE model, whose pieces have ranks")
    return model


def scores_of(model: ModelProto) -> NDArray[np.float32]:
    """The stored score of every piece, by id."""
    return np.array([piece.score for piece in model.pieces], dtype=np.float32)
