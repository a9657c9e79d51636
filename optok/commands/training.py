"""Systems: trained, re-tokenized, restricted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from optok import config, plan
from optok.commands.options import (
    BaseOption,
    ConfigFile,
    CorpusOption,
    DirectionOption,
    NameOption,
    Output,
    SeedOption,
    Settings,
    SystemOption,
    configured_run,
    needed,
    read_slice,
)


def train(
    settings: Settings = None,
    configfile: ConfigFile = None,
    corpus: CorpusOption = None,
    direction: DirectionOption = None,
    system: SystemOption = None,
    seed: SeedOption = None,
    tokenizers: Annotated[Path | None, typer.Option(help="The folder of both sides' .model files.")] = None,
    name: NameOption = None,
    output: Output = None,
) -> None:
    """Train a system: plain, with sampling, or jointly with its tokenizers. Goes on where it was stopped."""
    from optok.joint.train import TrainSettings, train_system

    if settings is None:
        configured, run = configured_run("train", configfile, corpus, direction, system, seed)
        results = Path(configured.results)
        settings, name = json.dumps(plan.train_settings(configured, run)), run.system
        corpus = str(results / run.corpus / "corpus")
        used = configured.systems[run.system].tokenizer
        tokenizers = tokenizers or results / run.corpus / "tokenizers" / str(used)
        output = output or results / run.folder
    output = needed(output, "--output", "train")
    train_system(
        read_slice(TrainSettings, settings),
        name or output.parent.name,
        Path(needed(corpus, "--corpus", "train")),
        needed(tokenizers, "--tokenizers", "train"),
        output,
    )


def retokenize(
    settings: Settings = None,
    configfile: ConfigFile = None,
    corpus: CorpusOption = None,
    direction: DirectionOption = None,
    system: SystemOption = None,
    seed: SeedOption = None,
    base: BaseOption = None,
    name: NameOption = None,
    output: Output = None,
) -> None:
    """Learn a finished system's source tokenizer anew (post-processing)."""
    from optok.joint.retokenize import RetokenizeSettings, retokenize_system

    if settings is None:
        configured, run = configured_run("retokenize", configfile, corpus, direction, system, seed)
        settings = json.dumps(plan.retokenize_settings(configured, run))
        corpus, base, name, output = _folders_of(configured, run, base, output)
    output = needed(output, "--output", "retokenize")
    retokenize_system(
        read_slice(RetokenizeSettings, settings),
        name or output.parent.name,
        needed(base, "--base", "retokenize"),
        Path(needed(corpus, "--corpus", "retokenize")),
        output,
    )


def restrict(
    settings: Settings = None,
    configfile: ConfigFile = None,
    corpus: CorpusOption = None,
    direction: DirectionOption = None,
    system: SystemOption = None,
    seed: SeedOption = None,
    base: BaseOption = None,
    name: NameOption = None,
    output: Output = None,
) -> None:
    """Make a finished system's vocabularies smaller."""
    from optok.restriction.restrict import RestrictSettings, restrict_system

    if settings is None:
        configured, run = configured_run("restrict", configfile, corpus, direction, system, seed)
        settings = json.dumps(plan.restrict_settings(configured, run))
        corpus, base, name, output = _folders_of(configured, run, base, output)
    output = needed(output, "--output", "restrict")
    record = restrict_system(
        read_slice(RestrictSettings, settings),
        name or output.parent.name,
        needed(base, "--base", "restrict"),
        Path(needed(corpus, "--corpus", "restrict")),
        output,
    )
    kept = (f"{side} {one['pieces']} of {one['pieces_before']}" for side, one in record["tokenizers"].items())
    print(f"{output}: pieces kept: {', '.join(kept)}")


def _folders_of(
    configured: config.Settings, run: plan.Run, base: Path | None, output: Path | None
) -> tuple[str, Path, str, Path]:
    """Corpus, base, name and output of a run that starts from another."""
    results = Path(configured.results)
    before = plan.Run(run.corpus, run.direction, str(configured.systems[run.system].base), run.seed)
    corpus = results / run.corpus / "corpus"
    return str(corpus), base or results / before.folder, run.system, output or results / run.folder
