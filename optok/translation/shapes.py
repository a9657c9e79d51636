"""The shapes of a Transformer's weights by name, known without torch: what reads or exports a translator is light."""

from __future__ import annotations

from collections.abc import Iterator

from optok.config import Architecture

Shape = tuple[int, ...]


def weight_shapes(sizes: Architecture, source_pieces: int, target_pieces: int) -> dict[str, Shape]:
    """Name → shape of every entry of `Transformer.state_dict`, in its order. Matrices are (out, in)."""
    width = sizes.width
    shapes: dict[str, Shape] = {
        "source_embedding.weight": (source_pieces, width),
        "target_embedding.weight": (target_pieces, width),
    }
    for number in range(sizes.encoder_layers):
        shapes |= _layer(f"encoder.{number}", sizes, over_memory=False)
    for number in range(sizes.decoder_layers):
        shapes |= _layer(f"decoder.{number}", sizes, over_memory=True)
    if sizes.pre_norm:
        shapes |= dict([*_norm("encoder_norm", width), *_norm("decoder_norm", width)])
    return shapes


def _layer(name: str, sizes: Architecture, over_memory: bool) -> dict[str, Shape]:
    width, inner = sizes.width, sizes.feed_forward
    parts = [
        *_linear(f"{name}.attention.query_key_value", width, 3 * width),
        *_linear(f"{name}.attention.output", width, width),
        *_norm(f"{name}.attention_norm", width),
    ]
    if over_memory:
        parts += [
            *_linear(f"{name}.memory_attention.query", width, width),
            *_linear(f"{name}.memory_attention.key_value", width, 2 * width),
            *_linear(f"{name}.memory_attention.output", width, width),
            *_norm(f"{name}.memory_norm", width),
        ]
    parts += [
        *_linear(f"{name}.feed_forward.inner", width, inner),
        *_linear(f"{name}.feed_forward.outer", inner, width),
        *_norm(f"{name}.feed_forward_norm", width),
    ]
    return dict(parts)


def _linear(name: str, inputs: int, outputs: int) -> Iterator[tuple[str, Shape]]:
    yield f"{name}.weight", (outputs, inputs)
    yield f"{name}.bias", (outputs,)


def _norm(name: str, width: int) -> Iterator[tuple[str, Shape]]:
    yield f"{name}.weight", (width,)
    yield f"{name}.bias", (width,)
