"""The page of a benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from optok import config, plan
from optok.commands.options import ConfigFile, Settings, Stage, configured_by, needed, read_slice
from optok.errors import UserError


class _Report(Stage):
    task: str
    baseline: str
    corpora: dict[str, list[str]]
    systems: list[str]
    seeds: list[int]
    decoding: config.Decoding
    configuration: list[str]
    settings: dict[str, Any]


def report(
    settings: Settings = None,
    configfile: ConfigFile = None,
    results: Annotated[Path | None, typer.Option(help="The results folder.")] = None,
) -> None:
    """Make the page of a benchmark, report.html, from what its results folder holds."""
    from optok.reporting.page import write_page

    if settings is None:
        configured = configured_by(configfile, "report")
        files = [str(path) for path in configfile or []]
        settings = json.dumps(plan.report_settings(configured, files))
        results = results or Path(configured.results)
    planned = read_slice(_Report, settings).model_dump()
    folder = needed(results, "--results", "report")
    if not folder.is_dir():
        raise UserError(f"{folder} is no folder: run the benchmark first, or give its results folder with --results")
    print(f"{write_page(folder, planned)}: open it in a browser")
