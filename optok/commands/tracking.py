"""Tracking: the runs of a benchmark in MLflow."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from optok import plan
from optok.commands.evaluation import TableSlice
from optok.commands.options import ConfigFile, Settings, configured_by, needed, read_slice
from optok.errors import UserError


def track(
    settings: Settings = None,
    configfile: ConfigFile = None,
    results: Annotated[Path | None, typer.Option(help="The results folder.")] = None,
    store: Annotated[
        str | None,
        typer.Option(help="sqlite:///FILE or the address of a tracking server; default: mlflow.db in the results."),
    ] = None,
    experiment: Annotated[str | None, typer.Option(help="Its name in MLflow; default: by the results folder.")] = None,
    follow: Annotated[bool, typer.Option("--watch", help="Follow running trainings until all have scores.")] = False,
    keep_going: Annotated[bool, typer.Option("--keep-going", help="A failure is only recorded, exit code 0.")] = False,
    serve: Annotated[bool, typer.Option("--serve", help="Then serve MLflow's page on 127.0.0.1.")] = False,
    port: Annotated[int, typer.Option(help="With --serve.")] = 5000,
) -> None:
    """Import the runs' logs, settings and scores into MLflow."""
    from optok.tracking.serving import serve as serve_page
    from optok.tracking.store import Store
    from optok.tracking.track import import_runs, record_failure, summary, watch

    if settings is None:
        configured = configured_by(configfile, "track")
        settings, results = json.dumps(plan.table_settings(configured)), results or Path(configured.results)
    planned, folder = read_slice(TableSlice, settings).model_dump(), needed(results, "--results", "track")
    try:
        chosen = Store.at(store, folder)
        record = (watch if follow else import_runs)(folder, planned, chosen, experiment)
    except (UserError, OSError) as error:
        if not keep_going:
            raise
        record_failure(folder, str(error))
        print(f"optok: tracking failed: {error}", file=sys.stderr)
        return
    print(summary(record))
    if serve:
        serve_page(chosen, record.get("pages", {}), port)
