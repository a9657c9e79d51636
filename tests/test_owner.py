"""One writer a results folder: real processes take it, hold it, are killed."""

import dataclasses
import signal
import socket
import subprocess
import sys
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from optok import owner
from optok.errors import UserError
from optok.files import read_json, write_json, write_text

HOLD = """
import sys
from pathlib import Path
from optok import owner
from optok.errors import UserError
sys.stdin.readline()
try:
    owner.take(Path(sys.argv[1]))
except UserError as error:
    print("refused", error, flush=True)
    sys.exit(2)
print("taken", flush=True)
sys.stdin.readline()
owner.release(Path(sys.argv[1]))
"""


class Holder:
    """A process that takes a folder when it is told to, and releases it when it is told again."""

    def __init__(self, results: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(results)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def tell(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def said(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def take(self) -> str:
        self.tell()
        return self.said()


@pytest.fixture
def start():
    """`start(folder)`: a `Holder`, ended with the test."""
    started: list[Holder] = []

    def starter(results: Path) -> Holder:
        started.append(Holder(results))
        return started[-1]

    yield starter
    for holder in started:
        holder.process.kill()
        holder.process.communicate()


def left_by_snakemake(folder: Path, results: Path) -> Path:
    """Snakemake's own folder after a kill: locks, and marks of incomplete files (names as it makes them)."""
    snakemake = folder / ".snakemake"
    write_text(snakemake / "locks" / "0.input.lock", f"{results}/corpus/train.parquet\n")
    write_text(snakemake / "locks" / "0.output.lock", f"{results}/table.csv\n{results}/table.md\n")
    write_text(mark_of(snakemake, results / "run.json"), "{}")
    return snakemake


def mark_of(snakemake: Path, path: Path) -> Path:
    name = urlsafe_b64encode(str(path).encode()).decode()
    parts = [name[start : start + 254] for start in range(0, len(name), 254)]
    return Path(snakemake / "incomplete", *["@" + part for part in parts[:-1]], parts[-1])


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_living_owner_is_named_and_respected(tmp_path: Path, start):
    results = tmp_path / "results"
    holder = start(results)
    assert holder.take() == "taken"
    snakemake = left_by_snakemake(tmp_path, results)
    before = files_in(snakemake)
    with pytest.raises(UserError) as caught:
        owner.take(results)
    for part in (str(results), f"process {holder.process.pid}", socket.gethostname(), ".owner.json"):
        assert part in str(caught.value)
    living = owner.clear_after_death(results, snakemake)
    assert living is not None
    assert living.pid == holder.process.pid
    assert files_in(snakemake) == before
    owner.release(results)  # not ours: nothing happens
    assert owner.owner_of(results) == living
    holder.tell()
    assert holder.process.wait() == 0
    owner.take(results)
    assert read_json(results / owner.FILE)["host"] == socket.gethostname()
    owner.take(results)  # ours already
    owner.release(results)
    assert owner.owner_of(results) is None


@pytest.mark.parametrize("reaped", [True, False], ids=["gone", "a zombie"])
def test_what_a_killed_owner_left_is_removed(tmp_path: Path, start, reaped: bool):
    results = tmp_path / "results"
    holder = start(results)
    assert holder.take() == "taken"
    holder.process.send_signal(signal.SIGKILL)
    holder.said()  # its output ends when it is dead
    if reaped:
        holder.process.wait()
    snakemake = left_by_snakemake(tmp_path, results)
    long_name = mark_of(snakemake, results / ("deep/" * 60 + "run.json"))
    assert len(long_name.relative_to(snakemake / "incomplete").parts) > 1
    long_name.parent.mkdir(parents=True, exist_ok=True)
    long_name.write_bytes(b"{}")
    assert owner.clear_after_death(results, snakemake) is None
    assert files_in(snakemake) == []
    assert owner.owner_of(results) is None


def test_what_belongs_to_another_results_folder_stays(tmp_path: Path, start):
    results, other = tmp_path / "results", tmp_path / "results-quick"
    dead, living = start(results), start(other)
    assert dead.take() == living.take() == "taken"
    dead.process.kill()
    dead.process.wait()
    snakemake = left_by_snakemake(tmp_path, results)
    write_text(snakemake / "locks" / "1.output.lock", f"{other}/table.csv\n")
    write_text(mark_of(snakemake, other / "run.json"), "{}")
    write_text(mark_of(snakemake, tmp_path / "data" / "archive.whl"), "{}")
    assert owner.clear_after_death(results, snakemake) is None
    assert files_in(snakemake) == sorted(
        [snakemake / "locks" / "1.output.lock", mark_of(snakemake, other / "run.json")]
    )


def test_without_an_owner_nothing_is_removed(tmp_path: Path):
    snakemake = left_by_snakemake(tmp_path, tmp_path / "results")
    before = files_in(snakemake)
    assert owner.clear_after_death(tmp_path / "results", snakemake) is None
    assert files_in(snakemake) == before
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("changed", "respected"),
    [
        ({"host": "another.example"}, True),  # its processes cannot be seen from here, even with our number
        ({"started": 12345.0}, False),  # our number, taken again after the owner died
    ],
)
def test_a_process_number_alone_is_no_owner(tmp_path: Path, start, changed: dict, respected: bool):
    holder = start(tmp_path)
    assert holder.take() == "taken"
    for pid in (holder.process.pid, owner.Owner.me().pid):
        write_json(tmp_path / owner.FILE, {**read_json(tmp_path / owner.FILE), "pid": pid, **changed})
        if respected:
            with pytest.raises(UserError, match="is being written by"):
                owner.take(tmp_path)
            owner.release(tmp_path)
            assert (tmp_path / owner.FILE).exists()
        else:
            assert owner.clear_after_death(tmp_path, tmp_path / ".snakemake") is None
            owner.take(tmp_path)


def test_an_owner_file_that_cannot_be_read_is_no_owner(tmp_path: Path):
    for content in ("", "{", "[]", '{"pid": 1}'):
        write_text(tmp_path / owner.FILE, content)
        assert owner.owner_of(tmp_path) is None
    owner.take(tmp_path)
    found = owner.owner_of(tmp_path)
    assert found is not None
    assert dataclasses.asdict(found) == read_json(tmp_path / owner.FILE)


def test_of_processes_that_start_at_once_one_gets_the_folder(tmp_path: Path, start):
    holders = [start(tmp_path) for _ in range(4)]
    for holder in holders:
        holder.tell()
    said = sorted(holder.said().split()[0] for holder in holders)
    assert said == ["refused", "refused", "refused", "taken"]
