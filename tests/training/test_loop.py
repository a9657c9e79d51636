"""The loop on a small task: it selects by validation, resumes to the same bytes and stops on divergence."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from optok.config import Training
from optok.errors import UserError
from optok.training import run_log
from optok.training.batching import Batches
from optok.training.loop import Chosen, Loss, train

SETTINGS = Training(updates=30, batch_characters=100, learning_rate=0.05, warmup=5, validate_every=10, log_every=4)


class Killed(Exception):
    """Stands for a kill between two updates."""


class Regression:
    """y = 2x learned by a linear layer with dropout on its input."""

    selection = "valid/score"

    def __init__(self, scores: list[float] | None = None) -> None:
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(torch.nn.Dropout(0.3), torch.nn.Linear(1, 1))
        self.inputs = torch.linspace(-1, 1, 60)[:, None]
        self._scores = scores

    def cut(self, items: np.ndarray, epoch: int) -> torch.Tensor:
        return self.inputs[torch.from_numpy(items)]

    def loss(self, batch: torch.Tensor) -> Loss:
        total = F.mse_loss(self.model(batch), 2 * batch, reduction="sum")
        return Loss(total, float(total.detach()), len(batch))

    def validate(self) -> dict[str, float]:
        if self._scores is not None:
            return {"valid/score": self._scores.pop(0)}
        with torch.no_grad():
            return {"valid/score": -float(F.mse_loss(self.model(self.inputs), 2 * self.inputs))}


def run(folder: Path, task: Regression, kill_at: int | None = None, settings: Training = SETTINGS) -> Chosen:
    lengths = np.full(60, 5)

    def progress(update: int, message: str) -> None:
        if update == kill_at:
            raise Killed

    batches = Batches(lengths, lengths, settings.batch_characters, seed=1)
    return train(task, batches, settings, 1, folder / "checkpoints", folder / "log.jsonl", progress=progress)


def test_a_killed_training_ends_with_the_same_bytes(tmp_path: Path):
    whole = run(tmp_path / "whole", Regression())
    for kill_at in (7, 10, 14, 29):
        with pytest.raises(Killed):
            run(tmp_path / "killed", Regression(), kill_at)
    resumed_task = Regression()
    resumed = run(tmp_path / "killed", resumed_task)
    assert resumed.update == whole.update
    assert all(torch.equal(resumed.weights[name], tensor) for name, tensor in whole.weights.items())
    updates = [line["update"] for line in run_log.read(tmp_path / "killed" / "log.jsonl").lines]
    assert updates == [line["update"] for line in run_log.read(tmp_path / "whole" / "log.jsonl").lines]


@pytest.mark.parametrize(
    ("scores", "chosen"), [([1.0, 3.0, 2.0], 20), ([3.0, 2.0, 1.0], 10), ([1.0, 2.0, 3.0], 30), ([0.0, 0.0, 0.0], 10)]
)
def test_the_checkpoint_with_the_highest_score_is_chosen(tmp_path: Path, scores: list[float], chosen: int):
    assert run(tmp_path, Regression(scores)).update == chosen


def test_an_interval_longer_than_training_validates_at_the_end(tmp_path: Path):
    settings = SETTINGS.model_copy(update={"validate_every": 1000})
    assert run(tmp_path, Regression(), settings=settings).update == 30


def test_a_diverged_loss_stops_with_advice(tmp_path: Path):
    task = Regression()
    task.inputs = task.inputs * float("inf")
    with pytest.raises(UserError, match=r"diverged; lower training\.learning_rate"):
        run(tmp_path, task)
