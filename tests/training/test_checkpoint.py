"""A checkpoint gives back what was saved; what a kill leaves behind is survived."""

import json
from pathlib import Path

import pytest
import torch

from optok.errors import UserError
from optok.training import checkpoint, run_log


def test_the_newest_whole_checkpoint_is_found(tmp_path: Path):
    assert checkpoint.newest(tmp_path) is None
    for update in (9, 10):
        checkpoint.save(tmp_path, checkpoint.Checkpoint(update, {"model/w": torch.ones(2) * update}, {"best": 0.5}))
    (tmp_path / "11.safetensors").write_bytes(b"half a fil")
    (tmp_path / ".12.safetensors.abcd.partial").write_bytes(b"")
    found = checkpoint.newest(tmp_path)
    assert found is not None
    assert (found.update, found.values) == (10, {"best": 0.5})
    assert found.part("model")["w"].tolist() == [10.0, 10.0]


def test_adam_goes_on_as_if_it_had_not_stopped():
    def model_and_optimizer() -> tuple[torch.nn.Linear, torch.optim.Adam]:
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 2)
        return model, torch.optim.Adam(model.parameters(), lr=0.1)

    def step(model: torch.nn.Linear, optimizer: torch.optim.Adam) -> None:
        optimizer.zero_grad()
        model(torch.ones(1, 3)).square().sum().backward()
        optimizer.step()

    model, optimizer = model_and_optimizer()
    step(model, optimizer)
    saved = {name: tensor.clone() for name, tensor in checkpoint.optimizer_tensors(optimizer).items()}
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    step(model, optimizer)
    again, resumed = model_and_optimizer()
    again.load_state_dict(weights)
    checkpoint.load_optimizer(resumed, saved)
    step(again, resumed)
    assert torch.equal(again.weight, model.weight)


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path):
    (tmp_path / "1.safetensors").mkdir()
    with pytest.raises(UserError, match="make room and start again"):
        checkpoint.save(tmp_path, checkpoint.Checkpoint(1, {"w": torch.ones(1)}, {}))


def test_a_resumed_log_is_cut_back_to_its_checkpoint(tmp_path: Path):
    path = tmp_path / "log.jsonl"
    log = run_log.RunLog(path, resumed_at=0)
    for update in (10, 20, 30):
        log.append(update, {"train/loss": 1.0 / update, "train/nan": float("nan")})
    path.write_bytes(path.read_bytes() + b'{"update": 40, "metr')
    assert run_log.read(path).broken == 1
    run_log.RunLog(path, resumed_at=20)
    assert [json.loads(line)["update"] for line in path.read_text().splitlines()] == [10, 20]
    assert "train/nan" not in path.read_text()
