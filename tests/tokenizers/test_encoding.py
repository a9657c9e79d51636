"""Lines to pieces and back: what `optok encode`, `decode` and `tokenizer compare` print and refuse."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pytest
import sentencepiece

from optok.errors import UserError
from optok.lattice import Merges, Vocabulary, nbest, sample
from optok.tokenizers.comparing import TokenizerComparison
from optok.tokenizers.decoding import Decoder
from optok.tokenizers.encoding import Encoder, Request

ODD = ["", "</s>", "<unk> ", "\x00", "\u2028", "a\u2028b\u0085c\rd", "\U0001f600\U0001f601", "Ж Ж", "ba ti", "tion ê"]


def stock(model):
    return sentencepiece.SentencePieceProcessor(model_file=str(model))


def encoded(model, texts, **request):
    return Encoder(model, Request(**request)).encode(texts)


@pytest.mark.parametrize(
    "options",
    [
        {"character_coverage": 0.98},
        {"byte_fallback": True, "character_coverage": 0.98},
        {"user_defined_symbols": ["<x>", "ti"]},
        {"model_type": "bpe"},
    ],
)
def test_pieces_and_ids_are_sentencepieces_and_come_back_as_its_text(options, trained, lines):
    model = trained(**options)
    texts = [*ODD, *lines[:500]]
    pieces, ids = encoded(model, texts), encoded(model, texts, output="ids")
    assert pieces == [" ".join(row) for row in stock(model).encode(texts, out_type=str)]
    assert ids == [" ".join(map(str, row)) for row in stock(model).encode(texts)]
    assert Decoder(model, "ids").decode(ids) == stock(model).decode(stock(model).encode(texts))
    expected = [text.replace("▁", " ").removeprefix(" ") for text in stock(model).normalize(texts)]
    assert Decoder(model, "pieces").decode(pieces) == expected


def test_a_million_unknown_characters_are_one_piece_within_seconds(trained):
    began = time.process_time()
    assert encoded(trained(), ["x" * 10 + "Ж" * 1_000_000])[0].split(" ")[-1] == "Ж" * 1_000_000
    assert time.process_time() - began < 20


def test_n_best_stand_on_one_line_separated_by_tabs_or_as_a_list(trained, lines):
    model, texts = trained(), [*ODD, *lines[:50]]
    vocabulary = Vocabulary.load(model)
    found = nbest(vocabulary.lattices(texts), vocabulary.scores, 3)
    by_line = [[" ".join(map(str, path.tolist())) for path in found.candidates(row)] for row in range(len(texts))]
    assert encoded(model, texts, nbest=3, output="ids") == ["\t".join(row) for row in by_line]
    for row, line in enumerate(encoded(model, texts, nbest=3, output="json")):
        read = json.loads(line)
        assert [" ".join(map(str, one["ids"])) for one in read] == by_line[row]
        np.testing.assert_array_equal(
            [one["log_probability"] for one in read], found.log_probabilities[row][found.mask[row]]
        )
        assert "".join(read[0]["pieces"]) == vocabulary.normalize([texts[row]])[0]


def test_samples_are_numbered_over_all_batches_and_copies_are_epochs(trained, lines):
    model, texts = trained(), lines[100:200]
    whole = encoded(model, texts, alpha=0.2, seed=5, copies=2, output="ids")
    encoder = Encoder(model, Request(alpha=0.2, seed=5, copies=2, output="ids"))
    assert encoder.encode(texts[:33]) + encoder.encode(texts[33:]) == whole
    vocabulary = Vocabulary.load(model)
    second = sample(vocabulary.lattices(texts), vocabulary.scores, 0.2, 5, 1, range(100), "encode").to_lists()
    assert [line.split("\t")[1] for line in whole] == [" ".join(map(str, ids)) for ids in second]
    assert any(line.split("\t")[0] != line.split("\t")[1] for line in whole)


def test_dropout_of_a_bpe_model_follows_its_seed(trained, lines):
    model, texts = trained(model_type="bpe"), lines[100:200]
    expected = Merges.load(model).dropout(texts, 0.2, 4, 0, range(100), "encode").to_lists()
    assert encoded(model, texts, dropout=0.2, seed=4, output="ids") == [" ".join(map(str, ids)) for ids in expected]


@pytest.mark.parametrize(
    ("kind", "request_of", "words"),
    [
        ("unigram", {"nbest": 0}, "nbest is 0"),
        ("unigram", {"alpha": -0.5}, "alpha is -0.5"),
        ("unigram", {"alpha": float("nan")}, "alpha is nan"),
        ("unigram", {"nbest": 2, "alpha": 0.5}, "exclude each other"),
        ("unigram", {"copies": 2}, "copies of a line are draws"),
        ("unigram", {"alpha": 1.0, "copies": 0}, "copies is 0"),
        ("unigram", {"threads": 0}, "threads is 0"),
        ("unigram", {"dropout": 0.1}, "is a unigram model: --dropout is for BPE"),
        ("bpe", {"dropout": 1.1}, "dropout is 1.1"),
        ("bpe", {"nbest": 2}, "is a bpe model: N-best and samples need a unigram model"),
        ("bpe", {"alpha": 0.1}, "for BPE use --dropout"),
        ("word", {}, "is a word model"),
        ("char", {}, "is a char model"),
    ],
)
def test_what_does_not_go_together_is_refused(kind, request_of, words, trained):
    with pytest.raises(UserError, match=words):
        Encoder(trained(model_type=kind), Request(**request_of))


@pytest.mark.parametrize(
    ("lines_in", "words"),
    [(["1", "x"], "line 2 holds 'x'"), (["", "-1"], "line 2 holds '-1'"), (["9999999"], "has ids 0 to")],
)
def test_lines_that_are_no_ids_are_named(lines_in, words, trained):
    with pytest.raises(UserError, match=words):
        Decoder(trained(), "ids").decode(lines_in)


def test_the_comparison_counts_words_cut_differently_and_tokens_a_word(trained, lines):
    before, after = trained(vocab_size=300), trained(vocab_size=4000)
    comparison = TokenizerComparison(before, after)
    found = comparison.compare([lines[:400], [], ["", " "], lines[400:1000]])
    words = Counter(word for line in lines[:1000] for word in line.split())
    cuts = {word: [stock(model).encode(word, out_type=str) for model in (before, after)] for word in words}
    assert found.words == words.total()
    assert found.tokens_before == sum(count * len(cuts[word][0]) for word, count in words.items())
    assert found.tokens_after == sum(count * len(cuts[word][1]) for word, count in words.items())
    assert found.differing == {word: count for word, count in words.items() if cuts[word][0] != cuts[word][1]}
    changes = comparison.changes(found, 10)
    assert [change.count for change in changes] == sorted(found.differing.values(), reverse=True)[:10]
    assert [[change.before, change.after] for change in changes] == [cuts[change.word] for change in changes]
    same = TokenizerComparison(before, before).compare([lines])
    assert (same.changed, same.tokens_before) == (0, same.tokens_after)


def run(*arguments, content=b""):
    return subprocess.run(
        [sys.executable, "-m", "optok", *map(str, arguments)],
        input=content,
        capture_output=True,
        check=False,
    )


def test_the_commands_go_from_text_to_pieces_and_back(trained, lines, tmp_path):
    model = trained()
    usual = [line for line in lines if "▁" not in line]
    text = "".join(f"{line}\n" for line in usual).encode()
    (tmp_path / "text").write_bytes(text)
    pieces = run("encode", "--model", model, content=text)
    assert (pieces.returncode, pieces.stderr) == (0, b"")
    assert pieces.stdout.count(b"\n") == len(usual)
    assert run("encode", "--model", model, tmp_path / "text", "--threads", 2).stdout == pieces.stdout
    back = run("decode", "--model", model, content=pieces.stdout)
    assert back.stdout.decode().split("\n")[:-1] == [
        normalized.removeprefix("▁").replace("▁", " ") for normalized in stock(model).normalize(usual)
    ]
    compared = run("tokenizer", "compare", trained(vocab_size=300), model, content=text)
    assert compared.stdout.startswith(b"words: ")
    assert b"tokens a word: " in compared.stdout


@pytest.mark.parametrize(
    ("arguments", "content", "words"),
    [
        (["encode"], b"fine\n\xff\n", "standard input: line 2 is not valid UTF-8 (byte 0xff at position 0)"),
        (["encode", "--sample"], b"", "--sample needs --alpha"),
        (["encode", "absent.txt"], b"", "absent.txt: No such file or directory"),
        (["decode", "--input", "ids"], b"1 2\n1 b\n", "line 2 holds 'b', which is no id"),
    ],
)
def test_the_commands_end_with_one_clear_line(arguments, content, words, trained):
    done = run(arguments[0], "--model", trained(), *arguments[1:], content=content)
    assert done.returncode == 2
    assert done.stderr.decode().count("\n") == 1
    assert words in done.stderr.decode()


def test_many_times_the_text_takes_no_more_memory(trained, lines):
    """A hundred thousand lines go through in the memory of a few thousand."""
    text = "".join(f"{line}\n" for line in lines if "\x00" not in line).encode()
    program = (
        "import sys; from optok.cli import main\n"
        "try: main()\n"
        "finally: print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0], file=sys.stderr)"
    )
    peaks = []
    for times in (4, 40):
        done = subprocess.run(
            [sys.executable, "-c", program, "encode", "--model", str(trained()), "--output", "ids"],
            input=text * times,
            capture_output=True,
            check=True,
        )
        assert done.stdout.count(b"\n") == text.count(b"\n") * times
        peaks.append(int(done.stderr.split()[-1]))
    assert peaks[1] < peaks[0] + 10_000  # kilobytes; the lines and their ids would take a hundred thousand
