"""`optok <stage> …`: one command a stage, the door that every rule of the workflow goes through.

A stage takes its slice of the settings as JSON (`--settings`, as the rules give it). By hand it is easier to
name a configuration and a run: `optok train --configfile F --corpus C --direction D --system S --seed K`.
Heavy libraries are imported inside the commands, so that each job pays for what it uses.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, TypeAdapter, ValidationError

from optok import config, plan
from optok.errors import UserError, nearest

app = typer.Typer(
    help="How much does a tokenizer cost a translation system?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
tokenizer_app = typer.Typer(help="Baseline tokenizers.", no_args_is_help=True)
app.add_typer(tokenizer_app, name="tokenizer")

Settings = Annotated[str | None, typer.Option(help="The stage's slice of the settings, as JSON.")]
ConfigFile = Annotated[
    list[Path] | None,
    typer.Option(help="A configuration (several are merged, as Snakemake does); then name the run by its ids."),
]
Output = Annotated[Path | None, typer.Option(help="Where the stage writes.")]
CorpusOption = Annotated[
    str | None, typer.Option(help="With --configfile: the id of a corpus. With --settings: the folder of one.")
]
DirectionOption = Annotated[str | None, typer.Option(help="A direction, like de-en.")]
SystemOption = Annotated[str | None, typer.Option(help="A system of the configuration.")]
SeedOption = Annotated[int | None, typer.Option(help="The run's seed; default: the configuration's first.")]
NameOption = Annotated[str | None, typer.Option(help="The system's name in the run's record.")]
BaseOption = Annotated[Path | None, typer.Option(help="The folder of the run to start from.")]


class _Stage(BaseModel):
    """A stage's slice of the settings, as the rules give it."""

    model_config = {"extra": "forbid"}


class _Fetch(_Stage):
    archive: str


class _Prepare(_Stage):
    name: str
    corpus: dict[str, Any]


class _Tokenizer(_Stage):
    tokenizer: config.Tokenizer
    language: str


class _Translate(_Stage):
    decoding: config.Decoding


def main() -> None:
    """Runs a command; a `UserError` is one line on standard error and exit code 2, Ctrl-C exit code 130."""
    try:
        app(standalone_mode=False)
    except UserError as error:
        print(f"optok: error: {error}", file=sys.stderr)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        print("optok: interrupted; the same command goes on", file=sys.stderr)
        sys.exit(130)
    except typer.Exit as leave:
        sys.exit(leave.exit_code)
    except MemoryError:
        print("optok: error: out of memory; give the stage more and run it again, it goes on", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"optok: error: {error}; mend it and run the stage again, it goes on", file=sys.stderr)
        sys.exit(2)
    except Exception as error:
        # Usage errors of the command line carry their own one-line message.
        if hasattr(error, "format_message"):
            print(f"optok: error: {error.format_message()}", file=sys.stderr)
            sys.exit(2)
        raise


def _slice(model: type[BaseModel], text: str) -> Any:
    try:
        return model.model_validate(json.loads(text))
    except ValidationError as error:
        raise UserError(f"--settings: {config.describe(error, model)}") from None
    except ValueError as error:
        raise UserError(f"--settings is not valid JSON: {error}") from None


def _configured(configfile: list[Path] | None, stage: str) -> config.Settings:
    if not configfile:
        raise UserError(f"optok {stage} needs --settings (JSON) or --configfile (a YAML file)")
    return config.load(*configfile)


def _configured_run(
    stage: str,
    configfile: list[Path] | None,
    corpus: str | None,
    direction: str | None,
    system: str | None,
    seed: int | None,
) -> tuple[config.Settings, plan.Run]:
    configured = _configured(configfile, stage)
    run = plan.find_run(
        configured,
        _needed(corpus, "--corpus", stage),
        _needed(direction, "--direction", stage),
        _needed(system, "--system", stage),
        configured.seeds[0] if seed is None else seed,
    )
    if plan.kind_of(run.system, configured) != stage:
        kind = plan.kind_of(run.system, configured)
        raise UserError(f"system {run.system!r} is built by `optok {kind}`, not by `optok {stage}`")
    return configured, run


def _folders(
    configured: config.Settings, run: plan.Run, base: Path | None, output: Path | None
) -> tuple[str, Path, str, Path]:
    """Corpus, base, name and output of a run that starts from another."""
    results = Path(configured.results)
    before = plan.Run(run.corpus, run.direction, str(configured.systems[run.system].base), run.seed)
    corpus = results / run.corpus / "corpus"
    return str(corpus), base or results / before.folder, run.system, output or results / run.folder


def _needed(value: Any, option: str, stage: str) -> Any:
    if value is None:
        raise UserError(f"optok {stage} needs {option}")
    return value


@app.command()
def fetch(
    settings: Settings = None,
    configfile: ConfigFile = None,
    corpus: CorpusOption = None,
    output: Output = None,
) -> None:
    """Fetch the archive of a corpus into the data folder, and check its digest."""
    from optok.corpora.fetch import fetch as fetch_archive

    if settings is None:
        configured = _configured(configfile, "fetch")
        wanted = plan.fetch_settings(plan.find_corpus(configured, _needed(corpus, "--corpus", "fetch")))
        if wanted is None:
            print(f"{corpus} is text of your own: nothing to fetch")
            return
        settings, output = json.dumps(wanted), output or Path(configured.data)
    print(fetch_archive(_slice(_Fetch, settings).archive, _needed(output, "--output", "fetch")))


@app.command()
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
        configured = _configured(configfile, "prepare")
        corpus = _needed(corpus, "--corpus", "prepare")
        wanted = plan.fetch_settings(plan.find_corpus(configured, corpus))
        if wanted is not None and archive is None:
            archive = archive_path(wanted["archive"], Path(configured.data))
        settings = json.dumps(plan.prepare_settings(configured, corpus))
        output = output or Path(configured.results) / corpus / "corpus"
    read = _slice(_Prepare, settings)
    kind = Annotated[config.GettextCorpus | config.FilesCorpus, config.Field(discriminator="source")]
    try:
        details = TypeAdapter(kind).validate_python({"directions": ["-"], **read.corpus})
    except ValidationError as error:
        raise UserError(f"--settings: {config.describe(error, config.Corpus)}") from None
    report = prepare_corpus(details, read.name, archive, _needed(output, "--output", "prepare"))
    sizes = ", ".join(f"{split} {numbers['pairs']}" for split, numbers in report["splits"].items())
    print(f"{read.name}: {sizes} pairs")


@tokenizer_app.command("train")
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

    corpus = _needed(corpus, "--corpus", "tokenizer train")
    folder = Path(corpus)
    if settings is None:
        configured = _configured(configfile, "tokenizer train")
        languages = plan.find_corpus(configured, corpus).languages
        tokenizer = plan.find_tokenizer(configured, _needed(tokenizer, "--tokenizer", "tokenizer train"))
        language = _needed(language, "--language", "tokenizer train")
        if language not in languages:
            raise UserError(f"corpus {corpus} has no language {language!r}: {nearest(language, languages)}")
        settings = json.dumps(plan.tokenizer_settings(configured, tokenizer, language))
        folder = Path(configured.results) / corpus / "corpus"
        output = output or Path(configured.results) / corpus / "tokenizers" / tokenizer
    read = _slice(_Tokenizer, settings)
    report = train_tokenizer(read.tokenizer, read.language, folder, _needed(output, "--output", "tokenizer train"))
    print(f"{report['language']}: {report['pieces']} pieces")


@app.command()
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
        configured, run = _configured_run("train", configfile, corpus, direction, system, seed)
        results = Path(configured.results)
        settings, name = json.dumps(plan.train_settings(configured, run)), run.system
        corpus = str(results / run.corpus / "corpus")
        used = configured.systems[run.system].tokenizer
        tokenizers = tokenizers or results / run.corpus / "tokenizers" / str(used)
        output = output or results / run.folder
    output = _needed(output, "--output", "train")
    train_system(
        _slice(TrainSettings, settings),
        name or output.parent.name,
        Path(_needed(corpus, "--corpus", "train")),
        _needed(tokenizers, "--tokenizers", "train"),
        output,
    )


@app.command()
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
        configured, run = _configured_run("retokenize", configfile, corpus, direction, system, seed)
        settings = json.dumps(plan.retokenize_settings(configured, run))
        corpus, base, name, output = _folders(configured, run, base, output)
    output = _needed(output, "--output", "retokenize")
    retokenize_system(
        _slice(RetokenizeSettings, settings),
        name or output.parent.name,
        _needed(base, "--base", "retokenize"),
        Path(_needed(corpus, "--corpus", "retokenize")),
        output,
    )


@app.command()
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
        configured, run = _configured_run("restrict", configfile, corpus, direction, system, seed)
        settings = json.dumps(plan.restrict_settings(configured, run))
        corpus, base, name, output = _folders(configured, run, base, output)
    output = _needed(output, "--output", "restrict")
    restrict_system(
        _slice(RestrictSettings, settings),
        name or output.parent.name,
        _needed(base, "--base", "restrict"),
        Path(_needed(corpus, "--corpus", "restrict")),
        output,
    )


@app.command()
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

    decoding = config.Decoding() if settings is None else _slice(_Translate, settings).decoding
    lines = decode_lines(sys.stdin.buffer.read(), "standard input") if input is None else read_lines(input)
    decoder = Decoder(_needed(export, "--export", "translate"), threads, device)
    translated = decoder.translate(lines, decoding, Progress("translate", len(lines), "lines"))
    if output is None:
        sys.stdout.write("".join(line + "\n" for line in translated))
    else:
        write_lines(output, translated)


@app.command()
def export(
    translator: Annotated[Path, typer.Option(help="A translator's folder.")],
    output: Annotated[Path, typer.Option(help="The export's folder.")],
) -> None:
    """Export a translator to CTranslate2."""
    from optok.translation import translator as folders
    from optok.translation.export import export as write_export

    read = folders.read(translator)
    write_export(read.weights, read.sizes, read.models["source"], read.models["target"], output)


@app.command()
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
    print(f"BLEU {scores['bleu']:.2f}, chrF2 {scores['chrf']:.2f}")


@app.command()
def table(
    settings: Settings = None,
    configfile: ConfigFile = None,
    results: Annotated[Path | None, typer.Option(help="The results folder.")] = None,
    show: Annotated[bool, typer.Option("--print", help="Print the table too.")] = False,
) -> None:
    """Make the table of a benchmark from what its results folder holds."""
    from optok.evaluation.table import build_table, write_table
    from optok.reporting.terminal import print_table

    if settings is None:
        configured = _configured(configfile, "table")
        planned, results = plan.table_settings(configured), results or Path(configured.results)
    else:
        planned = json.loads(settings)
    folder = _needed(results, "--results", "table")
    built = build_table(folder, planned)
    write_table(built, folder)
    if show:
        print_table(built, folder)
