"""The float32 CTranslate2 model of a translator: `export/`, usable with nothing of ours.

It holds `model.bin` and its files, with `source.model` and `target.model` directly beside them. Its config
has `add_source_eos: true`, so plain pieces are the whole input.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import ctranslate2
import numpy as np
import sentencepiece
from ctranslate2.specs import TransformerSpec
from ctranslate2.specs.attention_spec import MultiHeadAttentionSpec
from ctranslate2.specs.common_spec import LayerNormSpec, LinearSpec
from numpy.typing import NDArray

from optok.config import Architecture
from optok.errors import UserError

Weights = Mapping[str, NDArray[np.float32]]


def export(weights: Weights, sizes: Architecture, source_model: Path, target_model: Path, output: Path) -> None:
    """Writes the export of a Transformer's weights (names of `Transformer.state_dict`) into `output`.

    Every file is made in a temporary folder first and then moved, so that no half of a model is ever left
    under a final name. Raises `UserError` where a tokenizer and an embedding differ in size.
    """
    spec = TransformerSpec.from_config(
        (sizes.encoder_layers, sizes.decoder_layers), sizes.heads, pre_norm=sizes.pre_norm
    )
    source, target = pieces_of(source_model), pieces_of(target_model)
    for side, pieces in (("source", source), ("target", target)):
        rows = len(weights[f"{side}_embedding.weight"])
        if len(pieces) != rows:
            raise UserError(
                f"the {side} tokenizer has {len(pieces)} pieces, but the translator has {rows} embeddings: "
                f"{side}.model belongs to another translator"
            )
    _fill(spec, weights, sizes)
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    spec.config.add_source_eos = True
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = "<unk>", "<s>", "</s>"
    spec.config.decoder_start_token = "<s>"
    spec.validate()
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output, prefix=".partial-") as temporary:
        spec.save(temporary)
        shutil.copyfile(source_model, Path(temporary) / "source.model")
        shutil.copyfile(target_model, Path(temporary) / "target.model")
        _widen_access(Path(temporary))
        # model.bin last: where it stands, everything stands.
        for file in sorted(Path(temporary).iterdir(), key=lambda file: file.name == "model.bin"):
            with file.open("rb") as written:
                os.fsync(written.fileno())
            file.replace(output / file.name)


def open_export(folder: Path, threads: int, device: str = "cpu") -> ctranslate2.Translator:
    """CTranslate2's translator of an export, in float32; raises `UserError` where it cannot be read."""
    kind, _, index = device.partition(":")
    try:
        return ctranslate2.Translator(
            str(folder),
            device=kind,
            device_index=int(index or 0),
            compute_type="float32",
            inter_threads=1,
            intra_threads=threads,
        )
    except (RuntimeError, ValueError) as error:
        raise UserError(f"{folder} is no export that CTranslate2 can read: {error}") from None


def pieces_of(model: Path) -> list[str]:
    """The pieces of a SentencePiece model, by id."""
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.Load(str(model))
    except (OSError, RuntimeError) as error:
        raise UserError(f"{model} is no SentencePiece model: {error}") from None
    return [processor.IdToPiece(number) for number in range(len(processor))]


def _widen_access(folder: Path) -> None:
    """Files of a temporary folder become readable as ordinary new files are."""
    mask = os.umask(0)
    os.umask(mask)
    for file in folder.iterdir():
        file.chmod(0o666 & ~mask)


def _fill(spec: TransformerSpec, weights: Weights, sizes: Architecture) -> None:
    spec.encoder.embeddings[0].weight = weights["source_embedding.weight"]
    spec.decoder.embeddings.weight = weights["target_embedding.weight"]
    spec.decoder.projection.weight = weights["target_embedding.weight"]
    spec.encoder.scale_embeddings = spec.decoder.scale_embeddings = True
    if sizes.pre_norm:
        _norm(spec.encoder.layer_norm, weights, "encoder_norm")
        _norm(spec.decoder.layer_norm, weights, "decoder_norm")
    for stack, layers in (("encoder", spec.encoder.layer), ("decoder", spec.decoder.layer)):
        for number, layer in enumerate(layers):
            name = f"{stack}.{number}"
            self_parts = ("query_key_value", "output")
            _attention(layer.self_attention, weights, f"{name}.attention", self_parts)
            _norm(layer.self_attention.layer_norm, weights, f"{name}.attention_norm")
            if stack == "decoder":
                memory_parts = ("query", "key_value", "output")
                _attention(layer.attention, weights, f"{name}.memory_attention", memory_parts)
                _norm(layer.attention.layer_norm, weights, f"{name}.memory_norm")
            _linear(layer.ffn.linear_0, weights, f"{name}.feed_forward.inner")
            _linear(layer.ffn.linear_1, weights, f"{name}.feed_forward.outer")
            _norm(layer.ffn.layer_norm, weights, f"{name}.feed_forward_norm")


def _attention(spec: MultiHeadAttentionSpec, weights: Weights, name: str, parts: tuple[str, ...]) -> None:
    for linear, part in zip(spec.linear, parts, strict=True):
        _linear(linear, weights, f"{name}.{part}")


def _linear(spec: LinearSpec, weights: Weights, name: str) -> None:
    spec.weight, spec.bias = weights[f"{name}.weight"], weights[f"{name}.bias"]


def _norm(spec: LayerNormSpec, weights: Weights, name: str) -> None:
    spec.gamma, spec.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]
