"""The stage `train`: a translator from a corpus and two tokenizers, plain, sampled or jointly."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch

from optok.config import Architecture, Joint, Part, Sampling, Training
from optok.errors import UserError
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
from optok.joint.learner import JointLearner, Rule, TokenizerLearner
from optok.plan import languages
from optok.progress import Progress
from optok.tokenizers.cutting import FixedCutter, LatticeCutter
from optok.training.loop import train
from optok.training.randomness import derive
from optok.translation import translator as folders
from optok.translation.export import pieces_of
from optok.translation.transformer import Transformer
from optok.translation.translator import SIDES, Translator


class TrainedSystem(Part):
    """The part of a system's settings that training reads."""

    sampling: Sampling | None = None
    joint: Joint | None = None


class TrainSettings(RunSettings):
    """What `optok train` reads (`optok.plan.train_settings`)."""

    system: TrainedSystem
    architecture: Architecture
    training: Training


def train_system(
    settings: TrainSettings, system: str, corpus: Path, tokenizers: Path, output: Path, progress: Progress | None = None
) -> dict[str, Any]:
    """Trains, or goes on training, the run in folder `output`; returns its record (`run.json`).

    corpus: a prepared corpus; tokenizers: a folder of `<language code>.model`.
    """
    started = now()
    training = settings.training
    _check(settings, system)
    device = device_of(training.device)
    torch.set_num_threads(training.threads)
    text = Text.read(corpus, settings.direction)
    models = {
        side: tokenizers / f"{code}.model" for side, code in zip(SIDES, languages(settings.direction), strict=True)
    }
    cutters = {side: _cutter(settings, side, models[side], text.train[side]) for side in SIDES}
    task = translation_task(_transformer(settings, models), cutters, models, text, training.label_smoothing, device)
    joint = settings.system.joint
    learner = None if joint is None else _learner(joint, cutters, task.candidate_losses, settings.seed)
    own_hash = run_hash(settings, text, models)
    chosen = train(
        task,
        text.batches(training, settings.seed),
        training,
        settings.seed,
        output / "checkpoints" / own_hash,
        output / "log.jsonl",
        learner,
        progress or Progress(f"train {settings.run(system)}", training.updates, "updates"),
    )
    alpha = None if settings.system.sampling is None else settings.system.sampling.alpha
    weights = {name: tensor.float().cpu().numpy() for name, tensor in chosen.weights.items()}
    with ExitStack() as written:
        finished = dict(models)
        for side, scores in chosen.learned.items():
            finished[side] = written.enter_context(written_model(models[side], scores.numpy(), text.lines(side)))
        translator = Translator(settings.architecture, alpha, weights, finished)
        folders.write(output / "translator", translator)
    recorded = {
        side: tokenizer_record(output / "translator", side, models[side], side in chosen.learned) for side in SIDES
    }
    cost = Cost(training.updates, chosen.update, chosen.seconds, started, device, training.threads)
    return write_run(output, system, "train", settings, (own_hash, None), text.digest, recorded, translator, cost)


def _check(settings: TrainSettings, system: str) -> None:
    """What a configuration has been checked for already, for settings that are given by hand."""
    joint = settings.system.joint
    if joint is None:
        return
    if settings.system.sampling is None:
        raise UserError(f"system {system}: 'joint' needs 'sampling': the translator learns from sampled segmentations")
    if joint.start_after >= settings.training.updates:
        raise UserError(
            f"system {system}: joint.start_after is {joint.start_after}, but training ends after "
            f"{settings.training.updates} updates (training.updates): the tokenizers would never learn"
        )


def _cutter(settings: TrainSettings, side: str, model: Path, texts: list[str]) -> FixedCutter | LatticeCutter:
    sampling = settings.system.sampling
    if sampling is None:
        return FixedCutter(model, texts)
    return LatticeCutter(model, texts, sampling.alpha, settings.seed, side)


def _transformer(settings: TrainSettings, models: dict[str, Path]) -> Transformer:
    torch.manual_seed(derive(settings.seed, "weights"))
    pads = {side: special_ids(models[side]).pad for side in SIDES}
    rows = {side: len(pieces_of(models[side])) for side in SIDES}
    return Transformer(settings.architecture, rows["source"], rows["target"], pads["source"], pads["target"])


def _learner(joint: Joint, cutters: dict[str, Any], losses: Any, seed: int) -> JointLearner:
    rule = Rule(joint.candidates, joint.mu, joint.learning_rate, joint.embedding, joint.clip_norm)
    learning = SIDES if joint.side == "both" else (joint.side,)
    sides = {side: TokenizerLearner(side, cutters[side], rule, seed) for side in learning}
    return JointLearner(sides, losses, joint.start_after, joint.fraction, seed)
