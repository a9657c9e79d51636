"""What is wrong with the settings stops Snakemake before it plans, and what is wrong with the text stops one stage."""

import pytest

from tests.workflow.running import Ended, Workflow

KEPT = {"keep": 0.5}


def the_line(done: Ended) -> str:
    """The one line of ours among what Snakemake says."""
    assert done.code != 0
    assert "Traceback" not in done.said
    lines = [line for line in done.said.splitlines() if line.startswith("optok: error: ")]
    assert len(lines) == 1, done.said
    return lines[0]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"trainin": {"updates": 3}}, "unknown key 'trainin': did you mean 'training'?"),
        ({"training": None}, "key 'training' is null"),
        ({"seeds": "two"}, "key 'seeds' is 'two'"),
        ({"corpora": {"own": {"directions": ["en-fr"]}}}, "fr"),
        (
            {"systems": {"a": {"base": "b", "restrict": KEPT}, "b": {"base": "a", "restrict": KEPT}}},
            "base",
        ),
    ],
    ids=["unknown key", "null", "type", "direction", "circular base"],
)
def test_wrong_settings_are_one_line_and_nothing_is_planned(new: Workflow, change: dict, fault: str):
    new.configure(**change)
    done = new.run()
    assert fault in the_line(done)
    assert done.jobs == {}
    assert [path.name for path in new.folder.iterdir() if path.is_dir() and path.name != ".snakemake"] == []


def test_a_single_value_on_the_command_line_is_checked_too(new: Workflow):
    assert "did you mean 'training'?" in the_line(new.run("--config", "trainin={updates: 3}"))


def test_lists_and_mappings_on_the_command_line_mean_what_they_mean_in_a_file(new: Workflow):
    changes = ("seeds=[1,2]", "training={updates: 14, validate_every: 7}", "results=elsewhere")
    assert new.planned("--config", *changes)["train"] == 8
    assert "'training.updates' is 'many'" in the_line(new.run("--config", "training={updates: many}"))


def test_text_that_cannot_be_used_stops_the_stage_with_one_line(new: Workflow):
    (new.folder / "own.zh").write_bytes(b"\xff\n")
    done = new.run()
    assert "own.zh: line 1 is not valid UTF-8" in the_line(done)
    assert not (new.results / "own/corpus").exists() or not list((new.results / "own/corpus").iterdir())


def test_a_vocabulary_larger_than_the_text_allows_is_one_line_in_seconds(new: Workflow):
    new.configure(tokenizers={"unigram": {"size": {"default": 48, "zh-CN": 5000}}})
    line = the_line(new.run())
    for part in ("corpus own", "language zh-CN", "5000", "at most "):
        assert part in line
