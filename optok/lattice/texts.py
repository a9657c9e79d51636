"""Texts as the kernels read them: one array of bytes.

Where text is segmented, ▁ (U+2581) is the one byte 0xFF, which UTF-8 never uses: text has more of it than of most
letters, and its three bytes would be three steps of the automaton each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from optok.errors import UserError
from optok.lattice.compiling import Array, kernel

MARK = 0xFF  # stands for ▁
MARKED = "▁".encode()


def marked(content: bytes) -> bytes:
    """UTF-8 with ▁ as one byte."""
    return content.replace(MARKED, bytes([MARK]))


def plain_texts(content: Array, offsets: Array) -> list[str]:
    """The texts of which `content` is the UTF-8, with ▁ as one byte."""
    raw = content.tobytes()
    mark = bytes([MARK])
    return [raw[begin:end].replace(mark, MARKED).decode() for begin, end in pairwise(offsets.tolist())]


def content_of(texts: Sequence[str], mark: bool = False) -> tuple[Array, Array]:
    """The texts' UTF-8, one after the other (uint8), and where each begins (B + 1,).

    `mark`: whether ▁ becomes one byte. Raises `UserError` where `texts` is no sequence of strings, or one of them
    holds a lone surrogate.
    """
    if isinstance(texts, (str, bytes)):
        raise UserError(f"texts is the single {type(texts).__name__} {texts[:40]!r}: give a list of strings")
    try:
        content = "".join(texts).encode("utf-8")
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    except (TypeError, UnicodeEncodeError):
        raise _what_is_wrong(texts) from None
    array = np.frombuffer(marked(content) if mark else content, dtype=np.uint8)
    return array, _offsets(array, lengths)


def _what_is_wrong(texts: Sequence[str]) -> UserError:
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            return UserError(
                f"text {number} is the {type(text).__name__} {str(text)[:40]!r}: give each text as one string"
            )
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            return UserError(
                f"text {number} holds the lone surrogate U+{ord(text[error.start]):04X} at position {error.start}: "
                "it is no Unicode text; decode the bytes it came from anew"
            )
    return UserError("texts must be a list of strings")


@kernel
def _offsets(content: Array, lengths: Array) -> Array:
    """Where each text begins, from its length in characters."""
    offsets = np.zeros(lengths.size + 1, np.int64)
    position = 0
    for text in range(lengths.size):
        left = lengths[text]
        while left > 0:
            byte = content[position]
            position += 1 if byte < 0x80 or byte == MARK else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            left -= 1
        offsets[text + 1] = position
    return offsets
