"""Beam search by CTranslate2: raw lines in, raw lines out, as many."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import ctranslate2
import sentencepiece

from optok.config import Decoding
from optok.translation.export import open_export

GREEDY = Decoding(beam=1, length_penalty=1.0)


class Decoder:
    """An export, ready to translate."""

    def __init__(self, export: Path, threads: int = 1, device: str = "cpu") -> None:
        self._translator = open_export(export, threads, device)
        self._source = sentencepiece.SentencePieceProcessor(model_file=str(export / "source.model"))
        self._target = sentencepiece.SentencePieceProcessor(model_file=str(export / "target.model"))

    def translate(
        self, lines: list[str], decoding: Decoding, progress: Callable[[int], None] = lambda done: None
    ) -> list[str]:
        """The best hypothesis of each line, detokenised. Empty lines stay empty."""
        pieces = [self._source.encode(line, out_type=str) for line in lines]
        return self.translate_pieces(pieces, decoding, progress)

    def translate_pieces(
        self, sentences: list[list[str]], decoding: Decoding, progress: Callable[[int], None] = lambda done: None
    ) -> list[str]:
        """`translate` for lines that are cut already."""
        full = [position for position, pieces in enumerate(sentences) if pieces]
        translated = [""] * len(sentences)
        results = self._translator.translate_iterable(
            iter([sentences[position] for position in full]),
            max_batch_size=2048,
            batch_type="tokens",
            beam_size=decoding.beam,
            length_penalty=decoding.length_penalty,
        )
        for done, (position, result) in enumerate(zip(full, results, strict=True), start=1):
            # A hypothesis is one line, whatever pieces it is made of.
            translated[position] = self._target.decode(_first(result)).replace("\n", " ")
            progress(done)
        return translated


def _first(result: ctranslate2.TranslationResult) -> list[str]:
    return result.hypotheses[0]
