"""One writer a results folder: who it is, and what a writer that was killed left behind.

The owner file names host, user and process. A dead owner's Snakemake locks and marks of incomplete files are
removed, for every stage writes its files atomically or goes on from its checkpoint; a living owner is named
and respected.
"""

from __future__ import annotations

import getpass
import os
import socket
from base64 import urlsafe_b64decode
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil
from filelock import FileLock

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

    @classmethod
    def me(cls) -> Owner:
        """This process."""
        process = psutil.Process()
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(socket.gethostname(), getpass.getuser(), process.pid, process.create_time(), now)

    def is_me(self) -> bool:
        """Process numbers are those of a host: the same one elsewhere is another process."""
        return self.host == socket.gethostname() and self.pid == os.getpid()

    def may_live(self) -> bool:
        """False only where it is known to be dead: on this host, and no such process or one that has ended."""
        if self.host != socket.gethostname():
            return True
        try:
            process = psutil.Process(self.pid)
            ended = process.status() == psutil.STATUS_ZOMBIE  # nobody has asked for its exit code yet
            return not ended and abs(process.create_time() - self.started) < 1.0
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
    results.mkdir(parents=True, exist_ok=True)
    with _one_at_a_time(results):
        owner = owner_of(results)
        if owner is not None and not owner.is_me() and owner.may_live():
            raise UserError(
                f"{results} is being written by {owner}: wait for it, or, if it is gone, delete {results / FILE}"
            )
        write_json(results / FILE, asdict(Owner.me()))


def release(results: Path) -> None:
    """The inverse of `take`."""
    owner = owner_of(results)
    if owner is not None and owner.is_me():
        (results / FILE).unlink(missing_ok=True)


def clear_after_death(results: Path, snakemake: Path) -> Owner | None:
    """Removes what a dead owner left in Snakemake's folder; returns the living owner, if there is one.

    Locks that name no file of this results folder belong to somebody else and stay, and so do marks of files in a
    folder that somebody living writes.
    """
    if owner_of(results) is None:
        return None
    with _one_at_a_time(results):
        owner = owner_of(results)
        if owner is None or owner.may_live():
            return owner
        for lock in (snakemake / "locks").glob("*.lock"):
            named = [Path(line) for line in lock.read_text(encoding="utf-8").splitlines()]
            if any(path.absolute().is_relative_to(results.absolute()) for path in named):
                lock.unlink(missing_ok=True)
        incomplete = snakemake / "incomplete"
        for mark in [path for path in incomplete.rglob("*") if path.is_file()]:
            if not _somebody_writes(_marked_file(mark.relative_to(incomplete))):
                mark.unlink(missing_ok=True)
        (results / FILE).unlink(missing_ok=True)
    return None


def _one_at_a_time(results: Path) -> FileLock:
    return FileLock(results / ".owner.lock")


def _marked_file(mark: Path) -> Path:
    """The file that a mark of Snakemake's is of: its name is the path in base64, cut into parts where it is long."""
    name = "".join(part.removeprefix("@") for part in mark.parts)
    try:
        return Path(urlsafe_b64decode(name).decode("utf-8"))
    except ValueError:
        return mark


def _somebody_writes(path: Path) -> bool:
    owners = [owner_of(folder) for folder in path.absolute().parents]
    return any(owner is not None and owner.may_live() for owner in owners)
