import random
import re

import polars as pl

from optok.corpora.measures import contamination, near_duplicates, sizes
from tests.corpora.making import sentences


def table(en, de):
    return pl.DataFrame({"en": en, "de": de})


def trigrams(texts):
    words = [[word for word in text.lower().split() if re.search(r"\w", word)] for text in texts]
    return {tuple(line[start : start + 3]) for line in words for start in range(len(line) - 2)}


def test_trigrams_seen_is_the_share_that_counting_by_hand_gives():
    draw = random.Random(1)
    train, test = sentences(200, draw), [text.split(" ", 1)[1] for text in sentences(40, draw)]
    found = near_duplicates(table(train, train), table(test, test), ["en", "de"])
    ours = trigrams(test)
    share = len(ours & trigrams(train)) / len(ours)
    assert 0 < share < 1
    assert found["en"]["trigrams_seen"] == round(share, 4)


def test_a_text_that_differs_in_numbers_names_case_or_punctuation_has_the_same_template():
    train = ["%(male_name)s was born in 1900.", "The {year} of it", "A third one", "写真 12 枚。"]
    test = ["%s was BORN in 23", "the {day:d} of it!", "Another third one", "写真3枚", ""]
    found = near_duplicates(table(train, train), table(test, ["nothing alike"] * 5), ["en", "de"])
    assert found["en"]["same_template"] == 3 / 5
    assert found["de"] == {"same_template": 0.0, "trigrams_seen": 0.0}


def test_contamination_counts_texts_by_language_and_whole_pairs():
    train = table(["a", "b", "c", "c"], ["A", "B", "C", "C"])
    test = table(["a", "b", "x", "y"], ["A", "X", "C", "Y"])
    assert contamination(train, test, ["en", "de"]) == {"en": 2, "de": 2, "pairs": 1}


def test_sizes_are_means_of_characters_and_words():
    found = sizes(table(["one two", "", "three"], ["保存", "x", "yz"]), ["en", "de"])
    assert found == {
        "pairs": 3,
        "en": {"characters": 4.0, "words": 1.0, "empty": 1},
        "de": {"characters": 1.67, "words": 1.33, "empty": 0},
    }
