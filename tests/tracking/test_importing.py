"""Importing runs into an SQLite store: what is there afterwards, again, and after something changed."""

import shutil
import subprocess

import pytest
from mlflow import MlflowClient

from optok.files import read_json, write_json
from tests.tracking.making import OPTOK, PLANNED, UNIGRAM, command, lines_of, log_of, seen, track, write_lines


def test_a_child_holds_curves_scores_settings_tags_files_and_the_corpus_of_its_run(results):
    record = track(results)
    assert record["runs"] == {"new": 2, "updated": 0, "unchanged": 0, "waiting": 0, "skipped": 0}
    held = seen(results / "mlflow.db")
    parent, child = held.runs["own en-zh_CN"], held.of(OPTOK)
    assert child.data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert (child.info.run_name, parent.info.run_name) == ("en-zh_CN optok seed 1", "own en-zh_CN")
    assert child.info.status == parent.info.status == "FINISHED"

    expected: dict[str, list] = {}
    for line in lines_of(results, OPTOK):
        for name, value in line["metrics"].items():
            expected.setdefault(name, []).append((line["update"], round(line["time"] * 1000), value))
    assert {name: held.curve(OPTOK, name) for name in expected} == {n: sorted(v) for n, v in expected.items()}

    folder = results / OPTOK.folder
    run, scores = read_json(folder / "run.json"), read_json(folder / "scores.json")
    for name in ("bleu", "chrf", "chrfpp", "ter", "tokens_per_sentence"):
        assert child.data.metrics[f"test/{name}"] == pytest.approx(scores[name], abs=5e-5)
    assert child.data.metrics["cost/parameters"] == run["parameters"]
    assert child.data.params["training.updates"] == "12"
    assert child.data.params["system.joint.start_after"] == "3"
    assert {name: child.data.params[name] for name in ("corpus", "direction", "system", "seed")} == {
        "corpus": "own",
        "direction": "en-zh_CN",
        "system": "optok",
        "seed": "1",
    }
    tags = child.data.tags
    assert tags["optok.run_hash"] == run["hash"]
    assert tags["version.torch"] == run["versions"]["torch"]
    assert tags.get("mlflow.source.git.commit") == run["commit"]
    assert tags["signature.bleu"] == scores["signatures"]["bleu"]

    report = read_json(results / "own" / "corpus" / "report.json")
    for tracked in (parent, child):
        (dataset,) = [entry.dataset for entry in tracked.inputs.dataset_inputs]
        assert (dataset.name, dataset.digest) == ("own", report["digest"][:36])

    kept = results / "mlflow-artifacts" / child.info.run_id / "artifacts"
    originals = {
        "run.json": folder / "run.json",
        "scores.json": folder / "scores.json",
        "hypotheses.txt": folder / "hypotheses.txt",
        "tokenizers/source.model": folder / "translator" / "source.model",
        "tokenizers/target.model": folder / "translator" / "target.model",
    }
    assert {str(path.relative_to(kept)) for path in kept.rglob("*") if path.is_file()} == set(originals)
    assert all((kept / name).read_bytes() == path.read_bytes() for name, path in originals.items())


def test_importing_twice_changes_nothing(results):
    track(results)
    before = seen(results / "mlflow.db")
    assert track(results)["runs"]["unchanged"] == 2
    after = seen(results / "mlflow.db")
    assert (after.ids, after.curves) == (before.ids, before.curves)


def test_a_run_that_was_trained_anew_gets_a_new_child_in_place_of_the_old_one(results):
    track(results)
    before = seen(results / "mlflow.db")
    path = results / OPTOK.folder / "run.json"
    write_json(path, read_json(path) | {"hash": "another"})
    assert track(results)["runs"] == {"new": 0, "updated": 1, "unchanged": 1, "waiting": 0, "skipped": 0}
    after = seen(results / "mlflow.db")
    assert after.of(OPTOK).data.tags["optok.run_hash"] == "another"
    assert after.of(OPTOK).info.run_id not in before.ids
    assert after.of(UNIGRAM).info.run_id in before.ids
    assert after.curves == before.curves


def test_lines_written_since_are_added_to_the_same_child(results):
    lines = lines_of(results, OPTOK)
    write_lines(results, OPTOK, lines[:3])
    for name in ("run.json", "scores.json", "hypotheses.txt"):
        (results / OPTOK.folder / name).rename(results / name)
    track(results)
    before = seen(results / "mlflow.db")
    assert before.of(OPTOK).info.status == before.runs["own en-zh_CN"].info.status == "RUNNING"
    write_lines(results, OPTOK, lines)
    for name in ("run.json", "scores.json", "hypotheses.txt"):
        (results / name).rename(results / OPTOK.folder / name)
    assert track(results)["runs"]["updated"] == 1
    after = seen(results / "mlflow.db")
    assert after.ids == before.ids
    assert after.of(OPTOK).info.status == after.runs["own en-zh_CN"].info.status == "FINISHED"
    losses = [line["metrics"]["train/loss"] for line in lines if "train/loss" in line["metrics"]]
    assert [value for _, _, value in after.curve(OPTOK, "train/loss")] == losses


def test_a_log_that_a_resume_cut_back_leaves_nothing_of_what_was_cut(results):
    track(results)
    lines = lines_of(results, OPTOK)
    again = [line | {"time": line["time"] + 100, "metrics": {"train/loss": 1.5}} for line in lines[4:6]]
    write_lines(results, OPTOK, [*lines[:4], *again])
    track(results)
    held = seen(results / "mlflow.db")
    told = [line for line in lines_of(results, OPTOK) if "train/loss" in line["metrics"]]
    expected = sorted((line["update"], round(line["time"] * 1000), line["metrics"]["train/loss"]) for line in told)
    assert held.curve(OPTOK, "train/loss") == expected


def test_a_run_that_left_the_configuration_is_left_alone(results):
    track(results)
    before = seen(results / "mlflow.db")
    track(results, planned=PLANNED | {"systems": ["unigram"]})
    after = seen(results / "mlflow.db")
    assert (after.ids, after.curves) == (before.ids, before.curves)


def test_a_cut_last_line_is_left_out_and_counted(results):
    whole = lines_of(results, OPTOK)
    log_of(results, OPTOK).write_bytes(log_of(results, OPTOK).read_bytes()[:-20])
    record = track(results)
    assert record["broken_lines"] == {str(OPTOK): 1}
    assert read_json(results / "tracking.json") == record
    last = whole[-1]["metrics"].popitem()[0]
    assert len(seen(results / "mlflow.db").curve(OPTOK, last)) == sum(last in line["metrics"] for line in whole)


def test_values_that_are_no_finite_numbers_are_left_out_and_counted(results):
    with log_of(results, OPTOK).open("a") as file:
        file.write('{"update": 13, "time": 1.0, "metrics": {"a": NaN, "b": Infinity, "c": "x", "d": 2, "e": null}}\n')
    assert track(results)["values_left_out"] == {str(OPTOK): 4}
    metrics = seen(results / "mlflow.db").of(OPTOK).data.metrics
    assert metrics["d"] == 2.0
    assert not {"a", "b", "c", "e"} & set(metrics)


def test_a_long_setting_becomes_a_file_and_short_ones_stay_parameters(results):
    path = results / OPTOK.folder / "run.json"
    record = read_json(path)
    record["settings"]["notes"], record["settings"]["short"] = "x" * 7000, [1, "ü"]
    write_json(path, record)
    track(results)
    child = seen(results / "mlflow.db").of(OPTOK)
    assert "notes" not in child.data.params
    assert child.data.params["short"] == '[1, "ü"]'
    kept = results / "mlflow-artifacts" / child.info.run_id / "artifacts" / "settings" / "notes.txt"
    assert kept.read_text() == "x" * 7000


def test_a_failed_run_is_told_with_its_reason_and_a_run_that_has_not_begun_waits(results):
    (results / UNIGRAM.folder / "scores.json").unlink()
    log = (results / "logs" / "score" / UNIGRAM.folder).with_suffix(".log")
    log.parent.mkdir(parents=True)
    log.write_text("optok: error: no room\n")
    record = track(results, planned=PLANNED | {"seeds": [1, 2]})
    assert record["runs"] == {"new": 2, "updated": 0, "unchanged": 0, "waiting": 2, "skipped": 0}
    failed = seen(results / "mlflow.db").of(UNIGRAM)
    assert failed.info.status == "FAILED"
    assert failed.data.tags["mlflow.note.content"] == "score: optok: error: no room"


def test_a_record_of_another_format_skips_its_run_and_no_other(results):
    write_json(results / OPTOK.folder / "run.json", {"format": 99})
    record = track(results)
    assert record["runs"]["new"] == record["runs"]["skipped"] == 1
    assert "another format" in record["skipped"][str(OPTOK)]


def test_a_results_folder_that_was_moved_is_imported_again_with_its_files(results):
    track(results)
    moved = results.parent / "deep ü 1" / "results"
    moved.parent.mkdir()
    shutil.move(results, moved)
    assert track(moved)["runs"]["new"] == 2
    client = MlflowClient(f"sqlite:///{moved / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("optok translation (results)")
    (child,) = client.search_runs([experiment.experiment_id], "params.system = 'optok'")
    assert {file.path for file in client.list_artifacts(child.info.run_id)} >= {"run.json", "scores.json"}


def test_imports_that_make_the_database_at_once_lose_nothing(untracked, prepared):
    by_settings = command(untracked)
    by_configuration = [*command(untracked)[:4], "--configfile", str(prepared.configfile), "--results", str(untracked)]
    started = [
        subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for arguments in (by_settings, by_configuration)
    ]
    told = [process.communicate(timeout=120) for process in started]
    assert [(process.returncode, error) for process, (_, error) in zip(started, told, strict=True)] == [(0, "")] * 2
    assert sorted("2 new" in output for output, _ in told) == [False, True]
    assert "10 waiting" in told[1][0]
    held = seen(untracked / "mlflow.db")
    assert len(held.runs) == 3
    assert len(held.curve(OPTOK, "train/loss")) == 6
