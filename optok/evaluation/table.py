"""The stage `table`: one row a run in `table.csv`, one row a direction in `table.md`."""

from __future__ import annotations

from pathlib import Path
from statistics import mean, stdev
from typing import Any

import polars as pl

from optok.errors import UserError
from optok.evaluation.score import FORMAT as SCORES_FORMAT
from optok.files import read_json, sha256_of, write_text
from optok.plan import RUN_FORMAT, Run, planned_runs

SCORES = ("bleu", "chrf", "chrfpp", "ter")
SHOWN = {"bleu": "BLEU", "chrf": "chrF2"}  # in the wide table
COLUMNS: dict[str, Any] = {
    "task": pl.String, "corpus": pl.String, "direction": pl.String, "system": pl.String, "seed": pl.Int64,
    **dict.fromkeys(SCORES, pl.Float64),
    "tokens_per_sentence": pl.Float64, "pieces_source": pl.Int64, "pieces_target": pl.Int64,
    "updates": pl.Int64, "train_seconds": pl.Float64, "signature": pl.String, "status": pl.String,
    "reason": pl.String,
}  # fmt: skip
STAGES = ("score", "translate", "export", "train", "retokenize", "restrict")  # the last one to fail comes first


def build_table(results: Path, planned: dict[str, Any]) -> pl.DataFrame:
    """Long form, one row a planned run (`optok.plan.table_settings`); a run without scores keeps its row."""
    rows = [_row(results, run, planned["task"]) for run in planned_runs(planned)]
    return pl.DataFrame(rows, schema=COLUMNS)


def _row(results: Path, run: Run, task: str) -> dict[str, Any]:
    folder = results / run.folder
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    row |= {"task": task, "corpus": run.corpus, "direction": run.direction, "system": run.system, "seed": run.seed}
    row |= {"status": "ok", "reason": ""}
    try:
        scores, record = (
            read_record(folder / "scores.json", SCORES_FORMAT),
            read_record(folder / "run.json", RUN_FORMAT),
        )
    except UserError as error:
        failed = _last_words(results, run)
        status = ("failed", failed) if failed else ("missing", str(error))
        return row | dict(zip(("status", "reason"), status, strict=True))
    try:
        if changed := _changed(folder, scores, record):
            reason = _last_words(results, run) or f"{changed} since it was scored: run `optok score` again"
            return row | {"status": "missing", "reason": reason}
        return row | _shown(scores, record)
    except (KeyError, TypeError) as error:
        reason = f"scores.json or run.json of {folder} is damaged ({error}): delete it and run its stage again"
        return row | {"status": "missing", "reason": reason}


def _changed(folder: Path, scores: dict[str, Any], record: dict[str, Any]) -> str | None:
    """What is no longer as it was when the run was scored."""
    if scores["run_hash"] != record["hash"]:
        return "the translator was made anew"
    hypotheses = folder / "hypotheses.txt"
    if not hypotheses.exists() or sha256_of(hypotheses) != scores["hypotheses_sha256"]:
        return "hypotheses.txt is gone or another"
    return None


def _shown(scores: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {name: round(scores[name], 4) for name in SCORES}
    row["tokens_per_sentence"] = round(scores["tokens_per_sentence"], 4)
    row["signature"] = scores["signatures"]["bleu"]
    for side in ("source", "target"):
        row[f"pieces_{side}"] = record["tokenizers"][side]["pieces"]
    return row | {"updates": record["updates"], "train_seconds": record["train_seconds"]}


def read_record(path: Path, number: int) -> dict[str, Any]:
    """A run's `run.json` or `scores.json`; raises `UserError` where it is missing or of another format."""
    content = read_json(path)
    if not isinstance(content, dict) or content.get("format") != number:
        raise UserError(f"{path} is of another format than {number}: delete it and run its stage again")
    return content


def _last_words(results: Path, run: Run) -> str | None:
    """The last line of the log of the stage that failed."""
    for stage in STAGES:
        path = (results / "logs" / stage / run.folder).with_suffix(".log")
        if path.exists():
            lines = [line for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
            if lines and "error" in lines[-1].lower():
                return f"{stage}: {lines[-1].strip()}"
    return None


def write_table(table: pl.DataFrame, results: Path, planned: dict[str, Any]) -> None:
    """`table.csv` and `table.md` in the results folder; one that says the same already keeps its time of writing."""
    contents = {
        "table.csv": table.write_csv(float_precision=4),
        "table.md": markdown(table, heading(planned), signatures(table, results)),
    }
    for name, content in contents.items():
        path = results / name
        if not path.exists() or path.read_bytes() != content.encode("utf-8"):
            write_text(path, content)


def heading(planned: dict[str, Any]) -> str:
    """What a table shows, and of which split and search: a score without them cannot be compared."""
    decoding = planned["decoding"]
    return (
        f"BLEU / chrF2 on the test split, beam {decoding['beam']}, length penalty {decoding['length_penalty']:g}; "
        "* marks the best BLEU of a direction"
    )


def signatures(table: pl.DataFrame, results: Path) -> list[str]:
    """sacreBLEU's signatures of what the table shows, each once, as its own command line writes them."""
    found: dict[str, None] = {}
    for row in table.filter(pl.col("status") == "ok").iter_rows(named=True):
        run = Run(row["corpus"], row["direction"], row["system"], row["seed"])
        signed = read_json(results / run.folder / "scores.json")["signatures"]
        found |= dict.fromkeys(f"{name}|{signed[key]}" for key, name in SHOWN.items())
    return sorted(found)


def cell(runs: pl.DataFrame) -> str:
    """BLEU / chrF2 of a direction and system: mean over seeds, ± standard deviation where there are several."""
    done = runs.filter(pl.col("status") == "ok")
    if done.is_empty():
        return " ".join(sorted(set(runs["status"])))
    shown = []
    for name in SHOWN:
        values = done[name].to_list()
        spread = f" ± {stdev(values):.1f}" if len(values) > 1 else ""
        shown.append(f"{mean(values):.1f}{spread}")
    missing = f" ({done.height} of {runs.height} seeds)" if done.height < runs.height else ""
    return " / ".join(shown) + missing


def grid(table: pl.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the wide table: a row a direction, a column a system, the best BLEU marked `*`."""
    systems = table["system"].unique(maintain_order=True).to_list()
    rows = []
    for (corpus, direction), runs in table.group_by(["corpus", "direction"], maintain_order=True):
        parts = {system: runs.filter(pl.col("system") == system) for system in systems}
        means = {system: part["bleu"].mean() for system, part in parts.items()}
        best = max((value for value in means.values() if isinstance(value, float)), default=None)
        cells = [
            cell(part) + ("*" if best is not None and means[system] == best else "") for system, part in parts.items()
        ]
        rows.append([str(corpus), str(direction), *cells])
    return ["corpus", "direction", *systems], rows


def markdown(table: pl.DataFrame, title: str, signed: list[str]) -> str:
    """The wide table under its heading and signatures, and why runs are not in it."""
    head, rows = grid(table)
    lines = [
        f"{title}. Signatures of sacreBLEU: {', '.join(f'`{signature}`' for signature in signed) or 'none yet'}.",
        "",
        *("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows]),
        "",
    ]
    bad = table.filter(pl.col("status") != "ok")
    lines += [
        f"- {row['corpus']} {row['direction']} {row['system']} seed {row['seed']}: {row['status']}, {row['reason']}"
        for row in bad.iter_rows(named=True)
    ]
    return "\n".join(lines) + "\n"
