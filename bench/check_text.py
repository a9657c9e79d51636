"""The engine against stock SentencePiece on any text: `make check-text TEXT=file.tsv[.xz]`.

Every column of a table (with a header line), or a plain text file as one, is segmented by models trained on it: in
several sizes (the large ones trained on all columns together), with every option that changes how text is cut, unigram
and BPE. Compared are the normalised text, the best path, the N best, models written with other scores, and
tokenizer.json. Ends with exit code 1 where something differs; what is exempt (SentencePiece's own search was cut short,
ties of scores in tokenizer.json) is listed.
"""

from __future__ import annotations

import argparse
import lzma
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece

from optok.errors import UserError, nearest
from optok.files import decode_lines
from optok.lattice import Merges, Vocabulary, sample
from optok.tokenizers.equality import compare_nbest, differing_best_paths, differing_normalization
from optok.tokenizers.model_file import check_model, write_scores
from optok.tokenizers.tokenizer_json import write_tokenizer_json

SYMBOLS = ["<x>", "(", "e", "en", "1", "。", "的", "▁a"]
MODELS: dict[str, dict[str, Any]] = {
    "unigram 1k": {"vocab_size": 1_000},
    "unigram 4k": {"vocab_size": 4_000},
    "unigram 8k": {"vocab_size": 8_000},
    "unigram 32k": {"vocab_size": 32_000},
    "byte fallback": {"byte_fallback": True, "character_coverage": 0.99},
    "characters unknown": {"character_coverage": 0.98},
    "user-defined symbols": {"user_defined_symbols": SYMBOLS},
    "nfkc": {"normalization_rule_name": "nfkc"},
    "identity": {"normalization_rule_name": "identity"},
    "nmt_nfkc_cf": {"normalization_rule_name": "nmt_nfkc_cf"},
    "split digits": {"split_digits": True},
    "no dummy prefix": {"add_dummy_prefix": False},
    "bpe 1k": {"model_type": "bpe", "vocab_size": 1_000},
    "bpe 8k": {"model_type": "bpe", "vocab_size": 8_000},
    "bpe byte fallback": {"model_type": "bpe", "byte_fallback": True, "character_coverage": 0.99},
}
ON_ALL_COLUMNS = ["unigram 8k", "unigram 32k", "bpe 8k"]  # one column alone has too few different words for them
LONGEST = {"unigram": 1 << 20, "bpe": 65_535}  # bytes of a line to train on; the BPE trainer aborts beyond
NBEST = {3: 10_000, 64: 1_000}  # N: on about that many lines, spread over the text


@dataclass
class Findings:
    """Differences by what was compared, as texts from 0; `exempt` likewise."""

    differing: dict[str, list[int]] = field(default_factory=dict)
    exempt: dict[str, list[int]] = field(default_factory=dict)


def columns_of(path: Path) -> dict[str, list[str]]:
    """The columns of a table by name, or a text's lines under `text`. Raises `UserError` for what is neither."""
    try:
        content = path.read_bytes()
        content = lzma.decompress(content) if path.suffix == ".xz" else content
    except (OSError, lzma.LZMAError) as error:
        raise UserError(f"{path}: {getattr(error, 'strerror', None) or error}: give a .tsv or a text file") from None
    lines = decode_lines(content, str(path))
    if ".tsv" not in path.suffixes:
        return {"text": lines}
    rows = [line.split("\t") for line in lines]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise UserError(f"{path}: line {number} has {len(row)} columns, the header names {len(rows[0])}")
    return {name: [row[place] for row in rows[1:]] for place, name in enumerate(rows[0] if rows else [])}


def trained(texts: list[str], options: dict[str, Any], prefix: Path) -> Path:
    """A model; of a text that does not support the size, the largest that it does."""
    settings = {"model_type": "unigram", "vocab_size": 2_000, "num_threads": 1, "minloglevel": 2} | options
    settings |= {"hard_vocab_limit": False, "max_sentence_length": LONGEST[settings["model_type"]]}
    while True:
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter([text for text in texts if text.strip() and "\x00" not in text]),
                model_prefix=str(prefix),
                **settings,
            )
            return prefix.with_suffix(".model")
        except RuntimeError as error:
            message = str(error)
            if "smaller than required_chars" in message:  # more characters than pieces
                settings["vocab_size"] *= 2
            elif "value <=" in message:  # of a BPE model
                settings["vocab_size"] = int(message.split("value <=")[1].split(".")[0])
            else:
                raise UserError(f"SentencePiece trains no model on this text: {message}") from None


def check_unigram(model: Path, texts: list[str]) -> Findings:
    vocabulary, processor = Vocabulary.load(model), sentencepiece.SentencePieceProcessor(model_file=str(model))
    found = Findings()
    found.differing["normalised"] = differing_normalization(vocabulary, processor, texts)
    found.differing["best path"] = differing_best_paths(vocabulary, processor, texts)
    for n, lines in NBEST.items():
        step = max(1, len(texts) // lines)
        compared = compare_nbest(vocabulary, processor, texts[::step], n)
        found.differing[f"{n} best"] = [step * row for row in compared.differing]
        found.exempt[f"{n} best, SentencePiece's search cut short"] = [step * row for row in compared.cut]
        found.exempt[f"{n} best, within float32 rounding"] = [step * row for row in compared.rounded]
    lattices = vocabulary.lattices(texts)
    one, many = (
        sample(lattices, vocabulary.scores, 0.3, 1, 1, range(len(texts)), threads=threads).to_lists()
        for threads in (1, 8)
    )
    found.differing["draws on 1 and 8 threads"] = [row for row in range(len(texts)) if one[row] != many[row]]
    with tempfile.TemporaryDirectory() as folder:
        changed = Path(folder) / "changed.model"
        scores = vocabulary.scores.copy()
        draw = np.random.default_rng(1)
        scores[vocabulary.normal] += draw.normal(0, 1, int(vocabulary.normal.sum())).astype(np.float32)
        scores[
            draw.choice(np.flatnonzero(vocabulary.normal), int(vocabulary.normal.sum()) // 10, replace=False)
        ] = -np.inf
        write_scores(model, scores, changed)
        try:
            check_model(changed, texts, vocabulary.checked(scores))
            found.exempt["tokenizer.json, tie"] = write_tokenizer_json(model, Path(folder) / "t.json", texts).ties
        except UserError as error:
            print(f"    {error}")
            found.differing["written files"] = [0]
    return found


def check_bpe(model: Path, texts: list[str]) -> Findings:
    merges, processor = Merges.load(model), sentencepiece.SentencePieceProcessor(model_file=str(model))
    ours = {
        "encode": merges.encode(texts),
        "dropout 0": merges.dropout(texts, 0.0, 1, 1, range(len(texts))),
    }
    theirs = processor.encode(texts, num_threads=1)
    differing = {
        name: [row for row, (one, other) in enumerate(zip(paths.to_lists(), theirs, strict=True)) if one != other]
        for name, paths in ours.items()
    }
    differing["normalised"] = differing_normalization(merges, processor, texts)
    return Findings(differing)


def _chosen(named: str | None, allowed: Iterable[str]) -> list[str]:
    names = named.split(",") if named else list(allowed)
    for name in names:
        if name not in allowed:
            raise UserError(f"there is no {name!r}: {nearest(name, allowed)}")
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description="The engine against stock SentencePiece on any text.")
    parser.add_argument("text", type=Path, help="a .tsv with a header line, or plain text; .xz too")
    parser.add_argument("--columns", help="of a table, comma-separated; default: all")
    parser.add_argument("--models", help=f"comma-separated, of: {', '.join(MODELS)}; default: all")
    arguments = parser.parse_args()
    columns = columns_of(arguments.text)
    chosen = _chosen(arguments.columns, columns)
    models = _chosen(arguments.models, MODELS)
    every = [text for column in chosen for text in columns[column]]
    wrong = compared = 0
    with tempfile.TemporaryDirectory() as folder:
        for place, column in enumerate(chosen):
            for name in models:
                together = name in ON_ALL_COLUMNS
                model = Path(folder) / f"{'all' if together else place} {name}.model"
                texts = columns[column]
                began = time.perf_counter()
                try:
                    if not model.exists():
                        trained(every if together else texts, MODELS[name], model.with_suffix(""))
                except UserError as error:
                    print(f"{column}: {name}: {error}", flush=True)
                    continue
                found = (check_bpe if MODELS[name].get("model_type") == "bpe" else check_unigram)(model, texts)
                compared += len(texts)
                wrong += _shown(found, f"{column}: {name}: {_size(model)} pieces, {len(texts)} lines", began)
    if not compared:
        raise UserError(f"{arguments.text}: nothing to compare: give a text from which SentencePiece can train a model")
    sys.exit(1 if wrong else 0)


def _size(model: Path) -> int:
    return int(sentencepiece.SentencePieceProcessor(model_file=str(model)).get_piece_size())


def _shown(found: Findings, what: str, began: float) -> int:
    """Prints a verdict, and the lines from 1 of what differs or is exempt; returns how many differ."""
    wrong = sum(map(len, found.differing.values()))
    print(f"{what}: {'DIFFERENT' if wrong else 'equal'} ({time.perf_counter() - began:.0f} s)", flush=True)
    for name, rows in [*found.differing.items(), *found.exempt.items()]:
        if rows:
            print(f"    {name}: {len(rows)} lines: {', '.join(str(row + 1) for row in rows)}", flush=True)
    return wrong


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(f"check-text: error: {error}")
