"""The lattice gives what stock SentencePiece gives, whatever the model was trained with."""

from __future__ import annotations

import numpy as np
import pytest
import sentencepiece

from optok.lattice import Vocabulary, best_path, sample
from optok.tokenizers.equality import compare_nbest, differing_best_paths, differing_normalization

VARIANTS = {
    "plain": {},
    "small": {"vocab_size": 300},
    "large": {"vocab_size": 4000},
    "byte fallback": {"byte_fallback": True, "character_coverage": 0.98},
    "rare characters unknown": {"character_coverage": 0.98},
    "user-defined symbols": {"user_defined_symbols": ["<x>", "ti", "tion", "ê", "ễn", "日本", "日", "▁ba", "1"]},
    "nfkc": {"normalization_rule_name": "nfkc"},
    "identity": {"normalization_rule_name": "identity"},
    "case folded": {"normalization_rule_name": "nmt_nfkc_cf"},
    "split digits": {"split_digits": True},
    "no dummy prefix": {"add_dummy_prefix": False},
    "all spaces kept": {"remove_extra_whitespaces": False},
    "space as a suffix": {"treat_whitespace_as_suffix": True},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_normalised_text_best_paths_and_n_best_equal_sentencepieces(variant, trained, lines):
    model = trained(**VARIANTS[variant])
    vocabulary = Vocabulary.load(model)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    assert differing_normalization(vocabulary, processor, lines) == []
    assert differing_best_paths(vocabulary, processor, lines) == []
    for n, few in ((3, lines[:300]), (64, lines[:50])):
        compared = compare_nbest(vocabulary, processor, few, n)
        assert compared.differing == []
        assert compared.cut == []
        assert len(compared.rounded) < len(few) / 10


def test_random_characters_of_every_plane_are_cut_as_sentencepiece_cuts_them(trained):
    draw = np.random.default_rng(3)
    planes = np.array([*range(0x20, 0x3000), *range(0xF900, 0x10000), *range(0x1D400, 0x1D800), 0x20000, 0x10FFFF])
    texts = ["".join(map(chr, draw.choice(planes, 12))) for _ in range(3000)]
    for options in ({}, {"normalization_rule_name": "nmt_nfkc_cf"}, VARIANTS["byte fallback"]):
        model = trained(**options)
        vocabulary = Vocabulary.load(model)
        processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
        assert differing_normalization(vocabulary, processor, texts) == []
        assert differing_best_paths(vocabulary, processor, texts) == []


def test_a_million_characters_are_cut_as_sentencepiece_cuts_them(trained, lines):
    """Long enough that the values pass 100,000 and are rebased, several times."""
    model = trained()
    vocabulary = Vocabulary.load(model)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    text = " ".join(lines)
    text = (text * (1_000_000 // len(text) + 1))[:1_000_000]
    lattices = vocabulary.lattices([text])
    assert best_path(lattices, vocabulary.scores)[0].tolist() == processor.encode(text)
    pieces = sample(lattices, vocabulary.scores, 0.2, 1, 1, [0])[0]
    decoded = "".join(vocabulary.pieces[number] for number in pieces if number != vocabulary.unk_id)
    assert len(decoded) <= lattices.characters[0]


def test_values_that_grow_at_once_are_rebased_as_sentencepiece_does(trained, lines, tmp_path):
    """Scores of some ten thousand each: the values are rebased within the reach of one piece."""
    from optok.tokenizers.model_file import write_scores

    model = trained()
    vocabulary = Vocabulary.load(model)
    for factor in (3000.0, 9000.0):
        scores = np.where(vocabulary.normal, vocabulary.scores * np.float32(factor), vocabulary.scores)
        scaled = tmp_path / "scaled.model"
        write_scores(model, scores, scaled)
        processor = sentencepiece.SentencePieceProcessor(model_file=str(scaled))
        assert differing_best_paths(Vocabulary.load(scaled), processor, lines) == []
