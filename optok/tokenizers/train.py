"""The stage `tokenizer`: SentencePiece baselines from a corpus's training text, one model per language."""

from __future__ import annotations

import hashlib
import io
import random
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import sentencepiece

from optok.config import Tokenizer, language_code
from optok.corpora.store import read_report, read_split
from optok.errors import UserError, nearest
from optok.files import write_bytes, write_json

RESERVED: dict[str, Any] = {"unk_id": 0, "bos_id": 1, "eos_id": 2, "pad_id": 3}
"""Ids that are the same in every model: `<unk>`, `<s>`, `</s>`, `<pad>`."""

LONGEST_LINE = 4192
"""Bytes of UTF-8; SentencePiece's own limit. Longer lines are left out here, where they are counted."""

BOUNDARY = "\u2585"
"""SentencePiece's trainer marks boundaries with this character, so it leaves out lines that hold it."""

Value = TypeVar("Value")


def train_tokenizer(
    settings: Tokenizer, language: str, corpus: Path, output: Path, seed_of_sample: int = 1
) -> dict[str, Any]:
    """Trains on `corpus/train.parquet`, writes `output/<language code>.model` and `.json`, returns the latter.

    language: a tag of the corpus or its code. The model is a function of text, settings and seed_of_sample,
    to the byte: SentencePiece runs with the settings' number of threads, never the machine's.
    Raises `UserError` where the text is unfit, or has too few pieces or too many characters for the size.
    """
    code = language_code(language)
    report = read_report(corpus)
    train = read_split(corpus, "train")
    codes = [column for column in train.columns if column != "line"]
    if code not in codes:
        raise UserError(f"corpus {report['corpus']} has no language {language!r}: {nearest(code, codes)}")
    size, coverage = for_language(settings.size, language), for_language(settings.coverage, language)
    where = f"corpus {report['corpus']}, language {language}"
    lines, counts = usable_lines(train[code].to_list(), where)
    sample = lines
    if len(lines) > settings.max_sentences:
        draw = random.Random(f"tokenizer sample {seed_of_sample}")
        sample = [lines[row] for row in sorted(draw.sample(range(len(lines)), settings.max_sentences))]
    start = time.perf_counter()
    model = train_model(settings, size, coverage, sample, where)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    result = {
        "corpus": report["corpus"],
        "corpus_digest": report["digest"],
        "language": report["languages"][code],
        "kind": settings.kind,
        "size": size,
        "pieces": processor.get_piece_size(),
        "soft_limit": settings.soft_limit,
        "coverage": coverage,
        "normalizer": settings.normalizer,
        "byte_fallback": settings.byte_fallback,
        "threads": settings.threads,
        **counts,
        "sentences": len(sample),
        "sample_seed": seed_of_sample if len(sample) < len(lines) else None,
        "normalized_lines": sum(processor.normalize(line) != unnormalized(line) for line in sample),
        "seconds": round(time.perf_counter() - start, 3),
        "sha256": hashlib.sha256(model).hexdigest(),
    }
    write_bytes(output / f"{code}.model", model)
    write_json(output / f"{code}.json", result)
    return result


def for_language(values: Mapping[str, Value], language: str) -> Value:
    """A setting's value for a language, given as its tag or its code; else the default."""
    by_code = {language_code(name): value for name, value in values.items()}
    if language_code(language) not in by_code and "default" not in by_code:
        raise UserError(f"the tokenizer's settings name no value for {language!r} and no default")
    return by_code.get(language_code(language), by_code.get("default"))  # type: ignore[return-value]


def usable_lines(texts: Sequence[str], where: str) -> tuple[list[str], dict[str, int]]:
    """The lines that SentencePiece can learn from, and how many it cannot, by reason.

    Raises `UserError` where none is left, with the reasons and the first line of each.
    """
    reasons = {
        "empty_lines": lambda text: not text.strip(),
        "too_long_lines": lambda text: len(text.encode()) > LONGEST_LINE,
        "boundary_lines": lambda text: BOUNDARY in text,
    }
    unfit: dict[str, list[int]] = {reason: [] for reason in reasons}
    lines = []
    for number, text in enumerate(texts, start=1):
        reason = next((name for name, applies in reasons.items() if applies(text)), None)
        if reason is None:
            lines.append(text)
        else:
            unfit[reason].append(number)
    if not lines:
        empty, long, boundary = unfit.values()
        raise UserError(
            f"{where}: no line of the training text can teach a tokenizer: of {len(texts)}, {len(empty)} are empty"
            f"{_first(empty)}, {len(long)} are longer than {LONGEST_LINE} bytes{_first(long)}, "
            f"{len(boundary)} hold U+2585{_first(boundary)}"
        )
    return lines, {reason: len(numbers) for reason, numbers in unfit.items()}


def train_model(settings: Tokenizer, size: int, coverage: float, lines: Sequence[str], where: str) -> bytes:
    """A SentencePiece model as bytes; `where` (corpus and language) begins every error."""
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            model_type=settings.kind,
            vocab_size=size,
            hard_vocab_limit=not settings.soft_limit,
            character_coverage=coverage,
            normalization_rule_name=settings.normalizer,
            byte_fallback=settings.byte_fallback,
            num_threads=settings.threads,
            max_sentence_length=LONGEST_LINE,
            minloglevel=2,
            **RESERVED,
        )
    except RuntimeError as error:
        raise _explained(str(error), size, coverage, where) from None
    return model.getvalue()


def unnormalized(line: str) -> str:
    """What SentencePiece segments where its normalizer changes nothing but the marks of blanks."""
    return "▁" + line.replace(" ", "▁")


def _explained(message: str, size: int, coverage: float, where: str) -> UserError:
    if (high := re.search(r"Vocabulary size too high \(\d+\).*value <= (\d+)", message)) is not None:
        return UserError(
            f"{where}: a vocabulary of {size} is more than the text supports, at most {high[1]}: lower the "
            "tokenizer's 'size', for this language alone if you like, or set 'soft_limit: true' to take what there is"
        )
    if (low := re.search(r"smaller than required_chars\. \d+ vs (\d+)", message)) is not None:
        return UserError(
            f"{where}: a vocabulary of {size} has no room for the text's characters and the reserved pieces, "
            f"{low[1]} at coverage {coverage}: raise the tokenizer's 'size' or lower its 'coverage'"
        )
    return UserError(f"{where}: SentencePiece could not train a vocabulary of {size}: {message}")


def _first(numbers: Sequence[int]) -> str:
    return f" (first: line {numbers[0]})" if numbers else ""
