"""Reading and writing `.model` files."""

from __future__ import annotations

import numpy as np
import pytest
import sentencepiece

from optok.errors import UserError
from optok.lattice import Vocabulary, best_path
from optok.tokenizers.model_file import Piece, check_model, read_model, read_unigram, write_scores


def test_written_scores_keep_ids_types_and_normaliser(trained, lines, tmp_path):
    model = trained(user_defined_symbols=["<x>", "ti"])
    vocabulary = Vocabulary.load(model)
    draw = np.random.default_rng(1)
    scores = vocabulary.scores.copy()
    scores[vocabulary.normal] += draw.normal(0, 1, vocabulary.normal.sum()).astype(np.float32)
    barred = draw.choice(np.flatnonzero(vocabulary.normal), 100, replace=False)
    scores[barred] = -np.inf
    target = tmp_path / "learned.model"
    write_scores(model, scores, target)
    before, after = read_model(model), read_model(target)
    assert [piece.piece for piece in after.pieces] == [piece.piece for piece in before.pieces]
    assert after.normalizer_spec == before.normalizer_spec
    for number, (old, new) in enumerate(zip(before.pieces, after.pieces, strict=True)):
        if number in barred:
            assert new.type == Piece.UNUSED
            assert np.isfinite(new.score)
        else:
            assert (new.type, new.score) == (old.type, scores[number])
    processor = sentencepiece.SentencePieceProcessor(model_file=str(target))
    ours = best_path(vocabulary.lattices(lines), scores).to_lists()
    assert ours == processor.encode(lines)
    assert ours == best_path(Vocabulary.load(target).lattices(lines), Vocabulary.load(target).scores).to_lists()
    assert not np.isin(np.concatenate([np.array(ids) for ids in ours]), barred).any()
    check_model(target, lines)


def test_a_model_that_segments_otherwise_is_refused_naming_the_lines(trained, lines):
    model = trained()
    vocabulary = Vocabulary.load(model)
    check_model(model, lines, vocabulary.scores)
    single = np.array([len(piece.piece) == 1 for piece in read_model(model).pieces])
    characters = np.where(vocabulary.normal & ~single, np.float32(-1000), vocabulary.scores)  # favour single characters
    texts = [max(lines, key=len), "", *lines[-2:], " "]
    with pytest.raises(UserError, match=r"3 of 5 lines otherwise than the lattice \(lines 1, 3, 4\)"):
        check_model(model, texts, characters)


@pytest.mark.parametrize("kind", ["bpe", "word", "char"])
def test_other_kinds_than_unigram_are_refused(kind, trained):
    model = trained(model_type=kind)
    with pytest.raises(UserError, match=f"is a {kind} model"):
        Vocabulary.load(model)


def test_files_that_are_no_models_are_refused(trained, tmp_path):
    whole = trained().read_bytes()
    contents = {"text.model": b"just some text\n", "empty.model": b"", "cut.model": whole[: len(whole) // 2]}
    contents |= {"almost.model": whole[:-1], "list.model": whole[:500]}
    for name, content in contents.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(UserError, match=rf"{name}: it is not a SentencePiece \.model file, or it was cut off"):
            read_unigram(path)
    with pytest.raises(UserError, match="No such file"):
        read_unigram(tmp_path / "absent.model")
    with pytest.raises(UserError, match="Is a directory"):
        read_unigram(tmp_path)


def rules(model, change):
    blob = bytearray(model.normalizer_spec.precompiled_charsmap)
    change(blob)
    model.normalizer_spec.precompiled_charsmap = bytes(blob)


def far_values(blob):
    """Every value of the double array points beyond the replacements."""
    units = np.frombuffer(blob, dtype="<u4", count=int.from_bytes(blob[:4], "little") // 4, offset=4)
    units[units >= 1 << 31] |= 1 << 30


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda model: model.pieces.append(model.pieces[-1]), "stands in it twice"),
        (lambda model: model.pieces.add(), "a piece of it is empty"),
        (lambda model: setattr(model.pieces[0], "type", Piece.NORMAL), "0 unknown pieces instead of one"),
        (lambda model: setattr(model.pieces[10], "type", Piece.NORMAL), "pieces for bytes are missing"),
        (lambda model: rules(model, lambda blob: blob.pop()), "rules are broken"),
        (lambda model: rules(model, lambda blob: blob.__delitem__(slice(100, None))), "rules are broken"),
        (lambda model: rules(model, lambda blob: blob.__setitem__(-2, 0xFF)), "rules are broken"),
        (lambda model: rules(model, far_values), "rules are broken"),
    ],
)
def test_a_model_that_is_damaged_inside_is_refused(damage, words, trained, tmp_path):
    model = read_model(trained(byte_fallback=True, character_coverage=0.98))
    damage(model)
    (tmp_path / "damaged.model").write_bytes(model.SerializeToString())
    with pytest.raises(UserError, match=rf"damaged\.model is a damaged SentencePiece model.*{words}"):
        Vocabulary.load(tmp_path / "damaged.model")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda scores: scores[:-1], "one for each of the"),
        (lambda scores: np.where(np.arange(len(scores)) == 9, np.nan, scores), "piece 9 .* is nan"),
        (lambda scores: np.full_like(scores, -np.inf), "bar every normal piece"),
    ],
)
def test_scores_that_do_not_fit_are_not_written(change, words, trained, tmp_path):
    model = trained()
    with pytest.raises(UserError, match=words):
        write_scores(model, change(Vocabulary.load(model).scores), tmp_path / "no.model")
    assert not (tmp_path / "no.model").exists()
