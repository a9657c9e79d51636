"""How epochs cut sentences: drawn anew in each, a function of (seed, side, epoch, sentence) and of nothing else."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import sentencepiece

from optok import lattice
from optok.errors import UserError
from optok.tokenizers.cutting import FixedCutter, LatticeCutter

TEXTS = 300
ITEMS = np.arange(TEXTS)


@pytest.fixture(scope="module")
def model(trained) -> Path:
    return trained()


@pytest.fixture(scope="module")
def texts(lines) -> list[str]:
    return lines[:TEXTS]


def cut(cutter, items, epoch: int) -> list[list[int]]:
    return [ids.tolist() for ids in cutter.cut(np.array(items), epoch)]


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_fixed_cutter_cuts_as_sentencepiece_in_every_epoch(trained, texts, kind: str):
    path = trained(model_type=kind)
    cutter = FixedCutter(path, texts)
    expected = sentencepiece.SentencePieceProcessor(model_file=str(path)).encode(texts)
    assert cut(cutter, ITEMS, 0) == cut(cutter, ITEMS, 1) == expected
    assert [ids.tolist() for ids in cutter.best(texts[:9])] == expected[:9]


def test_a_draw_depends_on_seed_side_epoch_and_sentence_alone(model, texts):
    first = cut(LatticeCutter(model, texts, 0.3, 1, "source"), ITEMS, 4)
    cutter = LatticeCutter(model, texts, 0.3, 1, "source")
    cut(cutter, ITEMS, 2)  # what was drawn before changes nothing
    order = np.random.default_rng(1).permutation(TEXTS)
    shuffled = [ids for start in range(0, TEXTS, 7) for ids in cut(cutter, order[start : start + 7], 4)]
    assert shuffled == [first[item] for item in order]
    for other in (
        cut(cutter, ITEMS, 5),
        cut(LatticeCutter(model, texts, 0.3, 2, "source"), ITEMS, 4),
        cut(LatticeCutter(model, texts, 0.3, 1, "target"), ITEMS, 4),
    ):
        assert sum(one != two for one, two in zip(first, other, strict=True)) > TEXTS / 2


def test_whatever_is_drawn_reads_as_the_same_text(model, texts):
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    for ids, text in zip(cut(LatticeCutter(model, texts, 0.0, 1, "source"), ITEMS, 0), texts, strict=True):
        if processor.unk_id() not in ids:
            assert "".join(processor.id_to_piece(ids)) == processor.normalize(text)


def test_draws_follow_p_to_the_power_of_alpha(model):
    text = "verlan"
    cutter = LatticeCutter(model, [text] * 4000, 0.5, 1, "source")
    found = cutter.nbest(np.array([0]), 64)
    weights = np.exp(0.5 * found.log_probabilities[0][found.mask[0]])
    assert 2 < len(weights) < 64  # all segmentations there are
    expected = weights / weights.sum()
    drawn = Counter(tuple(ids) for ids in cut(cutter, range(4000), 0))
    for rank, path in enumerate(found.candidates(0)):
        deviation = (expected[rank] * (1 - expected[rank]) / 4000) ** 0.5
        assert drawn[tuple(path.tolist())] / 4000 == pytest.approx(expected[rank], abs=5 * deviation)


def test_new_scores_change_draws_best_paths_and_candidates(model, texts):
    cutter, held_out = LatticeCutter(model, texts, 0.3, 1, "source"), texts[100:200]
    drawn, best = cut(cutter, ITEMS, 0), [ids.tolist() for ids in cutter.best(held_out)]
    assert best == sentencepiece.SentencePieceProcessor(model_file=str(model)).encode(held_out)
    noise = np.random.default_rng(1).normal(0, 3, len(cutter.scores)).astype(np.float32)
    cutter.scores = np.where(cutter.vocabulary.normal, cutter.scores + noise, cutter.scores)
    assert cut(cutter, ITEMS, 0) != drawn
    again = [ids.tolist() for ids in cutter.best(held_out)]
    assert again != best
    vocabulary = lattice.Vocabulary.load(model)
    assert again == lattice.best_path(vocabulary.lattices(held_out), cutter.scores).to_lists()
    found = cutter.nbest(ITEMS[100:200], 1)
    assert sum(found.candidates(row)[0].tolist() == ids for row, ids in enumerate(again)) >= 99  # but for rounding
    cutter.scores = cutter.vocabulary.scores
    assert cut(cutter, ITEMS, 0) == drawn
    assert [ids.tolist() for ids in cutter.best(list(held_out))] == best


def test_bpe_has_no_lattice(trained, texts):
    with pytest.raises(UserError, match="bpe"):
        LatticeCutter(trained(model_type="bpe"), texts, 0.3, 1, "source")
