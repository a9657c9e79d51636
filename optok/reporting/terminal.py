"""The table in a terminal, and where the rest lies."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from optok.evaluation.table import grid

UNLIMITED = 100_000  # characters


def print_table(table: pl.DataFrame, results: Path, heading: str) -> None:
    """A row a direction, a column a system; then the paths of everything else. No name is ever cut short."""
    head, rows = grid(table)
    shown = Table()
    for name in head:
        shown.add_column(name, overflow="fold")
    for cells in rows:
        shown.add_row(*cells)
    console = Console()
    console.print(heading, highlight=False, markup=False, soft_wrap=True)
    if not console.is_terminal:  # a pipe or a log has no width: the table gets what it needs
        console.width = Measurement.get(console, console.options.update(max_width=UNLIMITED), shown).maximum
    console.print(shown)
    done = table.filter(pl.col("status") == "ok").height
    console.print(f"{done} of {table.height} runs are done.", highlight=False)
    files = {"table.csv": "a row a run", "table.md": "this table, with signatures"}
    if (results / "report.html").exists():
        files["report.html"] = "one page with everything, for a browser"
    if (results / "mlflow.db").exists():
        files["mlflow.db"] = "runs and curves in MLflow, which `make mlflow` shows"
    for path, what in files.items():
        console.print(f"  {results / path}: {what}", highlight=False, soft_wrap=True)
    console.print(
        f"  {results}/<corpus>/<direction>/<system>/seed<k>/: translator, export, hypotheses, scores, run log",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
