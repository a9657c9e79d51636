"""The table: a row a run whatever became of it, and what it was scored with in its heading."""

import csv
import itertools
from pathlib import Path

import pytest
from rich.console import Console

from optok.evaluation.table import COLUMNS, build_table, heading, write_table
from optok.files import read_json, sha256_of, write_json, write_text
from optok.plan import Run
from optok.reporting.terminal import print_table

PLANNED = {
    "task": "translation",
    "baseline": "unigram",
    "corpora": {"gramps-de": ["en-de", "de-en"], "gramps-zh": ["en-zh_CN"]},
    "systems": ["unigram", "optok"],
    "seeds": [1, 2],
    "decoding": {"beam": 4, "length_penalty": 0.6},
}
SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:{}|smooth:exp|version:2.6.0"
CHRF_SIGNATURE = "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0"


def finish(results: Path, run: Run, bleu: float) -> Path:
    """The files of a run that is done."""
    folder = results / run.folder
    tokenizer = "zh" if run.direction.endswith("zh_CN") else "13a"
    signatures = {"bleu": SIGNATURE.format(tokenizer), "chrf": CHRF_SIGNATURE, "chrfpp": "c", "ter": "t"}
    scores = {"bleu": bleu, "chrf": bleu + 20.123456, "chrfpp": bleu + 15, "ter": 70.00004}
    write_text(folder / "hypotheses.txt", "ein Satz\n")
    of = {"run_hash": "abc", "hypotheses_sha256": sha256_of(folder / "hypotheses.txt")}
    more = {"signatures": signatures, "tokens_per_sentence": 12.345678}
    write_json(folder / "scores.json", {"format": 1, **of, **scores, **more})
    pieces = {"source": {"pieces": 2000}, "target": {"pieces": 1200}}
    record = {"hash": "abc", "tokenizers": pieces, "updates": 500, "train_seconds": 61.5}
    write_json(folder / "run.json", {"format": 1, **record})
    return folder


def all_runs(results: Path) -> None:
    directions = [("gramps-de", "en-de"), ("gramps-de", "de-en"), ("gramps-zh", "en-zh_CN")]
    for number, ((corpus, direction), system, seed) in enumerate(
        itertools.product(directions, PLANNED["systems"], [1, 2])
    ):
        finish(results, Run(corpus, direction, system, seed), 20 + number + 1 / 3)


def rows_of(results: Path) -> list[dict[str, str]]:
    with (results / "table.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_row_a_run_with_every_column_and_four_decimals(tmp_path: Path):
    all_runs(tmp_path)
    write_table(build_table(tmp_path, PLANNED), tmp_path, PLANNED)
    rows = rows_of(tmp_path)
    assert [(row["direction"], row["system"], row["seed"]) for row in rows] == [
        (direction, system, seed)
        for direction in ("en-de", "de-en", "en-zh_CN")
        for system in ("unigram", "optok")
        for seed in "12"
    ]
    assert list(rows[0]) == list(COLUMNS)
    assert list(rows[0].values()) == [
        *("translation", "gramps-de", "en-de", "unigram", "1", "20.3333", "40.4568", "35.3333", "70.0000", "12.3457"),
        *("2000", "1200", "500", "61.5000", SIGNATURE.format("13a"), "ok", ""),
    ]


def test_the_heading_names_split_beam_and_every_signature(tmp_path: Path):
    all_runs(tmp_path)
    write_table(build_table(tmp_path, PLANNED), tmp_path, PLANNED)
    head, *rest = (tmp_path / "table.md").read_text(encoding="utf-8").split("\n\n")
    assert head.startswith("BLEU / chrF2 on the test split, beam 4, length penalty 0.6;")
    for signature in (SIGNATURE.format("13a"), SIGNATURE.format("zh")):
        assert f"`BLEU|{signature}`" in head
    assert f"`chrF2|{CHRF_SIGNATURE}`" in head
    grid = [[cell.strip() for cell in line.strip("|").split("|")] for line in rest[0].strip().splitlines()]
    assert grid[0] == ["corpus", "direction", "unigram", "optok"]
    # Two seeds a cell: 20⅓ and 21⅓ have the mean 20.8 and the standard deviation √½.
    assert grid[2] == ["gramps-de", "en-de", "20.8 ± 0.7 / 41.0 ± 0.7", "22.8 ± 0.7 / 43.0 ± 0.7*"]
    assert len(grid) == 2 + 3


def test_a_failed_run_keeps_its_row_with_the_reason(tmp_path: Path):
    all_runs(tmp_path)
    failed, missing = (Run("gramps-de", "en-de", "optok", seed) for seed in (1, 2))
    foreign = Run("gramps-de", "de-en", "optok", 1)
    (tmp_path / failed.folder / "scores.json").unlink()
    log = tmp_path / "logs" / "train" / "gramps-de" / "en-de" / "optok" / "seed1.log"
    write_text(log, "train optok: 20 of 500 updates\noptok: error: the loss is nan at update 21: diverged, stop\n\n")
    (tmp_path / missing.folder / "run.json").unlink()
    write_json(tmp_path / foreign.folder / "scores.json", {"bleu": 3})
    table = build_table(tmp_path, PLANNED)
    write_table(table, tmp_path, PLANNED)
    rows = {(row["direction"], row["system"], row["seed"]): row for row in rows_of(tmp_path)}
    assert len(rows) == 12
    row = rows["en-de", "optok", "1"]
    assert row["status"] == "failed"
    assert row["reason"] == "train: optok: error: the loss is nan at update 21: diverged, stop"
    assert row["bleu"] == row["updates"] == row["signature"] == ""
    assert rows["en-de", "optok", "2"]["status"] == "missing"
    assert rows["en-de", "optok", "2"]["reason"].endswith(
        "seed2/run.json is missing: run the stage that makes it first"
    )
    assert rows["de-en", "optok", "1"]["status"] == "missing"
    assert "scores.json is of another format than 1" in rows["de-en", "optok", "1"]["reason"]
    markdown = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert "| gramps-de | en-de | 20.8 ± 0.7 / 41.0 ± 0.7* | failed missing |" in markdown
    assert "- gramps-de en-de optok seed 1: failed, train: optok: error: the loss is nan at update 21" in markdown
    assert "| 27.3 / 47.5 (1 of 2 seeds)* |" in markdown


def test_scores_of_what_has_changed_since_are_not_shown(tmp_path: Path):
    all_runs(tmp_path)
    retrained, translated = (Run("gramps-de", "en-de", "optok", seed) for seed in (1, 2))
    lost = Run("gramps-de", "de-en", "optok", 1)
    record = read_json(tmp_path / retrained.folder / "run.json")
    write_json(tmp_path / retrained.folder / "run.json", {**record, "hash": "def"})
    write_text(tmp_path / translated.folder / "hypotheses.txt", "ein anderer Satz\n")
    (tmp_path / lost.folder / "hypotheses.txt").unlink()
    table = build_table(tmp_path, PLANNED)
    reasons = {(row["direction"], row["seed"]): row["reason"] for row in table.iter_rows(named=True) if row["reason"]}
    assert reasons == {
        ("en-de", 1): "the translator was made anew since it was scored: run `optok score` again",
        ("en-de", 2): "hypotheses.txt is gone or another since it was scored: run `optok score` again",
        ("de-en", 1): "hypotheses.txt is gone or another since it was scored: run `optok score` again",
    }
    assert set(table.filter(table["reason"] != "")["bleu"]) == {None}


def test_a_log_of_a_run_that_went_well_after_all_is_no_failure(tmp_path: Path):
    all_runs(tmp_path)
    write_text(tmp_path / "logs/train/gramps-de/en-de/unigram/seed1.log", "optok: error: No space left on device\n")
    assert set(build_table(tmp_path, PLANNED)["status"]) == {"ok"}


def test_a_results_folder_without_a_run_gives_a_table_of_missing_ones(tmp_path: Path):
    write_table(build_table(tmp_path, PLANNED), tmp_path, PLANNED)
    assert [row["status"] for row in rows_of(tmp_path)] == ["missing"] * 12
    assert "none yet" in (tmp_path / "table.md").read_text(encoding="utf-8")


def test_the_printed_table_cuts_no_name_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    planned = {**PLANNED, "systems": [f"a-system-with-a-long-name-{number}" for number in range(8)]}
    print_table(build_table(tmp_path, planned), tmp_path, heading(planned))
    printed = capsys.readouterr().out
    assert Console().width < 200 < max(map(len, printed.splitlines()))
    assert "…" not in printed
    for name in [*planned["systems"], "beam 4", str(tmp_path / "table.csv"), "0 of 48 runs are done"]:
        assert name in printed


def test_the_same_results_give_the_same_bytes(tmp_path: Path):
    all_runs(tmp_path)
    written = []
    for _ in range(2):
        write_table(build_table(tmp_path, PLANNED), tmp_path, PLANNED)
        written.append([(tmp_path / name).read_bytes() for name in ("table.csv", "table.md")])
    assert written[0] == written[1]
