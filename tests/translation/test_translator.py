"""A translator's folder is read back as it was written, or refused with the file that is wrong."""

import io
import random
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
import torch
from safetensors.numpy import load_file, save_file

from optok.config import Architecture
from optok.errors import UserError
from optok.files import read_json, write_json
from optok.translation import translator as folders
from optok.translation.transformer import Transformer

SIZES = Architecture(encoder_layers=1, decoder_layers=1, width=16, feed_forward=16, heads=2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    draw = random.Random(1)
    text = ["".join(draw.choices("abcde ", k=40)) for _ in range(200)]
    models = {}
    for side, size in (("source", 30), ("target", 40)):
        written = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(text), model_writer=written, vocab_size=size, pad_id=3, minloglevel=2
        )
        models[side] = tmp_path / f"{side}.model"
        models[side].write_bytes(written.getvalue())
    torch.manual_seed(0)
    weights = {name: tensor.numpy() for name, tensor in Transformer(SIZES, 30, 40, 3, 3).state_dict().items()}
    folders.write(tmp_path / "translator", folders.Translator(SIZES, 0.3, weights, models))
    return tmp_path / "translator"


def test_a_translator_is_read_back_as_it_was_written(folder: Path):
    first = folders.read(folder)
    folders.write(folder.with_name("copy"), first)
    for file in folder.iterdir():
        assert file.read_bytes() == (folder.with_name("copy") / file.name).read_bytes()
    model = first.transformer({"source": 3, "target": 3})
    assert np.array_equal(model.source_embedding.weight.detach().numpy(), first.weights["source_embedding.weight"])


def damage_tokenizer(folder: Path) -> None:
    (folder / "source.model").write_bytes((folder / "target.model").read_bytes())


def damage_weights(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    weights["target_embedding.weight"] = weights["target_embedding.weight"][:-1].copy()
    save_file(weights, folder / "model.safetensors")


def damage_config(key: str, value: object) -> object:
    def damage(folder: Path) -> None:
        write_json(folder / "config.json", {**read_json(folder / "config.json"), key: value})

    return damage


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda folder: (folder / "target.model").unlink(), "target.model is missing"),
        (damage_tokenizer, "source.model is not the tokenizer"),
        (damage_weights, r"target_embedding.weight has the shape \(39, 16\)"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"PK"), "cannot be read"),
        (lambda folder: (folder / "config.json").write_text("{"), "not valid JSON"),
        (damage_config("format", 99), "another format"),
        (damage_config("task", "classification"), "'classification', not for translation"),
        (damage_config("architecture", {"width": 16, "wdth": 3}), "did you mean 'width'"),
    ],
)
def test_a_damaged_folder_is_refused_by_name(folder: Path, damage: object, expected: str):
    damage(folder)
    with pytest.raises(UserError, match=expected):
        folders.read(folder)
