"""A run's own log: one JSON object a line, appended while it runs, read by tracking and the report."""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from pathlib import Path

from optok.files import write_bytes


class RunLog:
    """Appends metrics to `log.jsonl`. On a resume the log is cut back to the checkpoint's update."""

    def __init__(self, path: Path, resumed_at: int) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = [line for line in read(path).lines if line["update"] <= resumed_at] if resumed_at else []
        write_bytes(path, "".join(json.dumps(line) + "\n" for line in kept).encode())

    def append(self, update: int, metrics: dict[str, float]) -> None:
        """One line; numbers that are not finite are left out (JSON has none)."""
        finite = {name: float(value) for name, value in metrics.items() if math.isfinite(value)}
        line = json.dumps({"update": update, "time": round(time.time(), 3), "metrics": finite})
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


@dataclass(frozen=True)
class Read:
    """The lines of a run log, and how many could not be read (a kill may cut the last one)."""

    lines: list[dict]
    broken: int


def read(path: Path) -> Read:
    """Every whole line of a run log; none where there is no file."""
    if not path.exists():
        return Read([], 0)
    lines, broken = [], 0
    for raw in path.read_bytes().split(b"\n"):
        if not raw.strip():
            continue
        try:
            line = json.loads(raw)
            if not isinstance(line["update"], int) or not isinstance(line["metrics"], dict):
                raise ValueError(raw)
            lines.append(line)
        except (ValueError, KeyError, TypeError):
            broken += 1
    return Read(lines, broken)
