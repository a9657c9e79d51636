"""The training loop that every task and every system shares.

A task supplies batches, losses and validation; a learner (joint training) may learn beside it. The loop owns
the optimiser, the schedule, selection, the run log and exact resumption: killed at any moment and started
again, it ends with the same bytes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from optok.config import Training
from optok.errors import UserError
from optok.training import checkpoint
from optok.training.batching import Batches, Items
from optok.training.randomness import derive
from optok.training.run_log import RunLog
from optok.training.schedule import learning_rate

Progress = Callable[[int, str], None]


@dataclass(frozen=True)
class Loss:
    """Sums over the target tokens of a batch."""

    total: Tensor  # what is minimised, with its gradient
    nll: float  # without smoothing
    tokens: int  # T, `</s>` counted


class Task(Protocol):
    """What a task is to the loop."""

    selection: str  # the metric of `validate` that chooses the checkpoint; higher is better

    @property
    def model(self) -> nn.Module: ...

    def cut(self, items: Items, epoch: int) -> Any:
        """The batch of these items, as the tokenizers cut them in this epoch."""
        ...

    def loss(self, batch: Any) -> Loss: ...

    def validate(self) -> dict[str, float]: ...


class Learner(Protocol):
    """What learns beside the model, in its own optimiser and random stream."""

    def learn(self, update: int, items: Items, batch: Any, tokens: int) -> dict[str, float]:
        """One update; called between the model's backward pass and its step."""
        ...

    def state(self) -> dict[str, Tensor]:
        """Everything that a resume needs."""
        ...

    def load(self, state: dict[str, Tensor]) -> None: ...

    def learned(self) -> dict[str, Tensor]:
        """What the chosen checkpoint keeps of it."""
        ...


@dataclass
class Chosen:
    """The checkpoint that validation selected, and what the training cost."""

    score: float = -math.inf
    update: int = 0
    weights: dict[str, Tensor] = field(default_factory=dict)
    learned: dict[str, Tensor] = field(default_factory=dict)
    seconds: float = 0.0


class Averages:
    """Sums since the last line of the run log."""

    def __init__(self) -> None:
        self.loss = self.nll = self.seconds = 0.0
        self.tokens = self.sentences = 0

    def add(self, loss: Loss, sentences: int, seconds: float) -> None:
        self.loss += float(loss.total.detach())
        self.nll += loss.nll
        self.tokens += loss.tokens
        self.sentences += sentences
        self.seconds += seconds

    def metrics(self) -> dict[str, float]:
        return {
            "train/loss": self.loss / self.tokens,
            "train/nll": self.nll / self.tokens,
            "train/tokens_per_second": self.tokens / max(self.seconds, 1e-9),
            "train/tokens_per_sentence": self.tokens / self.sentences,
        }


def train(
    task: Task,
    batches: Batches,
    settings: Training,
    seed: int,
    checkpoints: Path,
    log_path: Path,
    learner: Learner | None = None,
    progress: Progress = lambda update, message: None,
) -> Chosen:
    """Trains `task.model` for `settings.updates` updates; goes on from the newest checkpoint, if any.

    `progress(update, message)` is called after every update. Raises `UserError` when the loss is no longer finite.
    """
    optimizer = torch.optim.Adam(task.model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True)
    chosen = Chosen()
    start = _resume(task, optimizer, learner, chosen, checkpoints)
    log = RunLog(log_path, resumed_at=start)
    averages = Averages()
    for update in range(start + 1, settings.updates + 1):
        began = time.monotonic()
        items, epoch = batches.at(update)
        rate = learning_rate(update, settings)
        loss, metrics = _update(task, optimizer, learner, items, epoch, update, rate, settings, seed)
        seconds = time.monotonic() - began
        chosen.seconds += seconds
        averages.add(loss, len(items), seconds)
        validates = update % settings.validate_every == 0 or update == settings.updates
        if validates or update % settings.log_every == 0:
            log.append(update, {**averages.metrics(), "train/learning_rate": rate, "train/epoch": epoch, **metrics})
            averages = Averages()
        message = f"loss {float(loss.total.detach()) / loss.tokens:.3f}"
        if validates:
            began = time.monotonic()
            task.model.eval()
            measured = task.validate()
            log.append(update, measured)
            message += f", {task.selection} {measured[task.selection]:.2f}"
            if measured[task.selection] > chosen.score:
                chosen.score, chosen.update = measured[task.selection], update
                chosen.weights = {name: tensor.detach().clone() for name, tensor in task.model.state_dict().items()}
                chosen.learned = {} if learner is None else learner.learned()
            chosen.seconds += time.monotonic() - began
            checkpoint.save(checkpoints, _checkpoint(update, task, optimizer, learner, chosen))
        progress(update, message)
    return chosen


def _update(
    task: Task,
    optimizer: torch.optim.Adam,
    learner: Learner | None,
    items: Items,
    epoch: int,
    update: int,
    rate: float,
    settings: Training,
    seed: int,
) -> tuple[Loss, dict[str, float]]:
    # Dropout is a function of (seed, update): a resume draws the same, and the learner cannot disturb it.
    torch.manual_seed(derive(seed, "dropout", update))
    batch = task.cut(items, epoch)
    task.model.train()
    optimizer.zero_grad(set_to_none=True)
    loss = task.loss(batch)
    (loss.total / loss.tokens).backward()
    if not math.isfinite(loss.nll):
        raise UserError(
            f"the loss is {loss.nll} at update {update}: training has diverged; lower training.learning_rate "
            f"({settings.learning_rate}) or raise training.warmup ({settings.warmup}), then start again"
        )
    metrics = {} if learner is None else learner.learn(update, items, batch, loss.tokens)
    norm = nn.utils.clip_grad_norm_(task.model.parameters(), settings.clip_norm)
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    return loss, {**metrics, "train/gradient_norm": float(norm)}


def _checkpoint(
    update: int, task: Task, optimizer: torch.optim.Adam, learner: Learner | None, chosen: Chosen
) -> checkpoint.Checkpoint:
    parts = {
        "model": task.model.state_dict(),
        "adam": checkpoint.optimizer_tensors(optimizer),
        "chosen": chosen.weights,
        "learned": chosen.learned,
        "learner": {} if learner is None else learner.state(),
    }
    tensors = {f"{part}/{name}": tensor for part, named in parts.items() for name, tensor in named.items()}
    values = {"score": chosen.score, "chosen": chosen.update, "seconds": chosen.seconds}
    return checkpoint.Checkpoint(update, tensors, values)


def _resume(task: Task, optimizer: torch.optim.Adam, learner: Learner | None, chosen: Chosen, checkpoints: Path) -> int:
    found = checkpoint.newest(checkpoints)
    if found is None:
        return 0
    task.model.load_state_dict(found.part("model"))
    checkpoint.load_optimizer(optimizer, found.part("adam"))
    chosen.weights, chosen.learned = found.part("chosen"), found.part("learned")
    chosen.score, chosen.update = found.values["score"], found.values["chosen"]
    chosen.seconds = found.values["seconds"]
    if learner is not None:
        learner.load(found.part("learner"))
    return found.update
