"""A unigram `.model` as a `tokenizer.json` for Hugging Face's `tokenizers`, compared with it on a whole text.

Two things of that library need care. Every name in its vocabulary matches in text, so that a control or barred piece
bears its name with a space in front, ` </s>`: no normalised text has a space, and `</s>` in a text stays text. And its
normaliser does not apply every rule of several characters (half-width ｶﾞ): the rules of this kind that the given text
uses are put in front as replacements.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from optok.errors import UserError
from optok.files import write_text
from optok.lattice import Vocabulary, best_path
from optok.lattice.model import ModelProto, Piece, read_unigram
from optok.lattice.normalizer import Normalizer

PART = 10_000  # texts compared at a time
CLOSE = 1e-5  # relative: the library sums scores in float64, SentencePiece in float32
NAMED = 20  # lines that a message names


@dataclass(frozen=True)
class JsonComparison:
    """Lines (from 0) that the library cuts otherwise: `ties`, where both paths' scores agree to 1e-5, and the rest."""

    lines: int
    ties: list[int]
    differing: list[int]


def write_tokenizer_json(model: Path, output: Path, texts: Sequence[str]) -> JsonComparison:
    """Writes the model as `tokenizer.json` and compares it with the model on every text.

    Raises `UserError`, and writes nothing, for a model whose white space the format cannot express, and where a line
    differs by more than a tie, saying which.
    """
    parsed = read_unigram(model)
    vocabulary = Vocabulary.load(model)
    content = _described(parsed, _rules_missed(parsed, vocabulary, texts, model), model)
    compared = _compare(_loaded(content), vocabulary, texts)
    if compared.differing:
        named = ", ".join(str(line + 1) for line in compared.differing[:NAMED])
        more = f" and {len(compared.differing) - NAMED} more" if len(compared.differing) > NAMED else ""
        raise UserError(
            f"{model} as tokenizer.json cuts {len(compared.differing)} of {len(texts)} lines otherwise (lines {named}"
            f"{more}): use the .model itself, or a text without them"
        )
    write_text(output, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    return compared


def _loaded(content: dict[str, Any]) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise UserError(
            "tokenizer.json is checked with the library that reads it: python -m pip install 'optok[tokenizers]'"
        ) from None
    return Tokenizer.from_str(json.dumps(content))


def _described(model: ModelProto, rules: dict[str, str], path: Path) -> dict[str, Any]:
    """The file's content. `rules`: replacements to make before all others."""
    specification = model.normalizer_spec
    if model.trainer_spec.treat_whitespace_as_suffix or not specification.escape_whitespaces:
        raise UserError(
            f"{path} writes white space in a way that tokenizer.json has no word for: use the .model itself"
        )
    lowest = min(piece.score for piece in model.pieces if piece.type == Piece.NORMAL)
    types = [piece.type for piece in model.pieces]
    normalizers: list[dict[str, Any]] = [
        {"type": "Replace", "pattern": {"String": source}, "content": replacement}
        for source, replacement in sorted(rules.items(), key=lambda rule: (-len(rule[0]), rule[0]))
    ]
    if specification.precompiled_charsmap:
        blob = base64.b64encode(specification.precompiled_charsmap).decode("ascii")
        normalizers.append({"type": "Precompiled", "precompiled_charsmap": blob})
    if specification.remove_extra_whitespaces:
        normalizers.append({"type": "Replace", "pattern": {"Regex": r"\A +|[ ▁]+\z"}, "content": ""})
        normalizers.append({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})
    if specification.add_dummy_prefix:
        normalizers.append({"type": "Prepend", "prepend": "▁"})
    normalizers.append({"type": "Replace", "pattern": {"String": " "}, "content": "▁"})
    decoders: list[dict[str, Any]] = [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if specification.add_dummy_prefix:
        decoders.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": normalizers},
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": decoders},
        "model": {
            "type": "Unigram",
            "unk_id": types.index(Piece.UNKNOWN),
            "vocab": [_entry(piece, lowest) for piece in model.pieces],
            "byte_fallback": Piece.BYTE in types,
        },
    }


def _entry(piece: Any, lowest: float) -> tuple[str, float]:
    """A piece's name and score there; no score may lie below the lowest, from which an unknown character's follows."""
    if piece.type == Piece.NORMAL:
        return piece.piece, piece.score
    if piece.type == Piece.USER_DEFINED:
        return piece.piece, float(np.float32(0.1 * (len(piece.piece.encode()) - 1)))
    return piece.piece if piece.type == Piece.BYTE else f" {piece.piece}", lowest


def _rules_missed(model: ModelProto, vocabulary: Vocabulary, texts: Sequence[str], path: Path) -> dict[str, str]:
    """The rules of several characters in those texts that the library normalises otherwise."""
    theirs = _loaded(_described(model, {}, path)).normalizer
    normalizer = Normalizer.of(model)
    rules: dict[str, str] = {}
    for text, expected in zip(texts, vocabulary.normalize(texts), strict=True):
        if theirs.normalize_str(text) != expected:
            rules |= {source: new for source, new in normalizer.replaced(text) if len(source) > 1}
    return rules


def _compare(tokenizer: Any, vocabulary: Vocabulary, texts: Sequence[str]) -> JsonComparison:
    ties: list[int] = []
    differing: list[int] = []
    for first in range(0, len(texts), PART):
        part = list(texts[first : first + PART])
        lattices = vocabulary.lattices(part)
        ours = best_path(lattices, vocabulary.scores).to_lists()
        theirs = tokenizer.encode_batch(part, add_special_tokens=False)
        wrong = [row for row, found in enumerate(theirs) if found.ids != ours[row]]
        paths = best_path(lattices.take(wrong), vocabulary.scores, merge_unknown=False)
        for place, row in enumerate(wrong):
            own = _score(vocabulary, paths[place].tolist(), None)
            other = _score(vocabulary, theirs[row].ids, theirs[row].tokens)
            same_text = tokenizer.normalizer.normalize_str(part[row]) == vocabulary.normalize([part[row]])[0]
            tied = same_text and abs(own - other) <= CLOSE * abs(own)
            (ties if tied else differing).append(first + row)
    return JsonComparison(len(texts), ties, differing)


def _score(vocabulary: Vocabulary, ids: Sequence[int], tokens: Sequence[str] | None) -> float:
    """Of a path. `tokens`: what each id spells, where a run of unknown characters is one id."""
    scores, _ = vocabulary.edge_scores(vocabulary.scores, best_path=True)
    unknown = float(scores[-1])
    value_of_byte = {
        number: 0.0 if 0x80 <= byte < 0xC0 else unknown  # the first byte of a character stands for it
        for byte, number in enumerate(vocabulary.byte_ids.tolist())
    }
    total = 0.0
    for place, number in enumerate(ids):
        if number == vocabulary.unk_id:
            total += unknown * (1 if tokens is None else len(tokens[place]))
        else:
            total += value_of_byte.get(number, float(scores[number]))
    return total
