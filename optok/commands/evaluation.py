"""From a translator to the table: export, translate, score, table."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from optok import config, plan
from optok.commands.options import ConfigFile, Settings, Stage, configured_by, needed, read_slice


class _Translate(Stage):
    decoding: config.Decoding


class TableSlice(Stage):
    task: str
    baseline: str
    corpora: dict[str, list[str]]
    systems: list[str]
    seeds: list[int]
    decoding: config.Decoding


def translate(
    export: Annotated[Path | None, typer.Option(help="An export.")] = None,
    settings: Settings = None,
    input: Annotated[Path | None, typer.Option(help="Text to translate; default: standard input.")] = None,
    output: Annotated[Path | None, typer.Option(help="Default: standard output.")] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or cuda:N.")] = "cpu",
    threads: Annotated[int, typer.Option(help="CPU threads.")] = 1,
) -> None:
    """Translate lines: as many out as in."""
    from optok.files import decode_lines, read_lines, write_lines
    from optok.progress import Progress
    from optok.translation.decoding import Decoder

    folder = needed(export, "--export", "translate")  # before it waits for text
    decoding = config.Decoding() if settings is None else read_slice(_Translate, settings).decoding
    lines = decode_lines(sys.stdin.buffer.read(), "standard input") if input is None else read_lines(input)
    decoder = Decoder(folder, threads, device)
    what = "translate" if output is None else f"translate {output}"
    translated = decoder.translate(lines, decoding, Progress(what, len(lines), "lines"))
    if output is None:
        sys.stdout.buffer.write("".join(line + "\n" for line in translated).encode("utf-8"))
    else:
        write_lines(output, translated)


def export(
    translator: Annotated[Path, typer.Option(help="A translator's folder.")],
    output: Annotated[Path, typer.Option(help="The export's folder.")],
) -> None:
    """Export a translator to CTranslate2."""
    from optok.translation import translator as folders
    from optok.translation.export import export as write_export

    read = folders.read(translator)
    write_export(read.weights, read.sizes, read.models["source"], read.models["target"], output)


def score(
    hypotheses: Annotated[Path, typer.Option(help="One translation a line, detokenised.")],
    corpus: Annotated[Path, typer.Option(help="The corpus's folder.")],
    direction: Annotated[str, typer.Option(help="A direction, like de-en.")],
    translator: Annotated[Path, typer.Option(help="The translator's folder: its tokenizers count tokens.")],
    output: Annotated[Path, typer.Option(help="The scores, as JSON.")],
) -> None:
    """Score translations of the test set with sacreBLEU."""
    from optok.evaluation.score import score as score_run

    scores = score_run(hypotheses, corpus, direction, translator, output)
    print(f"{output}: BLEU {scores['bleu']:.2f}, chrF2 {scores['chrf']:.2f}")


def table(
    settings: Settings = None,
    configfile: ConfigFile = None,
    results: Annotated[Path | None, typer.Option(help="The results folder.")] = None,
    show: Annotated[bool, typer.Option("--print", help="Print the table too.")] = False,
) -> None:
    """Make the table of a benchmark from what its results folder holds."""
    from optok.evaluation.table import build_table, heading, write_table
    from optok.reporting.terminal import print_table

    if settings is None:
        configured = configured_by(configfile, "table")
        settings, results = json.dumps(plan.table_settings(configured)), results or Path(configured.results)
    planned = read_slice(TableSlice, settings).model_dump()
    folder = needed(results, "--results", "table")
    built = build_table(folder, planned)
    write_table(built, folder, planned)
    if show:
        print_table(built, folder, heading(planned))
