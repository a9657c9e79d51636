"""`optok track --watch`: what a training writes is there within seconds."""

import signal
import subprocess
import time

import pytest

from tests.chain import Benchmark
from tests.tracking.making import OPTOK, command, lines_of, process, seen, wait_for, write_lines

LATENCY = 10.0  # seconds


@pytest.fixture
def beginning(results):
    """A run that has only written its first lines, and what it will write."""
    lines = lines_of(results, OPTOK)
    write_lines(results, OPTOK, lines[:2])
    (results / OPTOK.folder / "scores.json").rename(results / "later.json")
    return lines


def updates(results) -> list[int]:
    held = seen(results / "mlflow.db")
    return [step for step, _, _ in held.curve(OPTOK, "train/loss")] if str(OPTOK) in held.runs else []


def test_new_lines_arrive_within_seconds_and_it_ends_when_every_run_has_its_scores(results, beginning):
    expected = [line["update"] for line in beginning if "train/loss" in line["metrics"]]
    with process(command(results, "--watch"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as watching:
        wait_for(lambda: updates(results))
        assert len(updates(results)) < len(expected)
        write_lines(results, OPTOK, beginning)
        began = time.monotonic()
        wait_for(lambda: updates(results) == expected, LATENCY)
        assert time.monotonic() - began < LATENCY
        assert watching.poll() is None
        (results / "later.json").rename(results / OPTOK.folder / "scores.json")
        output, error = watching.communicate(timeout=60)
    assert watching.returncode == 0, error
    assert "unchanged" in output or "updated" in output
    assert seen(results / "mlflow.db").of(OPTOK).info.status == "FINISHED"


def test_a_real_training_is_followed_while_it_trains_and_ctrl_c_ends_that_with_130(results, prepared: Benchmark):
    for name in ("log.jsonl", "run.json", "scores.json"):
        (results / OPTOK.folder / name).unlink()
    longer = prepared.configured(training={"updates": 4000, "log_every": 5, "validate_every": 2000})
    named = ["--corpus", "own", "--direction", OPTOK.direction, "--system", "optok"]
    training = ["train", "--configfile", str(longer), *named, "--output", str(results / OPTOK.folder)]
    with (
        process([*command(results)[:3], *training], stderr=subprocess.DEVNULL) as trains,
        process(command(results, "--watch"), stderr=subprocess.PIPE, text=True) as watching,
    ):
        wait_for(lambda: len(updates(results)) > 3)
        earlier = updates(results)
        wait_for(lambda: len(updates(results)) > len(earlier), LATENCY + 5)
        assert updates(results)[: len(earlier)] == earlier
        assert seen(results / "mlflow.db").of(OPTOK).info.status == "RUNNING"
        assert trains.poll() is None
        watching.send_signal(signal.SIGINT)
        _, error = watching.communicate(timeout=60)
    assert watching.returncode == 130
    assert error.splitlines()[-1] == "optok: interrupted; the same command goes on"
    assert "Traceback" not in error
