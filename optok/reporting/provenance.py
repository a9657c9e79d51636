"""Sections about where the numbers come from: settings, versions, machines, time, and how to make them again."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from typing import Any

import yaml

from optok.reporting.gathering import Results


def settings(results: Results) -> dict[str, Any]:
    """All settings as YAML, and what the runs were made with."""
    records = [results.record(run) for run in results.runs if results.record(run)]
    return {
        "settings": yaml.safe_dump(results.planned["settings"], sort_keys=False, allow_unicode=True, width=100),
        "versions": _counted(records, "versions"),
        "machines": _counted([{"machine": _machine(record)} for record in records], "machine"),
        "stages": results.stages,
        "seconds": sum(stage.seconds for stage in results.stages),
        "records": len(records),
    }


def _machine(record: dict[str, Any]) -> dict[str, Any]:
    threads = record.get("threads")
    return {
        **record.get("machine", {}),
        "device": record.get("device"),
        "threads": threads,
    }


def _counted(records: list[dict[str, Any]], key: str) -> list[tuple[dict[str, Any], int]]:
    """The different values of a key and how many runs have each, the most frequent first."""
    counts = Counter(json.dumps(record.get(key) or {}, sort_keys=False) for record in records)
    return [(json.loads(value), count) for value, count in counts.most_common()]


def reproduction(results: Results) -> dict[str, Any]:
    """The command, what it starts from, and each run's folder and digests."""
    archives = {}
    for report in results.corpora.values():
        if archive := report.content.get("archive"):
            archives[archive.get("sha256")] = archive
    files = results.planned["configuration"]
    rows = []
    for run, row in zip(results.runs, results.table.to_dicts(), strict=True):
        record = results.record(run)
        rows.append(
            {
                **row,
                "folder": run.folder.as_posix(),
                "hash": record.get("hash", ""),
                "parameters": record.get("parameters"),
                "started": str(record.get("started", "")).replace("T", " ")[:16],
            }
        )
    return {
        "command": shlex.join(["snakemake", "--cores", "all", *(["--configfile", *files] if files else [])]),
        "files": files,
        "seeds": results.seeds,
        "archives": list(archives.values()),
        "digests": {name: report.content.get("digest") for name, report in results.corpora.items()},
        "rows": rows,
        "folder": results.folder.name,
    }
