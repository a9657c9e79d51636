"""Translation as the training loop sees it: batches of ids, the loss, and validation on raw text."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import sentencepiece
import torch

from optok.training.batching import Items
from optok.training.loop import Loss
from optok.translation.decoding import GREEDY, Decoder
from optok.translation.export import export
from optok.translation.loss import Ids, Special, pad_source, pad_target, sentence_losses, smoothed_loss
from optok.translation.transformer import Transformer

Bleu = Callable[[list[str], list[str]], float]


class Cutter(Protocol):
    """One side's tokenizer, with the training text of that side."""

    def cut(self, items: Items, epoch: int) -> list[Ids]:
        """The ids of training sentences, as this epoch cuts them."""
        ...

    def best(self, texts: list[str]) -> list[Ids]:
        """The ids of any texts on the best path under the present scores."""
        ...


@dataclass(frozen=True)
class Side:
    """What the task knows of one side."""

    cutter: Cutter
    model: Path  # the .model file: pieces by id
    special: Special


@dataclass(frozen=True)
class Batch:
    """The ids of the two sides of some sentence pairs, without `<s>` and `</s>`."""

    source: list[Ids]
    target: list[Ids]


@dataclass(frozen=True)
class Validation:
    """Raw held-out text, line k of one side translating line k of the other."""

    source: list[str]
    target: list[str]
    bleu: Bleu  # (hypotheses, references) → BLEU


class TranslationTask:
    """See `optok.training.loop.Task`."""

    selection = "valid/bleu"

    def __init__(
        self, model: Transformer, source: Side, target: Side, validation: Validation, smoothing: float, device: str
    ) -> None:
        self.model: Transformer = model.to(device)
        self._source, self._target = source, target
        self._validation = validation
        self._smoothing, self._device = smoothing, device
        self._source_pieces = sentencepiece.SentencePieceProcessor(model_file=str(source.model))

    def cut(self, items: Items, epoch: int) -> Batch:
        return Batch(self._source.cutter.cut(items, epoch), self._target.cutter.cut(items, epoch))

    def loss(self, batch: Batch) -> Loss:
        source = pad_source(batch.source, self._source.special).to(self._device)
        given, wanted = (part.to(self._device) for part in pad_target(batch.target, self._target.special))
        total, nll = smoothed_loss(self.model, source, given, wanted, self._smoothing)
        return Loss(total, float(nll), sum(len(ids) + 1 for ids in batch.target))

    @torch.no_grad()
    def candidate_losses(self, source: list[Ids], target: list[Ids]) -> list[float]:
        """NLL of each pair, summed over its target tokens: no smoothing, no dropout, no gradient."""
        was_training = self.model.training
        self.model.eval()
        padded = pad_source(source, self._source.special).to(self._device)
        given, wanted = (part.to(self._device) for part in pad_target(target, self._target.special))
        losses = sentence_losses(self.model, *self.model.encode(padded), given, wanted)
        self.model.train(was_training)
        return losses.tolist()

    def validate(self) -> dict[str, float]:
        """BLEU of greedy search on raw text, and summed NLL per raw reference character (METHOD §8)."""
        held_out = self._validation
        source = self._source.cutter.best(held_out.source)
        target = self._target.cutter.best(held_out.target)
        nll = 0.0
        order = sorted(range(len(source)), key=lambda position: len(target[position]))
        for start in range(0, len(order), 64):
            part = order[start : start + 64]
            nll += sum(self.candidate_losses([source[one] for one in part], [target[one] for one in part]))
        pieces = [[self._source_pieces.id_to_piece(int(number)) for number in ids] for ids in source]
        with tempfile.TemporaryDirectory() as folder:
            weights = {name: tensor.float().cpu().numpy() for name, tensor in self.model.state_dict().items()}
            export(weights, self.model.sizes, self._source.model, self._target.model, Path(folder))
            hypotheses = Decoder(Path(folder), torch.get_num_threads(), self._device).translate_pieces(pieces, GREEDY)
        return {
            "valid/bleu": held_out.bleu(hypotheses, held_out.target),
            "valid/nll_per_character": nll / sum(map(len, held_out.target)),
            "valid/tokens_source": sum(map(len, source)) / len(source),
            "valid/tokens_target": sum(map(len, target)) / len(target),
        }
