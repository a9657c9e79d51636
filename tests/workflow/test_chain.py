"""The whole workflow: from text to tables, a page and MLflow, and only what a change asks for when it runs again."""

import csv
import subprocess
import sys

import pytest

from optok import plan
from optok.evaluation.score import bleu_tokenizer
from optok.files import read_json
from tests.workflow.running import SYSTEMS, Workflow, copy_of

RUNS = 2 * len(SYSTEMS)
DIRECTIONS = ("en-zh_CN", "zh_CN-en")
AFTER_SCORES = {"table": 1, "report": 1, "track": 1}
AFTER_TRANSLATORS = {"export", "translate", "score"}


def test_from_nothing_to_a_row_a_run_a_page_and_mlflow(finished: Workflow):
    done = read_json(finished.folder / "ended.json")
    assert done["code"] == 0, done["output"] + done["error"]
    with (finished.results / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = [(direction, system, "1") for direction in DIRECTIONS for system in SYSTEMS]
    assert [(row["direction"], row["system"], row["seed"]) for row in rows] == expected
    assert {row["status"] for row in rows} == {"ok"}
    assert "<html" in (finished.results / "report.html").read_text(encoding="utf-8")
    tracked = read_json(finished.results / "tracking.json")
    assert tracked["status"] == "ok", tracked
    for folder in ("logs", "benchmarks"):
        assert len(list((finished.results / folder / "score").rglob("seed1.*"))) == RUNS
    assert not (finished.results / ".owner.json").exists()


def test_the_end_shows_the_table_and_where_everything_lies(finished: Workflow):
    said = read_json(finished.folder / "ended.json")["output"]
    assert f"{RUNS} of {RUNS} runs are done." in said
    for name in ("table.csv", "table.md", "report.html", "mlflow.db"):
        assert f"my results/{name}: " in said


def test_every_score_is_that_of_sacrebleus_own_command(finished: Workflow):
    with (finished.results / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        target = plan.languages(row["direction"])[1]
        hypotheses = finished.results / "own" / row["direction"] / row["system"] / "seed1" / "hypotheses.txt"
        reference = finished.results / "own" / "corpus" / f"test.{target}"
        for metric, column in (("bleu", "bleu"), ("chrf", "chrf")):
            command = [sys.executable, "-m", "sacrebleu", reference, "--input", hypotheses, "--metrics", metric]
            command += ["--tokenize", bleu_tokenizer(target), "--score-only", "--width", "4"]
            told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            assert told.strip() == row[column]


def test_a_second_run_does_nothing_and_says_so(finished: Workflow, tmp_path):
    again = copy_of(finished, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in again.results.rglob("*") if path.is_file()}
    done = again.run()
    assert done.code == 0, done.said
    assert "Nothing to be done" in done.said
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_another_beam_translates_again_and_trains_nothing(finished: Workflow, tmp_path):
    # Half a minute: eight translations and scores, each a process.
    again = copy_of(finished, tmp_path)
    again.configure(decoding={"beam": 2})
    done = again.run()
    assert done.code == 0, done.said
    assert done.jobs == {"translate": RUNS, "score": RUNS, **AFTER_SCORES}
    assert again.translators() == finished.translators()
    assert "beam 2" in (again.results / "table.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "jobs"),
    [
        ({"evaluation": {"baseline": "optok"}}, AFTER_SCORES),
        (
            {"systems": {"optok-restricted": {"restrict": {"keep": 0.7}}}},
            dict.fromkeys(["restrict", *AFTER_TRANSLATORS], 2) | AFTER_SCORES,
        ),
        (
            {"systems": {"optok": {"joint": {"mu": 0.5}}}},
            dict.fromkeys(["train", "restrict"], 2) | dict.fromkeys(AFTER_TRANSLATORS, 4) | AFTER_SCORES,
        ),
        (
            {"systems": {"bpe": {"tokenizer": "bpe"}}},
            dict.fromkeys(["tokenizer", "train", *AFTER_TRANSLATORS], 2) | AFTER_SCORES,
        ),
        (
            {"seeds": [1, 2]},
            {"train": 4, "retokenize": 2, "restrict": 2} | dict.fromkeys(AFTER_TRANSLATORS, RUNS) | AFTER_SCORES,
        ),
        (
            {"training": {"updates": 14}},
            {"train": 4, "retokenize": 2, "restrict": 2} | dict.fromkeys(AFTER_TRANSLATORS, RUNS) | AFTER_SCORES,
        ),
    ],
    ids=["baseline", "restriction", "joint training", "a new system", "another seed", "training"],
)
def test_a_change_runs_what_depends_on_it_and_nothing_else(finished: Workflow, tmp_path, change: dict, jobs: dict):
    again = copy_of(finished, tmp_path)
    again.configure(**change)
    assert again.planned() == jobs


def test_what_one_run_cannot_do_stops_no_other(finished: Workflow, tmp_path):
    # Half a minute: the workflow starts twice, and two systems are built, translated and scored anew.
    again = copy_of(finished, tmp_path)
    again.configure(
        systems={"optok-restricted": {"restrict": {"keep": 0.01}}}
    )  # fewer pieces than there are characters
    done = again.run("--keep-going")
    assert done.code != 0
    assert done.said.count("optok: error: ") == 2  # a direction each
    assert "Traceback" not in done.said
    assert f"{RUNS - 2} of {RUNS} runs are done." in done.output
    for stage in ("table", "report"):
        by_hand = again.optok(stage, "--configfile", again.configfile.name)
        assert by_hand.code == 0, by_hand.said
    with (again.results / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["system"] for row in rows if row["status"] != "ok"} == {"optok-restricted"}
    assert all("characters" in row["reason"] for row in rows if row["status"] != "ok")
    again.configure(systems={"optok-restricted": {"restrict": {"keep": 0.8}}})
    assert again.run().code == 0
    assert again.table() == finished.table()
