"""The stage `score`: sacreBLEU's metrics on raw text, each with its signature.

BLEU's tokenizer follows the target language: `zh` for Chinese, `ja-mecab` for Japanese, `ko-mecab` for Korean where
it is installed, `13a` elsewhere (Post 2018, "A Call for Clarity in Reporting BLEU Scores").
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import sentencepiece
from sacrebleu.metrics import BLEU, CHRF, TER

from optok.errors import UserError
from optok.files import read_json, read_lines, sha256_of, write_json
from optok.plan import languages

FORMAT = 1
JOINTS = ("▁", "@@ ")  # of SentencePiece and of subword-nmt
ASIAN = ("zh", "ja")


def bleu_tokenizer(language_code: str) -> str:
    """sacreBLEU's tokenizer for a target language code, e.g. `zh_CN`."""
    language = language_code.partition("_")[0]
    if language == "zh":
        return "zh"
    if language == "ja":
        return "ja-mecab"
    return "ko-mecab" if language == "ko" and find_spec("mecab_ko") else "13a"


@lru_cache(maxsize=4)
def _bleu_metric(language_code: str) -> BLEU:
    return BLEU(tokenize=bleu_tokenizer(language_code))


def bleu(hypotheses: list[str], references: list[str], language_code: str) -> float:
    """Corpus BLEU (0 to 100) of raw lines; raises `UserError` where the counts differ."""
    _check(hypotheses, references, "the hypotheses")
    return float(_bleu_metric(language_code).corpus_score(hypotheses, [references]).score)


def score(hypotheses: Path, corpus: Path, direction: str, translator: Path, output: Path) -> dict[str, Any]:
    """Scores a file of hypotheses against the corpus's test set; writes and returns `scores.json`.

    translator: its `source.model` and `target.model` tell how many tokens a test sentence has. `tokens_per_sentence`
    is the mean over both sides: (source tokens + reference tokens) / (2 × pairs), best paths. `run_hash` and
    `hypotheses_sha256` say what was scored: a table leaves out scores of what has changed since.
    """
    source_code, target_code = languages(direction)
    lines, sources, references = (
        read_lines(path) for path in (hypotheses, corpus / f"test.{source_code}", corpus / f"test.{target_code}")
    )
    _check(lines, references, str(hypotheses))
    _check_joints(lines, hypotheses)
    asian = target_code.partition("_")[0] in ASIAN
    metrics = {
        "bleu": BLEU(tokenize=bleu_tokenizer(target_code)),
        "chrf": CHRF(),
        "chrfpp": CHRF(word_order=2),
        "ter": TER(asian_support=asian, normalized=asian),
    }
    scores = {name: float(metric.corpus_score(lines, [references]).score) for name, metric in metrics.items()}
    tokens = {
        "source": tokens_in(translator / "source.model", sources),
        "target": tokens_in(translator / "target.model", references),
    }
    result = {
        "format": FORMAT,
        "run_hash": _run_hash(translator),
        "hypotheses_sha256": sha256_of(hypotheses),
        **scores,
        "signatures": {name: str(metric.get_signature()) for name, metric in metrics.items()},
        "bleu_copy": bleu(sources, references, target_code),
        "sentences": len(lines),
        "empty": sum(not line.strip() for line in lines),
        "unknown_marks": sum("⁇" in line for line in lines),
        "tokens_source": tokens["source"] / len(lines),
        "tokens_target": tokens["target"] / len(lines),
        "tokens_per_sentence": (tokens["source"] + tokens["target"]) / (2 * len(lines)),
    }
    write_json(output, result)
    return result


def tokens_in(model: Path, lines: list[str]) -> int:
    """Tokens of some lines on SentencePiece's best paths."""
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    return sum(map(len, processor.encode(lines)))


def _run_hash(translator: Path) -> str | None:
    """Of the run that the translator is of; a folder by itself has none."""
    record = translator.parent / "run.json"
    return read_json(record).get("hash") if record.exists() else None


def _check(hypotheses: list[str], references: list[str], where: str) -> None:
    if len(hypotheses) != len(references):
        raise UserError(
            f"{where}: {len(hypotheses)} lines, but the test set has {len(references)}: translate the whole test again"
        )
    if not references:
        raise UserError(f"{where}: there is nothing to score")


def _check_joints(lines: list[str], path: Path) -> None:
    for number, line in enumerate(lines, start=1):
        for joint in JOINTS:
            if joint in line:
                raise UserError(
                    f"{path}: line {number} holds {joint!r}, a joint of subword pieces: score detokenised text only"
                )
