"""Sections about what the systems were made from: tokenizers, and corpora with their cleaning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from optok import plan
from optok.errors import UserError
from optok.files import read_lines
from optok.reporting.gathering import Results

EXAMPLES = 6  # words that a learned tokenizer cuts differently, for each direction and side
LONGEST = 24  # characters of such a word
NEAR = {"same_template": 0.01, "trigrams_seen": 0.25}  # shares from which the page warns


def tokenizers(results: Results) -> dict[str, Any]:
    """The baselines, what each run uses, and what learning changed."""
    rows = []
    for corpus, direction in results.directions:
        for system in results.systems:
            run = plan.Run(corpus, direction, system, results.seeds[0])
            record, of = results.record(run), results.scores(run)
            if not record:
                continue
            sides = record.get("tokenizers", {})
            rows.append(
                {
                    "corpus": corpus,
                    "direction": direction,
                    "system": system,
                    "pieces": [sides.get(side, {}).get("pieces") for side in ("source", "target")],
                    "before": [sides.get(side, {}).get("pieces_before") for side in ("source", "target")],
                    "learned": [side for side in ("source", "target") if sides.get(side, {}).get("learned")],
                    "tokens": [of.get(f"tokens_{side}") for side in ("source", "target")],
                    "kl": [_last(results, run, f"joint/kl_{side}") for side in ("source", "target")],
                }
            )
    return {"baselines": results.tokenizers, "rows": rows, "learned": learned(results), "seed": results.seeds[0]}


def _last(results: Results, run: plan.Run, metric: str) -> float | None:
    curve = results.curve(run, metric)
    return curve[-1][1] if curve else None


def learned(results: Results) -> list[dict[str, Any]]:
    """Each learned tokenizer of the first seed against the one that it started from, on the test text."""
    settings = results.planned["settings"].get("systems", {})
    found = []
    for run in results.runs:
        sides = results.record(run).get("tokenizers", {})
        first = _tokenizer_at_the_start(settings, run.system)
        if run.seed != results.seeds[0] or first is None or "restrict" in settings[run.system]:
            continue
        for side, language in zip(("source", "target"), plan.languages(run.direction), strict=True):
            if not sides.get(side, {}).get("learned"):
                continue
            before = results.folder / run.corpus / "tokenizers" / first / f"{language}.model"
            after = results.folder / run.folder / "translator" / f"{side}.model"
            text = results.folder / run.corpus / "corpus" / f"test.{language}"
            if change := changed_words(before, after, text):
                found.append({"run": run, "side": side, "language": language, **change})
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
        "steps": [(step, [by_step[name].get(step) for name in reports]) for step in steps],
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
