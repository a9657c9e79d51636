"""Text in batches of lines: a million lines pass in the memory of one batch."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from optok.errors import UserError

BATCH = 1 << 18  # bytes of text; a longer line is a batch of its own


def batches_of(files: Iterable[Path], standard_input: IO[bytes]) -> Iterator[list[str]]:
    """The lines of the files one after the other, or of standard input where none is named, as UTF-8 text.

    `\\n` alone ends a line; the last one need not have it. Raises `UserError` for a file that is not there, and with
    the number of a line that is not UTF-8.
    """
    named = list(files)
    if not named:
        yield from _batches(standard_input, "standard input")
    for path in named:
        with ExitStack() as opened:
            try:
                stream = opened.enter_context(path.open("rb"))
            except OSError as error:
                raise UserError(f"{path}: {error.strerror}: name a text file, or none for standard input") from None
            yield from _batches(stream, str(path))


def _batches(stream: IO[bytes], name: str) -> Iterator[list[str]]:
    first = 1
    while lines := stream.readlines(BATCH):
        yield _decoded([line.removesuffix(b"\n") for line in lines], name, first)
        first += len(lines)


def _decoded(lines: list[bytes], name: str, first: int) -> list[str]:
    try:
        return [line.decode("utf-8") for line in lines]
    except UnicodeDecodeError:
        for number, line in enumerate(lines, start=first):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise UserError(
                    f"{name}: line {number} is not valid UTF-8 (byte {line[error.start]:#04x} at position "
                    f"{error.start}): convert the text, e.g. with iconv -f LATIN1 -t UTF-8"
                ) from None
        raise


class LineCount:
    """How many lines are done, on standard error: every `interval` seconds, and at the end of anything longer."""

    def __init__(self, what: str, interval: float = 10.0) -> None:
        self._what, self._interval = what, interval
        self._began = self._said = time.monotonic()
        self._lines = 0

    def add(self, lines: int) -> None:
        self._lines += lines
        now = time.monotonic()
        if now - self._said >= self._interval:
            self._said = now
            self._say(now)

    def end(self) -> None:
        if self._said > self._began:
            self._say(time.monotonic())

    def _say(self, now: float) -> None:
        rate = self._lines / max(now - self._began, 1e-9)
        print(f"{self._what}: {self._lines:,} lines, {rate:,.0f} a second", file=sys.stderr, flush=True)
