"""A batch in parts: one thread each, when asked; the results do not depend on how many."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from optok.errors import UserError
from optok.lattice.compiling import Array

Result = TypeVar("Result")


def in_parts(operation: Callable[[int, int], Result], offsets: Array, threads: int) -> list[Result]:
    """`operation(first, last)` of consecutive parts of a batch, of about equal length.

    `offsets` (B + 1,): where each text begins.
    """
    if threads < 1:
        raise UserError(f"threads is {threads}: give 1 or more")
    count = len(offsets) - 1
    if threads == 1 or count < 2:
        return [operation(0, count)]
    borders = np.linspace(0, offsets[-1], min(threads, count) + 1)
    cuts = np.searchsorted(offsets, borders[1:-1])
    ends = sorted({0, *cuts.tolist(), count})
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(operation, ends[:-1], ends[1:]))


def joined(parts: list[Any]) -> Any:
    """The results of consecutive parts of a batch as one array."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def checked_alpha(alpha: float) -> float:
    """α as a float; `UserError` where it is negative or not finite."""
    value = float(alpha)
    if not 0.0 <= value < float("inf"):
        raise UserError(f"alpha is {alpha}: give a number from 0 (all segmentations alike) upwards, such as 0.3")
    return value
