"""Splitting a corpus, so that no text of the test stands in the training text.

Which pairs are held out depends on the seed and on the texts alone, never on their order in a file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import polars as pl

from optok.errors import UserError

HELD_OUT = ("test", "valid")


def components(columns: Sequence[Sequence[str]]) -> list[int]:
    """The connected component of each row, two rows being connected where they share a text in some column.

    A component is named by its first row. Union-find: nearly linear in the number of rows.
    """
    rows = len(columns[0])
    parent = list(range(rows))

    def root(row: int) -> int:
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    for column in columns:
        seen: dict[str, int] = {}
        for row, text in enumerate(column):
            one, other = root(row), root(seen.setdefault(text, row))
            parent[max(one, other)] = min(one, other)
    return [root(row) for row in range(rows)]


def assign(labels: Sequence[object], texts: Sequence[str], sizes: dict[str, int], seed: int) -> list[str]:
    """For each row the split it goes to: rows of one label stay together.

    labels: the component or group of each row. texts: what draws are made from; a label's is its smallest.
    sizes: how many rows each held-out split takes at most, in the order in which they are filled. Labels come
    in an order drawn from (seed, text); each goes to the first split that has room for all of its rows, else
    to `train`.
    """
    members: dict[object, list[int]] = {}
    for row, label in enumerate(labels):
        members.setdefault(label, []).append(row)

    def draw(rows: list[int]) -> bytes:
        text = min(texts[row] for row in rows)
        return hashlib.sha256(f"split\x00{seed}\x00{text}".encode()).digest()

    room = dict(sizes)
    splits = ["train"] * len(texts)
    for rows in sorted(members.values(), key=draw):
        for split, left in room.items():
            if len(rows) <= left:
                room[split] = left - len(rows)
                for row in rows:
                    splits[row] = split
                break
    return splits


def split_pairs(
    table: pl.DataFrame, codes: Sequence[str], sizes: dict[str, int], seed: int, group: str | None, name: str
) -> tuple[dict[str, pl.DataFrame], int]:
    """The splits of a table, and how many pairs were dropped to keep them apart.

    Without a group, pairs that share a source or a target text stay together (`components`) and nothing is
    dropped. With one, whole groups are held out; since documents share phrases, a pair of `train` with a
    text that stands in `valid` or `test`, and one of `valid` with a text of `test`, is dropped instead.
    Raises `UserError` where too few pairs are there to hold out that many.
    """
    needed = sum(sizes.values()) + 1
    asked = " + ".join(f"{size} for {split}" for split, size in sizes.items())
    advice = "hold out fewer, or relax 'clean'"
    if table.height < needed:
        raise UserError(f"corpus {name} has {table.height} pairs left, too few for {asked} and training: {advice}")
    labels: Sequence[object]
    if group is None:
        labels = components([table[code].to_list() for code in codes])
        texts = table.select(pl.concat_str(*codes, separator="\x00"))[codes[0]].to_list()
    else:
        texts = table[group].cast(pl.String).fill_null("").to_list()
        labels = texts
    assigned = table.with_columns(pl.Series("split", assign(labels, texts, sizes, seed)))
    splits = {split: assigned.filter(pl.col("split") == split).drop("split") for split in ("train", *sizes)}
    for split, size in sizes.items():
        found = splits[split].height
        if found == 0 or (group is None and found < size):
            what = f"whole groups of {group!r}" if group else "pairs whose texts stand together"
            raise UserError(f"corpus {name}: {what} give {found} pairs for {split}, {size} are asked: {advice}")
    dropped = 0
    if group is not None:
        dropped = _part(splits, codes, [split for split in HELD_OUT if split in sizes])
    if splits["train"].is_empty():
        raise UserError(f"corpus {name} has nothing left for training: {advice}")
    return splits, dropped


def _part(splits: dict[str, pl.DataFrame], codes: Sequence[str], held_out: Sequence[str]) -> int:
    """Drops from later splits what shares a text with an earlier one (test, valid, train); how many pairs."""
    before = sum(part.height for part in splits.values())
    order = [*held_out, "train"]
    for position, split in enumerate(order):
        for earlier in order[:position]:
            for code in codes:
                splits[split] = splits[split].join(
                    splits[earlier].select(code), on=code, how="anti", maintain_order="left"
                )
    return before - sum(part.height for part in splits.values())
