"""One finished run of the whole workflow, which tests read or copy."""

from __future__ import annotations

import time

import pytest
from filelock import FileLock

from optok.files import read_json, write_json
from tests.workflow.running import Workflow, new_workflow


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Workflow:
    """Run from nothing to the end, once for all the processes that test side by side."""
    shared = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        shared = shared.parent
    folder = shared / "a whole run"
    with FileLock(shared / "a whole run.lock"):
        if not folder.exists():
            workflow = new_workflow(folder)
            began = time.monotonic()
            done = workflow.run()
            write_json(folder / "ended.json", {"seconds": time.monotonic() - began, **vars(done)})
    return Workflow(folder)


@pytest.fixture(scope="session")
def seconds(finished: Workflow) -> float:
    """How long the finished run took."""
    return read_json(finished.folder / "ended.json")["seconds"]


@pytest.fixture
def new(tmp_path) -> Workflow:
    """A workflow that has not begun."""
    return new_workflow(tmp_path / "a new run")
