"""Models as tokenizer.json, loaded by the library that reads it."""

from __future__ import annotations

import json

import numpy as np
import pytest
import sentencepiece
from tokenizers import Tokenizer

from optok.errors import UserError
from optok.lattice import Vocabulary
from optok.tokenizers.model_file import write_scores
from optok.tokenizers.tokenizer_json import write_tokenizer_json

VARIANTS = {
    "plain": {},
    "rare characters unknown": {"character_coverage": 0.98},
    "user-defined symbols": {"user_defined_symbols": ["<x>", "ti", "tion", "ê", "日本", "1"]},
    "identity": {"normalization_rule_name": "identity"},
    "case folded": {"normalization_rule_name": "nmt_nfkc_cf"},
    "no dummy prefix": {"add_dummy_prefix": False},
    "all spaces kept": {"remove_extra_whitespaces": False},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_library_cuts_every_line_as_sentencepiece_but_for_ties(variant, trained, lines, tmp_path):
    model = trained(**VARIANTS[variant])
    compared = write_tokenizer_json(model, tmp_path / "tokenizer.json", lines)
    assert (compared.lines, compared.differing) == (len(lines), [])
    assert len(compared.ties) < len(lines) / 100
    loaded = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    expected = sentencepiece.SentencePieceProcessor(model_file=str(model)).encode(lines)
    found = [encoding.ids for encoding in loaded.encode_batch(lines, add_special_tokens=False)]
    assert [row for row in range(len(lines)) if found[row] != expected[row]] == compared.ties


def test_unknown_characters_become_bytes_and_the_decoder_undoes_it(trained, lines, tmp_path):
    model = trained(byte_fallback=True, character_coverage=0.98)
    texts = [line for line in lines if "<0x" not in line]
    write_tokenizer_json(model, tmp_path / "tokenizer.json", texts)
    loaded = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in ("ba \U0001f600 ti", "日本語 ö", "a"):
        assert loaded.decode(loaded.encode(text).ids) == text


def test_control_pieces_in_the_text_stay_text(trained, lines, tmp_path):
    write_tokenizer_json(trained(), tmp_path / "tokenizer.json", lines)
    loaded = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    processor = sentencepiece.SentencePieceProcessor(model_file=str(trained()))
    for text in ("</s>", "a </s> <unk> <s>b"):
        assert loaded.encode(text).ids == processor.encode(text)


def test_a_barred_piece_is_found_nowhere(trained, lines, tmp_path):
    vocabulary = Vocabulary.load(trained())
    scores = vocabulary.scores.copy()
    barred = np.flatnonzero(vocabulary.normal & (np.arange(len(vocabulary)) % 5 == 0))
    scores[barred] = -np.inf
    write_scores(trained(), scores, tmp_path / "barred.model")
    compared = write_tokenizer_json(tmp_path / "barred.model", tmp_path / "tokenizer.json", lines)
    assert compared.differing == []
    loaded = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    found = {number for encoding in loaded.encode_batch(lines) for number in encoding.ids}
    assert found.isdisjoint(barred.tolist())
    assert loaded.get_vocab_size() == len(vocabulary)


def test_a_line_that_the_library_cuts_otherwise_is_named_and_nothing_is_written(trained, lines, tmp_path):
    """The names of bytes must be in the library's vocabulary as they are, so that it finds them in text."""
    model = trained(byte_fallback=True, character_coverage=0.98)
    with pytest.raises(UserError, match=r"cuts 1 of 3 lines otherwise \(lines 2\)"):
        write_tokenizer_json(model, tmp_path / "tokenizer.json", ["ba", "ba <0x41>", ""])
    assert not (tmp_path / "tokenizer.json").exists()


def test_what_the_format_cannot_express_is_refused(trained, tmp_path):
    model = trained(treat_whitespace_as_suffix=True)
    with pytest.raises(UserError, match=r"tokenizer\.json has no word for"):
        write_tokenizer_json(model, tmp_path / "tokenizer.json", ["a"])
    with pytest.raises(UserError, match="is a bpe model"):
        write_tokenizer_json(trained(model_type="bpe"), tmp_path / "tokenizer.json", ["a"])


def test_rules_of_several_characters_are_replacements_where_the_text_uses_them(trained, tmp_path):
    write_tokenizer_json(trained(), tmp_path / "tokenizer.json", ["ｶﾞ", "a"])
    content = json.loads((tmp_path / "tokenizer.json").read_text("utf-8"))
    assert content["normalizer"]["normalizers"][0]["pattern"] == {"String": "ｶﾞ"}
    assert content["normalizer"]["normalizers"][0]["content"] == "ガ"
