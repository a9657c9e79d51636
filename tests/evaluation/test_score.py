"""Scores equal those of sacreBLEU's own command line on the same files, signatures included."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
import sentencepiece

from optok.errors import UserError
from optok.evaluation.score import bleu_tokenizer, score
from optok.files import read_json, write_lines

ENGLISH = ["The person has no date of birth.", 'Press "Add" to open it.', "No file.", "Sort by name", "Two names: a, b"]
TEXTS = {
    "de": [
        "Die Person hat kein Geburtsdatum.",
        "Zum Öffnen „Hinzufügen“ drücken.",
        "Keine Datei.",
        "Nach Namen",
        "Ä, ß",
    ],
    "zh": ["这个人没有出生日期。", "按“添加”打开。", "没有文件。", "按姓名排序", "两个名字:甲,乙"],
    "ja": [
        "この人物には生年月日がありません。",
        "「追加」を押して開きます。",
        "ファイルなし。",
        "名前順",
        "名前が二つ",
    ],
    "vi": [
        "Người này không có ngày sinh.",
        "Bấm “Thêm” để mở nó.",
        "Không có tập tin.",
        "Xếp theo tên",
        "Hai tên: a, b",
    ],
}
METRICS = {"bleu": ["-m", "bleu"], "chrf": ["-m", "chrf"], "chrfpp": ["-m", "chrf", "--chrf-word-order", "2"]}


def corpus_of(folder: Path, language: str, hypotheses: list[str]) -> Path:
    """A folder with a test set, tokenizers and hypotheses; each text several times, with another ending."""
    corpus = folder / "corpus"
    numbered = [[f"{line} {number}" for number in range(4) for line in side] for side in (ENGLISH, TEXTS[language])]
    write_lines(corpus / "test.en", numbered[0])
    write_lines(corpus / f"test.{language}", numbered[1])
    write_lines(folder / "hypotheses.txt", hypotheses)
    for side, text in zip(("source", "target"), numbered, strict=True):
        lines = folder / f"{side}.txt"
        write_lines(lines, text)
        sentencepiece.SentencePieceTrainer.train(
            input=str(lines), model_prefix=str(folder / side), vocab_size=400, hard_vocab_limit=False, minloglevel=2
        )
    return corpus


def noisy(language: str) -> list[str]:
    """Hypotheses that share much with the references: words or characters lost, swapped, doubled; one is empty."""
    draw = random.Random(1)
    made = []
    for number in range(4):
        for line in TEXTS[language]:
            units = list(line) if " " not in line else line.split(" ")
            for _ in range(draw.randint(0, 2)):
                position = draw.randrange(len(units))
                units[position] = draw.choice(["", units[position] * 2, units[0], "\u2028"])
            made.append(("" if " " not in line else " ").join(units) + f" {number}")
    made[7] = ""
    return made


def command_line(folder: Path, language: str, options: list[str]) -> dict:
    """sacreBLEU's own verdict, in full precision."""
    arguments = [str(folder / "corpus" / f"test.{language}"), "-i", str(folder / "hypotheses.txt")]
    command = [sys.executable, "-m", "sacrebleu", *arguments, *options, "-w", "12", "-f", "json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("language", TEXTS)
def test_scores_and_signatures_are_those_of_sacrebleus_command_line(tmp_path: Path, language: str):
    corpus = corpus_of(tmp_path, language, noisy(language))
    scores = score(tmp_path / "hypotheses.txt", corpus, f"en-{language}", tmp_path, tmp_path / "scores.json")
    for name, options in METRICS.items():
        tokenizer = ["-tok", bleu_tokenizer(language)] if name == "bleu" else []
        theirs = command_line(tmp_path, language, [*options, *tokenizer])
        assert scores[name] == pytest.approx(theirs["score"], abs=1e-9)
        assert scores["signatures"][name] == theirs["signature"]
        assert 0 < scores[name] < 100
    assert scores["empty"] == 1
    assert scores["sentences"] == 20
    assert read_json(tmp_path / "scores.json") == scores


@pytest.mark.parametrize(
    ("language", "tokenizer"),
    [("zh", "zh"), ("zh_CN", "zh"), ("zh_Hant_TW", "zh"), ("ja", "ja-mecab"), ("ja_JP", "ja-mecab"), ("vi", "13a")],
)
def test_the_tokenizer_follows_the_target_language(language: str, tokenizer: str):
    assert bleu_tokenizer(language) == tokenizer


def test_the_references_themselves_score_100_and_copies_of_the_source_are_told(tmp_path: Path):
    corpus = corpus_of(tmp_path, "ja", [f"{line} {number}" for number in range(4) for line in TEXTS["ja"]])
    scores = score(tmp_path / "hypotheses.txt", corpus, "en-ja", tmp_path, tmp_path / "scores.json")
    assert scores["bleu"] == pytest.approx(100)
    assert scores["chrf"] == pytest.approx(100)
    assert scores["ter"] == 0
    assert scores["bleu_copy"] < 50


def test_nothing_translated_scores_zero_like_sacrebleu_and_is_counted(tmp_path: Path):
    corpus = corpus_of(tmp_path, "de", [""] * 20)
    scores = score(tmp_path / "hypotheses.txt", corpus, "en-de", tmp_path, tmp_path / "scores.json")
    assert scores["bleu"] == command_line(tmp_path, "de", METRICS["bleu"])["score"] == 0
    assert scores["chrf"] == command_line(tmp_path, "de", METRICS["chrf"])["score"] == 0
    assert scores["empty"] == 20


def test_tokens_are_those_of_the_translators_tokenizers(tmp_path: Path):
    corpus = corpus_of(tmp_path, "vi", noisy("vi"))
    scores = score(tmp_path / "hypotheses.txt", corpus, "en-vi", tmp_path, tmp_path / "scores.json")
    tokens = {}
    for side, language in (("source", "en"), ("target", "vi")):
        processor = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / f"{side}.model"))
        lines = (corpus / f"test.{language}").read_text(encoding="utf-8").splitlines()
        tokens[side] = sum(len(processor.encode(line)) for line in lines)
        assert scores[f"tokens_{side}"] == tokens[side] / 20
    assert scores["tokens_per_sentence"] == (tokens["source"] + tokens["target"]) / 40


@pytest.mark.parametrize(
    ("hypotheses", "fault"),
    [
        (["one line"], "hypotheses.txt: 1 lines, but the test set has 20: translate the whole test again"),
        ([], "hypotheses.txt: 0 lines, but the test set has 20"),
        (["x"] * 21, "hypotheses.txt: 21 lines, but the test set has 20"),
        (["x"] * 19 + ["▁Die ▁Person"], "hypotheses.txt: line 20 holds '▁', a joint of subword pieces"),
        (["Per@@ son"] + ["x"] * 19, "hypotheses.txt: line 1 holds '@@ '"),
    ],
)
def test_what_cannot_be_scored_is_one_clear_line(tmp_path: Path, hypotheses: list[str], fault: str):
    corpus = corpus_of(tmp_path, "de", hypotheses)
    with pytest.raises(UserError) as caught:
        score(tmp_path / "hypotheses.txt", corpus, "en-de", tmp_path, tmp_path / "scores.json")
    assert fault in str(caught.value)
    assert not (tmp_path / "scores.json").exists()


def test_an_empty_test_set_is_an_error(tmp_path: Path):
    corpus = corpus_of(tmp_path, "de", [])
    for language in ("en", "de"):
        write_lines(corpus / f"test.{language}", [])
    with pytest.raises(UserError, match="there is nothing to score"):
        score(tmp_path / "hypotheses.txt", corpus, "en-de", tmp_path, tmp_path / "scores.json")
