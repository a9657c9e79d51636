"""`make check-text`: what it prints, and how it ends."""

from __future__ import annotations

import lzma
import random
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORDS = ["ba", "bata", "kolan", "surelan", "mention", "größe", "nguyễn", "日本語", "設定", "ｶﾞ", "x…"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A column of ordinary text, and one that holds the name of a byte, which tokenizer.json takes for the byte."""
    draw = random.Random(1)
    lines = [" ".join(draw.choices(WORDS, k=draw.randint(1, 9))) for _ in range(300)]
    path = tmp_path_factory.mktemp("text") / "text.tsv.xz"
    rows = ["plain\tbytes", *(f"{line}\t{line}" for line in lines), "\t<0x41> ba"]
    path.write_bytes(lzma.compress("".join(f"{row}\n" for row in rows).encode()))
    return path


def check(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "bench.check_text", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_says_for_each_column_and_model_that_all_is_equal(table):
    done = check(table, "--columns", "plain", "--models", "unigram 1k,bpe 1k,byte fallback")
    assert (done.returncode, done.stderr) == (0, "")
    verdicts = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert [line.split(": ")[1] for line in verdicts] == ["unigram 1k", "bpe 1k", "byte fallback"]
    assert all("301 lines: equal" in line for line in verdicts)


def test_a_difference_is_shown_and_ends_with_an_error(table):
    done = check(table, "--columns", "bytes", "--models", "byte fallback")
    assert done.returncode == 1
    assert "DIFFERENT" in done.stdout
    assert "(lines 301)" in done.stdout


def test_large_models_are_trained_on_all_columns_together(table):
    done = check(table, "--models", "bpe 8k")
    sizes = [line.split(" pieces")[0].split()[-1] for line in done.stdout.splitlines()]
    assert len(sizes) == 2
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("short.tsv", b"a\tb\nx y\n", "line 2 has 1 columns, the header names 2"),
        ("empty.tsv", b"", "nothing to compare"),
        ("blank.txt", b"\n \n", "nothing to compare"),
        ("latin.txt", b"gr\xfc\xdfe\n", "line 1 is not valid UTF-8"),
        ("text.tsv.xz", b"not compressed", "give a .tsv or a text file"),
        ("absent.tsv", None, "No such file or directory"),
    ],
)
def test_a_text_that_cannot_be_checked_is_one_line_and_an_error(name, content, words, tmp_path):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = check(tmp_path / name, "--models", "bpe 1k")
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_lines_of_any_length_with_any_character_are_cells(tmp_path):
    (tmp_path / "odd.tsv").write_bytes(b"a\tb\nx\ry\t" + b"ab " * 50_000 + b"\n\x00 ab\tq ab\n")
    done = check(tmp_path / "odd.tsv", "--models", "bpe 1k")
    assert (done.returncode, done.stdout.count("2 lines: equal")) == (0, 2)


@pytest.mark.parametrize(
    ("options", "words"),
    [(["--columns", "plian"], "did you mean 'plain'?"), (["--models", "bpe 2k"], "there is no 'bpe 2k'")],
)
def test_a_wrong_name_is_one_line(table, options, words):
    done = check(table, *options)
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
