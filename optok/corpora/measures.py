"""What a corpus report says about the text: sizes, contamination and near-duplicates of the test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from optok.corpora.cleaning import WORD, characters, words

TRIGRAM = 3


def sizes(table: pl.DataFrame, codes: Sequence[str]) -> dict[str, Any]:
    """Pairs, and for each language mean characters and words of a text and texts that are empty."""
    means: dict[str, Any] = {"pairs": table.height}
    for code in codes:
        row = table.select(
            characters(code).mean().round(2).alias("characters"),
            words(code).mean().round(2).alias("words"),
            (~pl.col(code).str.contains(r"\S")).sum().alias("empty"),
        ).row(0, named=True)
        means[code] = row
    return means


def contamination(train: pl.DataFrame, held_out: pl.DataFrame, codes: Sequence[str]) -> dict[str, int]:
    """Held-out texts, by language, and held-out pairs that also stand in the training text, to the letter."""
    found = {code: held_out.join(train.select(code), on=code, how="semi").height for code in codes}
    return {**found, "pairs": held_out.join(train.select(codes), on=list(codes), how="semi").height}


def near_duplicates(train: pl.DataFrame, test: pl.DataFrame, codes: Sequence[str]) -> dict[str, dict[str, float]]:
    """How much of the test is nearly in the training text, by language, as shares from 0 to 1.

    same_template: test texts that equal a training text once formats and `{fields}` are masked, case,
    punctuation and blanks are gone and every number is 0. trigrams_seen: of the different word trigrams of
    the test (words as in `optok.corpora.cleaning`), those that stand somewhere in the training text.
    """
    found = {}
    for code in codes:
        templates = _share_within(_templates(test[code]), _templates(train[code]))
        trigrams = _share_within(_trigrams(test[code]), _trigrams(train[code]))
        found[code] = {"same_template": templates, "trigrams_seen": trigrams}
    return found


def _share_within(some: pl.Series, all_others: pl.Series) -> float:
    """The share of `some` values that stand in the other series, rounded to four decimals."""
    inside = some.to_frame("value").join(all_others.to_frame("value"), on="value", how="semi")
    return round(inside.height / len(some), 4) if len(some) else 0.0


def _templates(texts: pl.Series) -> pl.Series:
    """`%(name)s was 23.` and `%s was 7` → `0was0`."""
    return (
        texts.str.replace_all(r"%\(\w+\)\w|%[sdif]|\{[^{}]*\}|\p{N}+", "0")
        .str.to_lowercase()
        .str.replace_all(r"[\s\p{P}\p{S}]+", "")
    )


def _trigrams(texts: pl.Series) -> pl.Series:
    """The different runs of three words, each as one text."""
    lists = texts.str.to_lowercase().str.extract_all(WORD)
    table = pl.DataFrame({"text": pl.int_range(len(lists), eager=True), "word": lists}).explode("word")
    following = [pl.col("word").shift(-offset).over("text") for offset in range(1, TRIGRAM)]
    joined = pl.concat_str("word", *following, separator=" ")
    return table.select(joined.alias("trigram"))["trigram"].drop_nulls().unique()
