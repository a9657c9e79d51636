"""The stage `track`: the runs of a benchmark into MLflow, once or while they train."""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optok.errors import UserError
from optok.files import write_json
from optok.plan import Run, planned_runs
from optok.tracking.found import Found
from optok.tracking.store import Store
from optok.tracking.views import addresses

if TYPE_CHECKING:
    from mlflow import MlflowClient

    from optok.tracking.importing import Change, State

FORMAT = 1  # of tracking.json
RECORD = "tracking.json"
EVERY = 3.0  # seconds between two looks at the runs
CHANGES = ("new", "updated", "unchanged", "waiting", "skipped")


def experiment_name(results: Path, planned: dict[str, Any]) -> str:
    """A benchmark is known by its task and its results folder."""
    return f"optok {planned['task']} ({results.absolute().name})"


def import_runs(results: Path, planned: dict[str, Any], store: Store, experiment: str | None = None) -> dict[str, Any]:
    """Imports what the planned runs (`optok.plan.table_settings`) have written; writes and returns `tracking.json`.

    Raises `UserError` where the store cannot be written; what was imported until then stays.
    """
    if not results.is_dir():
        raise UserError(f"{results} is missing: nothing has run yet, begin with `make demo`")
    name = experiment or experiment_name(results, planned)
    found, skipped = _read(results, list(planned_runs(planned)))
    counts: Counter[str] = Counter(skipped=len(skipped))
    begun = [one for one in found if not one.nothing]
    counts["waiting"] = len(found) - len(begun)
    record: dict[str, Any] = {"format": FORMAT, "status": "ok", "store": store.shown, "experiment": name}
    if begun:
        with store.opened() as client:
            record["pages"], changes = _bring_up_to_date(client, results, planned, store, name, begun)
            counts.update(changes)
    record |= {
        "runs": {change: counts[change] for change in CHANGES},
        "broken_lines": {str(one.run): one.log.broken for one in begun if one.log.broken},
        "values_left_out": {str(one.run): one.left_out for one in begun if one.left_out},
        "skipped": skipped,
    }
    write_json(results / RECORD, record)
    return record


def record_failure(results: Path, reason: str) -> None:
    """`tracking.json` of an import that failed: a benchmark has its table without a tracker."""
    write_json(results / RECORD, {"format": FORMAT, "status": "failed", "reason": reason})


def _read(results: Path, runs: list[Run]) -> tuple[list[Found], dict[str, str]]:
    """What the runs have written, and why some cannot be read."""
    found, skipped = [], {}
    for run in runs:
        try:
            found.append(Found.read(results, run))
        except UserError as error:
            skipped[str(run)] = str(error)
    return found, skipped


def _bring_up_to_date(
    client: MlflowClient, results: Path, planned: dict[str, Any], store: Store, name: str, begun: list[Found]
) -> tuple[dict[str, str], list[Change]]:
    """The addresses of the pages within the server, and what happened to each run."""
    from optok.tracking.importing import Experiment, State, dataset_of

    states = _states(results, planned)
    changes: list[Change] = []
    experiment = Experiment(client, name, store.artifacts)
    for corpus, directions in planned["corpora"].items():
        dataset = dataset_of(results, corpus)
        for direction in directions:
            children = [one for one in begun if (one.run.corpus, one.run.direction) == (corpus, direction)]
            if not children:
                continue
            siblings = [state for run, state in states.items() if (run.corpus, run.direction) == (corpus, direction)]
            whole = all(state.status == "FINISHED" for state in siblings)
            parent = experiment.parent(children, dataset, State("FINISHED" if whole else "RUNNING"))
            changes += [experiment.child(one, parent, dataset, states[one.run]) for one in children]
    return addresses(experiment.id), changes


def _states(results: Path, planned: dict[str, Any]) -> dict[Run, State]:
    """How each run stands in the table."""
    from optok.evaluation.table import build_table
    from optok.tracking.importing import State

    states = {}
    for row in build_table(results, planned).iter_rows(named=True):
        run = Run(row["corpus"], row["direction"], row["system"], row["seed"])
        failed = State("FAILED", row["reason"])
        states[run] = {"ok": State("FINISHED"), "failed": failed}.get(row["status"], State("RUNNING"))
    return states


def watch(results: Path, planned: dict[str, Any], store: Store, experiment: str | None = None) -> dict[str, Any]:
    """Imports whenever a run has written something, until every planned run has its scores.

    A store that was there once and does not answer any more is waited for.
    """
    runs, seen, complaint = list(planned_runs(planned)), None, ""
    record: dict[str, Any] | None = None
    while True:
        stamps = [stamp for run in runs for stamp in _stamps(results / run.folder)]
        if stamps != seen:
            try:
                record = import_runs(results, planned, store, experiment)
                seen, complaint = stamps, ""
                print(summary(record), file=sys.stderr)
            except UserError as error:
                if record is None:
                    raise
                if str(error) != complaint:
                    complaint = str(error)
                    print(f"optok: tracking waits: {complaint}", file=sys.stderr)
        done = all((results / run.folder / "scores.json").exists() for run in runs)
        if record is not None and done and stamps == seen:
            return record
        time.sleep(EVERY)


def _stamps(folder: Path) -> list[tuple[str, int, int]]:
    """Of the files that a stage adds to or replaces."""
    stamps = []
    for name in ("log.jsonl", "run.json", "scores.json", "hypotheses.txt"):
        try:
            status = (folder / name).stat()
        except FileNotFoundError:
            continue
        stamps.append((str(folder / name), status.st_mtime_ns, status.st_size))
    return stamps


def summary(record: dict[str, Any]) -> str:
    """One line about an import."""
    counts = ", ".join(f"{count} {change}" for change, count in record["runs"].items() if count)
    broken = sum(record["broken_lines"].values())
    cut = f"; {broken} cut lines of run logs left out" if broken else ""
    return f"tracked in {record['store']}: {counts or 'no runs'}{cut}"
