"""The operations against brute force: every segmentation of a short text enumerated (vectors.json)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from optok.lattice import Vocabulary, best_path, entropy, expected_counts, log_partition, nbest, sample

VECTORS = json.loads(Path(os.environ.get("OPTOK_VECTORS", Path(__file__).with_name("vectors.json"))).read_text("utf-8"))
DRAWS = 2000


def prepared(vector):
    pieces = [piece for piece, _ in vector["pieces"]]
    scores = np.array([-np.inf if score is None else score for _, score in vector["pieces"]], dtype=np.float32)
    vocabulary = Vocabulary(pieces, scores, unk_score=vector["unk_logp"])
    return vocabulary, vocabulary.lattices([vector["text"]]), scores


def merged(vector, vocabulary, pieces):
    """The output ids of a raw path: runs of <unk> become one."""
    known = {piece: number for number, piece in enumerate(vocabulary.pieces)}
    ids = [known.get(piece, vocabulary.unk_id) if piece != "<unk>" else vocabulary.unk_id for piece in pieces]
    return tuple(x for k, x in enumerate(ids) if x != vocabulary.unk_id or k == 0 or ids[k - 1] != x)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_paths_of_the_vectors(vector):
    vocabulary, lattices, scores = prepared(vector)
    asked = len(vector["nbest"])
    found = nbest(lattices, scores, asked + 1 if vector["n_segmentations"] == asked else asked)
    expected = np.array([path["logp"] for path in vector["nbest"]])
    existing = found.log_probabilities[0][found.mask[0]]
    np.testing.assert_allclose(existing, expected, rtol=1e-5, atol=1e-5)
    paths = [tuple(path.tolist()) for path in found.candidates(0)]
    for rank, path in enumerate(vector["nbest"]):
        near = np.flatnonzero(np.abs(expected - expected[rank]) <= 1e-5)
        cut = near[-1] == len(expected) - 1 and vector["n_segmentations"] > asked
        if not cut:
            assert merged(vector, vocabulary, path["pieces"]) in [paths[k] for k in near]
        if len(near) == 1:
            assert found.edges[0, rank] == len(path["pieces"])
    best = best_path(lattices, scores)[0].tolist()
    assert found.log_probabilities[0, 0] == pytest.approx(vector["viterbi"]["logp"], rel=1e-5, abs=1e-5)
    assert tuple(best) in [paths[k] for k in np.flatnonzero(existing >= existing[0] - 1e-5)]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_sums_of_the_vectors(vector):
    vocabulary, lattices, scores = prepared(vector)
    for values in vector["by_alpha"]:
        alpha = values["alpha"]
        total = log_partition(lattices, scores, alpha)[0]
        assert total == pytest.approx(values["log_partition"], rel=1e-5, abs=1e-5)
        counts = expected_counts(lattices, scores, alpha).dense()[0]
        for piece, expected in values["expected_counts"].items():
            number = vocabulary.unk_id if piece == "<unk>" else vocabulary.pieces.index(piece)
            assert counts[number] == pytest.approx(expected, rel=1e-4, abs=1e-6)
            counts[number] = 0.0
        assert counts.sum() < 1e-4
        probabilities = np.array([path["p"] for path in values["sampling"]])
        if len(probabilities) == vector["n_segmentations"]:
            positive = probabilities[probabilities > 0]
            expected = -(positive * np.log(positive)).sum()
            assert entropy(lattices, scores, alpha)[0] == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_draws_follow_the_exact_probabilities_of_the_vectors():
    statistic, degrees = 0.0, 0
    for number, vector in enumerate(VECTORS):
        vocabulary, lattices, scores = prepared(vector)
        for values in vector["by_alpha"]:
            alpha = values["alpha"]
            drawn = sample(lattices.take(np.zeros(DRAWS, dtype=int)), scores, alpha, 7, number, range(DRAWS)).to_lists()
            expected = {}
            for path in values["sampling"]:
                key = merged(vector, vocabulary, path["pieces"])
                expected[key] = expected.get(key, 0.0) + path["p"] * DRAWS
            observed = dict.fromkeys(expected, 0)
            for path in drawn:
                if tuple(path) in observed:
                    observed[tuple(path)] += 1
            bins = [(observed[key], expected[key]) for key in expected if expected[key] >= 5]
            rest = (DRAWS - sum(o for o, _ in bins), DRAWS - sum(e for _, e in bins))
            if rest[1] >= 5:
                bins.append(rest)
            elif bins:
                bins[-1] = (bins[-1][0] + rest[0], bins[-1][1] + rest[1])
            statistic += sum((o - e) ** 2 / e for o, e in bins)
            degrees += len(bins) - 1
    if degrees == 0:
        pytest.skip("no text of this file has two segmentations that are likely enough")
    assert degrees > 100 or "OPTOK_VECTORS" in os.environ
    # Wilson and Hilferty (1931): the cube root of chi-square over its degrees of freedom is nearly normal.
    spread = 2 / (9 * degrees)
    tail = 1 - NormalDist(1 - spread, spread**0.5).cdf((statistic / degrees) ** (1 / 3))
    assert tail > 1e-6
