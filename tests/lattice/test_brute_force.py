"""Short texts from all planes of Unicode, every segmentation enumerated: no operation may know better or worse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optok.lattice import Vocabulary, best_path, entropy, expected_counts, log_partition, nbest, sample

LETTERS = "abé▁漢가\u0301ế\U0001f600\U00020000\U000e0001\U0010ffff\x00\u2028"


@st.composite
def cases(draw):
    """A text, a vocabulary, scores with bars, and α."""
    alphabet = draw(
        st.lists(st.sampled_from(LETTERS) | st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
    )
    text = draw(st.text(st.sampled_from(alphabet), max_size=10))
    pieces = draw(st.lists(st.text(st.sampled_from(alphabet), min_size=1, max_size=4), unique=True, max_size=12))
    score = st.floats(-20, 0, width=32) | st.sampled_from([-1.0, -2.0, -np.inf])
    scores = np.array([draw(score) for _ in pieces], dtype=np.float32)
    return text, pieces, scores, draw(st.sampled_from([0.0, 0.1, 1.0, 3.0]))


def segmentations(text, known, unknown):
    """Every path of the text as (score, ids); an unknown character has the id −1."""
    if not text:
        return [(0.0, ())]
    paths = []
    for length in range(1, len(text) + 1):
        if text[:length] in known:
            number, score = known[text[:length]]
            paths += [(score + rest, (number, *ids)) for rest, ids in segmentations(text[length:], known, unknown)]
    if text[0] not in known:
        paths += [(unknown + rest, (-1, *ids)) for rest, ids in segmentations(text[1:], known, unknown)]
    return paths


def merged(ids, unk_id):
    named = [unk_id if number == -1 else number for number in ids]
    return tuple(x for k, x in enumerate(named) if not (x == unk_id and k and named[k - 1] == unk_id))


@given(cases(), st.integers(1, 6))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_every_operation_agrees_with_brute_force(case, n):
    text, pieces, scores, alpha = case
    vocabulary = Vocabulary(pieces, scores)
    lattices = vocabulary.lattices([text])
    unbarred = scores[scores > -np.inf]
    unknown = float((unbarred.min() if len(unbarred) else np.float32(0.0)) - np.float32(10.0))
    known = {piece: (k, float(scores[k])) for k, piece in enumerate(pieces) if scores[k] > -np.inf}
    paths = segmentations(text, known, unknown)
    ordered = sorted((score for score, _ in paths), reverse=True)

    found = nbest(lattices, scores, n)
    assert found.mask.sum() == min(n, len(paths))
    kept = found.log_probabilities[0][found.mask[0]]
    np.testing.assert_allclose(kept, ordered[:n], rtol=1e-12, atol=1e-9)
    outputs = {merged(ids, vocabulary.unk_id): score for score, ids in paths}
    for rank, path in enumerate(found.candidates(0)):
        assert outputs[tuple(path.tolist())] == pytest.approx(kept[rank], abs=1e-9)
    assert len({tuple(path.tolist()) for path in found.candidates(0)}) == found.mask.sum()
    best = tuple(best_path(lattices, scores)[0].tolist())
    assert outputs[best] == pytest.approx(ordered[0], abs=1e-4)

    powers = np.array([alpha * score for score, _ in paths])
    total = powers.max() + math.log(np.exp(powers - powers.max()).sum())
    assert log_partition(lattices, scores, alpha)[0] == pytest.approx(total, abs=1e-9, rel=1e-12)
    shares = np.exp(powers - total)
    positive = shares[shares > 0]
    assert entropy(lattices, scores, alpha)[0] == pytest.approx(-(positive * np.log(positive)).sum(), abs=1e-8)
    counts = np.zeros(len(pieces) + 1)
    for share, (_, ids) in zip(shares, paths, strict=True):
        for number in ids:
            counts[number] += share
    got = expected_counts(lattices, scores, alpha)
    np.testing.assert_allclose(got.dense()[0], counts, atol=1e-9)
    lengths = np.array([*map(len, pieces), 1])
    assert got.dense()[0] @ lengths == pytest.approx(len(text), abs=1e-8)
    drawn = sample(lattices.take([0] * 20), scores, alpha, 1, 0, range(20))
    possible = {merged(ids, vocabulary.unk_id) for share, (_, ids) in zip(shares, paths, strict=True) if share > 0}
    assert {tuple(path) for path in drawn.to_lists()} <= possible


@given(cases())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_a_larger_n_only_appends(case):
    text, pieces, scores, _ = case
    lattices = Vocabulary(pieces, scores).lattices([text])
    most = nbest(lattices, scores, 12)
    for n in (1, 2, 3, 7):
        fewer = nbest(lattices, scores, n)
        for one, other in zip(fewer.candidates(0), most.candidates(0), strict=False):
            assert one.tolist() == other.tolist()
        np.testing.assert_array_equal(fewer.log_probabilities[0], most.log_probabilities[0, :n])
        np.testing.assert_array_equal(fewer.edges[0], most.edges[0, :n])


def by_position(text, known, unknown, n):
    """The N best of each prefix, from those of shorter ones: sorted stably, edges by start, then rank before them."""
    kept = [[(0.0, ())]]
    for end in range(1, len(text) + 1):
        paths = []
        for start in range(end):
            number, score = known.get(text[start:end], (-1, unknown if end - start == 1 else None))
            if score is not None:
                paths += [(before + score, (*ids, number)) for before, ids in kept[start]]
        kept.append(sorted(paths, key=lambda path: -path[0])[:n])
    return [ids for _, ids in kept[-1]]


@given(
    st.text("abc", max_size=12),
    st.dictionaries(st.text("abc", min_size=1, max_size=4), st.sampled_from([-1.0, -2.0, -3.0]), max_size=12),
    st.integers(1, 64),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_equal_paths_stand_in_the_order_of_a_stable_sort_at_each_position(text, pieces, n):
    """Scores are small whole numbers, so that their sums are exact and many are equal."""
    vocabulary = Vocabulary(list(pieces), list(pieces.values()))
    known = {piece: (k, score) for k, (piece, score) in enumerate(pieces.items())}
    unknown = min(pieces.values(), default=0.0) - 10.0
    found = nbest(vocabulary.lattices([text]), vocabulary.scores, n, merge_unknown=False)
    expected = [[vocabulary.unk_id if k < 0 else k for k in ids] for ids in by_position(text, known, unknown, n)]
    assert [path.tolist() for path in found.candidates(0)] == expected


def test_equal_paths_stand_in_the_order_of_their_last_edges_start_then_of_what_precedes_it():
    pieces = ["a", "aa", "aaa"]
    found = nbest(Vocabulary(pieces, [0.0, 0.0, 0.0]).lattices(["aaa"]), np.zeros(3), 9)
    assert [[pieces[k] for k in path] for path in found.candidates(0)] == [["aaa"], ["a", "aa"], ["aa", "a"], ["a"] * 3]
    assert found.mask[0].tolist() == [True] * 4 + [False] * 5
    assert found.ids[0, 4].tolist() == [-1, -1, -1]


def test_paths_of_like_weight_count_though_their_last_edges_have_other_exponents():
    """exp(−177) and exp(−178) lie on the two sides of where a weight takes another power of 2^512."""
    pieces, scores = ["a", "ab", "b", "bc", "c"], np.array([-177.0, -178.0, -5000.0, -177.0, -178.0])
    lattices = Vocabulary(pieces, scores).lattices(["abc"])
    assert log_partition(lattices, scores, 1.0)[0] == pytest.approx(np.logaddexp(-354.0, -356.0), rel=1e-12)
    share = 1 / (1 + math.exp(-2.0))
    counts = expected_counts(lattices, scores, 1.0).dense()[0]
    np.testing.assert_allclose(counts, [share, 1 - share, 0, share, 1 - share, 0], atol=1e-12)
    assert entropy(lattices, scores, 1.0)[0] == pytest.approx(
        -share * math.log(share) - (1 - share) * math.log(1 - share)
    )
    drawn = sample(lattices.take([0] * 2000), scores, 1.0, 1, 0, range(2000)).to_lists()
    assert drawn.count([1, 4]) / 2000 == pytest.approx(1 - share, abs=0.04)


def test_scores_far_apart_and_long_texts_keep_their_sums_finite_and_right():
    scores = np.array([-3000.0, -1.0, -2500.0], dtype=np.float32)
    vocabulary = Vocabulary(["a", "b", "ab"], scores)
    text = "ab" * 2000
    # Each "ab" is cut in two ways, independently of the others.
    logarithm = math.log(math.exp(-3001.0 + 2500.0) + 1.0) - 2500.0
    lattices = vocabulary.lattices([text])
    assert log_partition(lattices, scores, 1.0)[0] == pytest.approx(2000 * logarithm, rel=1e-12)
    assert log_partition(lattices, scores, 0.0)[0] == pytest.approx(2000 * math.log(2), rel=1e-12)
    assert expected_counts(lattices, scores, 0.0).dense()[0].tolist() == pytest.approx([1000, 1000, 1000, 0])
    share = 1 / (1 + math.exp(-501 * 0.01))
    expected = 2000 * -(share * math.log(share) + (1 - share) * math.log(1 - share))
    assert entropy(lattices, scores, 0.01)[0] == pytest.approx(expected, rel=1e-9)
