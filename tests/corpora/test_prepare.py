import random

import polars as pl
import pytest

from optok.config import FilesCorpus, GettextCorpus
from optok.corpora.prepare import prepare
from optok.corpora.store import corpus_digest, read_report, read_split
from optok.errors import UserError
from optok.files import read_json, read_lines, sha256_of
from tests.corpora.making import catalogue, gramps_wheel, sentences


def gettext_corpus(languages=("en", "de"), **settings):
    first, second = (language.replace("-", "_") for language in languages)
    given = {"source": "gettext", "languages": list(languages), "directions": [f"{first}-{second}"]}
    return GettextCorpus(**given | {"valid": 20, "test": 20} | settings)


def files_corpus(train, valid=20, test=20, languages=("en", "de"), **settings):
    first, second = (language.replace("-", "_") for language in languages)
    given = {"source": "files", "languages": list(languages), "directions": [f"{first}-{second}"]}
    return FilesCorpus(**given | {"train": train, "valid": valid, "test": test} | settings)


def messages(count=200):
    """Translated sentences, and one message for each reading or cleaning step."""
    draw = random.Random(1)
    translated = dict(zip(sentences(count, draw, "en "), sentences(count, draw, "de "), strict=True))
    return translated | {
        "menu\x04_Open the file %s": "Die Datei %s _öffnen\n",
        "Not yet translated": "",
        "Just the same": "Just the same",
        "Two words": "Zwei Wörter",
        "Lost the %(name)s": "Den Namen verloren",
        "Much " * 200: "Viel " * 200,
        "first\x04The same pair": "Dasselbe Paar",
        "second\x04The same pair": "Dasselbe Paar",
        "A long message that has a very short translation, so short that it is none at all": "?",
    }


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("archive") / "gramps.whl"
    return gramps_wheel(path, {locale: catalogue(messages()) for locale in ("de", "zh_CN", "pt_BR", "sr_Latn")})


@pytest.fixture(scope="module")
def from_messages(archive, tmp_path_factory):
    output = tmp_path_factory.mktemp("gettext") / "corpus"
    return output, prepare(gettext_corpus(), "mine", archive, output)


def test_messages_become_pairs_with_every_drop_counted(from_messages):
    output, report = from_messages
    counts = {step["step"]: step["dropped"] for step in report["steps"]}
    assert report["read"] == {"all": 209}
    assert counts == {
        "untranslated": 2,
        "blanks": 0,
        "access_keys": 0,
        "placeholders": 1,
        "empty": 0,
        "min_words": 1,
        "max_characters": 1,
        "duplicates": 1,
        "max_ratio": 1,
    }
    assert {step["step"]: step["changed"] for step in report["steps"] if "changed" in step} == {
        "blanks": 2,
        "access_keys": 1,
    }
    pairs = {split: read_split(output, split).height for split in ("train", "valid", "test")}
    assert pairs == {"train": 162, "valid": 20, "test": 20}
    assert {split: report["splits"][split]["pairs"] for split in pairs} == pairs
    texts = pl.concat(read_split(output, split) for split in pairs)
    assert ("Open the file %s", "Die Datei %s öffnen") in texts.select("en", "de").rows()
    assert texts["line"].n_unique() == 202


def test_the_report_says_what_was_made_and_from_what(from_messages):
    output, report = from_messages
    assert read_report(output) == report
    assert report["licence"] == "GPL-2.0-or-later"
    assert report["languages"] == {"en": "en", "de": "de"}
    assert report["split_seed"] == 1
    assert report["contamination"] == {split: {"en": 0, "de": 0, "pairs": 0} for split in ("test", "valid")}
    assert set(report["near_duplicates"]) == {"en", "de"}
    assert report["files"] == {path.name: sha256_of(path) for path in output.iterdir() if path.name != "report.json"}


def test_the_test_text_is_one_line_a_pair(from_messages):
    output, _ = from_messages
    table = read_split(output, "test")
    for code in ("en", "de"):
        assert read_lines(output / f"test.{code}") == table[code].to_list()


def test_the_same_settings_give_the_same_bytes_and_another_seed_another_split(from_messages, archive, tmp_path):
    output, report = from_messages
    again = prepare(gettext_corpus(), "mine", archive, tmp_path / "again")
    other = prepare(gettext_corpus(split_seed=2), "mine", archive, tmp_path / "other")
    assert again["files"] == report["files"]
    assert (tmp_path / "again" / "report.json").read_bytes() == (output / "report.json").read_bytes()
    assert other["digest"] != report["digest"]


def test_the_digest_is_of_the_texts_and_not_of_the_files(from_messages, tmp_path):
    output, report = from_messages
    splits = {split: read_split(output, split) for split in ("train", "valid", "test")}
    for split, table in splits.items():
        table.write_parquet(tmp_path / f"{split}.parquet", compression="uncompressed")
    copied = {split: read_split(tmp_path, split) for split in splits}
    assert sha256_of(tmp_path / "test.parquet") != report["files"]["test.parquet"]
    assert corpus_digest(copied, ["en", "de"]) == report["digest"]
    swapped = copied | {"valid": copied["test"], "test": copied["valid"]}
    assert corpus_digest(swapped, ["en", "de"]) != report["digest"]


@pytest.mark.parametrize("languages", [("en", "zh-CN"), ("pt-BR", "en"), ("en", "sr-Latn"), ("en", "zh")])
def test_any_language_tag_has_files_and_columns_by_its_code(archive, tmp_path, languages):
    report = prepare(gettext_corpus(languages), "mine", archive, tmp_path)
    codes = [language.replace("-", "_") for language in languages]
    assert report["languages"] == dict(zip(codes, languages, strict=True))
    assert read_split(tmp_path, "train").columns == [*codes, "line"]
    assert {path.name for path in tmp_path.glob("test.*")} == {f"test.{code}" for code in codes} | {"test.parquet"}
    english = read_split(tmp_path, "train")["en"]
    assert not [text for text in english if text.startswith("de ")]


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"languages": ("en", "vi")}, "no messages in 'vi': it has de, pt-BR, sr-Latn, zh-CN"),
        ({"languages": ("de", "vi")}, "corpora.mine.languages are de, vi: archive 'gramps' needs 'en' as one of them"),
        ({"test": 190}, "corpus mine has 202 pairs left, too few for 190 for test . 20 for valid and training"),
    ],
)
def test_a_corpus_that_messages_do_not_give_is_an_error(archive, tmp_path, settings, fault):
    with pytest.raises(UserError, match=fault):
        prepare(gettext_corpus(**settings), "mine", archive, tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()


def test_the_report_comes_last_and_a_failed_run_takes_the_old_one_away(archive, tmp_path):
    prepare(gettext_corpus(), "mine", archive, tmp_path)
    (tmp_path / "test.de").unlink()
    (tmp_path / "test.de").mkdir()
    with pytest.raises(OSError, match=r"test\.de"):
        prepare(gettext_corpus(), "mine", archive, tmp_path)
    assert not (tmp_path / "report.json").exists()
    with pytest.raises(UserError, match="run the stage that makes it"):
        read_report(tmp_path)


def two_files(write, english, german, name="all"):
    return {"files": {"en": write(f"{name}.en", english), "de": write(f"{name}.de", german)}}


def lines_of(count, prefix="", seed=1):
    draw = random.Random(seed)
    return ["".join(f"{line}\n" for line in sentences(count, draw, f"{prefix}{side} ")) for side in ("en", "de")]


def test_only_a_line_feed_ends_a_line(write, tmp_path):
    odd = ["one\u2028two", "one\rtwo", "one\x85two", "one\x0btwo\x0cthree", "\u2029"]
    english, german = (
        text + "".join(f"{side} {line}\n" for line in odd) for text, side in zip(lines_of(100), "ed", strict=True)
    )
    report = prepare(files_corpus(two_files(write, english, german)), "mine", None, tmp_path / "corpus")
    assert report["read"] == {"train": 105}
    splits = [read_split(tmp_path / "corpus", split) for split in ("train", "valid", "test")]
    texts = {text for table in splits for text in table["de"]}
    assert {f"d {line}" for line in odd} <= texts
    assert read_lines(tmp_path / "corpus" / "test.de") == splits[2]["de"].to_list()


@pytest.mark.parametrize("seed", range(3))
def test_lines_of_one_pair_stay_together(write, tmp_path, seed):
    english, german = lines_of(150)
    report = prepare(
        files_corpus(two_files(write, english, german), split_seed=seed), "mine", None, tmp_path / "corpus"
    )
    pairs = dict(zip(english.splitlines(), german.splitlines(), strict=True))
    found = {}
    for split in ("train", "valid", "test"):
        for en, de, line in read_split(tmp_path / "corpus", split).iter_rows():
            assert pairs[en] == de
            assert english.splitlines()[int(line.removeprefix("all.en:")) - 1] == en
            found[en] = de
    assert found == pairs
    assert report["contamination"]["test"] == {"en": 0, "de": 0, "pairs": 0}


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_byte_order_marks_and_windows_line_ends_are_no_text(write, tmp_path, mark, ending):
    english, german = (mark + text.replace("\n", ending) for text in lines_of(60))
    plain_english, plain_german = lines_of(60)
    marked, plain = (
        prepare(files_corpus(two_files(write, *sides)), "mine", None, tmp_path / name)
        for name, sides in [("marked", (english, german)), ("plain", (plain_english, plain_german))]
    )
    assert marked["digest"] == plain["digest"]


def test_given_splits_stay_as_they_are_and_only_training_text_is_cleaned(write, tmp_path):
    train = two_files(write, *lines_of(100), "train")
    held_out = {}
    for split in ("valid", "test"):
        english, german = lines_of(10, "a ", seed=2)
        repeated = english.splitlines()[0]
        held_out[split] = two_files(write, f"{english}{repeated}\n\n", f"{german}x\ny\n", split)
    known = lines_of(100)
    held_out["test"] = two_files(write, known[0].splitlines()[0] + "\n\nb\nb\n", "A\nB\nB\nB\n", "test")
    corpus = files_corpus(train, **held_out, clean={"min_words": 2, "max_characters": 50, "max_ratio": 4.0})
    report = prepare(corpus, "mine", None, tmp_path / "corpus")
    assert report["read"] == {"train": 100, "valid": 12, "test": 4}
    assert read_split(tmp_path / "corpus", "test").rows() == [
        (known[0].splitlines()[0], "A", "test.en:1"),
        ("", "B", "test.en:2"),
        ("b", "B", "test.en:3"),
        ("b", "B", "test.en:4"),
    ]
    assert read_split(tmp_path / "corpus", "valid").height == 12
    assert report["splits"]["test"]["en"]["empty"] == 1
    assert report["contamination"]["test"] == {"en": 1, "de": 0, "pairs": 0}
    assert report["steps"][0] == {"step": "empty", "dropped": 0, "left": 100}
    longest = max(max(map(len, read_split(tmp_path / "corpus", "train")[code])) for code in ("en", "de"))
    assert longest <= 50 < max(map(len, "".join(known).splitlines()))


@pytest.mark.parametrize("suffix", ["tsv", "parquet"])
def test_a_table_is_split_by_its_groups(tmp_path, suffix):
    draw = random.Random(1)
    table = pl.DataFrame(
        {
            "page": [f"page {draw.randrange(60)}" for _ in range(400)],
            "source text": sentences(400, draw, "en "),
            "de": sentences(400, draw, "de "),
        }
    )
    path = tmp_path / f"all.{suffix}"
    table.write_csv(path, separator="\t", quote_style="never") if suffix == "tsv" else table.write_parquet(path)
    given = {"table": str(path), "columns": {"en": "source text", "de": "de"}, "group": "page"}
    report = prepare(files_corpus(given), "mine", None, tmp_path / "corpus")
    assert report["read"] == {"train": 400}
    page_of = dict(table.select("source text", "page").iter_rows())
    pages = {
        split: {page_of[text] for text in read_split(tmp_path / "corpus", split)["en"]}
        for split in ("train", "valid", "test")
    }
    assert sum(map(len, pages.values())) == len(set.union(*pages.values())) == 60
    assert report["splits"]["test"]["pairs"] >= 10
    assert [step["step"] for step in report["steps"]][:5] == [
        "empty",
        "duplicates",
        "text_held_out",
        "held_out_test",
        "held_out_valid",
    ]
    lefts = [step["left"] for step in report["steps"]]
    assert lefts[-1] == report["splits"]["train"]["pairs"]


def test_cells_without_text_and_with_line_feeds_keep_one_line_a_pair(tmp_path):
    draw = random.Random(1)
    pl.DataFrame({"en": sentences(50, draw), "de": sentences(50, draw)}).write_parquet(tmp_path / "train.parquet")
    pl.DataFrame({"en": ["a\nb", None, "c"], "de": ["A", "B", "C\n"]}).write_parquet(tmp_path / "test.parquet")
    tables = {split: {"table": str(tmp_path / f"{split}.parquet")} for split in ("train", "test")}
    prepare(files_corpus(tables["train"], test=tables["test"]), "mine", None, tmp_path / "corpus")
    assert read_lines(tmp_path / "corpus" / "test.en") == ["a b", "", "c"]
    assert read_lines(tmp_path / "corpus" / "test.de") == ["A", "B", "C "]


PARQUET_OF_NUMBERS = pl.DataFrame({"en": [1, 2], "de": ["a", "b"]})


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"all.en": "a\nb\nc\n", "all.de": "a\nb\n"}, r"all\.en has 3 lines, .*all\.de has 2: line k of one"),
        (
            {"all.en": "a\nb\n", "all.de": b"a\nb\xfc\n"},
            r"all\.de: line 2 is not valid UTF-8 \(byte 0xfc at position 1\)",
        ),
        ({"all.en": "a\n", "all.de": "a\n".encode("utf-16")}, r"all\.de: line 1 is not valid UTF-8"),
        ({"all.en": "", "all.de": "a\n"}, r"all\.en is empty"),
        ({"all.en": "\ufeff", "all.de": "a\n"}, r"all\.en is empty"),
        ({"all.en": "a\n"}, r"all\.de does not exist"),
        ({"all.en": "\n \n" * 40, "all.de": "a\nb\n" * 40}, "has 0 pairs left, too few for 20 for test"),
        (
            {"all.en": "a\nb\n", "all.de": "a\nb\n"},
            "has 2 pairs left, too few for 20 for test . 20 for valid and training",
        ),
        ({"all.tsv": "en\tfr\na\tb\n"}, r"all\.tsv has no column 'de': .*allowed: en, fr"),
        ({"all.tsv": "en\tde\na\tb\na\tb\tc\n"}, r"all\.tsv: line 3 has 3 fields, the header has 2"),
        ({"all.tsv": "en\tde\na\tb\n\n"}, r"all\.tsv: line 3 has 1 fields, the header has 2"),
        ({"all.tsv": "en\tde\ten\na\tb\tc\n"}, r"all\.tsv: the header names a column twice"),
        ({"all.tsv": "en\tde\n"}, r"all\.tsv holds no lines of text"),
        ({"all.tsv": ""}, r"all\.tsv is empty"),
        ({"all.parquet": "no such thing"}, r"all\.parquet is no readable Parquet file: "),
        ({"all.parquet": PARQUET_OF_NUMBERS}, r"all\.parquet: column 'en' is Int64, not text"),
        ({"all.csv": "en,de\n"}, r"all\.csv: a table's name must end in \.tsv or \.parquet"),
        ({}, r"all\.tsv does not exist"),
    ],
)
def test_text_that_cannot_be_used_is_one_clear_line(tmp_path, content, fault):
    for name, text in content.items():
        path = tmp_path / name
        if isinstance(text, pl.DataFrame):
            text.write_parquet(path)
        else:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
    if "all.en" in content:
        train = {"files": {language: str(tmp_path / f"all.{language}") for language in ("en", "de")}}
    else:
        train = {"table": str(tmp_path / next(iter(content), "all.tsv"))}
    with pytest.raises(UserError, match=fault) as raised:
        prepare(files_corpus(train), "mine", None, tmp_path / "corpus")
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "corpus").exists()


@pytest.mark.parametrize(
    ("split", "english", "fault"),
    [
        ("valid", "", r"valid\.en is empty"),
        ("test", "\n\n", "corpus mine has no usable pair in test: one side of every line is empty"),
        ("train", "word\nword\n", "corpus mine has no usable pair in train: cleaning left none"),
    ],
)
def test_a_given_split_without_text_is_an_error(write, tmp_path, split, english, fault):
    given = {name: two_files(write, *lines_of(30), name) for name in ("train", "valid", "test")}
    given[split] = two_files(write, english, "a\nb\n", split)
    with pytest.raises(UserError, match=fault):
        prepare(files_corpus(**given, clean={"min_words": 2}), "mine", None, tmp_path / "corpus")


def test_a_report_is_readable_json_with_names_in_their_own_script(write, tmp_path):
    english, german = lines_of(60)
    prepare(files_corpus(two_files(write, english, german)), "Übung", None, tmp_path / "corpus")
    assert read_json(tmp_path / "corpus" / "report.json")["corpus"] == "Übung"
