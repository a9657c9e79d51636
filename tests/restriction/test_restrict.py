"""A restricted translator: fewer pieces, the same numbers for those that are left, models that load anywhere."""

import io
import random
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sentencepiece
import torch
from sentencepiece.sentencepiece_model_pb2 import ModelProto

from optok import plan
from optok.config import Architecture
from optok.corpora.store import read_split
from optok.errors import UserError
from optok.files import read_json
from optok.joint.train import TrainSettings, train_system
from optok.restriction.choosing import top
from optok.restriction.restrict import RestrictSettings, restrict_system
from optok.restriction.slicing import sliced_model, sliced_weights
from optok.tokenizers.model_file import read_model, read_unigram
from optok.translation import translator as folders
from optok.translation.transformer import Transformer

NORMAL = ModelProto.SentencePiece.NORMAL
SIDES = {"source": "en", "target": "zh_CN"}


def restrict(benchmark, base: Path, output: Path, keep: float) -> dict:
    settings = plan.restrict_settings(benchmark.settings, benchmark.run("optok-restricted"))
    read = RestrictSettings.model_validate({**settings, "restrict": {"method": "top", "keep": keep}})
    return restrict_system(read, "optok-restricted", base, benchmark.corpus, output)


@pytest.fixture(scope="module")
def runs(prepared, tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    folder = tmp_path_factory.mktemp("restricted")
    settings = TrainSettings.model_validate(plan.train_settings(prepared.settings, prepared.run("optok")))
    tokenizers = prepared.results / "own" / "tokenizers" / "unigram"
    train_system(settings, "optok", prepared.corpus, tokenizers, folder / "base")
    record = restrict(prepared, folder / "base", folder / "small", 0.8)
    return SimpleNamespace(base=folder / "base", small=folder / "small", record=record)


def pieces_of(model: Path) -> list[str]:
    return [piece.piece for piece in read_model(model).pieces]


def test_logits_over_the_kept_pieces_are_those_of_the_full_translator(prepared, runs: SimpleNamespace):
    read = {name: folders.read(getattr(runs, name) / "translator") for name in ("base", "small")}
    models = {name: translator.transformer({"source": 3, "target": 3}) for name, translator in read.items()}
    pieces = {
        name: {side: pieces_of(path) for side, path in translator.models.items()} for name, translator in read.items()
    }
    rows = [pieces["base"]["target"].index(piece) for piece in pieces["small"]["target"]]
    cut = {}
    for side, code in SIDES.items():
        processor = sentencepiece.SentencePieceProcessor(model_file=str(read["small"].models[side]))
        cut[side] = [processor.encode(line, out_type=str) for line in read_split(prepared.corpus, "test")[code]]
    for source, target in zip(cut["source"], cut["target"], strict=True):
        logits = {}
        for name, model in models.items():
            known = pieces[name]
            ids = torch.tensor([[known["source"].index(piece) for piece in [*source, "</s>"]]])
            given = torch.tensor([[known["target"].index(piece) for piece in ["<s>", *target]]])
            with torch.no_grad():
                logits[name] = model.logits(model.decode(given, *model.encode(ids)))[0]
        torch.testing.assert_close(logits["small"], logits["base"][:, rows], rtol=0, atol=1e-5)


def test_the_most_probable_pieces_stay_with_their_scores_and_every_character(runs: SimpleNamespace):
    for side in SIDES:
        before, after = (read_model(folder / "translator" / f"{side}.model") for folder in (runs.base, runs.small))
        normal = [piece for piece in before.pieces if piece.type == NORMAL]
        characters = [piece for piece in normal if len(piece.piece) == 1]
        longer = sorted((piece for piece in normal if len(piece.piece) > 1), key=lambda piece: -piece.score)
        expected = {piece.piece for piece in characters + longer[: round(0.8 * len(normal)) - len(characters)]}
        assert {piece.piece for piece in after.pieces if piece.type == NORMAL} == expected
        assert len(expected) == round(0.8 * len(normal)) < len(normal)
        kept = [piece for piece in before.pieces if piece.type != NORMAL or piece.piece in expected]
        assert list(after.pieces) == kept
        assert after.trainer_spec.vocab_size == len(kept)


def test_restricted_models_load_in_stock_sentencepiece_and_know_their_ids(prepared, runs: SimpleNamespace):
    translator = folders.read(runs.small / "translator")
    for side, code in SIDES.items():
        before, after = (
            sentencepiece.SentencePieceProcessor(model_file=str(folder / "translator" / f"{side}.model"))
            for folder in (runs.base, runs.small)
        )
        assert len(after) == len(translator.weights[f"{side}_embedding.weight"]) < len(before)
        for name in ("unk_id", "bos_id", "eos_id", "pad_id"):
            assert getattr(after, name)() == getattr(before, name)()
        full = folders.read(runs.base / "translator").weights[f"{side}_embedding.weight"]
        for number, row in enumerate(translator.weights[f"{side}_embedding.weight"]):
            assert np.array_equal(row, full[before.piece_to_id(after.id_to_piece(number))])
        for line in read_split(prepared.corpus, "train")[code]:
            assert after.unk_id() not in after.encode(line)
            assert after.decode(after.encode(line)) == before.decode(before.encode(line))


def test_the_record_says_what_was_kept_and_saved(runs: SimpleNamespace):
    base = read_json(runs.base / "run.json")
    assert runs.record == read_json(runs.small / "run.json")
    assert runs.record["base_hash"] == base["hash"] != runs.record["hash"]
    saved = 0
    for side in SIDES:
        tokenizer = runs.record["tokenizers"][side]
        assert tokenizer["pieces"] == len(pieces_of(runs.small / "translator" / f"{side}.model"))
        assert tokenizer["pieces_before"] == base["tokenizers"][side]["pieces"]
        saved += tokenizer["pieces_before"] - tokenizer["pieces"]
    assert base["parameters"] - runs.record["parameters"] == saved * 16  # the benchmark's width
    assert runs.record["bytes"] == (runs.small / "translator" / "model.safetensors").stat().st_size < base["bytes"]


def test_keeping_everything_keeps_every_byte(prepared, runs: SimpleNamespace, tmp_path: Path):
    restrict(prepared, runs.base, tmp_path, 1.0)
    for name in plan.TRANSLATOR_FILES:
        assert (tmp_path / "translator" / name).read_bytes() == (runs.base / "translator" / name).read_bytes()


def test_a_restricted_system_can_be_restricted_again(prepared, runs: SimpleNamespace, tmp_path: Path):
    record = restrict(prepared, runs.small, tmp_path, 0.9)
    assert all(record["tokenizers"][side]["pieces"] < runs.record["tokenizers"][side]["pieces"] for side in SIDES)


def test_below_the_number_of_characters_is_refused_with_the_share_that_works(
    prepared, runs: SimpleNamespace, tmp_path: Path
):
    with pytest.raises(UserError, match=r"optok-restricted, source side: keeping 0\.1 of ") as caught:
        restrict(prepared, runs.base, tmp_path / "small", 0.1)
    assert not (tmp_path / "small").exists()
    least = float(str(caught.value).split("set restrict.keep to ")[1].split(" ")[0])
    model = read_unigram(runs.base / "translator" / "source.model")
    stays = top(model, least, "here")
    characters = [piece for piece in model.pieces if piece.type == NORMAL and len(piece.piece) == 1]
    assert len(characters) <= sum(model.pieces[int(number)].type == NORMAL for number in stays) <= len(characters) + 1
    with pytest.raises(UserError):
        top(model, least - 0.05, "here")


def other_model(**options) -> ModelProto:
    """A model with the pieces of other kinds that a vocabulary may hold."""
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefg", k=draw.randint(2, 5))) for _ in range(60)]
    text = [" ".join(draw.choices(words, k=6)) for _ in range(200)]
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text), model_writer=written, minloglevel=2, hard_vocab_limit=False, **options
    )
    return ModelProto.FromString(written.getvalue())


@pytest.mark.parametrize(
    "options",
    [
        {"vocab_size": 400, "byte_fallback": True, "pad_id": 3},
        {"vocab_size": 90, "user_defined_symbols": ["<x>", "cab"], "control_symbols": ["<y>"], "pad_id": 3},
        {"vocab_size": 90, "unk_id": 3, "bos_id": 2, "eos_id": 1, "pad_id": 0},
    ],
    ids=["bytes", "user-defined and control", "other ids"],
)
def test_pieces_that_are_no_words_always_stay(options: dict):
    model = other_model(**options)
    stays = top(model, 0.6, "here")
    smaller = sliced_model(model, stays)
    for kind in {piece.type for piece in model.pieces} - {NORMAL}:
        one, other = ([piece.piece for piece in part.pieces if piece.type == kind] for part in (model, smaller))
        assert one == other
    assert sum(piece.type == NORMAL for piece in smaller.pieces) == round(
        0.6 * sum(piece.type == NORMAL for piece in model.pieces)
    )
    before, after = (sentencepiece.SentencePieceProcessor(model_proto=m.SerializeToString()) for m in (model, smaller))
    for name in ("unk", "bos", "eos", "pad"):
        ids = [getattr(processor, f"{name}_id")() for processor in (before, after)]
        assert ids[0] >= 0
        assert after.id_to_piece(ids[1]) == before.id_to_piece(ids[0])
    line = "abc <x> défg cab"
    assert after.decode(after.encode(line)) == before.decode(before.encode(line))


def test_only_embeddings_are_sliced():
    torch.manual_seed(0)
    sizes = Architecture(encoder_layers=1, decoder_layers=1, width=16, feed_forward=16, heads=2)
    weights = {name: tensor.numpy() for name, tensor in Transformer(sizes, 9, 8, 3, 3).state_dict().items()}
    smaller = sliced_weights(weights, {"source": np.array([0, 1, 5]), "target": np.array([7])})
    for name, array in weights.items():
        rows = {"source_embedding.weight": [0, 1, 5], "target_embedding.weight": [7]}.get(name)
        assert np.array_equal(smaller[name], array if rows is None else array[rows])
