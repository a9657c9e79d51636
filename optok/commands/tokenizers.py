"""Tokenizers: trained, compared, used."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
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
    output = needed(output, "--output", "tokenizer train")
    report = train_tokenizer(read.tokenizer, read.language, folder, output)
    print(f"{output}: {report['language']}, {report['pieces']} pieces")


Model = Annotated[Path, typer.Option(help="A SentencePiece .model file.")]
Files = Annotated[list[Path] | None, typer.Argument(help="Text files, read in order; none: standard input.")]


class OutputForm(StrEnum):
    """What `optok encode` writes."""

    pieces = "pieces"
    ids = "ids"
    json = "json"


class InputForm(StrEnum):
    """What `optok decode` reads."""

    pieces = "pieces"
    ids = "ids"


def encode(
    model: Model,
    files: Files = None,
    nbest: Annotated[int | None, typer.Option(help="The N best segmentations, separated by tabs.")] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Draw a segmentation with p^alpha.")] = False,
    alpha: Annotated[float | None, typer.Option(help="With --sample: 1 is the model's own, 0 uniform.")] = None,
    dropout: Annotated[float | None, typer.Option(help="BPE models: pass over merges, with this probability.")] = None,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 1,
    copies: Annotated[int, typer.Option(help="Draws of each line, separated by tabs.")] = 1,
    output: Annotated[OutputForm, typer.Option(help="Of each line.")] = OutputForm.pieces,
    threads: Annotated[int, typer.Option(help="For unigram models; they change nothing but the time.")] = 1,
) -> None:
    """Segment text: one line out for each line in, pieces or ids separated by one space."""
    from optok.tokenizers.encoding import Encoder, Request

    if sample and alpha is None:
        raise UserError("--sample needs --alpha: 1 draws from the model's own distribution, 0.2 to 0.5 is usual")
    if alpha is not None and not sample:
        raise UserError("--alpha is for --sample: give both, or neither")
    request = Request(nbest, alpha, dropout, seed, copies, output.value, threads)
    _stream("encode", Encoder(model, request).encode, files)


def decode(
    model: Model,
    files: Files = None,
    reads: Annotated[InputForm, typer.Option("--input", help="What the lines hold.")] = InputForm.pieces,
) -> None:
    """Turn segmented text back into text: one line out for each line in."""
    from optok.tokenizers.decoding import Decoder

    _stream("decode", Decoder(model, reads.value).decode, files)


def _stream(what: str, convert: Callable[[list[str]], list[str]], files: list[Path] | None) -> None:
    """Lines from files or standard input, converted batch by batch, to standard output."""
    from optok.tokenizers.streaming import LineCount, batches_of

    progress = LineCount(what)
    try:
        for batch in batches_of(files or [], sys.stdin.buffer):
            sys.stdout.buffer.write("".join(line + "\n" for line in convert(batch)).encode("utf-8"))
            progress.add(len(batch))
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # the reader, such as `head`, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    progress.end()


def tokenizer_compare(
    before: Annotated[Path, typer.Argument(help="A SentencePiece .model file.")],
    after: Annotated[Path, typer.Argument(help="Another one.")],
    files: Files = None,
    most: Annotated[int, typer.Option(help="How many of the words to list; 0: all.")] = 20,
) -> None:
    """Compare two tokenizers on a text: words cut differently, how often, tokens a word before and after."""
    from optok.tokenizers.comparing import TokenizerComparison
    from optok.tokenizers.streaming import LineCount, batches_of

    comparison = TokenizerComparison(before, after)
    progress = LineCount("compare")

    def counted() -> Iterator[list[str]]:
        for batch in batches_of(files or [], sys.stdin.buffer):
            yield batch
            progress.add(len(batch))

    found = comparison.compare(counted())
    progress.end()
    share = found.changed / max(1, found.words)
    each = [tokens / max(1, found.words) for tokens in (found.tokens_before, found.tokens_after)]
    lines = [
        f"words: {found.words}",
        f"cut differently: {found.changed} ({share:.2%}), {len(found.differing)} different words",
        f"tokens a word: {each[0]:.4f} before, {each[1]:.4f} after",
    ]
    changes = comparison.changes(found, most or None)
    if changes:
        lines.append("count\tword\ttokens before\ttokens after\tbefore\tafter")
    for change in changes:
        sizes = f"{len(change.before)}\t{len(change.after)}"
        lines.append(f"{change.count}\t{change.word}\t{sizes}\t{' '.join(change.before)}\t{' '.join(change.after)}")
    sys.stdout.buffer.write("".join(line + "\n" for line in lines).encode("utf-8"))


def tokenizer_export(
    model: Model,
    output: Annotated[Path, typer.Option(help="The tokenizer.json to write.")],
    files: Files = None,
) -> None:
    """Write a unigram model as tokenizer.json for HF tokenizers, compared with the model on a whole text."""
    from optok.tokenizers.streaming import batches_of
    from optok.tokenizers.tokenizer_json import write_tokenizer_json

    texts = [line for batch in batches_of(files or [], sys.stdin.buffer) for line in batch]
    if not texts:
        raise UserError("the export is compared on a text, the whole training text: name its files, or pipe it in")
    compared = write_tokenizer_json(model, output, texts)
    print(f"{compared.lines} lines compared, {len(compared.ties)} differ by a tie of scores")
    for line in compared.ties:
        print(f"tie in line {line + 1}")
