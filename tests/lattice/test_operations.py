"""Batches, threads, randomness, and what is refused."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from optok.errors import UserError
from optok.lattice import Vocabulary, best_path, entropy, expected_counts, log_partition, nbest, sample

PIECES = ["a", "b", "ab", "ba", "aba", "é", "éa", "漢", "▁", "▁a", "bb"]
SCORES = np.array([-2, -2.5, -3, -3.5, -4, -5, -6, -7, -2, -3, -4.5], dtype=np.float32)
TEXTS = ["", "a", "abab", "xx", "ab▁aé漢xx", "ababababbababa", "漢漢", "▁a▁ab", "b" * 40, "abé" * 30]


@pytest.fixture(scope="module")
def vocabulary():
    return Vocabulary(PIECES, SCORES)


@pytest.fixture(scope="module")
def lattices(vocabulary):
    return vocabulary.lattices(TEXTS)


def drawn(lattices, ids, **options):
    return sample(lattices, SCORES, 0.3, 5, 2, ids, **options).to_lists()


def test_a_draw_depends_on_seed_purpose_epoch_and_id_alone(lattices):
    ids = np.arange(len(TEXTS))
    reference = drawn(lattices, ids)
    order = np.array([7, 2, 9, 2, 0, 5])
    assert drawn(lattices.take(order), order) == [reference[k] for k in order]
    for threads in (2, 8):
        assert drawn(lattices, ids, threads=threads) == reference
    assert drawn(lattices, ids, purpose="target") != reference
    assert sample(lattices, SCORES, 0.3, 6, 2, ids).to_lists() != reference
    assert sample(lattices, SCORES, 0.3, 5, 3, ids).to_lists() != reference
    assert drawn(lattices, ids + 1) != reference


def test_another_process_draws_the_same(lattices):
    program = (
        "import sys, numpy as np; from optok.lattice import *; pieces, scores, texts = eval(sys.stdin.read());"
        "scores = np.array(scores, dtype=np.float32); lattices = Vocabulary(pieces, scores).lattices(texts);"
        "print(sample(lattices, scores, 0.3, 5, 2, range(len(texts))).to_lists())"
    )
    given = repr((PIECES, SCORES.tolist(), TEXTS))
    result = subprocess.run([sys.executable, "-c", program], input=given, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == str(drawn(lattices, range(len(TEXTS))))


def test_threads_change_nothing(vocabulary, lattices):
    for threads in (2, 3, 20):
        again = vocabulary.lattices(TEXTS, threads)
        np.testing.assert_array_equal(again.longest, lattices.longest)
        np.testing.assert_array_equal(again.offsets, lattices.offsets)
    for operation in (log_partition, entropy):
        np.testing.assert_array_equal(operation(lattices, SCORES, 0.5), operation(lattices, SCORES, 0.5, threads=3))
    one, many = nbest(lattices, SCORES, 5), nbest(lattices, SCORES, 5, threads=3)
    np.testing.assert_array_equal(one.ids, many.ids)
    assert best_path(lattices, SCORES).to_lists() == best_path(lattices, SCORES, threads=8).to_lists()
    counts = [expected_counts(lattices, SCORES, 0.5, threads=threads).dense() for threads in (1, 3)]
    np.testing.assert_array_equal(*counts)


def test_a_part_of_a_batch_gives_what_the_batch_gives(lattices):
    chosen = [4, 4, 0, 9]
    part = lattices.take(chosen)
    assert part.characters.tolist() == [len(TEXTS[k]) for k in chosen]
    whole = best_path(lattices, SCORES)
    assert best_path(part, SCORES).to_lists() == [whole[k].tolist() for k in chosen]
    assert len(lattices.take(np.array([], dtype=np.int64))) == 0
    assert len(best_path(lattices.take([]), SCORES)) == 0
    with pytest.raises(IndexError):
        lattices.take([len(TEXTS)])


def test_draws_among_the_n_best_stay_among_them_in_the_right_shares(lattices):
    one = lattices.take([5])
    best = nbest(one, SCORES, 3)
    paths = sample(lattices.take([5] * 4000), SCORES, 0.5, 1, 0, range(4000), candidates=3).to_lists()
    shares = np.exp(0.5 * best.log_probabilities[0])
    shares /= shares.sum()
    for path, share in zip(best.candidates(0), shares, strict=True):
        observed = paths.count(path.tolist()) / 4000
        assert abs(observed - share) < 5 * (share * (1 - share) / 4000) ** 0.5
    assert {tuple(path) for path in paths} == {tuple(path.tolist()) for path in best.candidates(0)}


def test_the_empty_text_has_one_segmentation_of_no_pieces(lattices):
    empty = lattices.take([0])
    found = nbest(empty, SCORES, 3)
    assert found.mask.tolist() == [[True, False, False]]
    assert found.log_probabilities[0, 0] == 0.0
    assert best_path(empty, SCORES).to_lists() == [[]] == drawn(empty, [0])
    assert log_partition(empty, SCORES, 1.0).tolist() == [0.0] == entropy(empty, SCORES, 1.0).tolist()


def test_unknown_characters_only_merge_into_one_unknown_piece(vocabulary, lattices):
    unknown = lattices.take([3])
    assert best_path(unknown, SCORES).to_lists() == [[vocabulary.unk_id]]
    found = nbest(unknown, SCORES, 2)
    assert (found.lengths[0, 0], found.edges[0, 0], found.mask[0, 1]) == (1, 2, False)
    assert expected_counts(unknown, SCORES, 1.0).dense()[0, vocabulary.unk_id] == pytest.approx(2.0)


def test_a_barred_piece_has_no_edge_at_any_alpha(vocabulary, lattices):
    barred = SCORES.copy()
    barred[[0, 2, 4]] = -np.inf
    for alpha in (0.0, 0.3, 1.0):
        assert not expected_counts(lattices, barred, alpha).total()[[0, 2, 4]].any()
        paths = sample(lattices, barred, alpha, 1, 1, range(len(TEXTS)))
        assert not np.isin(paths.ids, [0, 2, 4]).any()
    assert best_path(lattices.take([1]), barred).to_lists() == [[vocabulary.unk_id]]


def refused(call):
    with pytest.raises(UserError) as error:
        call()
    return str(error.value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda v, b: nbest(b, SCORES, 0), "n is 0"),
        (lambda v, b: nbest(b, SCORES, 2.5), "n is 2.5"),
        (lambda v, b: sample(b, SCORES, -0.1, 1, 1, range(len(b))), "alpha is -0.1"),
        (lambda v, b: sample(b, SCORES, float("nan"), 1, 1, range(len(b))), "alpha is nan"),
        (lambda v, b: log_partition(b, SCORES, float("inf")), "alpha is inf"),
        (lambda v, b: sample(b, SCORES, 0.1, 1, 1, range(2)), "2 ids were given for 10 texts"),
        (lambda v, b: sample(b, SCORES, 0.1, 1, 1, [0.5] * 10), "whole numbers"),
        (lambda v, b: sample(b, SCORES, 0.1, 1, 1, range(10), candidates=0), "n is 0"),
        (lambda v, b: best_path(b, SCORES[:-1]), "one for each of the 11 pieces"),
        (lambda v, b: best_path(b, SCORES[:, None]), "one for each of the 11 pieces"),
        (lambda v, b: best_path(b, np.where(SCORES == -7, np.nan, SCORES)), "piece 7 ('漢') is nan"),
        (lambda v, b: entropy(b, np.where(SCORES == -7, np.inf, SCORES), 1.0), "piece 7 ('漢') is inf"),
        (lambda v, b: best_path(b, np.where(SCORES == -7, -1e39, SCORES.astype(float))), "piece 7 ('漢') is -1e+39"),
        (lambda v, b: best_path(b, SCORES, threads=0), "threads is 0"),
        (lambda v, b: v.lattices("one string"), "give a list of strings"),
        (lambda v, b: v.lattices(["fine", ["a", "list"]]), "text 1 is the list"),
        (lambda v, b: v.lattices(["fine", None]), "text 1 is the NoneType"),
        (lambda v, b: v.lattices(["fine", b"bytes"]), "text 1 is the bytes"),
        (lambda v, b: v.lattices(["fine", "x\ud800"]), "text 1 holds the lone surrogate U+D800 at position 1"),
        (lambda v, b: Vocabulary(["a", ""], [0, 0]), "piece 1 is ''"),
        (lambda v, b: Vocabulary(["a", "a"], [0, 0]), "'a' stands twice"),
        (lambda v, b: Vocabulary(["a"], [0, 0]), "one for each of the 1 pieces"),
        (lambda v, b: Vocabulary(["a"], [0], unk_score=-np.inf), "unk_score is -inf"),
        (lambda v, b: Vocabulary(["a"], [0], unk_score=-1e39), "unk_score is -1e+39"),
        (lambda v, b: Vocabulary(["a\ud800"], [0]), "surrogate"),
    ],
)
def test_bad_input_is_refused_in_one_clear_line(vocabulary, lattices, call, words):
    message = refused(lambda: call(vocabulary, lattices))
    assert words in message
    assert "\n" not in message


def test_the_largest_scores_that_float32_holds_end_in_a_path():
    for score in (-3.4e38, 3.4e38):
        scores = np.array([score, score, -1.0])
        vocabulary = Vocabulary(["a", "aa", "b"], scores)
        lattices = vocabulary.lattices(["aaabaa", "xaax"])
        spelled = [
            "".join([*vocabulary.pieces, "x"][k] for k in path) for path in best_path(lattices, scores).to_lists()
        ]
        assert spelled == ["aaabaa", "xaax"]
        assert not np.isnan(nbest(lattices, scores, 3).log_probabilities).any()


def test_any_float_array_serves_as_scores(lattices):
    reference = best_path(lattices, SCORES).to_lists()
    frozen = SCORES.astype(np.float64)
    frozen.setflags(write=False)
    for scores in (frozen, SCORES.tolist(), np.repeat(SCORES, 2)[::2], SCORES.astype(np.float16)):
        assert best_path(lattices, scores).to_lists() == reference


def test_several_processes_compile_into_one_empty_cache_at_once(tmp_path):
    program = "from optok.lattice.texts import content_of; print(content_of(['aé', '漢'])[1].tolist())"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            text=True,
            env={"NUMBA_CACHE_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"},
        )
        for _ in range(4)
    ]
    assert [process.communicate()[0].strip() for process in started] == ["[0, 3, 6]"] * 4
    assert list(tmp_path.rglob("*.nbc"))


@pytest.mark.parametrize("text", ["ab" * 500_000, "x" * 1_000_000])
def test_a_million_characters_take_memory_in_proportion(text):
    """200 bytes a character at most, for any of the operations; measured in a process of its own."""
    program = (
        "import sys, numpy as np; from optok.lattice import *\n"
        "def peak(): return int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) * 1024\n"
        "pieces, scores, text = eval(sys.stdin.read()); scores = np.array(scores, dtype=np.float32)\n"
        "def work(text):\n"
        "    lattices = Vocabulary(pieces, scores).lattices([text])\n"
        "    best_path(lattices, scores); nbest(lattices, scores, 3); sample(lattices, scores, 0.3, 1, 1, [0])\n"
        "    expected_counts(lattices, scores, 0.3); return entropy(lattices, scores, 0.3)[0]\n"
        "work(text[:10]); before = peak(); value = work(text); print(peak() - before, value)"
    )
    given = repr((PIECES, SCORES.tolist(), text))
    result = subprocess.run([sys.executable, "-c", program], input=given, capture_output=True, text=True, check=True)
    taken, value = map(float, result.stdout.split())
    assert taken < 200 * len(text)
    assert np.isfinite(value)


def test_equal_segmentations_without_number_are_found_in_their_order():
    """Every segmentation of a long text scores the same: the N best of the text are those of its end, continued."""
    pieces, scores = ["a", "aa", "aaa"], np.array([-1.0, -2.0, -3.0])
    found = nbest(Vocabulary(pieces, scores).lattices(["a" * 3000]), scores, 64)
    assert (found.log_probabilities == -3000.0).all()
    paths = [tuple(path.tolist()) for path in found.candidates(0)]
    assert len(set(paths)) == 64
    starts = [[sum(path[k:]) + len(path) - k for k in range(len(path) - 1, -1, -1)] for path in paths]
    assert starts == sorted(starts, reverse=True)  # from the end, the longest edge, whose start is lowest, stands first
