"""Segmentations of a batch of texts, as the operations give them back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from optok.lattice.compiling import Array, kernel


@dataclass(frozen=True)
class Paths:
    """One segmentation of each of B texts. Runs of unknown characters are one <unk>, or the ids of their bytes.

    `ids` (all pieces,) int32: text b is ids[offsets[b]:offsets[b + 1]]; `offsets` (B + 1,) int64.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, ids: NDArray[np.int32], lengths: NDArray[np.int64]) -> Paths:
        offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return cls(ids, offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> NDArray[np.int32]:
        """The piece ids of one text, a view."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"there are {len(self)} texts, none of number {index}")
        index %= len(self)
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Pieces of each text, (B,)."""
        return np.diff(self.offsets)

    def to_lists(self) -> list[list[int]]:
        """A list of piece ids for each text."""
        ids, ends = self.ids.tolist(), self.offsets.tolist()
        return [ids[begin:end] for begin, end in pairwise(ends)]


@dataclass(frozen=True)
class NBest:
    """The N best segmentations of each of B texts, descending. Where fewer exist, `mask` is False.

    `flat` holds the output ids of all candidates, one after the other, `lengths` (B, N) int64 their lengths;
    `edges` (B, N) int64 counts the edges of a path, before runs of unknown characters are merged;
    `log_probabilities` (B, N) float64 are −inf where there is no candidate.
    """

    flat: NDArray[np.int32]
    lengths: NDArray[np.int64]
    edges: NDArray[np.int64]
    log_probabilities: NDArray[np.float64]
    mask: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def ids(self) -> NDArray[np.int32]:
        """(B, N, T) int32, padded with −1 to the longest candidate of the batch."""
        return padded(self.flat, self.lengths)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each candidate begins in `flat`, row by row; (B · N + 1,)."""
        return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.lengths)])

    def candidates(self, text: int) -> list[NDArray[np.int32]]:
        """The candidates of one text, best first, each an array of ids."""
        first = text * self.lengths.shape[1]
        return [
            self.flat[self.offsets[first + rank] : self.offsets[first + rank + 1]]
            for rank in range(int(self.mask[text].sum()))
        ]


@kernel
def padded(flat: Array, lengths: Array) -> Array:
    """Ragged rows (B, N) of ids as an array (B, N, T), padded with −1."""
    texts, candidates = lengths.shape
    longest = 0
    for text in range(texts):
        for rank in range(candidates):
            longest = max(longest, lengths[text, rank])
    result = np.full((texts, candidates, longest), -1, np.int32)
    position = 0
    for text in range(texts):
        for rank in range(candidates):
            for piece in range(lengths[text, rank]):
                result[text, rank, piece] = flat[position]
                position += 1
    return result


@kernel
def write_path(
    edges: Array,
    count: int,
    pieces: Array,
    lengths: Array,
    ids: Array,
    codes: Array,
    begin: int,
    unk_id: int,
    byte_ids: Array,
    merge_unknown: bool,
    output: Array,
    size: int,
) -> int:
    """Writes a path's output ids from output[size] on; returns the new size.

    `edges`: entries of the chains, the path's last edge first. `ids`: those of the pieces, −1 where unknown.
    `codes[begin]`: the code point of the text's first character, read only where unknown characters become bytes.
    """
    after_unknown = False
    position = begin
    for k in range(count - 1, -1, -1):
        entry = edges[k]
        number = ids[pieces[entry]]
        if number >= 0:
            output[size] = number
            size += 1
            after_unknown = False
        elif byte_ids.size == 0:
            if not (after_unknown and merge_unknown):
                output[size] = unk_id
                size += 1
            after_unknown = True
        else:
            size = write_bytes(codes[position], byte_ids, output, size)
        position += lengths[entry]
    return size


@kernel
def write_bytes(code: int, byte_ids: Array, output: Array, size: int) -> int:
    """Writes the ids of a code point's UTF-8 from output[size] on; returns the new size."""
    if code < 0x80:
        output[size] = byte_ids[code]
        return size + 1
    if code < 0x800:
        output[size] = byte_ids[0xC0 | code >> 6]
        output[size + 1] = byte_ids[0x80 | (code & 0x3F)]
        return size + 2
    if code < 0x10000:
        output[size] = byte_ids[0xE0 | code >> 12]
        output[size + 1] = byte_ids[0x80 | (code >> 6 & 0x3F)]
        output[size + 2] = byte_ids[0x80 | (code & 0x3F)]
        return size + 3
    output[size] = byte_ids[0xF0 | code >> 18]
    output[size + 1] = byte_ids[0x80 | (code >> 12 & 0x3F)]
    output[size + 2] = byte_ids[0x80 | (code >> 6 & 0x3F)]
    output[size + 3] = byte_ids[0x80 | (code & 0x3F)]
    return size + 4
