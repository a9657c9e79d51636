"""What the tests of tracking share: importing, and looking into an MLflow store."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from mlflow import MlflowClient
from mlflow.entities import Run as Tracked

from optok import plan
from optok.tracking.store import Store
from optok.tracking.track import import_runs

PLANNED = {
    "task": "translation",
    "baseline": "unigram",
    "corpora": {"own": ["en-zh_CN"]},
    "systems": ["unigram", "optok"],
    "seeds": [1],
    "decoding": {"beam": 5, "length_penalty": 1.0},
}
OPTOK = plan.Run("own", "en-zh_CN", "optok", 1)
UNIGRAM = plan.Run("own", "en-zh_CN", "unigram", 1)
WAIT = 60.0  # seconds


def track(results: Path, store: str | None = None, planned: dict | None = None) -> dict:
    return import_runs(results, planned or PLANNED, Store.at(store, results))


def command(results: Path, *more: object) -> list[str]:
    arguments = ("track", "--settings", json.dumps(PLANNED), "--results", results, *more)
    return [sys.executable, "-m", "optok", *map(str, arguments)]


def log_of(results: Path, run: plan.Run) -> Path:
    return results / run.folder / "log.jsonl"


def lines_of(results: Path, run: plan.Run) -> list[dict]:
    return [json.loads(line) for line in log_of(results, run).read_text().splitlines()]


def write_lines(results: Path, run: plan.Run, lines: list[dict]) -> None:
    log_of(results, run).write_text("".join(json.dumps(line) + "\n" for line in lines))


@dataclass(frozen=True)
class Seen:
    """What a store holds: runs by their key, and every value of every metric."""

    runs: dict[str, Tracked]
    curves: dict[str, dict[str, list[tuple[int, int, float]]]]
    ids: set[str]

    def of(self, run: plan.Run) -> Tracked:
        return self.runs[str(run)]

    def curve(self, run: plan.Run, metric: str) -> list[tuple[int, int, float]]:
        return self.curves[str(run)].get(metric, [])


def seen(address: str | Path) -> Seen:
    client = MlflowClient(address if isinstance(address, str) else f"sqlite:///{address}")
    runs, curves, ids = {}, {}, set()
    for experiment in client.search_experiments(filter_string="name LIKE 'optok%'"):
        for run in client.search_runs([experiment.experiment_id], max_results=1000):
            key = run.data.tags["optok.run"]
            assert key not in runs, f"{key} is there twice"
            runs[key] = run
            ids.add(run.info.run_id)
            curves[key] = {
                name: sorted((m.step, m.timestamp, m.value) for m in client.get_metric_history(run.info.run_id, name))
                for name in run.data.metrics
            }
    return Seen(runs, curves, ids)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(condition, seconds: float = WAIT) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited for too long"
        time.sleep(0.1)


def answers(port: int) -> bool:
    try:
        return urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).status == 200
    except OSError:
        return False


@contextmanager
def process(arguments: list[str], **options) -> Iterator[subprocess.Popen]:
    """A process in a group of its own, which ends with the block."""
    started = subprocess.Popen(arguments, start_new_session=True, **options)
    try:
        yield started
    finally:
        stop(started)


def stop(started: subprocess.Popen) -> None:
    with suppress(ProcessLookupError):
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()
