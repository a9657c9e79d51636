"""A translator: the folder that training makes and every later stage reads.

    config.json          task, sizes, how the training text was cut, digests of the tokenizers, format version
    model.safetensors    float32 weights, named as in `Transformer.state_dict`
    source.model         SentencePiece models; their scores are the learned ones
    target.model

`config.json` is written last: where it stands, the folder is whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from optok.config import Architecture, describe
from optok.errors import UserError
from optok.files import atomic_path, read_json, sha256_of, write_bytes, write_json
from optok.translation.export import pieces_of
from optok.translation.shapes import weight_shapes

if TYPE_CHECKING:
    from optok.translation.transformer import Transformer

FORMAT = 1
SIDES = ("source", "target")


@dataclass(frozen=True)
class Translator:
    """A translator in memory; the tokenizers stay files."""

    sizes: Architecture
    alpha: float | None  # of the lattice sampling it was trained with; None: best paths
    weights: dict[str, NDArray[np.float32]]
    models: dict[str, Path]  # side → .model file

    def transformer(self, pads: dict[str, int]) -> Transformer:
        """The model with its weights, in evaluation mode; `pads`: side → id of `<pad>`."""
        import torch

        from optok.translation.transformer import Transformer

        rows = {side: len(self.weights[f"{side}_embedding.weight"]) for side in SIDES}
        model = Transformer(self.sizes, rows["source"], rows["target"], pads["source"], pads["target"])
        model.load_state_dict({name: torch.from_numpy(array) for name, array in self.weights.items()})
        return model.eval()


def write(folder: Path, translator: Translator) -> dict[str, str]:
    """Writes the folder; returns the tokenizers' digests by side."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").unlink(missing_ok=True)
    try:
        with atomic_path(folder / "model.safetensors") as temporary:
            save_file(dict(translator.weights), temporary)
    except SafetensorError as error:
        raise UserError(
            f"{folder / 'model.safetensors'} could not be written ({error}): make room and run the stage again, "
            "it goes on"
        ) from None
    for side in SIDES:
        write_bytes(folder / f"{side}.model", translator.models[side].read_bytes())
    digests = {side: sha256_of(folder / f"{side}.model") for side in SIDES}
    write_json(
        folder / "config.json",
        {
            "format": FORMAT,
            "task": "translation",
            "architecture": translator.sizes.model_dump(),
            "alpha": translator.alpha,
            "tokenizers": digests,
        },
    )
    return digests


def read(folder: Path) -> Translator:
    """Reads and checks a folder; raises `UserError` naming the file that is missing or foreign."""
    for name in ("config.json", "model.safetensors", "source.model", "target.model"):
        if not (folder / name).is_file():
            raise UserError(f"{folder} is no whole translator: {name} is missing; run the stage that makes it again")
    config = read_json(folder / "config.json")
    sizes = _sizes(config, folder)
    models = {side: folder / f"{side}.model" for side in SIDES}
    for side, model in models.items():
        if sha256_of(model) != config["tokenizers"][side]:
            raise UserError(f"{model} is not the tokenizer this translator was trained with (its digest differs)")
    try:
        weights = load_file(folder / "model.safetensors")
    except (OSError, SafetensorError) as error:
        raise UserError(f"{folder / 'model.safetensors'} cannot be read: {error}") from None
    _check_shapes(weights, sizes, models, folder)
    return Translator(sizes, config["alpha"], weights, models)


def _sizes(config: Any, folder: Path) -> Architecture:
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise UserError(f"{folder / 'config.json'} is of another format than {FORMAT}: train with this version again")
    if config["task"] != "translation":
        raise UserError(f"{folder} was trained for the task {config['task']!r}, not for translation")
    try:
        return Architecture.model_validate(config["architecture"])
    except ValidationError as error:
        raise UserError(f"{folder / 'config.json'}: {describe(error, Architecture)}") from None


def _check_shapes(
    weights: dict[str, NDArray[np.float32]], sizes: Architecture, models: dict[str, Path], folder: Path
) -> None:
    pieces = {side: len(pieces_of(model)) for side, model in models.items()}
    expected = weight_shapes(sizes, pieces["source"], pieces["target"])
    for name, shape in expected.items():
        found = tuple(weights[name].shape) if name in weights else None
        if found != shape:
            raise UserError(
                f"{folder / 'model.safetensors'}: {name} has the shape {found}, but the settings and tokenizers "
                f"want {shape}: these files do not belong together"
            )
    if foreign := sorted(set(weights) - set(expected)):
        raise UserError(f"{folder / 'model.safetensors'} holds {foreign[0]!r}, which this model has not")
