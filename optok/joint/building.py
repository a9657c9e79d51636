"""What the stages that build a translator share: the corpus's text, the task around it, the run's record."""

from __future__ import annotations

import re
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
import sentencepiece
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from optok.config import Training
from optok.corpora.store import read_report, read_split
from optok.errors import UserError
from optok.evaluation.score import bleu
from optok.files import digest_of, sha256_of, write_json
from optok.plan import RUN_FORMAT, Run, languages
from optok.tokenizers.model_file import check_model, kind_of, read_model, write_scores
from optok.training.batching import Batches
from optok.translation.export import pieces_of
from optok.translation.loss import Special
from optok.translation.task import Cutter, Side, TranslationTask, Validation
from optok.translation.transformer import Transformer
from optok.translation.translator import SIDES, Translator
from optok.versions import commit, machine, versions

WHITESPACE = re.compile(r"\s+")


class RunSettings(BaseModel):
    """Which run a stage builds: the beginning of every such stage's settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: Literal["translation"]
    corpus: str
    direction: str
    seed: int

    def run(self, system: str) -> Run:
        """The run of the system of that name."""
        return Run(self.corpus, self.direction, system, self.seed)


@dataclass(frozen=True)
class Text:
    """The training and validation text of a direction; sides by name, line k translating line k."""

    train: dict[str, list[str]]
    valid: dict[str, list[str]]
    target: str  # language code
    digest: str

    @classmethod
    def read(cls, corpus: Path, direction: str) -> Text:
        """From a corpus's folder."""
        codes = dict(zip(SIDES, languages(direction), strict=True))
        splits = {split: read_split(corpus, split) for split in ("train", "valid")}
        for code in codes.values():
            if code not in splits["train"].columns:
                raise UserError(f"{corpus} has no text in {code!r}: direction {direction} is of another corpus")
        train, valid = (
            {side: splits[split][code].to_list() for side, code in codes.items()} for split in ("train", "valid")
        )
        return cls(train, valid, codes["target"], read_report(corpus)["digest"])

    def lines(self, side: str) -> list[str]:
        """Every line of a side: what a changed tokenizer is checked on."""
        return self.train[side] + self.valid[side]

    def batches(self, settings: Training, seed: int) -> Batches:
        """The same for every system: from characters of the text, normalised without regard to a tokenizer."""
        counts = [np.array([characters(text) for text in self.train[side]]) for side in SIDES]
        return Batches(counts[0], counts[1], settings.batch_characters, seed)


def characters(text: str) -> int:
    """Characters of a text in NFKC, runs of white space counted once."""
    return len(WHITESPACE.sub(" ", unicodedata.normalize("NFKC", text)).strip())


def special_ids(model: Path) -> Special:
    """The ids that frame a sentence under a tokenizer."""
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    special = Special(processor.bos_id(), processor.eos_id(), processor.pad_id())
    if min(special.begin, special.end, special.pad) < 0:
        raise UserError(f"{model} has no <s>, </s> or <pad> piece: train it with `optok tokenizer train`")
    return special


def translation_task(
    model: Transformer,
    cutters: Mapping[str, Cutter],
    models: dict[str, Path],
    text: Text,
    smoothing: float,
    device: str,
) -> TranslationTask:
    """The task of a direction around a model and two tokenizers."""
    sides = [Side(cutters[side], models[side], special_ids(models[side])) for side in SIDES]
    validation = Validation(
        text.valid["source"],
        text.valid["target"],
        lambda hypotheses, references: bleu(hypotheses, references, text.target),
    )
    return TranslationTask(model, sides[0], sides[1], validation, smoothing, device)


def tokenizer_record(translator: Path, side: str, before: Path, learned: bool) -> dict[str, Any]:
    """What `run.json` says of a side's tokenizer; `before`: the model it started from."""
    model = translator / f"{side}.model"
    return {
        "kind": kind_of(read_model(model)),
        "pieces": len(pieces_of(model)),
        "pieces_before": len(pieces_of(before)),
        "digest": sha256_of(model),
        "digest_before": sha256_of(before),
        "learned": learned,
    }


@contextmanager
def written_model(model: Path, scores: NDArray[np.float32], texts: list[str]) -> Iterator[Path]:
    """A temporary copy of a SentencePiece model with other scores, checked on `texts`.

    Stock SentencePiece must segment every text as our best path does; raises `UserError` naming lines otherwise.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "learned.model"
        write_scores(model, scores, path)
        check_model(path, texts)
        yield path


def device_of(wanted: str) -> str:
    """`auto` → a GPU where there is one; raises `UserError` where CUDA is asked for and absent."""
    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if wanted.startswith("cuda"):
        index = int(wanted.partition(":")[2] or 0)
        if not torch.cuda.is_available() or index >= torch.cuda.device_count():
            raise UserError(
                f"training.device is {wanted!r}, but this machine has {torch.cuda.device_count()} CUDA devices that "
                "torch can use: set it to 'auto' or 'cpu'"
            )
    return wanted


def now() -> str:
    """The time, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def run_hash(settings: BaseModel, text: Text, tokenizers: dict[str, Path], base: str | None = None) -> str:
    """What a run's result is a function of, as one short digest."""
    digests = {side: sha256_of(tokenizers[side]) for side in SIDES}
    return digest_of({"settings": settings.model_dump(), "corpus": text.digest, "tokenizers": digests, "base": base})


@dataclass(frozen=True)
class Cost:
    """What building a translator took."""

    updates: int
    best_update: int
    seconds: float
    started: str
    device: str
    threads: int


def write_run(
    folder: Path,
    system: str,
    stage: str,
    settings: RunSettings,
    hashes: tuple[str, str | None],
    corpus_digest: str,
    tokenizers: dict[str, dict[str, Any]],
    translator: Translator,
    cost: Cost,
) -> dict[str, Any]:
    """Writes `run.json`, the record of a finished translator; `hashes`: its own and its base's."""
    record = {
        "format": RUN_FORMAT,
        "task": settings.task,
        "corpus": settings.corpus,
        "direction": settings.direction,
        "system": system,
        "seed": settings.seed,
        "stage": stage,
        "hash": hashes[0],
        "base_hash": hashes[1],
        "settings": settings.model_dump(),
        "corpus_digest": corpus_digest,
        "tokenizers": tokenizers,
        "parameters": sum(array.size for array in translator.weights.values()),
        "bytes": (folder / "translator" / "model.safetensors").stat().st_size,
        "updates": cost.updates,
        "best_update": cost.best_update,
        "train_seconds": round(cost.seconds, 3),
        "device": cost.device,
        "threads": cost.threads,
        "started": cost.started,
        "finished": now(),
        "commit": commit(),
        "versions": versions(),
        "machine": machine(),
    }
    write_json(folder / "run.json", record)
    return record
