"""The neural unigram language model over a tokenizer's pieces (METHOD: after Hiraoka et al. 2021, §3.1).

    z_w = b_w + f(e_w)        log p(w) = z_w − LSE_v(z_v) + LSE_v(b_v)

over the NORMAL pieces, V of them; control, unknown, byte and user-defined pieces keep their stored score.
b_w is the SentencePiece score, fixed; e_w an embedding of its own; f: tanh → linear → tanh → linear, whose last
layer starts at zero. A SentencePiece model's probabilities do not sum to one; keeping their mass (the last
term) makes every score equal to SentencePiece's, bit for bit, before the first update.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from optok.training.randomness import derive


class NeuralUnigram(nn.Module):
    """Computed in float64, rounded once to float32: those numbers are what segments and what is exported."""

    base: Tensor

    def __init__(self, scores: NDArray[np.float32], normal: NDArray[np.bool_], width: int, seed: int) -> None:
        """`scores`, `normal`: the model's score of each piece, and whether it is NORMAL; shape (all pieces,).

        `seed` draws the embeddings, of `width` numbers each.
        """
        super().__init__()
        self._stored = np.array(scores, dtype=np.float32)
        self._normal = np.array(normal, dtype=bool)
        self.register_buffer("base", torch.from_numpy(self._stored[self._normal].astype(np.float64)), persistent=False)
        draw = torch.Generator().manual_seed(derive(seed, "neural unigram"))
        inner = width + width // 2
        self.embedding = nn.Parameter(torch.randn(len(self.base), width, generator=draw, dtype=torch.float64))
        self.inner = nn.Parameter(torch.randn(inner, width, generator=draw, dtype=torch.float64) / width**0.5)
        self.inner_bias = nn.Parameter(torch.zeros(inner, dtype=torch.float64))
        self.outer = nn.Parameter(torch.zeros(inner, dtype=torch.float64))

    def log_probabilities(self) -> Tensor:
        """log p of the NORMAL pieces, float64, shape (V,), with gradient."""
        hidden = torch.tanh(torch.tanh(self.embedding) @ self.inner.T + self.inner_bias)
        logits = self.base + hidden @ self.outer
        return logits - logits.logsumexp(0) + self.base.logsumexp(0)

    @torch.no_grad()
    def scores(self) -> NDArray[np.float32]:
        """The score of every piece by id, as the tokenizer uses and exports it."""
        scores = self._stored.copy()
        scores[self._normal] = self.log_probabilities().numpy().astype(np.float32)
        return scores

    @torch.no_grad()
    def divergence(self) -> float:
        """KL(initial distribution ‖ learned distribution) over the NORMAL pieces, in nats."""
        before = self.base - self.base.logsumexp(0)
        learned = self.log_probabilities()
        learned = learned - learned.logsumexp(0)
        return float((before.exp() * (before - learned)).sum())

    def backward(self, gradient: NDArray[np.float64]) -> None:
        """Accumulates the gradient of a loss given its gradient in log p(w), by id, shape (all pieces,)."""
        self.log_probabilities().backward(torch.from_numpy(gradient[self._normal]))
