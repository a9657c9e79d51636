"""Tokenizers: trained, compared, used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from optok import config, plan
from optok.commands.options import ConfigFile, CorpusOption, Output, Settings, Stage, configured_by, needed, read_slice
from optok.errors import UserError, nearest


class _Tokenizer(Stage):
    tokenizer: config.Tokenizer
    language: str


def tokenizer_train(
    settings: Settings = None,
    configfile: ConfigFile = None,
    corpus: CorpusOption = None,
    tokenizer: Annotated[str | None, typer.Option(help="A tokenizer of the configuration.")] = None,
    language: Annotated[str | None, typer.Option(help="A language of the corpus.")] = None,
    output: Output = None,
) -> None:
    """Train a baseline tokenizer on a corpus's training text."""
    from optok.tokenizers.train import train_tokenizer

    corpus = needed(corpus, "--corpus", "tokenizer train")
    folder = Path(corpus)
    if settings is None:
        configured = configured_by(configfile, "tokenizer train")
        languages = plan.find_corpus(configured, corpus).languages
        tokenizer = plan.find_tokenizer(configured, needed(tokenizer, "--tokenizer", "tokenizer train"))
        language = needed(language, "--language", "tokenizer train")
        if language not in languages:
            raise UserError(f"corpus {corpus} has no language {language!r}: {nearest(language, languages)}")
        settings = json.dumps(plan.tokenizer_settings(configured, tokenizer, language))
        folder = Path(configured.results) / corpus / "corpus"
        output = output or Path(configured.results) / corpus / "tokenizers" / tokenizer
    read = read_slice(_Tokenizer, settings)
    report = train_tokenizer(read.tokenizer, read.language, folder, needed(output, "--output", "tokenizer train"))
    print(f"{report['language']}: {report['pieces']} pieces")
