"""What a stage is doing and how long is left: a plain line every few seconds, for terminals and logs alike."""

from __future__ import annotations

import sys
import time


class Progress:
    """Counts steps; writes a line to standard error at most every `interval` seconds, and one at the end."""

    def __init__(self, what: str, total: int, unit: str, interval: float = 10.0) -> None:
        self._what, self._total, self._unit, self._interval = what, total, unit, interval
        self._first: tuple[int, float] | None = None
        self._said = time.monotonic()

    def __call__(self, done: int, message: str = "") -> None:
        """`done` steps of the total are finished."""
        now = time.monotonic()
        if self._first is None:
            self._first = (done, now)
        if now - self._said < self._interval and done < self._total:
            return
        self._said = now
        first, began = self._first
        line = f"{self._what}: {done:,} of {self._total:,} {self._unit}"
        if message:
            line += f", {message}"
        if done > first:
            rate = (done - first) / max(now - began, 1e-9)
            line += f", {rate:.3g} {self._unit} a second"
            if done < self._total:
                line += f", {duration((self._total - done) / rate)} left"
        print(line, file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """`95` → `1 min 35 s`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
