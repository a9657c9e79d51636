"""Fetching and preparing corpora."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError

from optok import config, plan
from optok.commands.options import ConfigFile, CorpusOption, Output, Settings, Stage, configured_by, needed, read_slice
from optok.errors import UserError


class _Fetch(Stage):
    archive: str


class _Prepare(Stage):
    name: str
    corpus: dict[str, Any]


def fetch(
    settings: Settings = None,
    configfile: ConfigFile = None,
    corpus: CorpusOption = None,
    output: Output = None,
) -> None:
    """Fetch the archive of a corpus into the data folder, and check its digest."""
    from optok.corpora.fetch import fetch as fetch_archive

    if settings is None:
        configured = configured_by(configfile, "fetch")
        wanted = plan.fetch_settings(plan.find_corpus(configured, needed(corpus, "--corpus", "fetch")))
        if wanted is None:
            print(f"{corpus} is text of your own: nothing to fetch")
            return
        settings, output = json.dumps(wanted), output or Path(configured.data)
    print(fetch_archive(read_slice(_Fetch, settings).archive, needed(output, "--output", "fetch")))


def prepare(
    settings: Settings = None,
    configfile: ConfigFile = None,
    corpus: CorpusOption = None,
    archive: Annotated[Path | None, typer.Option(help="The fetched archive.")] = None,
    output: Output = None,
) -> None:
    """Read, clean and split a corpus."""
    from optok.corpora.fetch import archive_path
    from optok.corpora.prepare import prepare as prepare_corpus

    if settings is None:
        configured = configured_by(configfile, "prepare")
        corpus = needed(corpus, "--corpus", "prepare")
        wanted = plan.fetch_settings(plan.find_corpus(configured, corpus))
        if wanted is not None and archive is None:
            archive = archive_path(wanted["archive"], Path(configured.data))
        settings = json.dumps(plan.prepare_settings(configured, corpus))
        output = output or Path(configured.results) / corpus / "corpus"
    read = read_slice(_Prepare, settings)
    kind = Annotated[config.GettextCorpus | config.FilesCorpus, config.Field(discriminator="source")]
    try:
        details = TypeAdapter(kind).validate_python({"directions": ["-"], **read.corpus})
    except ValidationError as error:
        raise UserError(f"--settings: {config.describe(error, config.Corpus)}") from None
    report = prepare_corpus(details, read.name, archive, needed(output, "--output", "prepare"))
    sizes = ", ".join(f"{split} {numbers['pairs']}" for split, numbers in report["splits"].items())
    print(f"{read.name}: {sizes} pairs")
