"""The stage `retokenize`: a new source tokenizer for a finished, frozen translator (METHOD §4).

L_src + μ L_lm is minimised over the source tokenizer alone; no backward pass goes through the translator. The
target tokenizer stays: a frozen translator's output never depends on it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from optok.config import Retokenize, Training
from optok.errors import UserError
from optok.files import read_json
from optok.joint.building import (
    Cost,
    RunSettings,
    Text,
    device_of,
    now,
    run_hash,
    special_ids,
    tokenizer_record,
    translation_task,
    write_run,
    written_model,
)
from optok.joint.learner import Rule, TokenizerLearner
from optok.progress import Progress
from optok.tokenizers.cutting import FixedCutter, LatticeCutter
from optok.tokenizers.model_file import read_unigram
from optok.training import checkpoint
from optok.training.batching import Batches
from optok.training.run_log import RunLog
from optok.translation import translator as folders
from optok.translation.task import TranslationTask
from optok.translation.translator import SIDES, Translator


class RetokenizeSettings(RunSettings):
    """What `optok retokenize` reads (`optok.plan.retokenize_settings`)."""

    retokenize: Retokenize
    training: Training


@dataclass
class Selected:
    """The scores that validation chose so far."""

    score: float = -math.inf
    update: int = 0
    scores: Tensor = field(default_factory=lambda: torch.zeros(0))
    seconds: float = 0.0


def retokenize_system(
    settings: RetokenizeSettings,
    system: str,
    base: Path,
    corpus: Path,
    output: Path,
    progress: Callable[[int, str], None] | None = None,
) -> dict[str, Any]:
    """Learns the source tokenizer of the run in folder `base` anew; writes the run in `output`.

    Raises `UserError` where the base was trained on another corpus or its tokenizer is no unigram model.
    """
    started = now()
    training = settings.training
    device = device_of(training.device)
    torch.set_num_threads(training.threads)
    translator = folders.read(base / "translator")
    text = Text.read(corpus, settings.direction)
    base_run = read_json(base / "run.json")
    check_base(base_run, text, settings.direction, base)
    models = translator.models
    read_unigram(models["source"])
    alpha = 1.0 if translator.alpha is None else translator.alpha
    source = LatticeCutter(models["source"], text.train["source"], alpha, settings.seed, "source")
    target = (
        FixedCutter(models["target"], text.train["target"])
        if translator.alpha is None
        else LatticeCutter(models["target"], text.train["target"], alpha, settings.seed, "target")
    )
    pads = {side: special_ids(models[side]).pad for side in SIDES}
    cutters = {"source": source, "target": target}
    task = translation_task(translator.transformer(pads), cutters, models, text, 0.0, device)
    task.model.requires_grad_(False)
    details = settings.retokenize
    rule = Rule(details.candidates, details.mu, details.learning_rate, details.embedding, details.clip_norm)
    learner = TokenizerLearner("source", source, rule, settings.seed)
    own_hash = run_hash(settings, text, models, base_run["hash"])
    selected = _learn(
        task,
        learner,
        target,
        text.batches(training, settings.seed),
        settings,
        output,
        output / "checkpoints" / own_hash,
        progress or Progress(f"retokenize {settings.run(system)}", details.updates, "updates"),
    )
    with written_model(models["source"], selected.scores.numpy(), text.lines("source")) as learned:
        result = Translator(translator.sizes, translator.alpha, translator.weights, {**models, "source": learned})
        folders.write(output / "translator", result)
    recorded = {side: tokenizer_record(output / "translator", side, models[side], side == "source") for side in SIDES}
    cost = Cost(details.updates, selected.update, selected.seconds, started, device, training.threads)
    hashes = (own_hash, base_run["hash"])
    return write_run(output, system, "retokenize", settings, hashes, text.digest, recorded, result, cost)


def check_base(base_run: dict[str, Any], text: Text, direction: str, base: Path) -> None:
    """Raises `UserError` where a base run is of another corpus or direction."""
    if base_run["direction"] != direction:
        raise UserError(f"the base {base} translates {base_run['direction']}, not {direction}")
    if base_run["corpus_digest"] != text.digest:
        raise UserError(
            f"the base {base} was trained on another corpus (digest {base_run['corpus_digest'][:12]}, not "
            f"{text.digest[:12]}): train it again on this one"
        )


def _learn(
    task: TranslationTask,
    learner: TokenizerLearner,
    target: FixedCutter | LatticeCutter,
    batches: Batches,
    settings: RetokenizeSettings,
    output: Path,
    checkpoints: Path,
    progress: Callable[[int, str], None],
) -> Selected:
    selected = Selected()
    start = 0
    found = checkpoint.newest(checkpoints)
    if found is not None:
        learner.load(found.part("learner"))
        start = found.update
        selected = Selected(
            found.values["score"], found.values["chosen"], found.tensors["chosen/scores"], found.values["seconds"]
        )
    log = RunLog(output / "log.jsonl", resumed_at=start)
    updates, training = settings.retokenize.updates, settings.training
    for update in range(start + 1, updates + 1):
        began = time.monotonic()
        items, epoch = batches.at(update)
        others = target.cut(items, epoch)
        tokens = sum(len(ids) + 1 for ids in others)
        terms = learner.update(items, others, task.candidate_losses, 1 / tokens)
        selected.seconds += time.monotonic() - began
        validates = update % training.validate_every == 0 or update == updates
        if validates or update % training.log_every == 0:
            log.append(
                update,
                {
                    "joint/loss_source": terms.loss,
                    "joint/lm_source": terms.language_model,
                    "joint/kl_source": learner.model.divergence(),
                },
            )
        message = f"loss {terms.loss:.3f}"
        if validates:
            began = time.monotonic()
            measured = task.validate()
            log.append(update, measured)
            message += f", {task.selection} {measured[task.selection]:.2f}"
            if measured[task.selection] > selected.score:
                selected.score, selected.update = measured[task.selection], update
                selected.scores = torch.from_numpy(learner.model.scores())
            selected.seconds += time.monotonic() - began
            tensors = {f"learner/{name}": tensor for name, tensor in learner.state().items()}
            values = {"score": selected.score, "chosen": selected.update, "seconds": selected.seconds}
            checkpoint.save(
                checkpoints, checkpoint.Checkpoint(update, {**tensors, "chosen/scores": selected.scores}, values)
            )
        progress(update, message)
    return selected
