"""Which sentence pairs make up an update: composed once per seed, from characters, not tokens.

So every system sees the same pairs at update k, whatever its tokenizers (METHOD: fair comparison). Pairs of
like length share a batch, which keeps padding small.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optok.training.randomness import generator

Items = NDArray[np.int64]


class Batches:
    """The batches of a corpus, and their order in every epoch."""

    def __init__(self, source: Items, target: Items, batch_characters: int, seed: int) -> None:
        """`source`, `target`: normalised characters of each side, shape (pairs,).

        A pair longer than `batch_characters` makes a batch of its own.
        """
        self._seed = seed
        # Ties fall in a seeded order, so that a corpus sorted by topic does not batch by topic.
        order = generator(seed, "compose").permutation(len(source))
        order = order[np.lexsort((source[order], target[order]))]
        cost = source[order] + target[order]
        self._batches: list[Items] = []
        start, size = 0, 0
        for position, characters in enumerate(cost):
            if size and size + characters > batch_characters:
                self._batches.append(order[start:position])
                start, size = position, 0
            size += int(characters)
        self._batches.append(order[start:])
        self._epoch = -1
        self._order: Items = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        """Batches in an epoch."""
        return len(self._batches)

    def at(self, update: int) -> tuple[Items, int]:
        """The items of an update (counted from 1) and its epoch (counted from 0)."""
        epoch, position = divmod(update - 1, len(self._batches))
        if epoch != self._epoch:
            self._order = generator(self._seed, "order", epoch).permutation(len(self._batches))
            self._epoch = epoch
        return self._batches[self._order[position]], epoch
