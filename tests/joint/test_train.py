"""Training, joint or not: what it leaves behind, and that a stop or a dead tokenizer changes none of it."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import sentencepiece

from optok import plan
from optok.config import load, merge
from optok.corpora.store import read_split
from optok.errors import UserError
from optok.files import read_json
from optok.joint.retokenize import RetokenizeSettings, retokenize_system
from optok.joint.train import TrainSettings, train_system
from optok.lattice import Vocabulary, best_path
from optok.tokenizers.model_file import read_model
from optok.training import run_log
from tests.chain import Benchmark


class Killed(Exception):
    """Stands for a kill between two updates."""


def train(benchmark: Benchmark, output: Path, name: str, kill_at: int = 0, **overrides) -> dict:
    """Trains a system of the benchmark into a folder, with other settings where given."""
    settings = plan.train_settings(benchmark.settings, benchmark.run(name))
    tokenizers = benchmark.results / "own" / "tokenizers" / overrides.pop("tokenizer", "unigram")
    read = TrainSettings.model_validate(merge(settings, overrides))
    return train_system(read, name, benchmark.corpus, tokenizers, output, progress=killer(kill_at))


def retokenize(benchmark: Benchmark, base: Path, output: Path, kill_at: int = 0, **overrides) -> dict:
    settings = plan.retokenize_settings(benchmark.settings, benchmark.run("optok-post"))
    read = RetokenizeSettings.model_validate(merge(settings, overrides))
    return retokenize_system(read, "optok-post", base, benchmark.corpus, output, progress=killer(kill_at))


def killer(kill_at: int):
    def progress(update: int, message: str) -> None:
        if update == kill_at:
            raise Killed

    return progress


def files_of(folder: Path) -> dict[str, bytes]:
    return {name: (folder / "translator" / name).read_bytes() for name in plan.TRANSLATOR_FILES}


def metrics_of(folder: Path) -> list[tuple[int, dict[str, float]]]:
    """The run log without what depends on the clock."""
    return [
        (line["update"], {name: value for name, value in line["metrics"].items() if "per_second" not in name})
        for line in run_log.read(folder / "log.jsonl").lines
    ]


@pytest.fixture(scope="module")
def trained(prepared: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    folder = tmp_path_factory.mktemp("trained")
    for system in ("unigram-sampled", "optok"):
        train(prepared, folder / system, system)
    retokenize(prepared, folder / "unigram-sampled", folder / "optok-post")
    return SimpleNamespace(sampled=folder / "unigram-sampled", optok=folder / "optok", post=folder / "optok-post")


def test_joint_training_moves_the_scores_and_nothing_else_of_the_tokenizers(
    prepared: Benchmark, trained: SimpleNamespace
):
    for side, code in (("source", "en"), ("target", "zh_CN")):
        before = read_model(prepared.results / "own" / "tokenizers" / "unigram" / f"{code}.model")
        learned = read_model(trained.optok / "translator" / f"{side}.model")
        assert [(piece.piece, piece.type) for piece in learned.pieces] == [
            (piece.piece, piece.type) for piece in before.pieces
        ]
        assert any(one.score != other.score for one, other in zip(learned.pieces, before.pieces, strict=True))
    record = read_json(trained.optok / "run.json")["tokenizers"]
    assert all(record[side]["learned"] and record[side]["digest"] != record[side]["digest_before"] for side in record)


@pytest.mark.parametrize("run", ["optok", "post"])
def test_learned_tokenizers_segment_the_whole_corpus_alike_in_stock_sentencepiece(
    prepared: Benchmark, trained: SimpleNamespace, run: str
):
    for side, code in (("source", "en"), ("target", "zh_CN")):
        path = getattr(trained, run) / "translator" / f"{side}.model"
        vocabulary = Vocabulary.load(path)
        processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
        lines = [line for split in ("train", "valid", "test") for line in read_split(prepared.corpus, split)[code]]
        ours = best_path(vocabulary.lattices(lines), vocabulary.scores).to_lists()
        assert ours == processor.encode(lines)


def test_a_learning_rate_of_zero_leaves_the_translator_of_sampled_training(
    prepared: Benchmark, trained: SimpleNamespace, tmp_path: Path
):
    train(prepared, tmp_path, "optok", system={"joint": {"learning_rate": 0.0}})
    assert files_of(tmp_path) == files_of(trained.sampled)
    assert files_of(trained.optok) != files_of(trained.sampled)


def test_a_killed_joint_training_ends_with_the_same_bytes(
    prepared: Benchmark, trained: SimpleNamespace, tmp_path: Path
):
    for kill_at in (2, 6, 8, 11):  # before and after the tokenizers learn, at and between checkpoints
        with pytest.raises(Killed):
            train(prepared, tmp_path, "optok", kill_at)
    train(prepared, tmp_path, "optok")
    assert files_of(tmp_path) == files_of(trained.optok)
    assert metrics_of(tmp_path) == metrics_of(trained.optok)


def test_a_killed_retokenizing_ends_with_the_same_bytes(prepared: Benchmark, trained: SimpleNamespace, tmp_path: Path):
    for kill_at in (2, 4, 7):
        with pytest.raises(Killed):
            retokenize(prepared, trained.sampled, tmp_path, kill_at)
    retokenize(prepared, trained.sampled, tmp_path)
    assert files_of(tmp_path) == files_of(trained.post)
    assert metrics_of(tmp_path) == metrics_of(trained.post)


def test_retokenizing_changes_the_source_tokenizer_alone(trained: SimpleNamespace):
    before, after = files_of(trained.sampled), files_of(trained.post)
    assert after["source.model"] != before["source.model"]
    assert after["target.model"] == before["target.model"]
    assert after["model.safetensors"] == before["model.safetensors"]
    record = read_json(trained.post / "run.json")
    assert record["base_hash"] == read_json(trained.sampled / "run.json")["hash"]
    assert [record["tokenizers"][side]["learned"] for side in ("source", "target")] == [True, False]


@pytest.mark.parametrize(("side", "learns"), [("source", ["source"]), ("target", ["target"])])
def test_only_the_named_side_learns_and_only_after_its_start(
    prepared: Benchmark, tmp_path: Path, side: str, learns: list[str]
):
    record = train(prepared, tmp_path, "optok", system={"joint": {"side": side, "start_after": 5}})
    assert [name for name in record["tokenizers"] if record["tokenizers"][name]["learned"]] == learns
    names = {
        update: {name for name in metrics if name.startswith("joint/")} for update, metrics in metrics_of(tmp_path)
    }
    assert names[4] == set()
    logged = {name for update, metrics in metrics_of(tmp_path) for name in metrics if name.startswith("joint/")}
    assert {name.rpartition("_")[2] for name in logged} == {side}


def test_seeds_give_different_translators_and_one_seed_the_same(
    prepared: Benchmark, trained: SimpleNamespace, tmp_path: Path
):
    train(prepared, tmp_path / "again", "optok")
    train(prepared, tmp_path / "other", "optok", seed=2)
    assert files_of(tmp_path / "again") == files_of(trained.optok)
    assert files_of(tmp_path / "other")["model.safetensors"] != files_of(trained.optok)["model.safetensors"]


@pytest.mark.parametrize(
    ("overrides", "fault"),
    [
        ({"tokenizer": "bpe"}, "bpe"),
        ({"system": {"sampling": None}}, "'joint' needs 'sampling'"),
        ({"system": {"joint": {"start_after": 12}}}, r"start_after is 12, but training ends after 12 updates"),
        ({"training": {"device": "cuda:99"}}, "training.device is 'cuda:99'"),
        ({"direction": "en-fr"}, "has no text in 'fr'"),
    ],
)
def test_settings_that_do_not_fit_are_refused(prepared: Benchmark, tmp_path: Path, overrides: dict, fault: str):
    with pytest.raises(UserError, match=fault) as caught:
        train(prepared, tmp_path / "run", "optok", **overrides)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run" / "run.json").exists()


def test_one_candidate_with_joint_terms_is_refused(prepared: Benchmark):
    path = prepared.configured(systems={"optok": {"joint": {"candidates": 1}}})
    with pytest.raises(UserError, match=r"joint\.candidates' is 1: .*greater than or equal to 2"):
        load(path)


def test_a_base_of_another_corpus_direction_or_kind_is_refused(
    prepared: Benchmark, trained: SimpleNamespace, tmp_path: Path
):
    other = tmp_path / "corpus"
    shutil.copytree(prepared.corpus, other)
    report = (other / "report.json").read_text(encoding="utf-8")
    (other / "report.json").write_text(report.replace(read_json(other / "report.json")["digest"], "0" * 64))
    settings = plan.retokenize_settings(prepared.settings, prepared.run("optok-post"))
    read = RetokenizeSettings.model_validate(settings)
    with pytest.raises(UserError, match=r"was trained on another corpus \(digest \w{12}, not 0{12}\)"):
        retokenize_system(read, "optok-post", trained.sampled, other, tmp_path / "post")
    with pytest.raises(UserError, match="translates en-zh_CN, not zh_CN-en"):
        retokenize(prepared, trained.sampled, tmp_path / "post", direction="zh_CN-en")
    train(prepared, tmp_path / "bpe", "bpe", tokenizer="bpe")
    with pytest.raises(UserError, match="bpe"):
        retokenize(prepared, tmp_path / "bpe", tmp_path / "post")
    assert not (tmp_path / "post" / "translator").exists()


def test_updates_see_a_text_that_normalises_to_nothing(prepared: Benchmark, tmp_path: Path):
    """U+200B alone is text to a cleaner and nothing to SentencePiece: it teaches nothing and breaks nothing."""
    corpus = tmp_path / "corpus"
    shutil.copytree(prepared.corpus, corpus)
    train_text = read_split(corpus, "train")
    rows = np.arange(train_text.height) % 3 == 0
    for code in ("en", "zh_CN"):
        texts = ["\u200b" if empty else text for empty, text in zip(rows, train_text[code], strict=True)]
        train_text = train_text.with_columns(pl.Series(code, texts))
    train_text.write_parquet(corpus / "train.parquet")
    settings = TrainSettings.model_validate(plan.train_settings(prepared.settings, prepared.run("optok")))
    tokenizers = prepared.results / "own" / "tokenizers" / "unigram"
    train_system(settings, "optok", corpus, tokenizers, tmp_path / "run", progress=killer(0))
    names = {f"joint/{name}_{side}" for name in ("loss", "lm") for side in ("source", "target")}
    learned = [metrics for update, metrics in metrics_of(tmp_path / "run") if update > 3 and "train/loss" in metrics]
    assert len(learned) == 5
    assert all(names <= set(metrics) for metrics in learned)
