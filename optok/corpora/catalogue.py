"""The archives that can be fetched, as data: `catalogue.yaml` holds every name, digest and size.

Light to import: the workflow plans with it.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

import yaml
from pydantic import Field

from optok.config import Part
from optok.errors import UserError, nearest


class Archive(Part):
    """One entry of the catalogue."""

    title: str = Field(description="What it is.")
    home: str = Field(description="Where to read about it.")
    kind: Literal["wheel"] = Field(description="`wheel`: pip fetches it from the Python package index.")
    requirement: str = Field(description="What pip is asked for.")
    file: str = Field(description="The file's name there.")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="The file's digest; another file is refused.")
    bytes: int = Field(gt=0, description="The file's size.")
    member: str = Field(description="A language's catalogue in the archive, `{locale}` in its place.")
    source_language: str = Field(description="The language that the messages were written in.")
    locales: dict[str, str] = Field(description="Languages whose locale is not simply their code.")
    licence: str = Field(description="Licence of the text (SPDX).")


@cache
def _entries() -> dict[str, Archive]:
    content = yaml.safe_load(files("optok.corpora").joinpath("catalogue.yaml").read_text(encoding="utf-8"))
    return {name: Archive.model_validate(entry) for name, entry in content.items()}


def find_archive(name: str) -> Archive:
    """The catalogue's entry of that name; raises `UserError` with the nearest name."""
    entries = _entries()
    if name not in entries:
        raise UserError(f"archive {name!r} is not in the catalogue: {nearest(name, entries)}")
    return entries[name]
