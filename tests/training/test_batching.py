"""Batches are the same for every system, hold every pair once an epoch, and do not depend on history."""

import itertools

import numpy as np
import pytest

from optok.config import Training
from optok.training.batching import Batches
from optok.training.schedule import learning_rate


def lengths(seed: int, pairs: int = 500) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    source = draw.integers(1, 200, size=pairs)
    return source, np.maximum(1, source + draw.integers(-20, 20, size=pairs))


def test_an_epoch_holds_every_pair_once():
    batches = Batches(*lengths(1), batch_characters=3000, seed=1)
    for epoch in (0, 1):
        drawn = [batches.at(epoch * len(batches) + position + 1) for position in range(len(batches))]
        assert {which for _, which in drawn} == {epoch}
        assert sorted(np.concatenate([items for items, _ in drawn])) == list(range(500))


def test_no_batch_is_over_its_size_but_for_a_pair_that_is():
    source, target = lengths(2)
    source[7] = 9000
    batches = Batches(source, target, batch_characters=3000, seed=1)
    for update in range(1, len(batches) + 1):
        items, _ = batches.at(update)
        assert (source + target)[items].sum() <= 3000 or list(items) == [7]


def test_an_update_is_the_same_after_a_resume():
    uninterrupted = Batches(*lengths(3), batch_characters=2000, seed=4)
    seen = [uninterrupted.at(update)[0] for update in range(1, 120)]
    resumed = Batches(*lengths(3), batch_characters=2000, seed=4)
    for update in (118, 60, 119):
        assert np.array_equal(resumed.at(update)[0], seen[update - 1])


def test_another_seed_draws_other_batches():
    one, other = (Batches(*lengths(5), batch_characters=2000, seed=seed) for seed in (1, 2))
    assert not np.array_equal(one.at(1)[0], other.at(1)[0])


@pytest.mark.parametrize(
    ("schedule", "at_400", "last"), [("inverse-sqrt", 3e-3 / 2, 3e-3 / 3), ("linear", 3e-3 * 501 / 801, 3e-3 / 801)]
)
def test_the_learning_rate_peaks_at_the_end_of_warmup_and_then_falls(schedule, at_400, last):
    settings = Training(updates=900, learning_rate=3e-3, warmup=100, schedule=schedule)
    rates = [learning_rate(update, settings) for update in range(1, 901)]
    assert rates[49] == 1.5e-3
    assert max(rates) == rates[99] == 3e-3
    assert rates[399] == pytest.approx(at_400)
    assert rates[899] == pytest.approx(last)
    assert all(later < earlier for earlier, later in itertools.pairwise(rates[99:]))
