"""Settings: what is accepted, and one clear line about what is not."""

import copy

import pytest

from optok import plan
from optok.config import merge, validate
from optok.errors import UserError

SETTINGS = {
    "corpora": {"gramps-de": {"source": "gettext", "languages": ["en", "de"], "directions": ["en-de", "de-en"]}},
    "tokenizers": {"unigram": {"kind": "unigram", "size": {"default": 2000, "de": 1200}}},
    "systems": {
        "unigram": {"tokenizer": "unigram"},
        "unigram-sampled": {"tokenizer": "unigram", "sampling": {"alpha": 0.3}},
        "optok": {"tokenizer": "unigram", "sampling": {"alpha": 0.3}, "joint": {}},
        "optok-post": {"base": "unigram-sampled", "retokenize": {}},
        "optok-restricted": {"base": "optok", "restrict": {"keep": 0.75}},
    },
    "evaluation": {"baseline": "unigram-sampled"},
}


def changed(overrides: dict) -> dict:
    return merge(copy.deepcopy(SETTINGS), overrides)


def test_defaults_are_filled():
    settings = validate(SETTINGS)
    assert settings.seeds == [1]
    assert settings.decoding.beam == 5
    assert settings.tokenizers["unigram"].size == {"default": 2000, "de": 1200}
    assert settings.translator.architecture().width == 128


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ({"trainin": {}}, "unknown key 'trainin': did you mean 'training'?"),
        ({"systems": {"unigram-sampled": {"sampling": {"aplha": 0.2}}}}, "did you mean 'alpha'?"),
        ({"training": None}, "key 'training' is null"),
        ({"training": {"updates": "many"}}, "key 'training.updates' is 'many'"),
        ({"training": {"updates": 0}}, "greater than or equal to 1"),
        ({"training": {"device": "gpu"}}, "training.device"),
        ({"corpora": {"gramps-de": {"directions": ["de-fr"]}}}, "holds 'de-fr': did you mean 'de-en'?"),
        ({"corpora": {"gramps-de": {"languages": ["en", "d"]}}}, "no language tag"),
        ({"corpora": {"gramps-de": {"source": "gettex"}}}, "did you mean 'gettext'?"),
        ({"tokenizers": {"unigram": {"kind": "word"}}}, "allowed: bpe, unigram"),
        ({"tokenizers": {"unigram": {"size": {"default": 9, "fr": 8}}}}, "names 'fr'"),
        ({"systems": {"a": {}}}, "systems.a has neither of 'tokenizer'"),
        ({"systems": {"a": {"tokenizer": "unigram", "base": "optok"}}}, "systems.a has both of"),
        ({"systems": {"a": {"tokenizer": "unigrams"}}}, "did you mean 'unigram'?"),
        ({"systems": {"a": {"base": "optik", "restrict": {"keep": 0.5}}}}, "did you mean 'optok'?"),
        (
            {"systems": {"a": {"base": "b", "restrict": {"keep": 0.5}}, "b": {"base": "a", "retokenize": {}}}},
            "goes in a circle: a → b → a",
        ),
        ({"systems": {"a": {"base": "optok"}}}, "exactly one of 'retokenize' and 'restrict'"),
        ({"systems": {"a": {"tokenizer": "unigram", "joint": {}}}}, "joint needs 'sampling'"),
        ({"systems": {"optok": {"joint": {"candidates": 1}}}}, "systems.optok.joint.candidates"),
        ({"systems": {"optok": {"joint": {"start_after": 500}}}}, "the tokenizers would never learn"),
        (
            {
                "tokenizers": {"bpe": {"kind": "bpe", "size": 9}},
                "systems": {"a": {"tokenizer": "bpe", "sampling": {"alpha": 0.1}}},
            },
            "sampling needs a unigram tokenizer; 'bpe' is bpe",
        ),
        ({"evaluation": {"baseline": "unigra"}}, "did you mean 'unigram'?"),
        ({"translator": {"width": 130, "heads": 4}}, "divisible by translator.heads (4)"),
        ({"seeds": [1, 1]}, "name a seed twice"),
    ],
)
def test_a_fault_is_one_clear_line(overrides: dict, expected: str):
    with pytest.raises(UserError) as caught:
        validate(changed(overrides), "config.yaml")
    message = str(caught.value)
    assert message.startswith("config.yaml: ")
    assert expected in message
    assert "\n" not in message


def test_runs_come_in_the_order_of_the_settings():
    runs = list(plan.runs(validate(changed({"seeds": [1, 2]}))))
    assert len(runs) == 2 * 5 * 2
    assert str(runs[0].folder) == "gramps-de/en-de/unigram/seed1"


def test_a_hyphen_inside_a_language_becomes_an_underscore_in_a_direction():
    corpus = {"source": "gettext", "languages": ["en", "zh-CN"], "directions": ["en-zh_CN"]}
    settings = validate(changed({"corpora": {"gramps-zh": corpus}}))
    assert plan.languages(settings.corpora["gramps-zh"].directions[0]) == ("en", "zh_CN")


def test_a_changed_beam_is_no_part_of_what_training_reads():
    before, after = validate(SETTINGS), validate(changed({"decoding": {"beam": 2}}))
    for run in plan.runs(before):
        if plan.kind_of(run.system, before) == "train":
            assert plan.train_settings(before, run) == plan.train_settings(after, run)


def test_an_unknown_run_names_the_nearest():
    with pytest.raises(UserError, match="did you mean 'optok-post'"):
        plan.find_run(validate(SETTINGS), "gramps-de", "en-de", "optok-pots", 1)
