"""Reading your own text: two line-aligned files, or one TSV or Parquet table with named columns.

`\\n` alone ends a line: `\\r`, U+2028 and U+0085 inside a line are text. Two things that editors add are taken
away: a byte-order mark at the start, and the `\\r` of a file whose every line ends in `\\r\\n`. A TSV has a header
line and no quoting: a tab always ends a field. A line feed inside a Parquet cell becomes a space.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError

from optok.config import TextFiles, language_code
from optok.errors import UserError, nearest
from optok.files import decode_lines

GROUP = "group"


def read_text(given: TextFiles, languages: Sequence[str]) -> pl.DataFrame:
    """One split as a table: a column for each language code, `line` ("train.en:12"), and perhaps `group`.

    Raises `UserError` for a missing, empty or unreadable file, sides of unequal length, and missing columns.
    """
    if given.files is not None:
        table = _read_sides(given.files, languages)
    else:
        table = _read_table(Path(given.table or ""), given, languages)
    if table.is_empty():
        raise UserError(f"{given.table or (given.files or {})[languages[0]]} holds no lines of text")
    return table


def _read_sides(files: dict[str, str], languages: Sequence[str]) -> pl.DataFrame:
    sides = {language: _lines(Path(files[language])) for language in languages}
    first, second = languages
    if len(sides[first]) != len(sides[second]):
        raise UserError(
            f"{files[first]} has {len(sides[first])} lines, {files[second]} has {len(sides[second])}: "
            "line k of one must translate line k of the other"
        )
    columns = {language_code(language): lines for language, lines in sides.items()}
    name = Path(files[first]).name
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)).with_columns(_places(name, 1))


def _read_table(path: Path, given: TextFiles, languages: Sequence[str]) -> pl.DataFrame:
    named = {language_code(language): (given.columns or {}).get(language, language) for language in languages}
    if given.group is not None:
        named[GROUP] = given.group
    match path.suffix:
        case ".tsv":
            table, first_row = _read_tsv(path), 2
        case ".parquet":
            table, first_row = _read_parquet(path), 1
        case _:
            raise UserError(f"{path}: a table's name must end in .tsv or .parquet")
    for column in named.values():
        if column not in table.columns:
            raise UserError(f"{path} has no column {column!r}: {nearest(column, table.columns)}")
        if column != given.group and table.schema[column] != pl.String:
            raise UserError(f"{path}: column {column!r} is {table.schema[column]}, not text")
    text = pl.col(*(code for code in named if code != GROUP)).fill_null("").str.replace_all("\n", " ", literal=True)
    chosen = table.select(pl.col(column).alias(code) for code, column in named.items())
    return chosen.with_columns(text, _places(path.name, first_row))


def _read_tsv(path: Path) -> pl.DataFrame:
    header, *lines = _lines(path)
    columns = header.split("\t")
    if len(set(columns)) != len(columns):
        raise UserError(f"{path}: the header names a column twice: {', '.join(columns)}")
    rows = []
    for number, line in enumerate(lines, start=2):
        fields = line.split("\t")
        if len(fields) != len(columns):
            raise UserError(f"{path}: line {number} has {len(fields)} fields, the header has {len(columns)}")
        rows.append(fields)
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


def _read_parquet(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path)
    except FileNotFoundError:
        raise UserError(f"{path} does not exist") from None
    except (PolarsError, OSError) as error:
        raise UserError(f"{path} is no readable Parquet file: {str(error).splitlines()[0]}") from None


def _lines(path: Path) -> list[str]:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path} does not exist") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    lines = decode_lines(content.removeprefix(codecs.BOM_UTF8), str(path))
    if not lines:
        raise UserError(f"{path} is empty")
    if all(line.endswith("\r") for line in lines):
        lines = [line[:-1] for line in lines]
    return lines


def _places(name: str, first: int) -> pl.Expr:
    numbers = pl.int_range(pl.len()) + first
    return pl.format("{}:{}", pl.lit(name), numbers).alias("line")
