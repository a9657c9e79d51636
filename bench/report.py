"""`results/bench.json`: one list that every benchmark adds its own entries to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from optok.files import read_json, write_json

REPORT = Path("results/bench.json")


@dataclass(frozen=True)
class Entry:
    """A measurement and what it is held against; a `ratio` above 1 is better than the reference.

    Both are None where nothing else does the same.
    """

    name: str
    ours: float
    reference: float | None
    ratio: float | None
    unit: str
    note: str


def add_entries(entries: Sequence[Entry], path: Path = REPORT) -> None:
    """Writes the entries; one that stands there under the same name is replaced."""
    kept = read_json(path) if path.exists() else []
    names = {entry.name for entry in entries}
    write_json(path, [entry for entry in kept if entry["name"] not in names] + [asdict(entry) for entry in entries])
