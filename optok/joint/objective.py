"""The tokenizer's terms of the joint objective, and their gradient in log p(w) (METHOD §3).

    a_n   = p(s'_n) / Σ_m p(s'_m)                                     over the N-best of a sentence
    L     = Σ_n a_n q_n                  dL/d log p(w) = Σ_n a_n (q_n − L) count_w(s'_n)
    L_lm  = Σ_n a_n (−log p(s'_n)) / |s'_n|, a_n constant; |s'_n| in edges

with q_n the NLL of the sentence pair when this side is cut as s'_n. Axes: B sentences, N candidates, T pieces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Candidates:
    """The N-best segmentations of B sentences, as `optok.lattice.nbest` gives them."""

    ids: NDArray[np.int32]  # (B, N, T), padded with −1
    edges: NDArray[np.int64]  # (B, N): |s'_n|
    log_probabilities: Floats  # (B, N)
    mask: NDArray[np.bool_]  # (B, N): the candidate exists

    def weights(self) -> Floats:
        """a_n, shape (B, N); 0 where there is no candidate."""
        shifted = np.where(self.mask, self.log_probabilities, -np.inf)
        weights = np.exp(shifted - shifted.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Terms:
    """Sums over the sentences, each weighted, and the gradient of loss + μ·language model in log p(w)."""

    loss: float
    language_model: float
    gradient: Floats  # (all pieces,), log p(w) as free variables


def tokenizer_terms(candidates: Candidates, losses: Floats, sentence_weights: Floats, mu: float, pieces: int) -> Terms:
    """The terms of one side. `losses`: q_n, shape (B, N), read where the mask is set; `sentence_weights`: (B,).

    Raises `FloatingPointError` where a candidate's loss is not finite.
    """
    mask = candidates.mask
    if not np.isfinite(losses[mask]).all():
        raise FloatingPointError("the loss of a candidate segmentation is not finite")
    weights = candidates.weights()
    q = np.where(mask, losses, 0.0)
    mean = (weights * q).sum(axis=1)
    lengths = np.maximum(candidates.edges, 1)  # a text that normalises to nothing has one path, of no edge
    log_probabilities = np.where(mask, candidates.log_probabilities, 0.0)
    language_model = (weights * -log_probabilities / lengths).sum(axis=1)
    per_count = weights * (q - mean[:, None]) - mu * weights / lengths
    per_count = np.where(mask, per_count, 0.0) * sentence_weights[:, None]
    present = candidates.ids >= 0
    spread = np.broadcast_to(per_count[:, :, None], candidates.ids.shape)
    gradient = np.bincount(candidates.ids[present], weights=spread[present], minlength=pieces)
    return Terms(
        loss=float((mean * sentence_weights).sum()),
        language_model=float((language_model * sentence_weights).sum()),
        gradient=gradient.astype(np.float64),
    )
