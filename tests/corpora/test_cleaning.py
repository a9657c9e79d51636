import polars as pl
import pytest

from optok.config import Cleaning
from optok.corpora.cleaning import apply_steps, cleaning_steps, counted_language, words


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("Save the file", 3),
        ("Top <-> Bottom", 2),
        ("  %(name)s   was born — in 1900. ", 5),
        ("Enable/Disable it", 2),
        ("Tên đệm và họ", 4),
        ("保存文件", 4),
        ("在 Gramps 中，保存 file.txt", 6),
        ("ファイルを保存", 7),
        ("ไทย", 3),
        ("「」。…", 0),
        ("3GB用", 2),
        ("한국어 문장", 2),
    ],
)
def test_words_are_stretches_between_blanks_and_characters_where_there_are_none(text, count):
    assert pl.DataFrame({"en": [text]}).select(words("en")).item() == count


@pytest.mark.parametrize(
    ("languages", "counted"),
    [
        (["en", "de"], "en"),
        (["de", "en"], "en"),
        (["vi", "en-GB"], "en-GB"),
        (["zh", "ja"], "zh"),
        (["eno", "de"], "eno"),
    ],
)
def test_words_are_counted_on_the_english_side_else_on_the_first(languages, counted):
    assert counted_language(languages) == counted


def test_steps_drop_in_order_and_are_counted():
    table = pl.DataFrame(
        {
            "en": ["one two three", "", "two words", "one two three", "x y " + "z" * 60, "three words here", "a b c d"],
            "pt_BR": ["um dois três", "b", "duas palavras", "um dois três", "x", "  ", "a b c d"],
        }
    )
    left, counts = apply_steps(
        table, cleaning_steps(Cleaning(min_words=3, max_characters=50, max_ratio=4.0), ["en", "pt-BR"])
    )
    assert left["en"].to_list() == ["one two three", "a b c d"]
    assert counts == [
        {"step": "empty", "dropped": 2, "left": 5},
        {"step": "min_words", "dropped": 1, "left": 4},
        {"step": "max_characters", "dropped": 1, "left": 3},
        {"step": "duplicates", "dropped": 1, "left": 2},
        {"step": "max_ratio", "dropped": 0, "left": 2},
    ]


def test_the_ratio_compares_lengths_in_units_of_each_languages_mean():
    lengths = [(100, 20), (100, 21), (100, 10), (100, 2), (20, 40), (9, 1), (3, 4)]
    table = pl.DataFrame({"en": ["e" * one for one, _ in lengths], "zh": ["z" * other for _, other in lengths]})
    mean_en, mean_zh = (sum(pair[side] for pair in lengths) / len(lengths) for side in (0, 1))
    steps = cleaning_steps(Cleaning(max_ratio=2.0), ["en", "zh"])
    kept = table.filter(steps["max_ratio"])
    expected = []
    for en, zh in lengths:
        ratio = (max(en, 10) / mean_en) / (max(zh, 10) / mean_zh)
        if 1 / 2 <= ratio <= 2:
            expected.append((en, zh))
    assert [(len(en), len(zh)) for en, zh in kept.rows()] == expected
    assert 0 < len(expected) < len(lengths)
