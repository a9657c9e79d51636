"""Text in several scripts, made from a seed, and SentencePiece models trained on it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import sentencepiece

WESTERN = "ba ti ko su re lan ver ing er ment tion st qu ö ß ung schl ä nguy ễn thu ộc đ ường tr ư ợt v ề ê"
EASTERN = "これ は テスト です カタ ひら 日本 語 文字 設定 変更 你 好 世界 文件 打开 编辑 设置"
SYLLABLES = [*WESTERN.split(), *EASTERN.split()]
ODD = ["…", "２", "ﬁ", "ŉ", "ﷺ", "e\u0301", "\u3000", "\u00ad", "\u200b", "\t", "\x07", "\x00", "\u2028", "\u0085"]
ODD += ["▁", "  ", "</s>", "<unk>", "<0x41>", "<x>", "＜x＞", "\U0001f600", "\U00020000", "A\u030a", "ｶﾞ", "."]
ALONE = ["", " ", "   ", "▁", "▁▁", "\x00", "\u2028", "\u200b ", " a ", "</s>", "\U0001f600" * 5, "test.........", "é"]


def words_and_odd_characters(seed: int, lines: int) -> list[str]:
    """Lines of words whose frequencies fall off as in a real text, with everything odd strewn in."""
    draw = random.Random(seed)
    lexicon = ["".join(draw.choices(SYLLABLES, k=draw.randint(1, 4))) for _ in range(1500)]
    weights = [1 / (rank + 3) for rank in range(len(lexicon))]
    made = []
    for _ in range(lines):
        words = draw.choices(lexicon, weights, k=draw.randint(1, 25))
        words = [draw.choice(ODD) if draw.random() < 0.03 else word for word in words]
        made.append(draw.choice(["", "", "", " "]).join([" ".join(words), ""]) + draw.choice(["", ".", "!", " 1984"]))
    return made


@pytest.fixture(scope="session")
def lines():
    """Texts of words and odd characters, and short texts that have gone wrong somewhere before."""
    return [*ALONE, *words_and_odd_characters(1, 2500)]


@pytest.fixture(scope="session")
def trained(lines, tmp_path_factory):
    """`trained(**options)`: the path of a model trained with these options, once for each set of them."""
    folder = tmp_path_factory.mktemp("models")
    corpus = folder / "corpus.txt"
    usable = [line for line in lines if "\x00" not in line]
    corpus.write_text("".join(f"{line}\n" for line in usable), encoding="utf-8", newline="\n")

    def train(**options) -> Path:
        name = "-".join(f"{key}={value}" for key, value in sorted(options.items())) or "plain"
        prefix = folder / str(abs(hash(name)))
        if not prefix.with_suffix(".model").exists():
            settings = {"vocab_size": 800, "hard_vocab_limit": False, "num_threads": 1, "minloglevel": 2} | options
            sentencepiece.SentencePieceTrainer.train(input=str(corpus), model_prefix=str(prefix), **settings)
        return prefix.with_suffix(".model")

    return train
