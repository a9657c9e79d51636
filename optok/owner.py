"""One writer a results folder: who it is, and what a writer that was killed left behind.

The owner file names host, user and process. A dead owner's Snakemake locks and marks of incomplete files are
removed, for every stage writes its files atomically or goes on from its checkpoint; a living owner is named
and respected.
"""

from __future__ import annotations

import getpass
import os
import socket
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from optok.errors import UserError
from optok.files import read_json, write_json

FILE = ".owner.json"


@dataclass(frozen=True)
class Owner:
    """The process that writes a results folder."""

    host: str
    user: str
    pid: int
    started: float  # of the process, in seconds since the epoch: a process number may be used again
    since: str

    def __str__(self) -> str:
        return f"{self.user} on {self.host}, process {self.pid}, since {self.since}"

    def may_live(self) -> bool:
        """False only where it is known to be dead: on this host, and no such process."""
        if self.host != socket.gethostname():
            return True
        try:
            return abs(psutil.Process(self.pid).create_time() - self.started) < 1.0
        except psutil.NoSuchProcess:
            return False


def owner_of(results: Path) -> Owner | None:
    """Who writes the folder, if anybody said so."""
    if not (results / FILE).exists():
        return None
    try:
        return Owner(**read_json(results / FILE))
    except (TypeError, UserError):
        return None


def take(results: Path) -> None:
    """Says that this process writes the folder; raises `UserError` where another one may."""
    owner = owner_of(results)
    if owner is not None and owner.pid != os.getpid() and owner.may_live():
        raise UserError(
            f"{results} is being written by {owner}: wait for it, or, if it is gone, delete {results / FILE}"
        )
    process = psutil.Process()
    now = datetime.now(UTC).isoformat(timespec="seconds")
    mine: dict[str, Any] = {
        "host": socket.gethostname(),
        "user": getpass.getuser(),
        "pid": process.pid,
        "started": process.create_time(),
        "since": now,
    }
    write_json(results / FILE, mine)


def release(results: Path) -> None:
    """The inverse of `take`."""
    owner = owner_of(results)
    if owner is not None and owner.pid == os.getpid():
        (results / FILE).unlink(missing_ok=True)


def clear_after_death(results: Path, snakemake: Path) -> Owner | None:
    """Removes what a dead owner left in Snakemake's folder; returns the living owner, if there is one.

    Locks that name no file of this results folder belong to somebody else and stay.
    """
    owner = owner_of(results)
    if owner is None:
        return None
    if owner.may_live():
        return owner
    for lock in (snakemake / "locks").glob("*.lock"):
        named = [Path(line) for line in lock.read_text(encoding="utf-8").splitlines()]
        if any(path.absolute().is_relative_to(results.absolute()) for path in named):
            lock.unlink(missing_ok=True)
    for mark in (snakemake / "incomplete").glob("*"):
        if mark.is_file():
            mark.unlink(missing_ok=True)
    (results / FILE).unlink(missing_ok=True)
    return None
