"""The translation task on a small made-up language: it learns, and validates on raw text."""

import io
import random
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
import sentencepiece
import torch

from optok.config import Architecture, Decoding, Training
from optok.training.batching import Batches
from optok.training.loop import train
from optok.training.run_log import read
from optok.translation.decoding import Decoder
from optok.translation.export import export
from optok.translation.loss import Special
from optok.translation.task import Side, TranslationTask, Validation
from optok.translation.transformer import Transformer

WORDS = {"ba": "kop", "di": "lum", "ge": "nas", "po": "rit", "tu": "sev", "ra": "tok"}


class FixedCutter:
    """SentencePiece's own segmentation."""

    def __init__(self, model: Path, texts: list[str]) -> None:
        self.processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
        self.ids = self.best(texts)

    def best(self, texts: list[str]) -> list[np.ndarray]:
        return [np.array(ids, np.int32) for ids in self.processor.encode(texts)]

    def cut(self, items: np.ndarray, epoch: int) -> list[np.ndarray]:
        return [self.ids[item] for item in items]


def sentences(seed: int, count: int) -> tuple[list[str], list[str]]:
    draw = random.Random(seed)
    source = [draw.choices(list(WORDS), k=draw.randint(2, 5)) for _ in range(count)]
    target = [[WORDS[word] for word in words] for words in source]
    return [" ".join(words) for words in source], [" ".join(words) for words in target]


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Side, Side]:
    folder = tmp_path_factory.mktemp("tokenizers")
    made = []
    for name, text in zip(("source", "target"), sentences(1, 400), strict=True):
        written = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(text), model_writer=written, vocab_size=22, pad_id=3, minloglevel=2
        )
        path = folder / f"{name}.model"
        path.write_bytes(written.getvalue())
        made.append(Side(FixedCutter(path, text), path, Special(1, 2, 3)))
    return made[0], made[1]


def test_training_learns_a_word_for_word_language(sides: tuple[Side, Side], tmp_path: Path):
    source, target = sides
    held_out = sentences(2, 30)
    validation = Validation(
        *held_out, lambda hypotheses, references: sacrebleu.corpus_bleu(hypotheses, [references]).score
    )
    sizes = Architecture(encoder_layers=1, decoder_layers=1, width=32, feed_forward=64, heads=2, dropout=0.0)
    torch.manual_seed(0)
    task = TranslationTask(Transformer(sizes, 22, 22, 3, 3), source, target, validation, 0.1, "cpu")
    lengths = [np.array([len(text) for text in side]) for side in sentences(1, 400)]
    settings = Training(updates=600, learning_rate=5e-3, warmup=50, validate_every=100, batch_characters=1500)
    batches = Batches(lengths[0], lengths[1], settings.batch_characters, seed=1)
    chosen = train(task, batches, settings, 1, tmp_path / "checkpoints", tmp_path / "log.jsonl")
    assert chosen.score > 90
    measured = [line["metrics"] for line in read(tmp_path / "log.jsonl").lines if "valid/bleu" in line["metrics"]]
    assert measured[-1]["valid/nll_per_character"] < measured[0]["valid/nll_per_character"]
    weights = {name: tensor.numpy() for name, tensor in chosen.weights.items()}
    export(weights, sizes, source.model, target.model, tmp_path / "export")
    *translated, empty, _ = Decoder(tmp_path / "export").translate([*held_out[0], "", "日本"], Decoding())
    assert sacrebleu.corpus_bleu(translated, [held_out[1]]).score > 90
    assert empty == ""
