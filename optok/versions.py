"""What a run was made with: versions and machine, for its record."""

from __future__ import annotations

import platform
from importlib import metadata
from typing import Any

RECORDED = ("optok", "torch", "numpy", "numba", "sentencepiece", "ctranslate2", "sacrebleu", "snakemake")


def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that decide a result."""
    found = {"python": platform.python_version()}
    for name in RECORDED:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """Operating system and processor."""
    return {"system": platform.system(), "release": platform.release(), "processor": platform.machine()}
