"""What a benchmark consists of: its runs, where each file lies, and what each stage needs to know.

The workflow plans with this module and every stage is told its slice of the settings by it, so it imports
nothing heavy (no torch, no polars).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optok.config import Corpus, Settings, language_code
from optok.consistency import chain_of_bases
from optok.errors import UserError, nearest

TRANSLATOR_FILES = ("config.json", "model.safetensors", "source.model", "target.model")
RUN_FORMAT = 1  # of run.json
TABLE_FILES = ("table.csv", "table.md")


@dataclass(frozen=True, order=True)
class Run:
    """One (corpus, direction, system, seed) of a benchmark's task."""

    corpus: str
    direction: str
    system: str
    seed: int

    @property
    def folder(self) -> Path:
        """Where its files lie, under the results folder."""
        return Path(self.corpus) / self.direction / self.system / f"seed{self.seed}"

    def __str__(self) -> str:
        return f"{self.corpus} {self.direction} {self.system} seed {self.seed}"


def runs(settings: Settings) -> Iterator[Run]:
    """Every run, in the order of the settings."""
    for corpus, details in settings.corpora.items():
        for direction in details.directions:
            for system in settings.systems:
                for seed in settings.seeds:
                    yield Run(corpus, direction, system, seed)


def find_run(settings: Settings, corpus: str, direction: str, system: str, seed: int) -> Run:
    """The run of that name; raises `UserError` with the nearest valid name where one is wrong."""
    wanted: list[tuple[str, str, list[str]]] = [
        ("corpus", corpus, list(settings.corpora)),
        ("system", system, list(settings.systems)),
    ]
    if corpus in settings.corpora:
        wanted.append(("direction", direction, settings.corpora[corpus].directions))
    for what, name, allowed in wanted:
        if name not in allowed:
            raise UserError(f"unknown {what} {name!r}: {nearest(name, allowed)}")
    return Run(corpus, direction, system, seed)


def find_corpus(settings: Settings, name: str) -> Corpus:
    """The corpus of that id; raises `UserError` with the nearest valid one."""
    if name not in settings.corpora:
        raise UserError(f"unknown corpus {name!r}: {nearest(name, settings.corpora)}")
    return settings.corpora[name]


def find_tokenizer(settings: Settings, name: str) -> str:
    """The name itself; raises `UserError` with the nearest valid one."""
    if name not in settings.tokenizers:
        raise UserError(f"unknown tokenizer {name!r}: {nearest(name, settings.tokenizers)}")
    return name


def languages(direction: str) -> tuple[str, str]:
    """Source and target language code of a direction: `en-zh_CN` → `en`, `zh_CN`."""
    source, _, target = direction.partition("-")
    return source, target


def trained_system(system: str, settings: Settings) -> str:
    """The system with a tokenizer at the end of the chain of bases."""
    return chain_of_bases(system, settings)[-1]


def kind_of(system: str, settings: Settings) -> str:
    """The stage that builds a system: `train`, `retokenize` or `restrict`."""
    details = settings.systems[system]
    if details.retokenize is not None:
        return "retokenize"
    return "restrict" if details.restrict is not None else "train"


def fetch_settings(corpus: Corpus) -> dict[str, Any] | None:
    """What `optok fetch` reads, or None for text that is already here."""
    archive = getattr(corpus, "archive", None)
    return None if archive is None else {"archive": archive}


def prepare_settings(settings: Settings, corpus: str) -> dict[str, Any]:
    """What `optok prepare` reads. Directions are no part of it: both share one corpus."""
    details = settings.corpora[corpus].model_dump(exclude={"directions"}, exclude_none=True)
    return {"name": corpus, "corpus": details}


def tokenizer_settings(settings: Settings, tokenizer: str, language: str) -> dict[str, Any]:
    """What `optok tokenizer train` reads, sizes resolved for one language (a BCP-47 tag)."""
    details = settings.tokenizers[tokenizer].model_dump(exclude={"size", "coverage"})
    size, coverage = settings.tokenizers[tokenizer].size, settings.tokenizers[tokenizer].coverage
    return {
        "tokenizer": {
            **details,
            "size": {"default": size.get(language) or size["default"]},
            "coverage": {"default": coverage.get(language) or coverage["default"]},
        },
        "language": language,
    }


def train_settings(settings: Settings, run: Run) -> dict[str, Any]:
    """What `optok train` reads."""
    system = settings.systems[run.system].model_dump(exclude_none=True)
    system.pop("tokenizer")  # which files those are is an argument of the stage
    return {
        **_identity(settings, run),
        "system": system,
        "architecture": settings.translator.architecture().model_dump(),
        "training": settings.training.model_dump(),
    }


def retokenize_settings(settings: Settings, run: Run) -> dict[str, Any]:
    """What `optok retokenize` reads; the training settings give it the same batches as its base."""
    details = settings.systems[run.system].retokenize
    assert details is not None
    return {
        **_identity(settings, run),
        "retokenize": details.model_dump(),
        "training": settings.training.model_dump(),
    }


def restrict_settings(settings: Settings, run: Run) -> dict[str, Any]:
    """What `optok restrict` reads."""
    details = settings.systems[run.system].restrict
    assert details is not None
    return {**_identity(settings, run), "restrict": details.model_dump()}


def _identity(settings: Settings, run: Run) -> dict[str, Any]:
    return {"task": settings.task, "corpus": run.corpus, "direction": run.direction, "seed": run.seed}


def table_settings(settings: Settings) -> dict[str, Any]:
    """What `optok table`, `optok report` and `optok track` read: which runs there are to be."""
    return {
        "task": settings.task,
        "baseline": settings.evaluation.baseline or next(iter(settings.systems)),
        "corpora": {name: corpus.directions for name, corpus in settings.corpora.items()},
        "systems": list(settings.systems),
        "seeds": settings.seeds,
        "decoding": settings.decoding.model_dump(),
    }


def report_settings(settings: Settings, configuration: list[str]) -> dict[str, Any]:
    """What `optok report` reads: the table's settings, and all of them to be shown with the files they come from."""
    return {
        **table_settings(settings),
        "configuration": configuration,
        "settings": settings.model_dump(exclude_none=True),
    }


def planned_runs(table: dict[str, Any]) -> Iterator[Run]:
    """The runs that `table_settings` names, in order."""
    for corpus, directions in table["corpora"].items():
        for direction in directions:
            for system in table["systems"]:
                for seed in table["seeds"]:
                    yield Run(corpus, direction, system, seed)


def corpus_of_language(settings: Settings, corpus: str, code: str) -> str:
    """The BCP-47 tag behind a language code of a corpus: `zh_CN` → `zh-CN`."""
    return next(tag for tag in settings.corpora[corpus].languages if language_code(tag) == code)
