"""A results folder as the stages leave it, without training: for pages of any size and state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from optok.config import validate
from optok.files import sha256_of, write_json, write_text
from optok.plan import Run, report_settings
from optok.reporting.gathering import Results

SYSTEMS = {
    "unigram": {"tokenizer": "unigram"},
    "unigram-sampled": {"tokenizer": "unigram", "sampling": {"alpha": 0.5}},
    "optok": {"tokenizer": "unigram", "sampling": {"alpha": 0.5}, "joint": {}},
    "optok-post": {"base": "unigram-sampled", "retokenize": {"updates": 100}},
    "optok-restricted": {"base": "optok", "restrict": {"keep": 0.75}},
}


def planned(systems: list[str], seeds: list[int], corpora: int = 1) -> dict[str, Any]:
    """What `optok report` reads, for `corpora` language pairs in both directions."""
    languages = ["de", "vi", "zh", "ja"][:corpora]
    settings = {
        "corpora": {
            f"gramps-{code}": {
                "source": "gettext",
                "languages": ["en", code],
                "directions": [f"en-{code}", f"{code}-en"],
            }
            for code in languages
        },
        "tokenizers": {"unigram": {"kind": "unigram", "size": 2000}},
        "systems": {name: SYSTEMS[name] for name in systems},
        "seeds": seeds,
    }
    return report_settings(validate(settings), ["config/config.yaml"])


def make(folder: Path, systems: list[str], seeds: list[int], corpora: int = 1, updates: int = 200) -> Results:
    """Every run is done; run number n of a direction has a BLEU of 20 + n."""
    results = Results(folder, planned(systems, seeds, corpora))
    for number, run in enumerate(results.runs):
        finish(results, run, 20 + number % (len(systems) * len(seeds)), updates)
    for corpus in results.planned["corpora"]:
        write_json(folder / corpus / "corpus" / "report.json", corpus_report(corpus))
    write_text(folder / "benchmarks" / "train" / "seed1.tsv", f"s\th:m:s\tmax_rss\n61.5\t0:01:01\t{700.5}\n")
    return results


def finish(results: Results, run: Run, bleu: float, updates: int) -> None:
    folder = results.folder / run.folder
    scores = {"bleu": bleu, "chrf": bleu + 20, "chrfpp": bleu + 15, "ter": 70.0}
    signatures = {"bleu": "nrefs:1|tok:13a", "chrf": "nrefs:1|nc:6", "chrfpp": "c", "ter": "t"}
    tokens = {"tokens_source": 11.5, "tokens_target": 12.5, "tokens_per_sentence": 12.0}
    counts = {"bleu_copy": 3.21, "sentences": 250, "empty": 0, "unknown_marks": 0}
    write_text(folder / "hypotheses.txt", "ein Satz\n")
    of = {"run_hash": "0123456789abcdef", "hypotheses_sha256": sha256_of(folder / "hypotheses.txt")}
    write_json(folder / "scores.json", {"format": 1, **of, **scores, "signatures": signatures, **tokens, **counts})
    side = {"kind": "unigram", "pieces": 2000, "pieces_before": 2000, "learned": run.system == "optok"}
    record = {"updates": updates, "best_update": updates, "train_seconds": 61.5, "hash": "0123456789abcdef"}
    made = {"versions": {"python": "3.11.7"}, "machine": {"system": "Linux"}, "device": "cpu", "threads": 1}
    write_json(folder / "run.json", {"format": 1, "tokenizers": {"source": side, "target": side}, **record, **made})
    if "restrict" not in SYSTEMS[run.system]:
        write_text(folder / "log.jsonl", "".join(map(log_line, range(1, updates + 1))))


def log_line(update: int) -> str:
    metrics = {"train/nll": 8 / update**0.2, "train/loss": 8.5, "valid/bleu": 20 * (1 - 1 / update)}
    return json.dumps({"update": update, "time": 1.5, "metrics": metrics}) + "\n"


def corpus_report(name: str) -> dict[str, Any]:
    code = name.rpartition("-")[2]
    sides = {language: {"characters": 50.5, "words": 7.8, "empty": 0} for language in ("en", code)}
    return {
        "corpus": name,
        "licence": "GPL-2.0-or-later",
        "archive": {"title": "Messages", "home": "https://gramps-project.org", "file": "gramps.whl", "sha256": "56f0"},
        "read": {"all": 7244},
        "steps": [
            {"step": "untranslated", "dropped": 297, "left": 6947},
            {"step": "blanks", "changed": 385, "dropped": 0},
        ],
        "splits": {split: {"pairs": 250, **sides} for split in ("train", "valid", "test")},
        "contamination": {"test": {"en": 0, code: 0, "pairs": 0}},
        "near_duplicates": {language: {"same_template": 0.064, "trigrams_seen": 0.3944} for language in ("en", code)},
        "digest": "5440b6a5",
    }
