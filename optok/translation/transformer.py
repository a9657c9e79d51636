"""The Transformer (Vaswani et al. 2017, 1706.03762) in the layout that CTranslate2 reads.

Axes: B sentences, S source tokens, T target tokens, D width, H heads, V pieces. A block of attention keeps
its projections fused (query, key and value of self-attention in one matrix; key and value of the attention
over the source in one), as the export does. Positions are sinusoidal and count from 1. Dropout is the paper's
(§5.4): on the embeddings and on what each block adds, none inside attention.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from optok.config import Architecture


def sinusoidal_positions(length: int, width: int) -> Tensor:
    """Position encodings, shape (length, D): sines, then cosines (Vaswani et al. 2017, §3.5).

    The wavelengths run from 2π to 10000·2π with both ends reached, and the first position is 1, as in
    Tensor2Tensor and CTranslate2.
    """
    step = math.log(10000.0) / (width // 2 - 1)
    rates = torch.exp(torch.arange(width // 2, dtype=torch.float32) * -step)
    angles = torch.arange(1, length + 1, dtype=torch.float32)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], dim=1)


class Attention(nn.Module):
    """Multi-head attention over the sequence itself, or over `memory` (then keys and values come from it)."""

    def __init__(self, width: int, heads: int, over_memory: bool) -> None:
        super().__init__()
        self.heads, self.over_memory = heads, over_memory
        if over_memory:
            self.query = nn.Linear(width, width)
            self.key_value = nn.Linear(width, 2 * width)
        else:
            self.query_key_value = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)

    def forward(self, states: Tensor, memory: Tensor | None, mask: Tensor | None, causal: bool) -> Tensor:
        """(B, T, D) → (B, T, D); `mask` is True where a key may be seen, shape (B, 1, 1, keys)."""
        if memory is None:
            query, key, value = self._split(self.query_key_value(states), 3)
        else:
            (query,) = self._split(self.query(states), 1)
            key, value = self._split(self.key_value(memory), 2)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=causal)
        return self.output(mixed.transpose(1, 2).flatten(2))

    def _split(self, projected: Tensor, parts: int) -> tuple[Tensor, ...]:
        batch, length, _ = projected.shape
        return projected.view(batch, length, parts, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)


class FeedForward(nn.Module):
    """Linear → ReLU → linear (Vaswani et al. 2017, §3.3)."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.inner = nn.Linear(width, inner)
        self.outer = nn.Linear(inner, width)

    def forward(self, states: Tensor) -> Tensor:
        return self.outer(F.relu(self.inner(states)))


class Layer(nn.Module):
    """One encoder layer, or (with `over_memory`) one decoder layer, normalised before or after each block."""

    def __init__(self, sizes: Architecture, over_memory: bool) -> None:
        super().__init__()
        width, heads = sizes.width, sizes.heads
        self.pre_norm, self.causal = sizes.pre_norm, over_memory
        self.attention = Attention(width, heads, over_memory=False)
        self.attention_norm = nn.LayerNorm(width)
        if over_memory:
            self.memory_attention = Attention(width, heads, over_memory=True)
            self.memory_norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width, sizes.feed_forward)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(self, states: Tensor, mask: Tensor | None, memory: Tensor | None, memory_mask: Tensor | None) -> Tensor:
        """(B, T, D) → (B, T, D). Padding at the end needs no mask under causal attention."""
        before = self._before(self.attention_norm, states)
        mixed = self.attention(before, None, None if self.causal else mask, self.causal)
        states = self._after(self.attention_norm, states, mixed)
        if memory is not None:
            before = self._before(self.memory_norm, states)
            states = self._after(self.memory_norm, states, self.memory_attention(before, memory, memory_mask, False))
        before = self._before(self.feed_forward_norm, states)
        return self._after(self.feed_forward_norm, states, self.feed_forward(before))

    def _before(self, norm: nn.LayerNorm, states: Tensor) -> Tensor:
        return norm(states) if self.pre_norm else states

    def _after(self, norm: nn.LayerNorm, states: Tensor, block: Tensor) -> Tensor:
        added = states + self.dropout(block)
        return added if self.pre_norm else norm(added)


class Transformer(nn.Module):
    """An encoder-decoder whose output layer shares its weights with the target embeddings."""

    positions: Tensor

    def __init__(
        self, sizes: Architecture, source_pieces: int, target_pieces: int, source_pad: int, target_pad: int
    ) -> None:
        super().__init__()
        self.sizes, self.source_pad, self.target_pad = sizes, source_pad, target_pad
        self.source_embedding = nn.Embedding(source_pieces, sizes.width)
        self.target_embedding = nn.Embedding(target_pieces, sizes.width)
        self.encoder = nn.ModuleList(Layer(sizes, False) for _ in range(sizes.encoder_layers))
        self.decoder = nn.ModuleList(Layer(sizes, True) for _ in range(sizes.decoder_layers))
        if sizes.pre_norm:
            self.encoder_norm = nn.LayerNorm(sizes.width)
            self.decoder_norm = nn.LayerNorm(sizes.width)
        self.dropout = nn.Dropout(sizes.dropout)
        self.register_buffer("positions", sinusoidal_positions(512, sizes.width), persistent=False)
        self._initialise()

    def _initialise(self) -> None:
        # Projections keep torch's own start, uniform within ±1/√fan-in: on small data it learns faster than Glorot's.
        for name, parameter in self.named_parameters():
            if "embedding" in name:
                nn.init.normal_(parameter, std=self.sizes.width**-0.5)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def _embed(self, embedding: nn.Embedding, ids: Tensor) -> Tensor:
        length = ids.shape[1]
        if length > self.positions.shape[0]:
            self.positions = sinusoidal_positions(length, self.sizes.width).to(self.positions)
        states = embedding(ids) * math.sqrt(self.sizes.width)
        return self.dropout(states + self.positions[:length])

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor | None]:
        """Source ids (B, S), padded → states (B, S, D) and the mask of real tokens (B, 1, 1, S), if any pads."""
        real = source != self.source_pad
        mask = None if bool(real.all()) else real[:, None, None, :]
        states = self._embed(self.source_embedding, source)
        for layer in self.encoder:
            states = layer(states, mask, None, None)
        return (self.encoder_norm(states) if self.sizes.pre_norm else states), mask

    def decode(self, target: Tensor, memory: Tensor, memory_mask: Tensor | None) -> Tensor:
        """Target ids that begin with `<s>` (B, T) → states (B, T, D), each of which predicts the next id."""
        states = self._embed(self.target_embedding, target)
        for layer in self.decoder:
            states = layer(states, None, memory, memory_mask)
        return self.decoder_norm(states) if self.sizes.pre_norm else states

    def logits(self, states: Tensor) -> Tensor:
        """(…, D) → (…, V)."""
        return F.linear(states, self.target_embedding.weight)
