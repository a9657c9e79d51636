"""Killed, interrupted, started twice: the same command goes on, and ends with the same bytes."""

import random
import signal
import subprocess
import time

from tests.workflow.running import WAIT, Workflow, ended, signal_all


def test_killed_five_times_it_ends_as_if_it_never_was(finished: Workflow, new: Workflow, seconds: float):
    # More than half a minute: six starts of the whole workflow.
    draw = random.Random(20)
    for _ in range(5):
        process = new.start()
        try:
            process.communicate(timeout=draw.uniform(0.08, 0.2) * seconds)
            raise AssertionError("it ended before it was killed")
        except subprocess.TimeoutExpired:
            signal_all(process, signal.SIGKILL)
            process.communicate(timeout=WAIT)
    done = new.run()
    assert done.code == 0, done.said
    assert new.table() == finished.table()
    assert new.translators() == finished.translators()


def test_a_second_start_names_who_writes_and_ctrl_c_loses_nothing(new: Workflow, finished: Workflow):
    first = new.start()
    end = time.monotonic() + WAIT
    while not (new.results / "own/corpus/report.json").exists():  # it works
        assert first.poll() is None and time.monotonic() < end
        time.sleep(0.05)
    second = new.run()
    assert second.code != 0
    assert "my results is being written by " in second.error
    assert f"process {first.pid}, since" in second.error
    assert "Traceback" not in second.said
    signal_all(first, signal.SIGINT)
    interrupted = ended(first)
    assert interrupted.code != 0
    assert "Traceback" not in interrupted.said
    assert not (new.results / "table.csv").exists() or "missing" in new.table()
    jobs = new.planned()
    assert "prepare" not in jobs
    assert jobs["train"] > 0
