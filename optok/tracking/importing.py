"""Bringing an MLflow experiment up to date with the runs of a results folder.

A child says in a tag what of its run it holds (`Held`). What the run has written since is added. A run that says
something else than before (trained anew, or its log cut back by a resume) gets a new child in place of the old
one, and so does a child whose import was broken off, for its tag is emptied first and written last.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput, InputTag, Metric, Param, RunTag
from mlflow.entities import Run as Tracked
from mlflow.exceptions import MlflowException

from optok.errors import UserError
from optok.files import read_json
from optok.tracking.found import Found
from optok.tracking.views import experiment_tags

KEY = "optok.run"  # a tag: which run or pair of corpus and direction it is
HELD = "optok.imported"  # a tag: what of the run is here
METRICS = 1000  # a batch, MLflow's limit
PARAMETERS = 100  # a batch, MLflow's limit
DIGEST = 36  # characters of a dataset's digest, MLflow's limit
NOTE = "mlflow.note.content"  # a tag: what the page shows as the description
Change = Literal["new", "updated", "unchanged"]


class State(NamedTuple):
    """How a run stands, in MLflow's words, and why it failed."""

    status: Literal["RUNNING", "FINISHED", "FAILED"]
    reason: str = ""


@dataclass(frozen=True)
class Held:
    """What of a run a child holds: so many lines of its log, of that digest, and files of those digests."""

    lines: int
    digest: str
    files: dict[str, str]

    @classmethod
    def all_of(cls, found: Found) -> Held:
        """Everything that the run has written."""
        return cls(len(found.log.lines), found.digest_of_lines(len(found.log.lines)), found.digests)

    @classmethod
    def by(cls, child: Tracked) -> Held | None:
        """As the child says; None where its import was broken off."""
        try:
            return cls(**json.loads(child.data.tags.get(HELD, "")))
        except (ValueError, TypeError):
            return None

    def begins(self, found: Found) -> bool:
        """Whether the run has only written more since."""
        known = {name: found.digests.get(name) for name in self.files}
        return known == self.files and found.digest_of_lines(self.lines) == self.digest


class Experiment:
    """One benchmark's experiment: a parent for each corpus and direction, a child for each system and seed."""

    def __init__(self, client: MlflowClient, name: str, artifacts: str | None) -> None:
        self.client = client
        self.id = _experiment(client, name, artifacts)
        for tag, value in experiment_tags().items() - client.get_experiment(self.id).tags.items():
            client.set_experiment_tag(self.id, tag, value)
        self._runs: dict[str, Tracked] = {}
        token = None
        while True:
            page = client.search_runs([self.id], max_results=1000, page_token=token)
            self._runs |= {run.data.tags[KEY]: run for run in page if KEY in run.data.tags}
            token = page.token
            if not token:
                break

    def parent(self, children: Sequence[Found], dataset: DatasetInput | None, state: State) -> str:
        """Brings the parent of some runs of one corpus and direction up to date; returns its id."""
        corpus, direction = children[0].run.corpus, children[0].run.direction
        key, started = f"{corpus} {direction}", min(map(_started, children))
        parent = self._runs.get(key)
        if parent is None:
            parent = self.client.create_run(self.id, _milliseconds(started), {KEY: key}, key)
            self.client.log_batch(parent.info.run_id, params=[Param("corpus", corpus), Param("direction", direction)])
        if dataset is not None and parent.data.tags.get(HELD) != dataset.dataset.digest:
            self.client.log_inputs(parent.info.run_id, [dataset])
            self.client.set_tag(parent.info.run_id, HELD, dataset.dataset.digest)
        self._set_state(parent, state, max(map(_finished, children)))
        return str(parent.info.run_id)

    def child(self, found: Found, parent: str, dataset: DatasetInput | None, state: State) -> Change:
        """Brings a child up to date with what its run has written."""
        child, whole = self._runs.get(str(found.run)), Held.all_of(found)
        before = Held.by(child) if child is not None else None
        change: Change = "new" if child is None else "updated"
        if child is not None and before == whole:
            return "updated" if self._set_state(child, state, _finished(found)) else "unchanged"
        if child is not None and (before is None or not before.begins(found)):
            self.client.delete_run(child.info.run_id)
            child = before = None
        if child is None or before is None:
            child, before = self._new_child(found, parent), Held(0, "", {})
            if dataset is not None:
                self.client.log_inputs(child.info.run_id, [dataset])
        else:
            self.client.set_tag(child.info.run_id, HELD, "")
        self._add(child.info.run_id, found, before)
        self._set_state(child, state, _finished(found))
        tags = {HELD: json.dumps(asdict(whole)), **found.tags()}
        self.client.log_batch(child.info.run_id, tags=[RunTag(name, value) for name, value in tags.items()])
        return change

    def _new_child(self, found: Found, parent: str) -> Tracked:
        run = found.run
        name = f"{run.direction} {run.system} seed {run.seed}"
        tags = {KEY: str(run), HELD: "", "mlflow.parentRunId": parent}
        return self.client.create_run(self.id, _milliseconds(_started(found)), tags, name)

    def _add(self, run_id: str, found: Found, before: Held) -> None:
        """The lines and files that a child does not hold yet."""
        new = [name for name in found.files if name not in before.files]
        points = found.points(before.lines)
        for name in new:
            points += found.results_of(name, _finished(found))
        metrics = [Metric(point.name, point.value, _milliseconds(point.time), point.update) for point in points]
        for batch in _batches(metrics, METRICS):
            self.client.log_batch(run_id, metrics=batch)
        if "run.json" in new:
            short, long = found.parameters()
            for batch in _batches([Param(name, value) for name, value in short.items()], PARAMETERS):
                self.client.log_batch(run_id, params=batch)
            for name, value in long.items():
                self.client.log_text(run_id, value, f"settings/{name}.txt")
        for name in new:
            folder = str(Path(name).parent)
            self.client.log_artifact(run_id, str(found.files[name]), None if folder == "." else folder)

    def _set_state(self, run: Tracked, state: State, ended: float) -> bool:
        """Says how a run stands; returns whether that is new."""
        if run.data.tags.get(NOTE, "") != state.reason:
            self.client.set_tag(run.info.run_id, NOTE, state.reason)
        elif run.info.status == state.status:
            return False
        if state.status == "RUNNING":
            self.client.update_run(run.info.run_id, status=state.status)
        else:
            self.client.set_terminated(run.info.run_id, state.status, _milliseconds(ended))
        return True


def dataset_of(results: Path, corpus: str) -> DatasetInput | None:
    """A prepared corpus as MLflow knows datasets; None where it is not there."""
    folder = results / corpus / "corpus"
    try:
        report = read_json(folder / "report.json")
        sizes = {split: numbers["pairs"] for split, numbers in report["splits"].items()}
        digest = report["digest"][:DIGEST]
    except (UserError, KeyError, TypeError, AttributeError):
        return None
    source = json.dumps({"uri": str(folder)})
    profile = json.dumps({"pairs": sizes, "languages": list(report.get("languages", {}))})
    return DatasetInput(
        Dataset(corpus, digest, "local", source, profile=profile), [InputTag("mlflow.data.context", "train and test")]
    )


def _experiment(client: MlflowClient, name: str, artifacts: str | None) -> str:
    """The id of the experiment of that name, made where it is not there.

    A results folder that was moved takes its database along, but files of the old experiment lie at the old
    address: that one is renamed, and the runs are imported again.
    """
    existing = client.get_experiment_by_name(name)
    if existing is not None and existing.lifecycle_stage == "deleted":
        client.restore_experiment(existing.experiment_id)
    if existing is not None and artifacts is not None and existing.artifact_location != artifacts:
        client.rename_experiment(existing.experiment_id, f"{name}, from {existing.artifact_location}")
        existing = None
    if existing is not None:
        return str(existing.experiment_id)
    try:
        return str(client.create_experiment(name, artifacts))
    except MlflowException:
        made = client.get_experiment_by_name(name)  # by another import, between the two questions
        if made is None:
            raise
        return str(made.experiment_id)


def _batches(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _started(found: Found) -> float:
    if found.record.get("started"):
        return datetime.fromisoformat(found.record["started"]).timestamp()
    return float(found.log.lines[0].get("time") or 0.0) if found.log.lines else 0.0


def _finished(found: Found) -> float:
    if found.record.get("finished"):
        return datetime.fromisoformat(found.record["finished"]).timestamp()
    return float(found.log.lines[-1].get("time") or 0.0) if found.log.lines else 0.0


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
