"""Learning rates."""

from __future__ import annotations


def inverse_square_root(update: int, peak: float, warmup: int) -> float:
    """Linear to `peak` over `warmup` updates, then falling with 1/√update (Vaswani et al. 2017, §5.3)."""
    return peak * min(update / warmup, (warmup / update) ** 0.5)
