"""The export scores as the model it was made from."""

import io
import random
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
import torch

from optok.config import Architecture
from optok.errors import UserError
from optok.translation.export import export, open_export
from optok.translation.loss import Special, pad_source, pad_target, sentence_losses, smoothed_loss
from optok.translation.transformer import Transformer

SPECIAL = Special(begin=1, end=2, pad=3)


@pytest.fixture(scope="module")
def text() -> list[str]:
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefgh", k=draw.randint(2, 7))) for _ in range(300)]
    return [" ".join(draw.choices(words, k=draw.randint(3, 12))) for _ in range(1000)]


@pytest.fixture(scope="module")
def model_file(text: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text), model_writer=written, vocab_size=250, pad_id=3, minloglevel=2
    )
    path = tmp_path_factory.mktemp("tokenizer") / "x.model"
    path.write_bytes(written.getvalue())
    return path


def random_transformer(sizes: Architecture, pieces: int) -> Transformer:
    torch.manual_seed(0)
    model = Transformer(sizes, pieces, pieces, SPECIAL.pad, SPECIAL.pad)
    for parameter in model.parameters():
        parameter.data += 0.02 * torch.randn_like(parameter)
    return model.eval()


@pytest.mark.parametrize("pre_norm", [True, False])
def test_the_export_scores_as_the_model(pre_norm: bool, text: list[str], model_file: Path, tmp_path: Path):
    sizes = Architecture(pre_norm=pre_norm)
    model = random_transformer(sizes, 250)
    weights = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    export(weights, sizes, model_file, model_file, tmp_path)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model_file))
    sources, targets = text[:20], text[20:40]
    scored = open_export(tmp_path, threads=1).score_batch(
        [processor.encode(line, out_type=str) for line in sources],
        [processor.encode(line, out_type=str) for line in targets],
    )
    source = pad_source([np.array(processor.encode(line), np.int32) for line in sources], SPECIAL)
    given, wanted = pad_target([np.array(processor.encode(line), np.int32) for line in targets], SPECIAL)
    with torch.no_grad():
        losses = sentence_losses(model, *model.encode(source), given, wanted)
    for score, loss in zip(scored, losses.tolist(), strict=True):
        assert -sum(score.log_probs) == pytest.approx(loss, abs=1e-4)


def test_padding_does_not_change_a_sentence(text: list[str]):
    model = random_transformer(Architecture(), 250)
    draw = np.random.default_rng(1)
    sentences = [draw.integers(4, 250, size=length).astype(np.int32) for length in (3, 9, 6)]
    with torch.no_grad():
        together = smoothed_loss(model, pad_source(sentences, SPECIAL), *pad_target(sentences, SPECIAL), 0.1)
        alone = [
            smoothed_loss(model, pad_source([one], SPECIAL), *pad_target([one], SPECIAL), 0.1) for one in sentences
        ]
    for part in (0, 1):
        assert together[part].item() == pytest.approx(sum(loss[part].item() for loss in alone), rel=1e-5)


def test_a_tokenizer_of_another_size_is_refused(model_file: Path, tmp_path: Path):
    sizes = Architecture()
    weights = {name: tensor.numpy() for name, tensor in random_transformer(sizes, 240).state_dict().items()}
    with pytest.raises(UserError, match="250 pieces, but the translator has 240 embeddings"):
        export(weights, sizes, model_file, model_file, tmp_path)
    assert not list(tmp_path.iterdir())
