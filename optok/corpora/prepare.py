"""The stage `prepare`: from an archive or your own text to a corpus with a counted report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from optok.config import FilesCorpus, GettextCorpus, TextFiles, language_code
from optok.corpora.catalogue import find_archive
from optok.corpora.cleaning import apply_steps, cleaning_steps
from optok.corpora.files import GROUP, read_text
from optok.corpora.gettext import on_one_line, read_catalogue, same_placeholders, translated, without_access_keys
from optok.corpora.measures import contamination, near_duplicates, sizes
from optok.corpora.splitting import HELD_OUT, split_pairs
from optok.corpora.store import SPLITS, write_corpus
from optok.errors import UserError


def prepare(corpus: GettextCorpus | FilesCorpus, name: str, archive: Path | None, output: Path) -> dict[str, Any]:
    """Writes the corpus into `output` (files: `optok.corpora.store`) and returns its report.

    archive: the fetched file of a `gettext` corpus. Raises `UserError` for text that cannot be used.
    """
    codes = [language_code(language) for language in corpus.languages]
    report: dict[str, Any] = {
        "corpus": name,
        "source": corpus.source,
        "languages": dict(zip(codes, corpus.languages, strict=True)),
        "split_seed": corpus.split_seed,
    }
    if isinstance(corpus, GettextCorpus):
        if archive is None:
            raise UserError(f"corpus {name} is read from archive {corpus.archive!r}: give the fetched file")
        splits = _from_catalogue(corpus, name, archive, report)
    else:
        splits = _from_files(corpus, name, report)
    report["splits"] = {split: sizes(splits[split], codes) for split in SPLITS}
    report["contamination"] = {split: contamination(splits["train"], splits[split], codes) for split in HELD_OUT}
    report["near_duplicates"] = near_duplicates(splits["train"], splits["test"], codes)
    write_corpus(output, splits, codes, report)
    return report


def _from_catalogue(corpus: GettextCorpus, name: str, archive: Path, report: dict[str, Any]) -> dict[str, pl.DataFrame]:
    """Messages are chosen first, then split: a message that is no sentence is none in a test either."""
    entry = find_archive(corpus.archive)
    if entry.source_language not in corpus.languages:
        raise UserError(
            f"corpora.{name}.languages are {', '.join(corpus.languages)}: archive {corpus.archive!r} needs "
            f"{entry.source_language!r} as one of them"
        )
    (language,) = (each for each in corpus.languages if each != entry.source_language)
    read = read_catalogue(archive, entry, language)
    chosen = translated(read)
    steps: list[dict[str, Any]] = [_dropped("untranslated", len(read), len(chosen))]
    on_one = [
        type(message)(message.number, on_one_line(message.source), on_one_line(message.target)) for message in chosen
    ]
    steps.append(_changed("blanks", chosen, on_one))
    plain = [without_access_keys(message) for message in on_one]
    steps.append(_changed("access_keys", on_one, plain))
    same = [message for message in plain if same_placeholders(message)]
    steps.append(_dropped("placeholders", len(plain), len(same)))
    table = pl.DataFrame(
        {
            language_code(entry.source_language): [message.source for message in same],
            language_code(language): [message.target for message in same],
            "line": [f"{corpus.archive}:{language_code(language)}:{message.number}" for message in same],
        },
        schema_overrides={"line": pl.String},
    )
    codes = [language_code(each) for each in corpus.languages]
    table, cleaned = apply_steps(table, cleaning_steps(corpus.clean, corpus.languages))
    report["licence"] = entry.licence
    report["archive"] = {"title": entry.title, "home": entry.home, "file": entry.file, "sha256": entry.sha256}
    report["read"] = {"all": len(read)}
    report["steps"] = steps + cleaned
    splits, _ = split_pairs(table, codes, {"test": corpus.test, "valid": corpus.valid}, corpus.split_seed, None, name)
    return splits


def _from_files(corpus: FilesCorpus, name: str, report: dict[str, Any]) -> dict[str, pl.DataFrame]:
    """The splits as they are given, or split first; cleaning touches training text alone."""
    codes = [language_code(language) for language in corpus.languages]
    given = {split: getattr(corpus, split) for split in SPLITS}
    splits = {split: read_text(text, corpus.languages) for split, text in given.items() if isinstance(text, TextFiles)}
    report["licence"] = None
    report["read"] = {split: table.height for split, table in splits.items()}
    steps = cleaning_steps(corpus.clean, corpus.languages)
    counts: list[dict[str, Any]] = []
    numbers = {split: given[split] for split in HELD_OUT if isinstance(given[split], int)}
    if numbers:
        # An empty side is no pair to hold out, and a test with the same pair twice counts it twice.
        usable = {step: steps.pop(step) for step in ("empty", "duplicates")}
        table, counts = apply_steps(splits["train"], usable)
        group = GROUP if corpus.train.group is not None else None
        made, dropped = split_pairs(table, codes, numbers, corpus.split_seed, group, name)
        splits.update(made)
        left = table.height - dropped
        if group is not None:
            counts.append({"step": "text_held_out", "dropped": dropped, "left": left})
        for split in numbers:
            left -= made[split].height
            counts.append({"step": f"held_out_{split}", "dropped": 0, "moved": made[split].height, "left": left})
    splits["train"], cleaned = apply_steps(splits["train"], steps)
    report["steps"] = counts + cleaned
    for split, table in splits.items():
        if table.filter(pl.all_horizontal(pl.col(codes).str.contains(r"\S"))).is_empty():
            reason = "cleaning left none" if split == "train" else "one side of every line is empty"
            raise UserError(f"corpus {name} has no usable pair in {split}: {reason}")
    return splits


def _dropped(step: str, before: int, after: int) -> dict[str, Any]:
    return {"step": step, "dropped": before - after, "left": after}


def _changed(step: str, before: list[Any], after: list[Any]) -> dict[str, Any]:
    changed = sum(one != other for one, other in zip(before, after, strict=True))
    return {"step": step, "changed": changed, "dropped": 0, "left": len(after)}
