"""Sections about the comparison itself: what was compared, the table, and the two kinds of plots."""

from __future__ import annotations

from typing import Any

import polars as pl

from optok import plan
from optok.evaluation.table import grid, heading, signatures
from optok.reporting.gathering import Results
from optok.reporting.marks import Mark, marks

TOKENS = "tokens per sentence"
UPDATES = "update"
SPANS = (1.0, 2.0)  # the least that a panel shows, of tokens and of BLEU
VALID_BLEU = "valid/bleu"
TRAIN_NLL = "train/nll"


def overview(results: Results) -> dict[str, Any]:
    """What was compared, in numbers and names."""
    done = results.table.filter(pl.col("status") == "ok").height
    pairs = {
        name: report.content.get("splits", {}).get("test", {}).get("pairs") for name, report in results.corpora.items()
    }
    return {
        "task": results.planned["task"],
        "directions": [direction for _, direction in results.directions],
        "systems": described_systems(results),
        "seeds": results.seeds,
        "runs": results.table.height,
        "done": done,
        "test_pairs": pairs,
        "decoding": results.planned["decoding"],
        "baseline": results.planned["baseline"],
    }


def described_systems(results: Results) -> list[tuple[Mark, str]]:
    """Each system's mark, and how its settings build it, in one line."""
    settings = results.planned["settings"].get("systems", {})
    return [(mark, described(settings.get(mark.system, {}))) for mark in marks(results.systems)]


def described(system: dict[str, Any]) -> str:
    """How a system is built, from its settings."""
    parts = [f"tokenizer {system['tokenizer']}"] if "tokenizer" in system else []
    if "base" in system:
        parts.append(f"starts from the finished {system['base']}")
    if "sampling" in system:
        parts.append(f"every sentence cut anew in every epoch (α = {system['sampling']['alpha']:g})")
    elif "tokenizer" in system:
        parts.append("every sentence cut once, the best way")
    if joint := system.get("joint"):
        sides = {"both": "both tokenizers learn", "source": "the source tokenizer learns"}
        learning = sides.get(joint["side"], "the target tokenizer learns")
        parts.append(f"{learning} with the translator ({joint['candidates']} candidates, μ = {joint['mu']:g})")
    if retokenize := system.get("retokenize"):
        parts.append(f"its source tokenizer learns anew for {retokenize['updates']} updates, the translator frozen")
    if restrict := system.get("restrict"):
        parts.append(f"the most probable {restrict['keep']:.0%} of its pieces stay")
    return "; ".join(parts)


def scores(results: Results) -> dict[str, Any]:
    """The wide table as `table.md` has it, and what a reader needs beside it."""
    table = results.table
    head, rows = grid(table)
    best = {(row[0], row[1]): [text.endswith("*") for text in row[2:]] for row in rows}
    failed = table.filter(pl.col("status") != "ok")
    return {
        "heading": heading(results.planned),
        "systems": head[2:],
        "rows": [
            {"corpus": row[0], "direction": row[1], "cells": list(zip(row[2:], best[row[0], row[1]], strict=True))}
            for row in rows
        ],
        "signatures": signatures(table, results.folder),
        "seeds": results.seeds,
        "failed": failed.to_dicts(),
        "copies": _copies(results),
        "oddities": _oddities(results),
    }


def _copies(results: Results) -> dict[str, float]:
    """The BLEU of the source text itself, by direction: a floor that depends on the text alone."""
    found = {}
    for run in results.runs:
        score = results.scores(run).get("bleu_copy")
        if isinstance(score, int | float):
            found[f"{run.corpus} {run.direction}"] = float(score)
    return found


def _oddities(results: Results) -> list[str]:
    """Empty hypotheses and ⁇ marks, where there are any."""
    found = []
    for run in results.runs:
        of = results.scores(run)
        for key, what in (("empty", "empty translations"), ("unknown_marks", "translations with an unknown mark ⁇")):
            if count := of.get(key):
                found.append(f"{run}: {count} of {of.get('sentences')} are {what}.")
    return found


def tokens_plot(results: Results) -> dict[str, Any]:
    """BLEU against tokens per sentence, a panel a direction, a point a run."""
    from optok.reporting.plots import Line, scatter

    panels = []
    for corpus, direction in results.directions:
        rows = results.rows(corpus, direction)
        lines = [Line(row["system"], [(row["tokens_per_sentence"], row["bleu"])], _name(results, row)) for row in rows]
        said = ", ".join(f"{_name(results, row)} {row['bleu']:.1f} at {row['tokens_per_sentence']:.1f}" for row in rows)
        label = f"{corpus} {direction}: BLEU against {TOKENS}. {said}"
        panels.append(
            _panel(
                corpus,
                direction,
                lines and scatter(lines, marks(results.systems), TOKENS, "BLEU", SPANS, label),
                "No run of this direction has scores.",
            )
        )
    return {"panels": panels, "marks": marks(results.systems)}


def learning_curves(results: Results) -> dict[str, Any]:
    """BLEU on the validation split and the training loss by update, a panel a direction, a curve a run."""
    drawn = {metric: _curves(results, metric) for metric in (VALID_BLEU, TRAIN_NLL)}
    return {
        "bleu": drawn[VALID_BLEU],
        "loss": drawn[TRAIN_NLL],
        "marks": marks(results.systems),
        "broken": {str(run): count for run, count in results.broken_lines.items()},
        "without": [
            system
            for system in results.systems
            if not any(results.curve(run, VALID_BLEU) for run in results.runs if run.system == system)
        ],
        "later": [name for name, system in _systems(results).items() if "retokenize" in system],
    }


def _curves(results: Results, metric: str) -> list[dict[str, Any]]:
    from optok.reporting.plots import Line, curves

    bleu = metric == VALID_BLEU
    panels = []
    for corpus, direction in results.directions:
        lines = []
        for run in results.runs:
            points = series(results, run, metric) if (run.corpus, run.direction) == (corpus, direction) else []
            if points:
                name = run.system + (f" seed {run.seed}" if len(results.seeds) > 1 else "")
                lines.append(Line(run.system, points, name))
        unit = "BLEU" if bleu else "nats per token"
        said = ", ".join(f"{line.name} ends at {line.points[-1][1]:.1f}" for line in lines)
        label = f"{corpus} {direction}: {'validation BLEU' if bleu else 'training loss'} by update. {said}"
        panels.append(
            _panel(
                corpus,
                direction,
                lines and curves(lines, marks(results.systems), UPDATES, unit, label, points=bleu),
                "No run of this direction has a log.",
            )
        )
    return panels


def series(results: Results, run: plan.Run, metric: str) -> list[tuple[float, float]]:
    """A metric by update; a run that starts from a finished one goes on where that one's translator was taken."""
    own = results.curve(run, metric)
    base = results.base(run)
    if not own or base is None:
        return [(float(update), value) for update, value in own]
    before = series(results, base, metric)
    best = results.record(base).get("best_update")
    start = [point for point in before if point[0] == best]
    offset = float(results.record(base).get("updates", 0))
    joined = [(offset, start[-1][1])] if start else []
    return joined + [(offset + update, value) for update, value in own]


def _systems(results: Results) -> dict[str, Any]:
    return results.planned["settings"].get("systems", {})


def _name(results: Results, row: dict[str, Any]) -> str:
    return row["system"] + (f" seed {row['seed']}" if len(results.seeds) > 1 else "")


def _panel(corpus: str, direction: str, svg: Any, reason: str) -> dict[str, Any]:
    return {"corpus": corpus, "direction": direction, "svg": svg or "", "reason": reason}
