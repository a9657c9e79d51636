"""The page: what it says, whatever state the results are in."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from optok.files import read_json, write_json, write_text
from optok.plan import Run
from optok.reporting.gathering import Results
from optok.reporting.page import SECTIONS, page, write_page
from tests.chain import Benchmark, optok
from tests.reporting.making import make

FAILED = "This section could not be made"


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag in ("td", "th", "li", "p", "dt", "dd", "h2"):
            self.text.append(" ")

    def handle_data(self, data):
        self.text.append(data)


def read(html: str) -> tuple[str, list[tuple[str, dict]]]:
    """The text of a page with single blanks, and its elements with their attributes."""
    parser = _Text()
    parser.feed(html)
    return " ".join("".join(parser.text).split()), parser.tags


def test_a_whole_benchmark_has_every_section_and_says_what_one_seed_cannot_tell(tmp_path: Path):
    results = make(tmp_path, ["unigram", "unigram-sampled", "optok", "optok-post", "optok-restricted"], [1], corpora=2)
    text, tags = read(page(results))
    assert FAILED not in text
    for section in SECTIONS:
        assert section.title in text
    assert "5 systems, trained for translation in 4 directions (en-de, de-en, en-vi, vi-en) with one seed (1)" in text
    assert "20 of 20 runs are done" in text
    assert "One seed cannot tell chance from a difference" in text
    assert "beam 5 and length penalty 1" in text
    assert "BLEU|nrefs:1|tok:13a" in text
    assert "a BLEU of 3.2 in gramps-de en-de, 3.2 in gramps-de de-en," in text  # the source as it is
    assert "GPL-2.0-or-later" in text
    assert "6.4% 39.4%" in text
    assert "The test split is near the training text" in text
    assert "snakemake --cores all --configfile config/config.yaml" in text
    assert "gramps-vi/vi-en/optok-post/seed1" in text
    assert "No training, so no curve: optok-restricted" in text
    images = [attributes for tag, attributes in tags if tag == "svg" and attributes.get("role") == "img"]
    assert len(images) == 3 * 4  # a panel a direction: tokens, validation, loss
    assert all(image["aria-label"].startswith("gramps-") for image in images)


def test_several_seeds_give_mean_and_spread_instead(tmp_path: Path):
    text, _ = read(page(make(tmp_path, ["unigram", "optok"], [1, 2, 3])))
    assert "One seed" not in text
    assert "mean over 3 seeds ± the standard deviation" in text
    assert "21.0 ± 1.0 / 41.0 ± 1.0" in text  # 20, 21, 22


def test_the_page_asks_for_nothing_outside_of_itself(tmp_path: Path):
    html = page(make(tmp_path, ["unigram", "optok"], [1]))
    _, tags = read(html)
    for tag, attributes in tags:
        assert tag not in ("script", "img", "iframe", "object")
        for name in ("src", "href", "xlink:href", "style"):
            assert (attributes.get(name) or "#").startswith(("#", "data:")), (tag, attributes)
    assert not re.search(r"url\(|@import|@font-face", html)


def test_a_run_without_scores_is_named_with_its_reason(tmp_path: Path):
    results = make(tmp_path, ["unigram", "optok"], [1])
    run = Run("gramps-de", "en-de", "optok", 1)
    (tmp_path / run.folder / "scores.json").unlink()
    write_text(tmp_path / "logs/train/gramps-de/en-de/optok/seed1.log", "optok: error: the loss is <nan> & more\n")
    html = page(results)
    text, _ = read(html)
    assert FAILED not in text
    assert "gramps-de en-de optok seed 1: failed, train: optok: error: the loss is <nan> & more" in text
    assert "3 of 4 runs are done" in text
    assert "the loss is &lt;nan&gt; &amp; more" in html  # what files say is text, never markup


def test_cut_and_missing_files_cost_no_more_than_what_they_say(tmp_path: Path):
    results = make(tmp_path, ["unigram", "optok"], [1])
    logs = [tmp_path / Run("gramps-de", "en-de", system, 1).folder / "log.jsonl" for system in ("unigram", "optok")]
    logs[0].write_bytes(logs[0].read_bytes()[:-30])
    logs[1].unlink()
    record = tmp_path / Run("gramps-de", "de-en", "unigram", 1).folder / "run.json"
    record.write_bytes(record.read_bytes()[:100])
    damaged = tmp_path / Run("gramps-de", "de-en", "optok", 1).folder / "scores.json"
    write_json(damaged, {name: value for name, value in read_json(damaged).items() if name != "chrf"})
    (tmp_path / "gramps-de/corpus/report.json").unlink()
    (tmp_path / "benchmarks/train/seed1.tsv").write_text("s\th:m:s\tmax_rss\n6")
    text, _ = read(page(results))
    assert FAILED not in text
    assert "gramps-de en-de unigram seed 1: 1 line of its log could not be read and is left out" in text
    assert "gramps-de has no report" in text
    assert "gramps-de de-en unigram seed 1: missing" in text
    assert "damaged ('chrf')" in text
    assert "20.0 / 40.0" in text
    assert "No run of this direction has scores" in text
    assert "No times" in text


def test_an_empty_results_folder_gives_a_page_that_says_so(tmp_path: Path):
    results = make(tmp_path / "made", ["unigram", "optok"], [1])
    text, _ = read(page(Results(tmp_path / "empty", results.planned)))
    assert FAILED not in text
    assert "0 of 4 runs are done" in text
    assert "None yet: no run has scores" in text


def test_a_section_that_fails_says_so_and_the_table_still_comes(tmp_path: Path):
    results = make(tmp_path, ["unigram", "optok"], [1])
    write_json(tmp_path / "gramps-de/corpus/report.json", {"steps": 5, "splits": {}})
    text, _ = read(page(results))
    assert text.count(FAILED) == 1
    assert f"{FAILED}. Corpora and cleaning: TypeError" in text
    assert "21.0 / 41.0*" in text


def test_forty_runs_with_long_logs_stay_under_two_megabytes(tmp_path: Path):
    systems = ["unigram", "unigram-sampled", "optok", "optok-post", "optok-restricted"]
    path = write_page(tmp_path, make(tmp_path, systems, [1], corpora=4, updates=2000).planned)
    assert path.stat().st_size < 2_000_000


def test_the_same_results_give_the_same_page(tmp_path: Path):
    results = make(tmp_path, ["unigram", "optok"], [1])
    assert page(results) == page(Results(tmp_path, results.planned))


def test_the_command_says_where_the_page_is_and_what_is_wrong(
    prepared: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "results").mkdir()
    assert optok("report", "--configfile", prepared.configfile, "--results", tmp_path / "results") == 0
    assert f"{tmp_path / 'results' / 'report.html'}: open it in a browser" in capsys.readouterr().out
    assert optok("report", "--configfile", prepared.configfile, "--results", tmp_path / "none") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "none is no folder" in error
