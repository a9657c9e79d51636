"""SentencePiece's normaliser: its precompiled rules, its treatment of spaces, byte for byte what it does itself.

The rules are a double array (Darts) over the bytes of what is replaced, whose values point into a list of
replacements, each ended by NUL; the longest rule that matches wins. User-defined symbols are never changed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optok.lattice.compiling import Array, kernel
from optok.lattice.model import ModelProto, Piece
from optok.lattice.texts import MARK

PLAIN, PLAIN_SPACE = 1, 2  # of a byte: copied as it is, a space that no rule touches
REMOVE_EXTRA, PREFIX, SUFFIX, ESCAPE = 0, 1, 2, 3  # places in `Normalizer.options`


@dataclass(frozen=True)
class Normalizer:
    """`rules`: the double array's units. `replacements`: the strings they point to. `symbols`, `symbol_offsets`: the
    user-defined symbols, longest first. `plain` (256,): PLAIN or PLAIN_SPACE for an ASCII byte that stays as it is
    before ASCII, else 0. `options` (4,): drop extra spaces, add one in front, add one at the end, write spaces as ▁.
    """

    rules: NDArray[np.uint32]
    replacements: NDArray[np.uint8]
    symbols: NDArray[np.uint8]
    symbol_offsets: NDArray[np.int64]
    plain: NDArray[np.uint8]
    options: NDArray[np.bool_]

    @classmethod
    def of(cls, model: ModelProto) -> Normalizer:
        """The normaliser that a model carries, whose rules `read_model` has found sound."""
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
            plain[symbol[0]] = 0
        return cls(
            units, replacements.copy(), np.frombuffer(b"".join(symbols), dtype=np.uint8), offsets, plain, options
        )

    def __call__(self, content: Array, offsets: Array) -> tuple[Array, Array]:
        """Normalised UTF-8 of texts with ▁ as one byte, and its offsets; arguments as `content_of` gives them."""
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

    def replaced(self, text: str) -> list[tuple[str, str]]:
        """What the rules replace in a text, in order, and by what."""
        content = np.frombuffer(text.encode(), dtype=np.uint8)
        raw = content.tobytes()
        found = []
        position = 0
        while position < len(raw):
            length, value = _match(content, position, len(raw), self.rules, self.symbols, self.symbol_offsets)
            if value >= 0:
                replacement = self.replacements[value : value + 64].tobytes().split(b"\0")[0]
                found.append((raw[position : position + length].decode(), replacement.decode()))
            position += length
        return found


@kernel
def _plain(rules: Array) -> Array:
    """The bytes below 0x80 that no rule replaces when an ASCII byte follows."""
    plain = np.zeros(256, np.uint8)
    for byte in range(128):
        plain[byte] = PLAIN if byte != 0x20 else PLAIN_SPACE
        if rules.size == 0:
            continue
        node = _offset(rules[0]) ^ byte
        if node >= rules.size or (rules[node] & 0x800000FF) != byte:
            continue
        if rules[node] & 0x100:
            plain[byte] = 0
        for follower in range(128):
            child = node ^ _offset(rules[node]) ^ follower
            if child < rules.size and (rules[child] & 0x800000FF) == follower:
                plain[byte] = 0
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
            whole = k + 1 == end or (content[k + 1] & 0xC0) != 0x80  # sound rules replace whole characters only
            if unit & 0x100 and node < rules.size and rules[node] >> 31 and whole:
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
    space = MARK if options[ESCAPE] else 0x20
    size = 0
    for text in range(offsets.size - 1):
        position, end = offsets[text], offsets[text + 1]
        if options[REMOVE_EXTRA]:
            position = _after_spaces(content, position, end, rules, replacements, symbols, symbol_offsets)
        begin = size
        after_space = options[REMOVE_EXTRA]
        framed = position < end
        if framed and options[PREFIX]:
            output = _with_room(output, size, 1)
            output[size] = space
            size += 1
        while position < end:
            output = _with_room(output, size, end - position)
            while position < end and plain[content[position]] and (position + 1 == end or content[position + 1] < 0x80):
                byte = content[position]
                position += 1
                if plain[byte] == PLAIN:
                    output[size] = byte
                    size += 1
                    after_space = False
                elif not after_space:
                    output[size] = space
                    size += 1
                    after_space = options[REMOVE_EXTRA]
            if position == end:
                break
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
                        output[size] = space
                        size += 1
                        written = True
                else:
                    output[size] = byte
                    size += 1
                    written = True
                    if byte == 0x81 and size - begin >= 3 and output[size - 2] == 0x96 and output[size - 3] == 0xE2:
                        size -= 2
                        output[size - 1] = MARK
                output = _with_room(output, size, end - position)
            if written:
                after_space = byte == 0x20 and options[REMOVE_EXTRA]
            if not options[REMOVE_EXTRA]:
                after_space = False
            position = stop
        if options[REMOVE_EXTRA]:
            while size > begin and output[size - 1] == space:
                size -= 1
        if framed and options[SUFFIX]:
            output = _with_room(output, size, 1)
            output[size] = space
            size += 1
        normalized[text + 1] = size
    return output[:size].copy(), normalized


@kernel
def _after_spaces(
    content: Array, position: int, end: int, rules: Array, replacements: Array, symbols: Array, symbol_offsets: Array
) -> int:
    """Where a text begins that is not what the rules make a space."""
    while position < end:
        length, value = _match(content, position, end, rules, symbols, symbol_offsets)
        if value >= 0:
            one_space = replacements[value] == 0x20 and replacements[value + 1] == 0
        else:
            one_space = length == 1 and content[position] == 0x20
        if not one_space:
            break
        position += length
    return position


@kernel
def _with_room(output: Array, size: int, more: int) -> Array:
    if output.size - size >= more + 64:
        return output
    larger = np.empty(2 * output.size + more + 64, np.uint8)
    larger[:size] = output[:size]
    return larger
