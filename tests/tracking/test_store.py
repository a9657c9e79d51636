"""Stores that cannot be written: one clear line, and the table does not wait for them."""

import sqlite3
from contextlib import closing

import pytest

from optok.errors import UserError
from optok.files import read_json
from optok.tracking import store as stores
from optok.tracking.store import Store
from tests.chain import optok
from tests.tracking.making import OPTOK, command, free_port, seen, track


def locked(database):
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    return closing(connection)


def of_another_version(database):
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'abc123'")
        connection.commit()


def test_a_locked_database_is_told_and_a_repetition_completes(results, monkeypatch):
    monkeypatch.setattr(stores, "PATIENCE", 0.1)
    with (
        locked(results / "mlflow.db"),
        pytest.raises(UserError, match=r"locked by another program.*optok track. again"),
    ):
        track(results)
    assert track(results)["runs"]["new"] == 2


def test_a_database_of_another_version_is_told_with_the_ways_out(results):
    of_another_version(results / "mlflow.db")
    with pytest.raises(UserError, match=r"another version of MLflow \(schema abc123\).*delete it.*mlflow db upgrade"):
        track(results)


def test_a_file_that_is_no_database_is_told(untracked):
    (untracked / "mlflow.db").write_bytes(b"no database " * 100)
    with pytest.raises(UserError, match="not a database"):
        track(untracked)


def test_a_database_of_another_program_is_told(untracked):
    with closing(sqlite3.connect(untracked / "mlflow.db")) as connection:
        connection.execute("CREATE TABLE mine (a)")
    with pytest.raises(UserError, match="schema unknown"):
        track(untracked)


def test_a_server_that_does_not_answer_is_told(untracked, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    address = f"http://somebody:secret@127.0.0.1:{free_port()}"
    with pytest.raises(UserError, match="does not answer: start it, then run `optok track` again") as error:
        track(untracked, address)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("address", ["mlflow.db", "127.0.0.1:5000"])
def test_something_that_is_no_address_is_told_with_the_forms_that_are(address, tmp_path):
    with pytest.raises(UserError, match="sqlite:///FILE or http://HOST:PORT"):
        Store.at(address, tmp_path)


def test_a_database_may_lie_elsewhere(untracked, tmp_path, empty_database):
    elsewhere = tmp_path / "mine.db"
    elsewhere.write_bytes(empty_database.read_bytes())
    track(untracked, f"sqlite:///{elsewhere}")
    assert str(OPTOK) in seen(elsewhere).runs
    assert (tmp_path / "mlflow-artifacts").is_dir()
    assert not (untracked / "mlflow.db").exists()


def test_results_that_do_not_exist_are_told(tmp_path):
    with pytest.raises(UserError, match="nothing has run yet"):
        track(tmp_path / "nowhere")


def test_a_failure_ends_the_command_but_only_leaves_a_record_where_the_workflow_goes_on(results, capsys):
    of_another_version(results / "mlflow.db")
    arguments = command(results)[3:]
    assert optok(*arguments) == 2
    assert not (results / "tracking.json").exists()
    assert optok(*arguments, "--keep-going") == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("optok: error:")
    assert lines[1].startswith("optok: tracking failed:")
    assert len(lines) == 2
    record = read_json(results / "tracking.json")
    assert record["status"] == "failed"
    assert record["reason"] in lines[1]
    (results / "mlflow.db").unlink()
    assert optok(*arguments) == 0
    assert read_json(results / "tracking.json")["status"] == "ok"


def test_no_page_is_served_where_no_run_has_written_anything(untracked, capsys):
    for run in untracked.glob("own/en-zh_CN/*/seed1"):
        for name in ("log.jsonl", "run.json", "scores.json"):
            (run / name).unlink()
    assert optok(*command(untracked)[3:], "--serve") == 2
    assert "mlflow.db is missing: no run has written anything yet" in capsys.readouterr().err
