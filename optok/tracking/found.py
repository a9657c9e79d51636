"""What a run's folder says at this moment, in the tracker's words: metrics, parameters, tags, files."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from optok.evaluation.score import FORMAT as SCORES_FORMAT
from optok.evaluation.table import read_record
from optok.files import digest_of, sha256_of
from optok.plan import RUN_FORMAT, Run
from optok.training import run_log

LONG = 500  # characters of a parameter; what is longer becomes a file
DECIMALS = 4  # of scores and costs, as in the table
COSTS = ("train_seconds", "parameters", "bytes", "updates", "best_update")  # of run.json


class Point(NamedTuple):
    """One value of a metric; time in seconds since the epoch."""

    name: str
    value: float
    update: int
    time: float


@dataclass(frozen=True)
class Found:
    """A run's log, record, scores and files; a part that is not there yet is empty."""

    run: Run
    log: run_log.Read
    record: dict[str, Any]
    scores: dict[str, Any]
    files: dict[str, Path]  # by their name among the tracker's artifacts

    @classmethod
    def read(cls, results: Path, run: Run) -> Found:
        """Raises `UserError` where the record or the scores are not valid or of another format."""
        folder = results / run.folder
        kept = [folder / "run.json", folder / "scores.json", folder / "hypotheses.txt"]
        files = {path.name: path for path in kept if path.exists()}
        files |= {f"tokenizers/{path.name}": path for path in sorted((folder / "translator").glob("*.model"))}
        return cls(
            run,
            run_log.read(folder / "log.jsonl"),
            read_record(folder / "run.json", RUN_FORMAT) if "run.json" in files else {},
            read_record(folder / "scores.json", SCORES_FORMAT) if "scores.json" in files else {},
            files,
        )

    @property
    def nothing(self) -> bool:
        """A run that has not begun."""
        return not (self.log.lines or self.record or self.scores)

    @cached_property
    def digests(self) -> dict[str, str]:
        """Of the files."""
        return {name: sha256_of(path)[:16] for name, path in self.files.items()}

    def digest_of_lines(self, count: int) -> str:
        """Of the first lines of the log: a resume may have cut it and written others."""
        return digest_of(self.log.lines[:count])

    def points(self, start: int = 0) -> list[Point]:
        """The curves, from a line of the log on; a value that is no finite number is left out."""
        return [
            Point(name, float(value), line["update"], float(line.get("time") or 0.0))
            for line in self.log.lines[start:]
            for name, value in line["metrics"].items()
            if _finite(value)
        ]

    @property
    def left_out(self) -> int:
        """How many values of the log are no finite numbers."""
        return sum(not _finite(value) for line in self.log.lines for value in line["metrics"].values())

    def results_of(self, file: str, time: float) -> list[Point]:
        """The numbers of `run.json` (costs, sizes of the tokenizers) or of `scores.json`.

        They have no update; MLflow draws what has only update 0 as bars.
        """
        if file == "run.json":
            values = {f"cost/{name}": self.record.get(name) for name in COSTS}
            for side, tokenizer in self.record.get("tokenizers", {}).items():
                values[f"tokenizer/pieces_{side}"] = tokenizer.get("pieces")
        elif file == "scores.json":
            values = {f"test/{name}": value for name, value in self.scores.items() if name != "format"}
        else:
            return []
        return [Point(name, round(float(value), DECIMALS), 0, time) for name, value in values.items() if _finite(value)]

    def tags(self) -> dict[str, str]:
        """What the run was made with, and sacreBLEU's signatures."""
        named = {
            "optok.run_hash": self.record.get("hash"),
            "optok.base_hash": self.record.get("base_hash"),
            "mlflow.source.git.commit": self.record.get("commit"),
            "mlflow.source.name": self.record and f"optok {self.record.get('stage')}",
            **{f"version.{name}": version for name, version in self.record.get("versions", {}).items()},
            **{f"machine.{name}": value for name, value in self.record.get("machine", {}).items()},
            **{f"signature.{name}": value for name, value in self.scores.get("signatures", {}).items()},
        }
        return {name: str(value) for name, value in named.items() if value}

    def parameters(self) -> tuple[dict[str, str], dict[str, str]]:
        """The settings by their path (`training.updates`): those shown as they are, and long ones, for files."""
        values = {name: _shown(value) for name, value in flattened(self.record.get("settings", {}))}
        names = {"corpus": self.run.corpus, "direction": self.run.direction, "system": self.run.system}
        values |= {**names, "seed": str(self.run.seed)}
        short = {name: value for name, value in values.items() if len(value) <= LONG}
        return short, {name: value for name, value in values.items() if len(value) > LONG}


def flattened(settings: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of nested settings under its dotted path."""
    for name, value in settings.items():
        if isinstance(value, dict) and value:
            yield from flattened(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _finite(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
