"""Errors for the person who caused them: one line that says what, where and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Something the user can mend. The message is one line: what was found, where, what to do next.

    The command line prints it without a traceback and exits with code 2.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


def nearest(name: str, allowed: Iterable[str]) -> str:
    """The end of an error message about a wrong name: the nearest valid one, and all that are valid."""
    names = sorted(map(str, allowed))
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    meant = f"did you mean {close[0]!r}? " if close else ""
    return f"{meant}allowed: {', '.join(names) or 'none'}"
