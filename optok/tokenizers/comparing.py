"""What changes from one tokenizer to another: words cut differently, how often, tokens a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import sentencepiece

from optok.lattice.model import read_model


@dataclass(frozen=True)
class Change:
    """A word that two tokenizers cut differently, how often the text has it, and both ways."""

    word: str
    count: int
    before: list[str]
    after: list[str]


@dataclass
class Comparison:
    """Counts over a text: words, those cut differently, and the tokens of all words under both tokenizers.

    `differing`: each word cut differently, with its count.
    """

    words: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    differing: Counter[str] = field(default_factory=Counter)

    @property
    def changed(self) -> int:
        """Words cut differently, each occurrence counted."""
        return self.differing.total()


class TokenizerComparison:
    """Two `.model` files of any kind. A word is what stands between white space, segmented by itself."""

    def __init__(self, before: Path, after: Path) -> None:
        self._processors = [
            sentencepiece.SentencePieceProcessor(model_proto=read_model(path).SerializeToString())
            for path in (before, after)
        ]

    def compare(self, batches: Iterable[Sequence[str]]) -> Comparison:
        """Batches of lines; memory grows with the different words that are cut differently, not with the text."""
        result = Comparison()
        for batch in batches:
            counts = Counter(word for line in batch for word in line.split())
            if not counts:
                continue
            words = list(counts)
            for word, before, after in zip(words, *self._cuts(words), strict=True):
                count = counts[word]
                result.words += count
                result.tokens_before += count * len(before)
                result.tokens_after += count * len(after)
                if before != after:
                    result.differing[word] += count
        return result

    def changes(self, comparison: Comparison, most: int | None) -> list[Change]:
        """The words cut differently, the most frequent first, of equal ones in the order of the alphabet."""
        ordered = sorted(comparison.differing.items(), key=lambda item: (-item[1], item[0]))[:most]
        if not ordered:
            return []
        cuts = self._cuts([word for word, _ in ordered])
        return [Change(*item, *pair) for item, pair in zip(ordered, zip(*cuts, strict=True), strict=True)]

    def _cuts(self, words: list[str]) -> list[list[list[str]]]:
        return [processor.encode(words, out_type=str, num_threads=1) for processor in self._processors]
