"""A small benchmark with finished runs, and folders with a copy of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from optok.tracking.store import Store
from tests.chain import Benchmark, optok

SYSTEMS = ("unigram", "optok")


@pytest.fixture(scope="session")
def trained(prepared: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder with the runs of two systems, trained and scored by the command line."""
    results = tmp_path_factory.mktemp("tracked") / "results"
    for made in ("corpus", "tokenizers"):  # and no run that another test has trained there
        shutil.copytree(prepared.results / "own" / made, results / "own" / made)
    for system in SYSTEMS:
        run = prepared.run(system)
        folder = results / run.folder
        named = ("--corpus", "own", "--direction", run.direction, "--system", system)
        assert optok("train", "--configfile", prepared.configfile, *named, "--output", folder) == 0
        assert optok("export", "--translator", folder / "translator", "--output", folder / "export") == 0
        text, hypotheses = results / "own" / "corpus" / "test.en", folder / "hypotheses.txt"
        assert optok("translate", "--export", folder / "export", "--input", text, "--output", hypotheses) == 0
        scored = ("--corpus", results / "own" / "corpus", "--direction", run.direction)
        scored = (*scored, "--translator", folder / "translator", "--output", folder / "scores.json")
        assert optok("score", "--hypotheses", hypotheses, *scored) == 0
        shutil.rmtree(folder / "checkpoints")
        shutil.rmtree(folder / "export")
    return results


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An MLflow database with nothing in it: to make one takes seconds."""
    store = Store.at(None, tmp_path_factory.mktemp("database"))
    with store.opened() as client:
        client.search_experiments()
    assert store.database is not None
    return store.database


@pytest.fixture
def untracked(trained: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    return Path(shutil.copytree(trained, tmp_path / "results"))


@pytest.fixture
def results(untracked: Path, empty_database: Path) -> Path:
    """A copy to change, with an empty database."""
    shutil.copy(empty_database, untracked)
    return untracked
