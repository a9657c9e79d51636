"""Files as every stage writes and reads them: atomically, as UTF-8, lines ended by `\\n` alone."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from optok.errors import UserError


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary name beside `path`, moved to `path` when the block ends without an exception.

    The file is flushed to disk before it gets its final name, so that a kill, a full disk or a power
    cut never leaves half a file there. The temporary file is removed when the block fails.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        yield temporary
        descriptor = os.open(temporary, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """One line each, ended by `\\n`. A line that holds a line feed is an error of the caller."""
    checked = list(lines)
    for number, line in enumerate(checked, start=1):
        if "\n" in line:
            raise ValueError(f"{path}: line {number} holds a line feed")
    write_text(path, "".join(line + "\n" for line in checked))


def write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, ensure_ascii=False, indent=1, sort_keys=False) + "\n")


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path} is missing: run the stage that makes it first") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not valid JSON ({error}): delete it and run its stage again") from None


def decode_lines(content: bytes, name: str) -> list[str]:
    """The lines of a UTF-8 text; `\\n` alone ends a line (U+2028, U+0085 and `\\r` inside stay text).

    Raises `UserError` with the number of the first line that is not valid UTF-8.
    """
    lines = content.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    decoded = []
    for number, line in enumerate(lines, start=1):
        try:
            decoded.append(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise UserError(
                f"{name}: line {number} is not valid UTF-8 (byte {line[error.start]:#04x} at position "
                f"{error.start}): convert the file, e.g. with iconv -f LATIN1 -t UTF-8"
            ) from None
    return decoded


def read_lines(path: Path) -> list[str]:
    """`decode_lines` of a file."""
    try:
        return decode_lines(path.read_bytes(), str(path))
    except FileNotFoundError:
        raise UserError(f"{path} does not exist") from None


def sha256_of(path: Path) -> str:
    """The file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(value: Any, length: int = 16) -> str:
    """A short hexadecimal digest of a JSON value, independent of the order of its keys."""
    canonical = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()[:length]
