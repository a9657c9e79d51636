"""SentencePiece's normaliser: its precompiled rules, its treatment of spaces, byte for byte what it does itself.

The rules are a double array (Darts) over the bytes of what is replaced, whose values point into a list of
replacements, each ended by NUL; the longest rule that matches wins. User-defined symbols are never changed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optok.lattice.automaton import Array
from optok.lattice.compiling import kernel
from optok.lattice.model import ModelProto, Piece

SPACE = np.frombuffer("▁".encode(), dtype=np.uint8)
REMOVE_EXTRA, PREFIX, SUFFIX, ESCAPE = 0, 1, 2, 3  # places in `Normalizer.options`


@dataclass(frozen=True)
class Normalizer:
    """`rules`: the double array's units. `replacements`: the strings they point to. `symbols`, `symbol_offsets`:
    the user-defined symbols, longest first. `plain` (256,): an ASCII byte that stays as it is before ASCII.
    `options` (4,): drop extra spaces, add one in front, add one at the end, write spaces as ▁."""

    rules: NDArray[np.uint32]
    replacements: NDArray[np.uint8]
    symbols: NDArray[np.uint8]
    symbol_offsets: NDArray[np.int64]
    plain: NDArray[np.bool_]
    options: NDArray[np.bool_]

    @classmethod
    def of(cls, model: ModelProto) -> Normalizer:
        """The normaliser that a model carries. The file's own check of its rules is SentencePiece's to make."""
        specification = model.normalizer_spec
        blob = specification.precompiled_charsmap
        size = int.from_bytes(blob[:4], "little")
        rules = np.frombuffer(blob, dtype="<u4", count=size // 4, offset=4) if blob else np.zeros(0, dtype=np.uint32)
        replacements = np.frombuffer(blob[4 + size :], dtype=np.uint8)
        symbols = [piece.piece.encode() for piece in model.pieces if piece.type == Piece.USER_DEFINED]
        symbols.sort(key=lambda symbol: (-len(symbol), symbol))
        offsets = np.zeros(len(symbols) + 1, dtype=np.int64)
        np.cumsum([len(symbol) for symbol in symbols], out=offsets[1:])
        suffix = model.trainer_spec.treat_whitespace_as_suffix
        options = np.array(
            [
                specification.remove_extra_whitespaces,
                specification.add_dummy_prefix and not suffix,
                specification.add_dummy_prefix and suffix,
                specification.escape_whitespaces,
            ]
        )
        units = rules.astype(np.uint32)
        plain = _plain(units)
        for symbol in symbols:
            plain[symbol[0]] = False
        return cls(
            units, replacements.copy(), np.frombuffer(b"".join(symbols), dtype=np.uint8), offsets, plain, options
        )

    def __call__(self, content: Array, offsets: Array) -> tuple[Array, Array]:
        """Normalised UTF-8 of texts, and its offsets; `content` and `offsets` as `content_of` gives them."""
        return _normalize(
            content,
            offsets,
            self.rules,
            self.replacements,
            self.symbols,
            self.symbol_offsets,
            self.plain,
            self.options,
        )


@kernel
def _plain(rules: Array) -> Array:
    """The bytes below 0x80, other than space, that no rule replaces when an ASCII byte follows."""
    plain = np.zeros(256, np.bool_)
    for byte in range(128):
        plain[byte] = byte != 0x20
        if rules.size == 0:
            continue
        node = _offset(rules[0]) ^ byte
        if node >= rules.size or (rules[node] & 0x800000FF) != byte:
            continue
        if rules[node] & 0x100:
            plain[byte] = False
        for follower in range(128):
            child = node ^ _offset(rules[node]) ^ follower
            if child < rules.size and (rules[child] & 0x800000FF) == follower:
                plain[byte] = False
    return plain


@kernel
def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)


@kernel
def _match(
    content: Array, position: int, end: int, rules: Array, symbols: Array, symbol_offsets: Array
) -> tuple[int, int]:
    """The length of what is replaced at a position, and where its replacement begins; −1: it stays as it is."""
    for symbol in range(symbol_offsets.size - 1):
        begin, size = symbol_offsets[symbol], symbol_offsets[symbol + 1] - symbol_offsets[symbol]
        if size <= end - position:
            equal = True
            for k in range(size):
                if content[position + k] != symbols[begin + k]:
                    equal = False
                    break
            if equal:
                return int(size), -1
    length, value = 0, -1
    if rules.size > 0:
        node = int(_offset(rules[0]))
        for k in range(position, end):
            byte = int(content[k])
            node ^= byte
            if node >= rules.size or (rules[node] & 0x800000FF) != byte:
                break
            unit = rules[node]
            node ^= int(_offset(unit))
            if unit & 0x100 and node < rules.size:
                length, value = k + 1 - position, int(rules[node] & 0x7FFFFFFF)
    if length > 0:
        return length, value
    byte = int(content[position])
    return (1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4), -1


@kernel
def _normalize(
    content: Array,
    offsets: Array,
    rules: Array,
    replacements: Array,
    symbols: Array,
    symbol_offsets: Array,
    plain: Array,
    options: Array,
) -> tuple[Array, Array]:
    output = np.empty(content.size + content.size // 2 + 1024, np.uint8)
    normalized = np.zeros(offsets.size, np.int64)
    size = 0
    for text in range(offsets.size - 1):
        position, end = offsets[text], offsets[text + 1]
        if options[REMOVE_EXTRA]:
            while position < end:
                length, value = _match(content, position, end, rules, symbols, symbol_offsets)
                if value >= 0:
                    one_space = replacements[value] == 0x20 and replacements[value + 1] == 0
                else:
                    one_space = length == 1 and content[position] == 0x20
                if not one_space:
                    break
                position += length
        begin = size
        after_space = options[REMOVE_EXTRA]
        pending = 1 if options[PREFIX] and position < end else 0  # a space to write first
        last = 1 if options[SUFFIX] and position < end else 0
        while position < end or pending or last:
            if output.size - size < 512:
                larger = np.empty(2 * output.size, np.uint8)
                larger[:size] = output[:size]
                output = larger
            if pending or position >= end:
                if not pending:
                    size = _trim(output, begin, size, options)
                    last = 0
                pending = 0
                size = _write_space(output, size, options)
                continue
            byte = content[position]
            if plain[byte] and (position + 1 == end or content[position + 1] < 0x80):
                output[size] = byte
                size += 1
                position += 1
                after_space = False
                continue
            length, value = _match(content, position, end, rules, symbols, symbol_offsets)
            source = content if value < 0 else replacements
            k = position if value < 0 else value
            stop = position + length
            written = False
            while (k < stop) if value < 0 else (source[k] != 0):
                byte = source[k]
                k += 1
                if byte == 0x20:
                    if not (after_space and not written):
                        size = _write_space(output, size, options)
                        written = True
                else:
                    output[size] = byte
                    size += 1
                    written = True
                if output.size - size < 64:
                    larger = np.empty(2 * output.size, np.uint8)
                    larger[:size] = output[:size]
                    output = larger
            if written:
                after_space = byte == 0x20 and options[REMOVE_EXTRA]
            if not options[REMOVE_EXTRA]:
                after_space = False
            position = stop
        if not options[SUFFIX]:
            size = _trim(output, begin, size, options)
        normalized[text + 1] = size
    return output[:size].copy(), normalized


@kernel
def _write_space(output: Array, size: int, options: Array) -> int:
    if options[ESCAPE]:
        output[size], output[size + 1], output[size + 2] = 0xE2, 0x96, 0x81
        return size + 3
    output[size] = 0x20
    return size + 1


@kernel
def _trim(output: Array, begin: int, size: int, options: Array) -> int:
    """The size without the spaces at the end of a text, where these are dropped."""
    if not options[REMOVE_EXTRA]:
        return size
    if not options[ESCAPE]:
        while size > begin and output[size - 1] == 0x20:
            size -= 1
        return size
    while size - begin >= 3 and output[size - 3] == 0xE2 and output[size - 2] == 0x96 and output[size - 1] == 0x81:
        size -= 3
    return size
