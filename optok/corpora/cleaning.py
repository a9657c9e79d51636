"""Cleaning: named steps in a fixed order, each of which drops pairs and is counted.

A word is a stretch between blanks that holds a letter or a digit; in scripts that are written without
blanks (Han, kana, Thai, Lao, Khmer, Burmese) every character is a word of its own, as for sacreBLEU's `zh`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from optok.config import Cleaning, language_code

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
WORD = rf"[{_UNSPACED}]|[[^\s]--[{_UNSPACED}]]*[[\p{{L}}\p{{N}}]--[{_UNSPACED}]][[^\s]--[{_UNSPACED}]]*"

SHORT = 10
"""Characters: a shorter side counts as this long in a ratio, so that short pairs are never dropped for it."""


def words(column: str) -> pl.Expr:
    """Words of each text of a column, counted as this module's text says."""
    return pl.col(column).str.count_matches(WORD)


def characters(column: str) -> pl.Expr:
    """Unicode characters of each text of a column."""
    return pl.col(column).str.len_chars()


def counted_language(languages: Sequence[str]) -> str:
    """The language whose words `min_words` counts: English where it is one of the two, else the first."""
    return next((language for language in languages if language.split("-")[0] == "en"), languages[0])


def cleaning_steps(clean: Cleaning, languages: Sequence[str]) -> dict[str, pl.Expr]:
    """Each step by name: which pairs of the table that the step sees stay. Order matters: the mean lengths
    of `max_ratio` are those of the pairs that are left by then."""
    first, second = (language_code(language) for language in languages)
    counted = language_code(counted_language(languages))
    relative = {side: characters(side).clip(SHORT) / characters(side).mean() for side in (first, second)}
    ratio = relative[first] / relative[second]
    return {
        "empty": _filled(first) & _filled(second),
        "min_words": words(counted) >= clean.min_words,
        "max_characters": (characters(first) <= clean.max_characters) & (characters(second) <= clean.max_characters),
        "duplicates": pl.struct(first, second).is_first_distinct(),
        "max_ratio": ratio.is_between(1 / clean.max_ratio, clean.max_ratio),
    }


def apply_steps(table: pl.DataFrame, steps: dict[str, pl.Expr]) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
    """The pairs that are left after all steps, and for each step its name, how many it dropped, how many stay."""
    counts: list[dict[str, Any]] = []
    for name, stays in steps.items():
        left = table.filter(stays)
        counts.append({"step": name, "dropped": table.height - left.height, "left": left.height})
        table = left
    return table, counts


def _filled(column: str) -> pl.Expr:
    return pl.col(column).str.contains(r"\S")
