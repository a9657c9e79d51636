"""The stage `restrict`: a finished system with smaller vocabularies (METHOD §5)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from optok.config import Restrict
from optok.files import read_json
from optok.joint.building import Cost, RunSettings, Text, now, run_hash, tokenizer_record, write_run
from optok.joint.retokenize import check_base
from optok.restriction.choosing import top
from optok.restriction.slicing import sliced_model, sliced_weights
from optok.tokenizers.model_file import check_model, read_unigram
from optok.translation import translator as folders
from optok.translation.translator import SIDES, Translator


class RestrictSettings(RunSettings):
    """What `optok restrict` reads (`optok.plan.restrict_settings`)."""

    restrict: Restrict


def restrict_system(settings: RestrictSettings, system: str, base: Path, corpus: Path, output: Path) -> dict[str, Any]:
    """Restricts the run in folder `base`; writes the run in `output` and returns its record.

    Both tokenizers are checked on training and validation text: stock SentencePiece must segment as the lattice does.
    """
    started = now()
    translator = folders.read(base / "translator")
    text = Text.read(corpus, settings.direction)
    base_run = read_json(base / "run.json")
    check_base(base_run, text, settings.direction, base)
    models = {side: read_unigram(translator.models[side]) for side in SIDES}
    stays = {side: top(models[side], settings.restrict.keep, f"{system}, {side} side") for side in SIDES}
    with tempfile.TemporaryDirectory() as folder:
        smaller = {side: Path(folder) / f"{side}.model" for side in SIDES}
        for side in SIDES:
            smaller[side].write_bytes(sliced_model(models[side], stays[side]).SerializeToString())
            check_model(smaller[side], text.lines(side))
        weights = sliced_weights(translator.weights, stays)
        result = Translator(translator.sizes, translator.alpha, weights, smaller)
        folders.write(output / "translator", result)
    recorded = {
        side: tokenizer_record(
            output / "translator", side, translator.models[side], base_run["tokenizers"][side]["learned"]
        )
        for side in SIDES
    }
    hashes = (run_hash(settings, text, translator.models, base_run["hash"]), base_run["hash"])
    cost = Cost(0, 0, 0.0, started, "cpu", 1)
    return write_run(output, system, "restrict", settings, hashes, text.digest, recorded, result, cost)
