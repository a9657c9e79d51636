"""The gradient of the tokenizer's terms equals finite differences; the model starts at SentencePiece's scores."""

import numpy as np
import pytest
import torch

from optok.joint.objective import Candidates, tokenizer_terms
from optok.joint.unigram import NeuralUnigram

PIECES = 12


def random_candidates(seed: int, log_p: np.ndarray) -> tuple[Candidates, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    sentences, most, longest = 4, 3, 6
    ids = np.full((sentences, most, longest), -1, np.int32)
    mask = np.ones((sentences, most), bool)
    mask[1, 2] = mask[2, 1] = mask[2, 2] = False
    lengths = draw.integers(1, longest + 1, size=(sentences, most))
    for sentence, candidate in np.argwhere(mask):
        size = lengths[sentence, candidate]
        ids[sentence, candidate, :size] = draw.integers(0, PIECES, size=size)
    return (
        Candidates(ids, np.where(mask, lengths, 0), path_scores(ids, log_p), mask),
        draw.uniform(1, 20, size=mask.shape),
        draw.uniform(0.5, 2, size=sentences),
    )


def path_scores(ids: np.ndarray, log_p: np.ndarray) -> np.ndarray:
    return np.where(ids >= 0, log_p[ids], 0.0).sum(axis=2)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_the_gradient_equals_finite_differences(seed: int, mu: float):
    log_p = np.random.default_rng(seed).uniform(-4, -1, size=PIECES)
    candidates, losses, sentence_weights = random_candidates(seed, log_p)
    constant = candidates.weights()  # a_n is constant in the language-model term

    def objective(log_p: np.ndarray) -> float:
        scores = path_scores(candidates.ids, log_p)
        total = 0.0
        for row, weight in enumerate(sentence_weights):
            exists = candidates.mask[row]
            p = np.exp(scores[row, exists])
            total += weight * (p / p.sum() * losses[row, exists]).sum()
            total -= weight * mu * (constant[row, exists] * scores[row, exists] / candidates.edges[row, exists]).sum()
        return total

    terms = tokenizer_terms(candidates, losses, sentence_weights, mu, PIECES)
    assert terms.loss + mu * terms.language_model == pytest.approx(objective(log_p), rel=1e-12)
    for piece in range(PIECES):
        step = np.zeros(PIECES)
        step[piece] = 1e-5
        difference = (objective(log_p + step) - objective(log_p - step)) / 2e-5
        assert terms.gradient[piece] == pytest.approx(difference, abs=1e-7, rel=1e-6)


def test_one_segmentation_contributes_through_the_language_model_only():
    ids = np.array([[[3, 5, -1]]], np.int32)
    candidates = Candidates(ids, np.array([[2]]), np.array([[-4.0]]), np.array([[True]]))
    terms = tokenizer_terms(candidates, np.array([[7.0]]), np.ones(1), 0.0, PIECES)
    assert terms.loss == 7.0
    assert terms.language_model == 2.0
    assert not terms.gradient.any()


def test_a_text_that_normalises_to_nothing_adds_nothing():
    ids = np.array([[[-1], [-1]], [[3], [4]]], np.int32)
    mask = np.array([[True, False], [True, True]])
    both = Candidates(ids, np.array([[0, 0], [1, 1]]), np.array([[0.0, -np.inf], [-1.0, -2.0]]), mask)
    alone = Candidates(ids[1:], both.edges[1:], both.log_probabilities[1:], mask[1:])
    losses = np.array([[0.0, 0.0], [3.0, 5.0]])
    terms, expected = (
        tokenizer_terms(candidates, part, np.ones(len(part)), 0.5, PIECES)
        for candidates, part in ((both, losses), (alone, losses[1:]))
    )
    assert (terms.loss, terms.language_model) == (expected.loss, expected.language_model)
    assert np.array_equal(terms.gradient, expected.gradient)


def test_a_loss_that_is_not_finite_is_refused():
    ids = np.array([[[3]]], np.int32)
    candidates = Candidates(ids, np.array([[1]]), np.array([[-4.0]]), np.array([[True]]))
    with pytest.raises(FloatingPointError):
        tokenizer_terms(candidates, np.array([[np.nan]]), np.ones(1), 0.0, PIECES)


def some_scores() -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(1)
    scores = draw.uniform(-14, -2, size=500).astype(np.float32)
    normal = np.ones(500, bool)
    normal[[0, 1, 2, 3, 77]] = False
    scores[:4] = 0.0
    return scores, normal


def test_scores_are_the_stored_ones_bit_for_bit_before_the_first_update():
    scores, normal = some_scores()
    assert np.array_equal(NeuralUnigram(scores, normal, 64, seed=1).scores(), scores)


def test_learning_keeps_the_mass_and_the_scores_of_pieces_that_are_not_normal():
    scores, normal = some_scores()
    model = NeuralUnigram(scores, normal, 16, seed=1)
    assert model.divergence() == pytest.approx(0.0, abs=1e-12)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    gradient = np.random.default_rng(2).normal(size=500)
    for _ in range(3):
        optimizer.zero_grad()
        model.backward(gradient)
        optimizer.step()
    learned = model.scores()
    assert np.array_equal(learned[~normal], scores[~normal])
    assert not np.allclose(learned[normal], scores[normal])
    mass = [np.exp(numbers[normal].astype(np.float64)).sum() for numbers in (learned, scores)]
    assert mass[0] == pytest.approx(mass[1], rel=1e-6)
    assert model.divergence() > 0


def test_backward_equals_finite_differences_through_the_network():
    scores, normal = some_scores()
    model = NeuralUnigram(scores, normal, 8, seed=1)
    with torch.no_grad():
        model.outer += 0.1
    gradient = np.random.default_rng(3).normal(size=500)
    model.backward(gradient)
    assert model.outer.grad is not None
    weight = torch.from_numpy(gradient[normal])
    for index in (0, 5):
        values = []
        for step in (1e-5, -1e-5):
            with torch.no_grad():
                model.outer[index] += step
                values.append(float((weight * model.log_probabilities()).sum()))
                model.outer[index] -= step
        assert float(model.outer.grad[index]) == pytest.approx((values[0] - values[1]) / 2e-5, rel=1e-5)
