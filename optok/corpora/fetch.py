"""Fetching archives: once, by digest, and never half a file under its final name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from optok.corpora.catalogue import Archive, find_archive
from optok.errors import UserError


def archive_path(archive: str, data: Path) -> Path:
    """Where `fetch` puts a catalogue entry: `<data>/<first 16 digits of its SHA-256>-<file name>`."""
    return entry_path(find_archive(archive), data)


def entry_path(entry: Archive, data: Path) -> Path:
    """`archive_path` of an entry that need not stand in the catalogue."""
    return data / f"{entry.sha256[:16]}-{entry.file}"


def fetch(archive: str, data: Path) -> Path:
    """The path of a catalogue entry's file, fetched by pip where it is not there yet.

    The user's pip settings (`PIP_INDEX_URL`, `PIP_PROXY`, pip.conf …) apply. Several processes that ask
    for one file fetch it once. Raises `UserError` where it cannot be had, or has another digest.
    """
    return fetch_entry(find_archive(archive), data)


def fetch_entry(entry: Archive, data: Path) -> Path:
    """`fetch` for an entry that need not stand in the catalogue."""
    from filelock import FileLock  # planning with `archive_path` needs none of this

    from optok.files import sha256_of

    path = entry_path(entry, data)
    try:
        data.mkdir(parents=True, exist_ok=True)
        with FileLock(data / f".{path.name}.lock"):
            if path.exists():
                found = sha256_of(path)
                if found != entry.sha256:
                    raise UserError(
                        f"{path} has SHA-256 {found}, not {entry.sha256}: it is damaged or another file; "
                        "delete it and fetch again"
                    )
                return path
            # A killed fetch leaves this folder; under the lock it is nobody else's.
            folder = data / f".{path.name}.fetching"
            shutil.rmtree(folder, ignore_errors=True)
            try:
                folder.mkdir()
                fetched = _download_wheel(entry, folder, path)
                found = sha256_of(fetched)
                if found != entry.sha256:
                    raise UserError(f"{entry.requirement} came with SHA-256 {found}. {_by_hand(entry, path)}")
                with fetched.open("rb") as file:
                    os.fsync(file.fileno())
                fetched.replace(path)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise UserError(f"cannot write into {data}: {error}") from None
    return path


def _download_wheel(entry: Archive, folder: Path, path: Path) -> Path:
    from packaging.utils import parse_wheel_filename

    tag = min(parse_wheel_filename(entry.file)[3], key=str)
    # The wheel is read, not installed: ask for its own tags, whatever this interpreter's are.
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
        "--ignore-requires-python", "--implementation", tag.interpreter[:2],
        "--python-version", tag.interpreter[2:], "--abi", tag.abi, "--platform", tag.platform,
        "--dest", str(folder), entry.requirement,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    fetched = folder / entry.file
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        said = (errors or done.stderr.splitlines() or ["nothing"])[-1].removeprefix("ERROR: ")
        raise UserError(f"pip could not fetch {entry.requirement} ({said}). {_by_hand(entry, path)}")
    if not fetched.exists():
        found = ", ".join(sorted(file.name for file in folder.iterdir())) or "nothing"
        raise UserError(f"pip fetched {found} for {entry.requirement}. {_by_hand(entry, path)}")
    return fetched


def _by_hand(entry: Archive, path: Path) -> str:
    return (
        f"Expected: {entry.file}, {entry.bytes:,} bytes, SHA-256 {entry.sha256}. "
        f"By hand: get that file on any machine and put it at {path}"
    )
