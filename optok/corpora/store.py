"""A prepared corpus on disk: `train|valid|test.parquet`, `test.<language code>` and `report.json`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from optok.errors import UserError
from optok.files import atomic_path, read_json, sha256_of, write_json, write_lines

SPLITS = ("train", "valid", "test")


def write_corpus(folder: Path, splits: dict[str, pl.DataFrame], codes: Sequence[str], report: dict[str, Any]) -> None:
    """Writes all files of a corpus, the report last: where it stands, the corpus is whole.

    Adds to the report the `digest` of the texts and, by file name, the SHA-256 of each file.
    """
    (folder / "report.json").unlink(missing_ok=True)
    for split in SPLITS:
        with atomic_path(folder / f"{split}.parquet") as temporary:
            splits[split].select(*codes, "line").write_parquet(temporary, compression="zstd")
    for code in codes:
        write_lines(folder / f"test.{code}", splits["test"][code])
    files = [f"{split}.parquet" for split in SPLITS] + [f"test.{code}" for code in codes]
    report["files"] = {name: sha256_of(folder / name) for name in files}
    report["digest"] = corpus_digest(splits, codes)
    write_json(folder / "report.json", report)


def corpus_digest(splits: dict[str, pl.DataFrame], codes: Sequence[str]) -> str:
    """SHA-256 of the texts of all splits, in order; it does not change with Parquet's version or layout."""
    digest = hashlib.sha256()
    for split in SPLITS:
        digest.update(json.dumps([split, *codes, splits[split].height]).encode())
        for row in splits[split].select(codes).iter_rows():
            digest.update(json.dumps(row, ensure_ascii=False).encode())
    return digest.hexdigest()


def read_split(folder: Path, split: str) -> pl.DataFrame:
    """One split: a text column for each language code, and `line`, where the pair came from."""
    path = folder / f"{split}.parquet"
    try:
        return pl.read_parquet(path)
    except FileNotFoundError:
        raise UserError(f"{path} is missing: run `optok prepare` first") from None
    except (PolarsError, OSError) as error:
        raise UserError(f"{path} cannot be read ({str(error).splitlines()[0]}): run `optok prepare` again") from None


def read_report(folder: Path) -> dict[str, Any]:
    """What `prepare` reported."""
    report: dict[str, Any] = read_json(folder / "report.json")
    return report
