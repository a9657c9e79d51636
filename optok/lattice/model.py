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
    """The parsed file. Raises `UserError` where it is missing, truncated, damaged, or something else."""
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
    if flaw := _flaw(model):
        raise UserError(f"{path} is a damaged SentencePiece model, {flaw}: copy or train it again")
    return model


def _flaw(model: ModelProto) -> str | None:
    """What makes a model that can be parsed unusable: SentencePiece's own conditions, and rules that lead nowhere."""
    names = [piece.piece for piece in model.pieces]
    types = [piece.type for piece in model.pieces]
    if not all(isinstance(name, str) and name for name in names):  # protobuf gives bytes where they are not UTF-8
        return "a piece of it is empty or no text"
    if len(set(names)) != len(names):
        return "a piece stands in it twice"
    if types.count(Piece.UNKNOWN) != 1:
        return f"it has {types.count(Piece.UNKNOWN)} unknown pieces instead of one"
    of_bytes = {name for name, kind in zip(names, types, strict=True) if kind == Piece.BYTE}
    if of_bytes and of_bytes != {f"<0x{byte:02X}>" for byte in range(256)}:
        return "some of its pieces for bytes are missing"
    if not _sound_rules(model.normalizer_spec.precompiled_charsmap):
        return "its normalisation rules are broken"
    return None


def _sound_rules(blob: bytes) -> bool:
    """Whether every value of the double array (see `Normalizer`) is the place of a replacement, ended by NUL."""
    if not blob:
        return True
    size = int.from_bytes(blob[:4], "little")
    if size % 4 or not 4 <= size < len(blob) - 4 or blob[-1] != 0:
        return False
    units = np.frombuffer(blob, dtype="<u4", count=size // 4, offset=4)
    replacements = np.frombuffer(blob, dtype=np.uint8, offset=4 + size)
    values = units[units >= 1 << 31] & 0x7FFFFFFF
    try:
        replacements.tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return bool((values < len(replacements)).all() and (replacements[values] & 0xC0 != 0x80).all())


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
