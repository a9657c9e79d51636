"""The objective against worked values: loss, weights and gradient from every segmentation of a short text."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from optok.joint.objective import Candidates, tokenizer_terms

FILE = Path(os.environ.get("OPTOK_VECTORS", Path(__file__).parents[1] / "lattice" / "vectors.json"))
VECTORS = [vector for vector in json.loads(FILE.read_text(encoding="utf-8")) if "objective" in vector]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_loss_weights_and_gradient_of_the_vectors(vector: dict):
    names = [piece for piece, _ in vector["pieces"]] + ["<unk>"]
    paths = [[names.index(piece) for piece in path["pieces"]] for path in vector["nbest"]]
    ids = np.full((1, len(paths), max(map(len, paths))), -1, np.int32)
    for row, path in zip(ids[0], paths, strict=True):
        row[: len(path)] = path
    scores = np.array([[path["logp"] for path in vector["nbest"]]])
    candidates = Candidates(ids, (ids >= 0).sum(axis=2), scores, np.ones(scores.shape, bool))
    expected = vector["objective"]
    np.testing.assert_allclose(candidates.weights()[0], expected["weights"], rtol=1e-9)
    terms = tokenizer_terms(candidates, np.array([expected["candidate_losses"]]), np.ones(1), 0.0, len(names))
    assert terms.loss == pytest.approx(expected["loss"], rel=1e-9)
    gradient = dict(zip(names, terms.gradient, strict=True))
    assert set(expected["d_loss_d_logp"]) <= set(names)
    for name, value in gradient.items():
        assert value == pytest.approx(expected["d_loss_d_logp"].get(name, 0.0), abs=1e-9)
