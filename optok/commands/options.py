"""What commands share: options, and settings from JSON or from a configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, ValidationError

from optok import config, plan
from optok.errors import UserError

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


class Stage(BaseModel):
    """A stage's slice of the settings, as the rules give it."""

    model_config = {"extra": "forbid"}


def read_slice(model: type[BaseModel], text: str) -> Any:
    try:
        return model.model_validate(json.loads(text))
    except ValidationError as error:
        raise UserError(f"--settings: {config.describe(error, model)}") from None
    except ValueError as error:
        raise UserError(f"--settings is not valid JSON: {error}") from None


def configured_by(configfile: list[Path] | None, stage: str) -> config.Settings:
    if not configfile:
        raise UserError(f"optok {stage} needs --settings (JSON) or --configfile (a YAML file)")
    return config.load(*configfile)


def configured_run(
    stage: str,
    configfile: list[Path] | None,
    corpus: str | None,
    direction: str | None,
    system: str | None,
    seed: int | None,
) -> tuple[config.Settings, plan.Run]:
    configured = configured_by(configfile, stage)
    run = plan.find_run(
        configured,
        needed(corpus, "--corpus", stage),
        needed(direction, "--direction", stage),
        needed(system, "--system", stage),
        configured.seeds[0] if seed is None else seed,
    )
    if plan.kind_of(run.system, configured) != stage:
        kind = plan.kind_of(run.system, configured)
        raise UserError(f"system {run.system!r} is built by `optok {kind}`, not by `optok {stage}`")
    return configured, run


def needed(value: Any, option: str, stage: str) -> Any:
    if value is None:
        raise UserError(f"optok {stage} needs {option}")
    return value
