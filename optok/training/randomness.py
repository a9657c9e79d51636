"""Every draw is a function of (seed, purpose, numbers): never of system, worker, thread or order."""

from __future__ import annotations

import hashlib

import numpy as np


def derive(seed: int, purpose: str, *numbers: int) -> int:
    """A 63-bit seed of its own for a purpose, e.g. `derive(1, "dropout", update)`."""
    name = ":".join([str(seed), purpose, *map(str, numbers)])
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little") >> 1


def generator(seed: int, purpose: str, *numbers: int) -> np.random.Generator:
    """A random generator that starts at `derive(…)`."""
    return np.random.default_rng(derive(seed, purpose, *numbers))
