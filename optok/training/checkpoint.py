"""Everything that a killed training needs to go on as if nothing had happened.

One safetensors file per checkpoint, named by its update, written under a temporary name. The newest one that
can be read is where training goes on; older ones are removed once a newer one stands.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from optok.errors import UserError
from optok.files import atomic_path

FORMAT = 1


@dataclass(frozen=True)
class Checkpoint:
    """Tensors by name (parts separated by `/`), and plain numbers beside them."""

    update: int
    tensors: dict[str, Tensor]
    values: dict[str, Any]

    def part(self, name: str) -> dict[str, Tensor]:
        """The tensors under `name/`, without that prefix."""
        prefix = name + "/"
        return {key.removeprefix(prefix): tensor for key, tensor in self.tensors.items() if key.startswith(prefix)}


def save(folder: Path, checkpoint: Checkpoint) -> None:
    """Writes a checkpoint and removes the older ones."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{checkpoint.update}.safetensors"
    values = json.dumps({"format": FORMAT, "update": checkpoint.update, **checkpoint.values})
    tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in checkpoint.tensors.items()}
    try:
        with atomic_path(path) as temporary:
            save_file(tensors, temporary, metadata={"values": values})
    except (OSError, SafetensorError) as error:
        raise UserError(
            f"the checkpoint {path} could not be written ({error}): make room and start again, training goes on "
            "from the one before"
        ) from None
    for old in _paths(folder):
        if old != path:
            old.unlink(missing_ok=True)


def newest(folder: Path) -> Checkpoint | None:
    """The newest checkpoint that can be read, or None."""
    for path in _paths(folder):
        try:
            with safe_open(path, framework="pt") as file:
                values = json.loads(file.metadata()["values"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (OSError, SafetensorError, KeyError, TypeError, ValueError):
            continue
        if values.pop("format") != FORMAT:
            raise UserError(f"{path} is a checkpoint of another version of optok: delete it to train from the start")
        return Checkpoint(values.pop("update"), tensors, values)
    return None


def optimizer_tensors(optimizer: torch.optim.Adam) -> dict[str, Tensor]:
    """Adam's state by parameter number: `3/exp_avg` …"""
    state = optimizer.state_dict()["state"]
    return {f"{number}/{name}": tensor for number, tensors in state.items() for name, tensor in tensors.items()}


def load_optimizer(optimizer: torch.optim.Adam, tensors: dict[str, Tensor]) -> None:
    """The inverse of `optimizer_tensors`."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        number, name = key.split("/")
        state.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def _paths(folder: Path) -> list[Path]:
    """Checkpoints, the newest first."""
    named = [path for path in folder.glob("*.safetensors") if re.fullmatch(r"\d+\.safetensors", path.name)]
    return sorted(named, key=lambda path: -int(path.stem))
