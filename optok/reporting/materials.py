"""Sections about what the systems were made from: tokenizers, and corpora with their cleaning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from optok import plan
from optok.errors import UserError
from optok.files import read_lines
from optok.reporting.gathering import Results

SIDES = ("source", "target")
EXAMPLES = 5  # words that a learned tokenizer cuts differently, for each direction and side
LONGEST = 24  # characters of such a word
NEAR = {"same_template": 0.01, "trigrams_seen": 0.25}  # shares from which the page warns


STEPS = {
    "untranslated": "messages without a translation",
    "blanks": "blanks and line breaks made single blanks",
    "access_keys": "marks of access keys removed",
    "placeholders": "placeholders differ between the sides",
    "empty": "a side is empty",
    "min_words": "too few words",
    "max_characters": "a side is too long",
    "duplicates": "the pair came before",
    "max_ratio": "lengths too unequal",
    "text_held_out": "text of a held-out group",
    "held_out_valid": "held out for validation",
    "held_out_test": "held out for the test",
}


def tokenizers(results: Results) -> dict[str, Any]:
    """Tokens and pieces of each system and direction, what learning changed, and the baselines."""
    return {
        "systems": results.systems,
        "tokens": _by_direction(results, _tokens),
        "pieces": _by_direction(results, _pieces),
        "learned": learned(results),
        "baselines": results.tokenizers,
        "seed": results.seeds[0],
        "longest": LONGEST,
    }


def _by_direction(results: Results, value: Callable[[Results, plan.Run, str], Any]) -> list[dict[str, Any]]:
    """A row a direction, for each system (source, target) of the first seed."""
    return [
        {
            "corpus": corpus,
            "direction": direction,
            "cells": [
                [value(results, plan.Run(corpus, direction, system, results.seeds[0]), side) for side in SIDES]
                for system in results.systems
            ],
        }
        for corpus, direction in results.directions
    ]


def _tokens(results: Results, run: plan.Run, side: str) -> float | None:
    return results.scores(run).get(f"tokens_{side}")


def _pieces(results: Results, run: plan.Run, side: str) -> int | None:
    return results.record(run).get("tokenizers", {}).get(side, {}).get("pieces")


def learned(results: Results) -> list[dict[str, Any]]:
    """Each learned tokenizer of the first seed against the one that it started from, on the test text."""
    settings = results.planned["settings"].get("systems", {})
    found = []
    for run in results.runs:
        sides = results.record(run).get("tokenizers", {})
        first = _tokenizer_at_the_start(settings, run.system)
        if run.seed != results.seeds[0] or first is None or "restrict" in settings[run.system]:
            continue
        for side, language in zip(SIDES, plan.languages(run.direction), strict=True):
            if not sides.get(side, {}).get("learned"):
                continue
            before = results.folder / run.corpus / "tokenizers" / first / f"{language}.model"
            after = results.folder / run.folder / "translator" / f"{side}.model"
            text = results.folder / run.corpus / "corpus" / f"test.{language}"
            if change := changed_words(before, after, text):
                divergence = [value for _, value in results.curve(run, f"joint/kl_{side}")][-1:]
                found.append({"run": run, "side": side, "language": language, "kl": divergence, **change})
    return found


def _tokenizer_at_the_start(settings: dict[str, Any], system: str) -> str | None:
    for _ in settings:
        if tokenizer := settings[system].get("tokenizer"):
            return str(tokenizer)
        system = settings[system]["base"]
    return None


def changed_words(before: Path, after: Path, text: Path) -> dict[str, Any] | None:
    """Words of a text, those that two tokenizers cut differently, and the most frequent of them; None without files."""
    from optok.tokenizers.comparing import TokenizerComparison

    try:
        comparison = TokenizerComparison(before, after)
        lines = read_lines(text)
    except (UserError, OSError):
        return None
    result = comparison.compare([lines])
    short = [change for change in comparison.changes(result, None) if len(change.word) <= LONGEST]
    return {
        "words": result.words,
        "changed": result.changed,
        "tokens": (result.tokens_before, result.tokens_after),
        "examples": short[:EXAMPLES],
    }


def corpora(results: Results) -> dict[str, Any]:
    """Reports of the corpora side by side: a column a corpus, a row a cleaning step."""
    reports = {name: report.content for name, report in results.corpora.items() if report.content}
    steps = list(dict.fromkeys(step["step"] for report in reports.values() for step in report.get("steps", [])))
    by_step = {name: {step["step"]: step for step in report.get("steps", [])} for name, report in reports.items()}
    return {
        "reports": reports,
        "steps": [(step, STEPS.get(step, ""), [by_step[name].get(step) for name in reports]) for step in steps],
        "unreadable": {name: report.reason for name, report in results.corpora.items() if report.reason},
        "near": near_duplicates(reports),
        "shared": shared_pairs(reports),
    }


def near_duplicates(reports: dict[str, Any]) -> list[dict[str, Any]]:
    """How near the test split is to the training text, a row a corpus and language."""
    return [
        {
            "corpus": name,
            "language": language,
            **measured,
            "warned": any(measured.get(measure, 0) >= share for measure, share in NEAR.items()),
        }
        for name, report in reports.items()
        for language, measured in report.get("near_duplicates", {}).items()
    ]


def shared_pairs(reports: dict[str, Any]) -> list[str]:
    """Corpora whose held-out splits hold pairs or sides that the training text has too."""
    return [
        f"{name}: {split} shares {counts.get('pairs')} pairs with train"
        for name, report in reports.items()
        for split, counts in report.get("contamination", {}).items()
        if counts.get("pairs")
    ]
