"""A real MLflow server: a store for imports that may die and come back, and a page that Chromium reads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser import chromium_page, need_chromium
from tests.tracking.making import (
    OPTOK,
    UNIGRAM,
    answers,
    command,
    free_port,
    lines_of,
    process,
    seen,
    stop,
    track,
    wait_for,
    write_lines,
)


def server(folder: Path, port: int) -> list[str]:
    kept = (
        "--backend-store-uri",
        f"sqlite:///{folder / 'server.db'}",
        "--artifacts-destination",
        str(folder / "files"),
    )
    return [sys.executable, "-m", "mlflow", "server", *kept, "--port", str(port), "--workers", "1"]


def test_an_import_goes_on_after_its_server_died_in_the_middle_and_came_back(
    untracked, tmp_path, empty_database, monkeypatch
):
    (tmp_path / "server.db").write_bytes(empty_database.read_bytes())
    port = free_port()
    address, start = f"http://127.0.0.1:{port}", server(tmp_path, port)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    whole = lines_of(untracked, OPTOK)
    write_lines(untracked, OPTOK, whole * 1500)  # long enough for the server to die in the middle
    once = {**os.environ, "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1"}
    with process(start, **quiet) as first:
        wait_for(lambda: answers(port))
        importing = subprocess.Popen(
            command(untracked, "--store", address), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=once
        )
        wait_for(lambda: str(OPTOK) in seen(address).runs)
        stop(first)
        output, error = importing.communicate(timeout=60)
    assert (importing.returncode, output) == (2, "")
    assert error == (
        f"optok: error: the tracking server {address} does not answer: start it, then run `optok track` again, "
        "it goes on where it stopped\n"
    )
    write_lines(untracked, OPTOK, whole)
    with process(start, **quiet):
        wait_for(lambda: answers(port))
        assert track(untracked, address)["runs"]["skipped"] == 0
        assert track(untracked, address)["runs"]["unchanged"] == 2
        held = seen(address)
    for run in (OPTOK, UNIGRAM):
        told = [line for line in lines_of(untracked, run) if "train/loss" in line["metrics"]]
        assert [value for _, _, value in held.curve(run, "train/loss")] == [x["metrics"]["train/loss"] for x in told]
        assert held.of(run).info.status == "FINISHED"
    assert (tmp_path / "files" / held.of(OPTOK).info.experiment_id / held.of(OPTOK).info.run_id).is_dir()


@pytest.mark.browser
def test_the_page_shows_runs_scores_and_curves(results):
    need_chromium()
    port = free_port()
    start = command(results, "--serve", "--port", port)
    with process(start, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as served:
        told = [served.stdout.readline() for _ in range(4)]
        pages = {what: address for what, _, address in (line.strip().partition(": ") for line in told[2:])}
        wait_for(lambda: answers(port))
        with chromium_page(width=1600) as visit:
            visit.page.goto(pages["runs"])
            for run in (OPTOK, UNIGRAM):
                visit.page.get_by_text(f"en-zh_CN {run.system} seed 1").first.wait_for()
            bleu = seen(results / "mlflow.db").of(OPTOK).data.metrics["test/bleu"]
            for shown in ("test/bleu", f"{bleu:g}", "2 matching runs"):
                visit.page.get_by_text(shown).first.wait_for()
            visit.page.goto("about:blank")
            visit.page.goto(pages["curves"])
            visit.page.get_by_text("Learning curves").wait_for()
            plot = visit.page.locator(".js-plotly-plot").first
            plot.locator("path.js-line").nth(1).wait_for(state="attached")  # a curve a run
        assert all(address.startswith(f"http://127.0.0.1:{port}/") for address in visit.requested if "://" in address)
        assert not visit.errors
