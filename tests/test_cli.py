"""Every command by hand, with a configuration and with settings as JSON; what is wrong is one line and exit code 2."""

import io
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from optok import plan
from optok.files import read_json, read_lines
from tests.chain import Benchmark, optok

ROOT = Path(__file__).parents[1]


def build(stage: str, benchmark: Benchmark, system: str, *more: object) -> int:
    named = ["--configfile", benchmark.configfile, "--corpus", "own", "--direction", "en-zh_CN", "--system", system]
    return optok(stage, *named, *more)


@pytest.fixture(scope="module")
def built(prepared: Benchmark) -> Benchmark:
    """Every system of one direction, built by hand."""
    for stage, system in (
        *(("train", "bpe"), ("train", "unigram-sampled"), ("train", "optok")),
        *(("retokenize", "optok-post"), ("restrict", "optok-restricted")),
    ):
        assert build(stage, prepared, system) == 0
    return prepared


def same_translator(one: Path, other: Path) -> bool:
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in plan.TRANSLATOR_FILES)


def test_preparing_and_tokenizing_with_settings_gives_the_same_as_with_a_configuration(
    prepared: Benchmark, tmp_path: Path
):
    settings = prepared.settings
    given = json.dumps(plan.prepare_settings(settings, "own"))
    assert optok("prepare", "--settings", given, "--output", tmp_path / "corpus") == 0
    for file in prepared.corpus.iterdir():
        assert (tmp_path / "corpus" / file.name).read_bytes() == file.read_bytes()
    given = json.dumps(plan.tokenizer_settings(settings, "unigram", "zh-CN"))
    folder = ("--corpus", tmp_path / "corpus", "--output", tmp_path / "tokenizers")
    assert optok("tokenizer", "train", "--settings", given, *folder) == 0
    model = prepared.results / "own" / "tokenizers" / "unigram" / "zh_CN.model"
    assert (tmp_path / "tokenizers" / "zh_CN.model").read_bytes() == model.read_bytes()


def test_building_with_settings_gives_the_same_as_with_a_configuration(built: Benchmark, tmp_path: Path):
    settings, corpus = built.settings, built.corpus
    tokenizers = built.results / "own" / "tokenizers" / "unigram"
    for stage, system, more in (
        ("train", "optok", ("--tokenizers", tokenizers)),
        ("retokenize", "optok-post", ("--base", built.run_folder("unigram-sampled"))),
        ("restrict", "optok-restricted", ("--base", built.run_folder("optok"))),
    ):
        slice_of = getattr(plan, f"{stage}_settings")(settings, built.run(system))
        output = tmp_path / system / "seed1"
        assert optok(stage, "--settings", json.dumps(slice_of), "--corpus", corpus, *more, "--output", output) == 0
        assert same_translator(output / "translator", built.run_folder(system) / "translator")
        ours, theirs = (read_json(folder / "run.json") for folder in (output, built.run_folder(system)))
        assert ours["hash"] == theirs["hash"]
        assert ours["system"] == system  # by default the folder's name


def test_a_second_run_changes_nothing(built: Benchmark):
    before = {path: path.read_bytes() for path in (built.run_folder("optok") / "translator").iterdir()}
    log = (built.run_folder("optok") / "log.jsonl").read_bytes()
    assert build("train", built, "optok") == 0
    assert {path: path.read_bytes() for path in before} == before
    assert (built.run_folder("optok") / "log.jsonl").read_bytes() == log


def test_a_run_is_exported_translated_scored_and_put_in_the_table(built: Benchmark, capsys: pytest.CaptureFixture[str]):
    systems = ["unigram-sampled", "optok", "optok-post", "optok-restricted", "bpe"]
    for system in systems:
        folder = built.run_folder(system)
        assert optok("export", "--translator", folder / "translator", "--output", folder / "export") == 0
        text, decoding = built.corpus / "test.en", json.dumps({"decoding": {"beam": 2}})
        named = ("--export", folder / "export", "--input", text, "--output", folder / "hypotheses.txt")
        assert optok("translate", "--settings", decoding, *named) == 0
        assert len(read_lines(folder / "hypotheses.txt")) == len(read_lines(text)) == 16
        named = ("--hypotheses", folder / "hypotheses.txt", "--corpus", built.corpus, "--direction", "en-zh_CN")
        where = ("--translator", folder / "translator", "--output", folder / "scores.json")
        assert optok("score", *named, *where) == 0
    tables = []
    capsys.readouterr()
    for how in (
        ("--configfile", built.configfile),
        ("--settings", json.dumps(plan.table_settings(built.settings)), "--results", built.results),
    ):
        assert optok("table", *how, "--print") == 0
        assert "5 of 12 runs are done" in capsys.readouterr().out
        tables.append([(built.results / name).read_bytes() for name in plan.TABLE_FILES])
    assert tables[0] == tables[1]
    rows = pl.read_csv(built.results / "table.csv")
    assert set(rows.filter(pl.col("status") == "ok")["system"]) == set(systems)
    assert set(rows["status"]) == {"ok", "missing"}


def test_translate_reads_standard_input_and_writes_as_many_lines(
    built: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
):
    translator = built.run_folder("optok") / "translator"
    assert optok("export", "--translator", translator, "--output", tmp_path / "export") == 0
    text = "ba dil\n\n\u2028po\u0085\n".encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    capfdbinary.readouterr()
    assert optok("translate", "--export", tmp_path / "export") == 0
    lines = capfdbinary.readouterr().out.decode("utf-8").split("\n")
    assert len(lines) == 4
    assert lines[1] == lines[3] == ""


def test_own_text_needs_no_fetching(prepared: Benchmark, capsys: pytest.CaptureFixture[str]):
    assert optok("fetch", "--configfile", prepared.configfile, "--corpus", "own") == 0
    assert "nothing to fetch" in capsys.readouterr().out


def test_a_bare_command_shows_its_help_and_no_error(capsys: pytest.CaptureFixture[str]):
    assert optok() == 2
    captured = capsys.readouterr()
    assert "Usage" in captured.out + captured.err
    assert "error" not in captured.err
    assert optok("--help") == 0


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line that a command says before it fails."""
    capsys.readouterr()
    assert optok(*arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("optok: error: ")
    assert error.count("\n") == 1
    return error


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("trian", "No such command 'trian'. Did you mean 'train'"),
        ("train --sed 1", "No such option: --sed"),
        ("train --seed one", "'--seed'"),
        ("train", "optok train needs --settings (JSON) or --configfile (a YAML file)"),
        ("train --configfile nowhere.yaml", "nowhere.yaml does not exist"),
        ("train --configfile {config}", "optok train needs --corpus"),
        ("train --configfile {config} --corpus own --direction en-zh_CN", "optok train needs --system"),
        ("train --configfile {config} --corpus owm --direction en-zh_CN --system bpe", "did you mean 'own'?"),
        ("train --configfile {config} --corpus own --direction en-zh --system bpe", "did you mean 'en-zh_CN'?"),
        ("train --configfile {config} --corpus own --direction en-zh_CN --system opto", "did you mean 'optok'?"),
        (
            "train --configfile {config} --corpus own --direction en-zh_CN --system optok-post",
            "system 'optok-post' is built by `optok retokenize`, not by `optok train`",
        ),
        ("tokenizer train --configfile {config} --corpus own --tokenizer bqe --language en", "did you mean 'bpe'?"),
        ("tokenizer train --configfile {config} --corpus own --tokenizer bpe --language zh", "did you mean 'zh-CN'?"),
        ("fetch --configfile {config} --corpus owm", "did you mean 'own'?"),
        ("prepare --configfile {config} --corpus owm", "did you mean 'own'?"),
        ("fetch --settings {{ --output {tmp}", "--settings is not valid JSON"),
        ("fetch --settings {{}} --output {tmp}", "key 'archive' is missing"),
        ('fetch --settings {{"archive":"grmps"}} --output {tmp}', "did you mean 'gramps'?"),
        ("table --settings x --results {tmp}", "--settings is not valid JSON"),
        ("table --settings {{}} --results {tmp}", "is missing"),
        ("table --settings []", "--settings"),
        ("train --settings {{}} --output {tmp}", "is missing"),
        ("score", "Missing option '--hypotheses'"),
        ("translate", "optok translate needs --export"),
        ("export --translator {tmp} --output {tmp}/export", "is no whole translator: config.json is missing"),
        ("translate --export {tmp} --input {config}", "is no export that CTranslate2 can read"),
        ("translate --export {tmp} --input {tmp}/nothing.txt", "nothing.txt does not exist"),
    ],
)
def test_a_wrong_command_is_one_clear_line(
    prepared: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: str, fault: str
):
    filled = arguments.format(config=prepared.configfile, tmp=tmp_path)
    assert fault in refused(capsys, *filled.split(" ")).replace("\\", "")


@pytest.mark.parametrize(
    ("key", "change", "fault"),
    [
        ("trainin", {}, "unknown key 'trainin': did you mean 'training'?"),
        ("training", None, "key 'training' is null"),
        ("training", {"updates": "many"}, "key 'training.updates' is 'many'"),
        ("training", {"updates": 3}, "systems.optok.joint.start_after is 3, but training ends after 3 updates"),
        ("systems", {"a": {"tokenizer": "bpe", "sampling": {"alpha": 0.3}, "joint": {}}}, "needs a unigram tokenizer"),
        ("systems", {"optok": {"joint": {"candidates": 1}}}, "systems.optok.joint.candidates"),
    ],
)
def test_a_wrong_configuration_is_one_clear_line(
    prepared: Benchmark, capsys: pytest.CaptureFixture[str], key: str, change: object, fault: str
):
    path = prepared.configured(**{key: change})
    named = ("--corpus", "own", "--direction", "en-zh_CN", "--system", "optok")
    assert fault in refused(capsys, "train", "--configfile", path, *named)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ({"own.en": b"a\nb\n", "own.zh": b"a\n"}, "has 2 lines, "),
        ({"own.en": b"a\n", "own.zh": b"\xff\n"}, "own.zh: line 1 is not valid UTF-8"),
        ({"own.en": b"", "own.zh": b"a\n"}, "own.en is empty"),
    ],
)
def test_own_text_that_cannot_be_used_is_one_clear_line(
    prepared: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: dict, fault: str
):
    for name, content in text.items():
        (tmp_path / name).write_bytes(content)
    files = {"en": str(tmp_path / "own.en"), "zh-CN": str(tmp_path / "own.zh")}
    path = prepared.configured(corpora={"own": {"train": {"files": files}}}, results=str(tmp_path / "results"))
    assert fault in refused(capsys, "prepare", "--configfile", path, "--corpus", "own")
    assert not (tmp_path / "results").exists()


def test_a_vocabulary_larger_than_the_text_allows_is_one_clear_line(
    prepared: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = prepared.configured(tokenizers={"unigram": {"size": {"default": 5000, "zh-CN": 48}}})
    named = ("--corpus", "own", "--tokenizer", "unigram", "--language", "en", "--output", tmp_path / "tokenizers")
    line = refused(capsys, "tokenizer", "train", "--configfile", path, *named)
    for part in ("corpus own", "language en", "5000", "at most 62"):
        assert part in line
    assert not (tmp_path / "tokenizers").exists()


def test_a_stage_before_the_one_it_needs_names_that_one(
    prepared: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = prepared.configured(results=str(tmp_path / "results"))
    named = ("--configfile", path, "--corpus", "own", "--direction", "en-zh_CN")
    assert "run `optok prepare` first" in refused(capsys, "train", *named, "--system", "unigram")
    assert "is no whole translator" in refused(capsys, "retokenize", *named, "--system", "optok-post")
    assert "is no whole translator" in refused(capsys, "restrict", *named, "--system", "optok-restricted")


def test_python_m_optok_is_the_same_command():
    command = [sys.executable, "-m", "optok", "train", "--configfile", "nowhere.yaml"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "optok: error: nowhere.yaml does not exist\n"
