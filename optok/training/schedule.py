"""Learning rates."""

from __future__ import annotations

from optok.config import Training


def learning_rate(update: int, settings: Training) -> float:
    """The rate of an update (the first is 1): a linear warm-up to the peak, then falling.

    `inverse-sqrt` falls with 1/√update (Vaswani et al. 2017, §5.3) and never ends; `linear` falls in a straight
    line that would reach 0 one update after the last.
    """
    if update <= settings.warmup:
        return settings.learning_rate * update / settings.warmup
    if settings.schedule == "linear":
        return settings.learning_rate * (settings.updates + 1 - update) / (settings.updates + 1 - settings.warmup)
    return settings.learning_rate * (settings.warmup / update) ** 0.5
