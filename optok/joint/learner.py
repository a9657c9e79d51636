"""Joint training: the tokenizers' own update beside the translator's (METHOD §3).

Candidates are scored by the translator as it stands in this update: no gradient, no dropout, no smoothing, and
only where a sentence has two or more. The tokenizers' optimiser and random draws are their own, so that with a
learning rate of zero the translator's bytes are those of plain sampled training.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from optok import lattice
from optok.errors import UserError
from optok.joint.objective import Candidates, Terms, tokenizer_terms
from optok.joint.unigram import NeuralUnigram
from optok.tokenizers.cutting import Ids, Items, LatticeCutter
from optok.training import checkpoint
from optok.training.randomness import derive, generator

# (source ids, target ids) of pairs → the NLL of each
PairLosses = Callable[[list[Ids], list[Ids]], list[float]]


class Pairs(Protocol):
    """The ids of the two sides of a batch, as they were cut for the translator's loss."""

    @property
    def source(self) -> list[Ids]: ...

    @property
    def target(self) -> list[Ids]: ...


@dataclass(frozen=True)
class Rule:
    """How a tokenizer learns."""

    candidates: int
    mu: float
    learning_rate: float
    embedding: int
    clip_norm: float


class TokenizerLearner:
    """The neural unigram model of one side, its optimiser, and the cutter whose scores it sets."""

    def __init__(self, side: str, cutter: LatticeCutter, rule: Rule, seed: int) -> None:
        self.side, self._cutter, self._rule = side, cutter, rule
        vocabulary = cutter.vocabulary
        self.model = NeuralUnigram(vocabulary.scores, vocabulary.normal, rule.embedding, derive(seed, side))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=rule.learning_rate)

    def update(self, items: Items, others: list[Ids], losses: PairLosses, scale: float) -> Terms:
        """One update from the sentences `items`.

        `others`: the other side's ids of each; `losses`: NLL of (this side, other side) pairs; `scale`: the weight
        of a sentence, 1/T divided by the share of the batch that `items` are.
        """
        found = self._cutter.nbest(items, self._rule.candidates)
        candidates = Candidates(found.ids, found.edges, found.log_probabilities, found.mask)
        weights = np.full(len(items), scale)
        q = self._candidate_losses(found, others, losses)
        try:
            terms = tokenizer_terms(candidates, q, weights, self._rule.mu, len(self._cutter.scores))
        except FloatingPointError as error:
            raise UserError(
                f"{error} ({self.side} side): training has diverged; lower training.learning_rate"
            ) from None
        self.optimizer.zero_grad(set_to_none=True)
        self.model.backward(terms.gradient)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self._rule.clip_norm)
        self.optimizer.step()
        self._cutter.scores = self.model.scores()
        return terms

    @staticmethod
    def _candidate_losses(found: lattice.NBest, others: list[Ids], losses: PairLosses) -> NDArray[np.float64]:
        """q_n, shape (B, N); zero where nothing depends on it (a sentence with one segmentation)."""
        q = np.zeros(found.mask.shape, dtype=np.float64)
        several = found.mask & (found.mask.sum(axis=1) > 1)[:, None]
        rows, columns = np.nonzero(several)
        if len(rows):
            cut = [
                found.ids[row, column, : found.lengths[row, column]] for row, column in zip(rows, columns, strict=True)
            ]
            q[rows, columns] = losses(cut, [others[row] for row in rows])
        return q

    def state(self) -> dict[str, Tensor]:
        """Weights and optimiser, by name."""
        tensors = {f"{self.side}/model/{name}": tensor for name, tensor in self.model.state_dict().items()}
        adam = checkpoint.optimizer_tensors(self.optimizer)
        return tensors | {f"{self.side}/adam/{name}": tensor for name, tensor in adam.items()}

    def load(self, state: dict[str, Tensor]) -> None:
        """The inverse of `state`; the cutter gets the scores."""
        model, adam = f"{self.side}/model/", f"{self.side}/adam/"
        self.model.load_state_dict(
            {name.removeprefix(model): tensor for name, tensor in state.items() if name.startswith(model)}
        )
        checkpoint.load_optimizer(
            self.optimizer,
            {name.removeprefix(adam): tensor for name, tensor in state.items() if name.startswith(adam)},
        )
        self._cutter.scores = self.model.scores()


class JointLearner:
    """See `optok.training.loop.Learner`: the tokenizers of one side or both."""

    def __init__(
        self, sides: dict[str, TokenizerLearner], losses: PairLosses, start_after: int, fraction: float, seed: int
    ) -> None:
        """`losses` takes (source ids, target ids)."""
        self._sides, self._losses = sides, losses
        self._start_after, self._fraction, self._seed = start_after, fraction, seed

    def learn(self, update: int, items: Items, batch: Pairs, tokens: int) -> dict[str, float]:
        """One update of each tokenizer from a share of the batch; T = `tokens`."""
        if update <= self._start_after:
            return {}
        count = max(1, round(self._fraction * len(items)))
        chosen = np.sort(generator(self._seed, "fraction", update).choice(len(items), size=count, replace=False))
        scale = len(items) / count / tokens
        cut = {
            "source": [batch.source[position] for position in chosen],
            "target": [batch.target[position] for position in chosen],
        }
        metrics = {}
        for side, learner in self._sides.items():
            other = cut["target" if side == "source" else "source"]
            losses = self._losses if side == "source" else self._swapped
            terms = learner.update(items[chosen], other, losses, scale)
            metrics[f"joint/loss_{side}"] = terms.loss
            metrics[f"joint/lm_{side}"] = terms.language_model
            metrics[f"joint/kl_{side}"] = learner.model.divergence()
        return metrics

    def _swapped(self, this: list[Ids], other: list[Ids]) -> list[float]:
        return self._losses(other, this)

    def state(self) -> dict[str, Tensor]:
        return {name: tensor for learner in self._sides.values() for name, tensor in learner.state().items()}

    def load(self, state: dict[str, Tensor]) -> None:
        for learner in self._sides.values():
            learner.load(state)

    def learned(self) -> dict[str, Tensor]:
        """The scores of each side's pieces, by side."""
        return {side: torch.from_numpy(learner.model.scores()) for side, learner in self._sides.items()}
