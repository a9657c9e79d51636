"""What the report page is made from: the facts that a results folder holds, read once.

Any file may be missing, cut or of another shape (a run failed, a disk was full): what cannot be read is absent
here, with the reason where a reader needs it.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from optok.errors import UserError
from optok.evaluation.table import build_table
from optok.files import read_json
from optok.plan import Run, planned_runs
from optok.training import run_log

Point = tuple[int, float]  # update, value


@dataclass(frozen=True)
class Json:
    """A JSON file's object; empty where it could not be read, for that reason."""

    content: dict[str, Any]
    reason: str = ""


@dataclass(frozen=True)
class Stage:
    """What Snakemake measured of one stage's jobs."""

    name: str
    jobs: int
    seconds: float
    longest: float
    memory: float  # MiB, the job with the most


class Results:
    """A results folder and the benchmark planned for it (`optok.plan.report_settings`)."""

    def __init__(self, folder: Path, planned: dict[str, Any]) -> None:
        self.folder = folder
        self.planned = planned

    @cached_property
    def table(self) -> pl.DataFrame:
        return build_table(self.folder, self.planned)

    @cached_property
    def runs(self) -> list[Run]:
        return list(planned_runs(self.planned))

    @property
    def systems(self) -> list[str]:
        return self.planned["systems"]

    @property
    def seeds(self) -> list[int]:
        return self.planned["seeds"]

    @property
    def directions(self) -> list[tuple[str, str]]:
        """(corpus, direction), in the order of the settings."""
        return [(corpus, direction) for corpus, names in self.planned["corpora"].items() for direction in names]

    def rows(self, corpus: str, direction: str, status: str = "ok") -> list[dict[str, Any]]:
        """Rows of the table for one direction."""
        wanted = (pl.col("corpus") == corpus) & (pl.col("direction") == direction) & (pl.col("status") == status)
        return self.table.filter(wanted).to_dicts()

    def base(self, run: Run) -> Run | None:
        """The run that this one starts from, if it starts from one."""
        system = self.planned["settings"].get("systems", {}).get(run.system, {})
        return Run(run.corpus, run.direction, system["base"], run.seed) if "base" in system else None

    @cached_property
    def _records(self) -> dict[Run, Json]:
        return {run: read_object(self.folder / run.folder / "run.json") for run in self.runs}

    @cached_property
    def _scores(self) -> dict[Run, Json]:
        return {run: read_object(self.folder / run.folder / "scores.json") for run in self.runs}

    @cached_property
    def _logs(self) -> dict[Run, run_log.Read]:
        return {run: run_log.read(self.folder / run.folder / "log.jsonl") for run in self.runs}

    def record(self, run: Run) -> dict[str, Any]:
        """`run.json`, empty where it is missing."""
        return self._records[run].content

    def scores(self, run: Run) -> dict[str, Any]:
        """`scores.json`, empty where it is missing."""
        return self._scores[run].content

    def curve(self, run: Run, metric: str) -> list[Point]:
        """A metric of the run log by update."""
        lines = self._logs[run].lines
        found = [(line["update"], line["metrics"].get(metric)) for line in lines]
        return [(update, float(value)) for update, value in found if isinstance(value, int | float)]

    @property
    def broken_lines(self) -> dict[Run, int]:
        """Runs whose log has lines that could not be read, and how many."""
        return {run: read.broken for run, read in self._logs.items() if read.broken}

    @cached_property
    def corpora(self) -> dict[str, Json]:
        """The report of each corpus."""
        return {name: read_object(self.folder / name / "corpus" / "report.json") for name in self.planned["corpora"]}

    @cached_property
    def tokenizers(self) -> list[dict[str, Any]]:
        """The reports of the baseline tokenizers, with `name` and `corpus`."""
        found = []
        for corpus in self.planned["corpora"]:
            for path in sorted((self.folder / corpus / "tokenizers").glob("*/*.json")):
                report = read_object(path).content
                found.append({**report, "corpus": corpus, "name": path.parent.name, "language": path.stem})
        return found

    @cached_property
    def stages(self) -> list[Stage]:
        """Seconds and memory of each stage, the longest stage first."""
        return sorted(stages_measured(self.folder / "benchmarks"), key=lambda stage: -stage.seconds)


def read_object(path: Path) -> Json:
    """The JSON object in a file; never raises for what the file holds."""
    try:
        content = read_json(path)
    except (UserError, OSError) as error:
        return Json({}, str(error))
    if not isinstance(content, dict):
        return Json({}, f"{path} holds no JSON object: delete it and run its stage again")
    return Json(content)


def stages_measured(folder: Path) -> list[Stage]:
    """Sums of Snakemake's benchmark files, a stage for each entry of the folder; files that are cut are left out."""
    jobs: dict[str, list[tuple[float, float]]] = {}
    for path in sorted(folder.rglob("*.tsv")):
        stage = path.relative_to(folder).parts[0].removesuffix(".tsv")
        try:
            with path.open(encoding="utf-8", newline="") as file:
                lines = list(csv.DictReader(file, delimiter="\t"))
            measured = [(float(line["s"]), _number(line["max_rss"])) for line in lines]
        except (ValueError, KeyError, TypeError, OSError):
            continue
        jobs.setdefault(stage, []).extend(measured)
    return [
        Stage(name, len(found), sum(s for s, _ in found), max(s for s, _ in found), max(m for _, m in found))
        for name, found in jobs.items()
        if found
    ]


def _number(text: str) -> float:
    return 0.0 if text in ("NA", "-", "") else float(text)  # a job too short to be measured
