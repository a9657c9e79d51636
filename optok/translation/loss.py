"""Losses over unpadded target tokens alone: positions that are padding are never projected to the pieces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from optok.translation.transformer import Transformer

Ids = NDArray[np.int32]


@dataclass(frozen=True)
class Special:
    """The ids that frame a sentence on one side."""

    begin: int
    end: int
    pad: int


def pad_source(sentences: list[Ids], special: Special) -> Tensor:
    """Ids of B sentences, each followed by `</s>` → (B, S), padded at the end."""
    return _padded([np.append(ids, special.end) for ids in sentences], special.pad)


def pad_target(sentences: list[Ids], special: Special) -> tuple[Tensor, Tensor]:
    """Decoder input `<s>` … and what it must predict, … `</s>`: each (B, T), padded at the end."""
    given = [np.insert(ids, 0, special.begin) for ids in sentences]
    wanted = [np.append(ids, special.end) for ids in sentences]
    return _padded(given, special.pad), _padded(wanted, special.pad)


def _padded(sentences: list[Ids], pad: int) -> Tensor:
    padded = np.full((len(sentences), max(map(len, sentences))), pad, dtype=np.int64)
    for row, ids in zip(padded, sentences, strict=True):
        row[: len(ids)] = ids
    return torch.from_numpy(padded)


def smoothed_loss(
    model: Transformer, source: Tensor, given: Tensor, wanted: Tensor, smoothing: float
) -> tuple[Tensor, Tensor]:
    """Σ over target tokens of the label-smoothed loss (a scalar with gradient), and Σ NLL without smoothing.

    Smoothing spreads its share evenly over all V pieces (Szegedy et al. 2016, §7).
    """
    memory, mask = model.encode(source)
    states = model.decode(given, memory, mask)
    real = wanted != model.target_pad
    logits = model.logits(states[real])
    log_probabilities = F.log_softmax(logits, dim=-1)
    nll = -log_probabilities.gather(1, wanted[real][:, None]).sum()
    if smoothing == 0:
        return nll, nll.detach()
    uniform = -log_probabilities.mean(dim=1).sum()
    return (1 - smoothing) * nll + smoothing * uniform, nll.detach()


def sentence_losses(model: Transformer, memory: Tensor, mask: Tensor | None, given: Tensor, wanted: Tensor) -> Tensor:
    """NLL of each sentence, summed over its target tokens, without smoothing: shape (B,), float64."""
    states = model.decode(given, memory, mask)
    real = wanted != model.target_pad
    losses = F.cross_entropy(model.logits(states[real]), wanted[real], reduction="none").double()
    rows = real.nonzero()[:, 0]
    return torch.zeros(len(wanted), dtype=torch.float64, device=wanted.device).index_add_(0, rows, losses)
