"""BPE models: what SentencePiece gives, and dropout."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import sentencepiece

from optok.errors import UserError
from optok.lattice import Merges
from optok.lattice.model import Piece, read_model
from optok.tokenizers.cutting import DropoutCutter

WORDS = ["ba", "bata", "batiko", "ko", "kolan", "su", "surelan", "mention", "qu", "öß", "schlag", "nguyễn", "thuộc"]
WORDS += ["日本", "日本語", "設定", "これは", "é", "e\u0301", "▁", "x"]
ODD = ["", " ", "  ", "\x00", "</s>", "<0x41>", "\U0001f600", "\u2028", "<x>ba<x>", "▁▁ba", "aaaaaaaaaaaa", " ba "]
VARIANTS = {
    "plain": {},
    "byte fallback": {"byte_fallback": True, "vocab_size": 400},
    "characters unknown": {"character_coverage": 0.98, "vocab_size": 100},
    "user-defined symbols": {"user_defined_symbols": ["<x>", "ata", "日本", "▁ko", "x"]},
    "identity": {"normalization_rule_name": "identity"},
    "space as a suffix": {"treat_whitespace_as_suffix": True},
    "pieces of several words": {"split_by_whitespace": False},
}


@pytest.fixture(scope="module")
def texts():
    draw = random.Random(2)
    return [*ODD, *(" ".join(draw.choices(WORDS, k=draw.randint(1, 12))) for _ in range(600))]


@pytest.fixture(scope="module")
def trained(texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    corpus = folder / "corpus.txt"
    corpus.write_text("".join(f"{text}\n" for text in texts if "\x00" not in text), encoding="utf-8", newline="\n")

    def train(variant="plain") -> Path:
        options = {"vocab_size": 120, "num_threads": 1, "minloglevel": 2, "hard_vocab_limit": False}
        options |= VARIANTS[variant]
        prefix = folder / variant.replace(" ", "-")
        sentencepiece.SentencePieceTrainer.train(
            input=str(corpus), model_prefix=str(prefix), model_type="bpe", **options
        )
        return prefix.with_suffix(".model")

    return train


def stock(model):
    return sentencepiece.SentencePieceProcessor(model_file=str(model))


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_bpe_models_segmentation_is_sentencepieces_and_dropout_of_zero_too(variant, trained, texts):
    model = trained(variant)
    merges = Merges.load(model)
    expected = stock(model).encode(texts)
    assert merges.encode(texts).to_lists() == expected
    assert merges.dropout(texts, 0.0, 1, 1, range(len(texts))).to_lists() == expected
    assert merges.normalize(texts) == stock(model).normalize(texts)
    characters = [stock(model).encode(text, enable_sampling=True, alpha=1.0) for text in texts]
    assert merges.dropout(texts, 1.0, 1, 1, range(len(texts))).to_lists() == characters


def test_unused_pieces_fall_apart_into_what_they_were_merged_from(trained, texts, tmp_path):
    changed = read_model(trained())
    for number, piece in enumerate(changed.pieces):
        if piece.type == Piece.NORMAL and len(piece.piece) > 1 and number % 3 == 0:
            piece.type = Piece.UNUSED
    model = tmp_path / "unused.model"
    model.write_bytes(changed.SerializeToString())
    assert Merges.load(model).encode(texts).to_lists() == stock(model).encode(texts)


def test_dropout_passes_over_as_many_merges_as_sentencepiece(trained, texts):
    model = trained()
    processor = stock(model)
    for probability in (0.1, 0.5):
        lengths = [
            len(ids)
            for epoch in range(4)
            for ids in Merges.load(model).dropout(texts, probability, 1, epoch, range(len(texts))).to_lists()
        ]
        theirs = [
            len(processor.encode(text, enable_sampling=True, alpha=probability)) for _ in range(4) for text in texts
        ]
        spread = (np.subtract(lengths, theirs).var() / len(lengths)) ** 0.5
        assert abs(np.mean(lengths) - np.mean(theirs)) < 5 * spread


def test_dropout_is_a_function_of_seed_purpose_epoch_and_id(trained, texts):
    merges = Merges.load(trained())
    ids = np.arange(len(texts))
    reference = merges.dropout(texts, 0.3, 1, 1, ids).to_lists()
    order = [20, 13, 400, 13]
    part = merges.dropout([texts[k] for k in order], 0.3, 1, 1, order).to_lists()
    assert part == [reference[k] for k in order]
    for seed, epoch, purpose in ((2, 1, "train"), (1, 2, "train"), (1, 1, "target")):
        assert merges.dropout(texts, 0.3, seed, epoch, ids, purpose).to_lists() != reference
    cutter = DropoutCutter(trained(), texts, 0.3, 1, "train")
    assert [ids.tolist() for ids in cutter.cut(np.array(order), 1)] == part
    assert [ids.tolist() for ids in cutter.best(texts)] == merges.encode(texts).to_lists()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda merges: merges.dropout(["a"], 1.5, 1, 1, [0]), "dropout is 1.5"),
        (lambda merges: merges.dropout(["a"], float("nan"), 1, 1, [0]), "dropout is nan"),
        (lambda merges: merges.dropout(["a"], 0.5, 1, 1, [0, 1]), "2 ids were given for 1 texts"),
        (lambda merges: merges.encode("a"), "give a list of strings"),
        (lambda merges: merges.encode([["a"]]), "text 0 is the list"),
    ],
)
def test_bad_input_is_refused(call, words, trained):
    with pytest.raises(UserError, match=words):
        call(Merges.load(trained()))


def test_a_unigram_model_is_no_bpe_model(tmp_path, texts):
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text for text in texts if text),
        model_prefix=str(tmp_path / "unigram"),
        vocab_size=100,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    with pytest.raises(UserError, match="is a unigram model; this needs a BPE model"):
        Merges.load(tmp_path / "unigram.model")
