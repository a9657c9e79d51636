"""How the kernels are compiled: by numba, without the interpreter's lock, kept on disk between processes."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import platformdirs
from numba.core import config as numba_config
from numpy.typing import NDArray

Array = NDArray[Any]
Function = TypeVar("Function", bound=Callable[..., Any])

config: Any = numba_config  # its settings are made at run time


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            return False  # compiled code is loaded from here: only from a folder of our own
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def cache_folder() -> str:
    """Where compiled kernels are kept: `NUMBA_CACHE_DIR` where it is set, else the user's cache folder.

    The folder is named by a digest of the kernels' sources: a kernel that is compiled into another one would
    otherwise stay in its old form there. Empty where no folder can be written; every process then compiles.
    """
    if config.CACHE_DIR:
        return str(config.CACHE_DIR)
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    name = f"kernels-{digest.hexdigest()[:16]}"
    user = os.getuid() if hasattr(os, "getuid") else 0
    for parent in (Path(platformdirs.user_cache_dir("optok")), Path(tempfile.gettempdir()) / f"optok-{user}"):
        if _writable(parent) and _writable(parent / name):
            return str(parent / name)
    return ""


_FOLDER = cache_folder()


def kernel(function: Function) -> Function:
    """Compiles a function on its first call, or loads what an earlier process compiled.

    Several processes may start on an empty cache at once: each file in it appears by a rename.
    """
    before = config.CACHE_DIR
    config.CACHE_DIR = _FOLDER
    try:
        compile_function: Any = numba.njit(cache=bool(_FOLDER), nogil=True)
        compiled: Function = compile_function(function)
    finally:
        config.CACHE_DIR = before
    return compiled
