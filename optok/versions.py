"""What a run was made with: versions and machine, for its record."""

from __future__ import annotations

import platform
import subprocess
from importlib import metadata
from pathlib import Path
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


def commit() -> str | None:
    """The commit of the checkout that this package runs from (`-dirty`: with changes); None where it is none."""
    checkout = Path(__file__).parents[1]
    if not (checkout / ".git").exists():
        return None
    described = ["git", "-C", str(checkout), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
    try:
        return subprocess.run(described, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
