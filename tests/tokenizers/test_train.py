import random

import polars as pl
import pytest
import sentencepiece

from optok.config import Tokenizer
from optok.corpora.store import write_corpus
from optok.errors import UserError
from optok.files import read_json, sha256_of
from optok.tokenizers.train import LONGEST_LINE, train_tokenizer

SYLLABLES = ["ba", "de", "ki", "lo", "mu", "na", "po", "ri", "sa", "tu", "ver", "zen"]


def made_lines(count, seed=1):
    draw = random.Random(seed)
    words = ["".join(draw.choices(SYLLABLES, k=draw.randint(1, 4))) for _ in range(300)]
    return [" ".join(draw.choices(words, k=draw.randint(4, 12))) for _ in range(count)]


def corpus_of(folder, lines, languages=("en", "de"), name="mine"):
    """A prepared corpus with the same training lines in both languages."""
    codes = [language.replace("-", "_") for language in languages]
    table = pl.DataFrame(dict.fromkeys(codes, lines) | {"line": [f"made:{row}" for row in range(len(lines))]})
    report = {"corpus": name, "languages": dict(zip(codes, languages, strict=True))}
    write_corpus(folder, dict.fromkeys(("train", "valid", "test"), table), codes, report)
    return folder


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return corpus_of(tmp_path_factory.mktemp("corpus"), made_lines(400))


def model_of(folder, code="de"):
    return sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{code}.model"))


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_model_has_the_size_asked_and_the_reserved_ids(corpus, tmp_path, kind):
    result = train_tokenizer(Tokenizer(kind=kind, size={"default": 120}), "de", corpus, tmp_path)
    model = model_of(tmp_path)
    assert [model.id_to_piece(piece) for piece in range(4)] == ["<unk>", "<s>", "</s>", "<pad>"]
    assert (model.unk_id(), model.bos_id(), model.eos_id(), model.pad_id()) == (0, 1, 2, 3)
    assert result["pieces"] == result["size"] == model.get_piece_size() == 120
    assert result["kind"] == kind
    assert result["sentences"] == 400
    assert result["sha256"] == sha256_of(tmp_path / "de.model")
    assert read_json(tmp_path / "de.json") == result


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_training_twice_gives_the_same_bytes_whatever_the_machine_has(corpus, tmp_path, monkeypatch, kind):
    settings = Tokenizer(kind=kind, size={"default": 120}, threads=2)
    first = train_tokenizer(settings, "de", corpus, tmp_path / "first")
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    train_tokenizer(settings, "de", corpus, tmp_path / "again")
    assert (tmp_path / "first" / "de.model").read_bytes() == (tmp_path / "again" / "de.model").read_bytes()
    assert first["threads"] == 2


@pytest.mark.parametrize(
    ("languages", "asked"), [(("en", "zh-CN"), "zh-CN"), (("en", "zh-CN"), "zh_CN"), (("en", "pt-BR"), "pt-BR")]
)
def test_size_and_coverage_are_the_languages_own_where_given(tmp_path, languages, asked):
    folder = corpus_of(tmp_path / "corpus", made_lines(300), languages)
    settings = Tokenizer(kind="unigram", size={"default": 100, "zh-CN": 90}, coverage={"default": 1.0, "zh-CN": 0.9995})
    result = train_tokenizer(settings, asked, folder, tmp_path / "made")
    code = asked.replace("-", "_")
    assert (result["size"], result["coverage"]) == ((90, 0.9995) if code == "zh_CN" else (100, 1.0))
    assert result["language"] == asked.replace("_", "-")
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == [f"{code}.json", f"{code}.model"]


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_vocabulary_larger_than_the_text_supports_is_told_the_maximum_which_then_works(corpus, tmp_path, kind):
    settings = Tokenizer(kind=kind, size={"default": 99_999})
    with pytest.raises(UserError, match=r"corpus mine, language de: a vocabulary of 99999 .*soft_limit") as raised:
        train_tokenizer(settings, "de", corpus, tmp_path / "made")
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "made").exists()
    most = int(str(raised.value).split("at most ")[1].split(":")[0])
    fitting = Tokenizer(kind=kind, size={"default": most})
    assert train_tokenizer(fitting, "de", corpus, tmp_path / "fitting")["pieces"] == most
    soft = settings.model_copy(update={"soft_limit": True})
    result = train_tokenizer(soft, "de", corpus, tmp_path / "soft")
    assert (result["size"], result["pieces"]) == (99_999, most)
    assert model_of(tmp_path / "soft").get_piece_size() == most


def test_a_vocabulary_too_small_for_the_characters_is_told_how_many_they_are(tmp_path):
    letters = [chr(0x4E00 + number) for number in range(200)]
    folder = corpus_of(tmp_path / "corpus", ["".join(letters[start : start + 20]) for start in range(0, 200, 5)])
    message = (
        "vocabulary of 100 has no room .* 205 at coverage 1.0: raise the tokenizer's 'size' or lower its 'coverage'"
    )
    # 200 letters, the mark of a blank and the four reserved pieces.
    with pytest.raises(UserError, match=message):
        train_tokenizer(Tokenizer(kind="unigram", size={"default": 100}), "de", folder, tmp_path / "made")
    lower = Tokenizer(kind="unigram", size={"default": 204}, coverage={"default": 0.98}, soft_limit=True)
    assert train_tokenizer(lower, "de", folder, tmp_path / "made")["pieces"] <= 204


def test_lines_that_teach_nothing_are_counted_and_change_nothing(corpus, tmp_path):
    long = "x" * (LONGEST_LINE + 1)
    folder = corpus_of(tmp_path / "corpus", ["", *made_lines(400), "  ", long, "a ▅ b", "é" * 3000, "q" * 70_000])
    settings = Tokenizer(kind="bpe", size={"default": 120})
    result = train_tokenizer(settings, "de", folder, tmp_path / "made")
    counts = ("empty_lines", "too_long_lines", "boundary_lines", "sentences")
    assert [result[name] for name in counts] == [2, 3, 1, 400]
    assert result["sha256"] == train_tokenizer(settings, "de", corpus, tmp_path / "plain")["sha256"]


def test_text_without_a_usable_line_says_why_and_where(tmp_path):
    folder = corpus_of(tmp_path / "corpus", ["", "x" * 5000, " ", "y" * 5000, "▅"])
    with pytest.raises(UserError) as raised:
        train_tokenizer(Tokenizer(kind="unigram", size={"default": 50}), "de", folder, tmp_path / "made")
    assert str(raised.value) == (
        "corpus mine, language de: no line of the training text can teach a tokenizer: of 5, 2 are empty (first: line "
        "1), 2 are longer than 4192 bytes (first: line 2), 1 hold U+2585 (first: line 5)"
    )


def test_control_pieces_in_the_text_stay_text(tmp_path):
    folder = corpus_of(tmp_path / "corpus", [f"{line} <tag> /" for line in made_lines(400)] + ["x </s>"])
    train_tokenizer(Tokenizer(kind="unigram", size={"default": 150}), "de", folder, tmp_path)
    model = model_of(tmp_path)
    assert min(model.encode("ba </s> <s> <pad> <unk>")) > 3
    assert model.decode(model.encode("ba </s> <s> <pad> <unk>")) == "ba </s> <s> <pad> <unk>"


def test_the_sample_is_spread_over_the_text_and_drawn_from_its_seed(tmp_path):
    lines = ["only früh ä" + line for line in made_lines(300)] + ["only spät ß" + line for line in made_lines(300, 2)]
    folder = corpus_of(tmp_path / "corpus", lines)
    settings = Tokenizer(kind="unigram", size={"default": 120}, max_sentences=100)
    first, again, other = (
        train_tokenizer(settings, "de", folder, tmp_path / name, seed_of_sample=seed)
        for name, seed in [("first", 1), ("again", 1), ("other", 2)]
    )
    assert first["sentences"] == 100
    assert first["sample_seed"] == 1
    assert first["sha256"] == again["sha256"] != other["sha256"]
    model = model_of(tmp_path / "first")
    assert model.unk_id() not in model.encode("ä ß")


def test_lines_that_the_normalizer_changes_are_counted(tmp_path):
    changed = ["an ellipsis…", "２ apples", "two  blanks", "wide\u3000blank"]
    folder = corpus_of(tmp_path / "corpus", made_lines(300) + changed)
    normal = train_tokenizer(Tokenizer(kind="unigram", size={"default": 120}), "de", folder, tmp_path)
    assert normal["normalized_lines"] == 4
    settings = Tokenizer(kind="unigram", size={"default": 120}, normalizer="identity")
    # Even `identity` folds the two blanks into one.
    assert train_tokenizer(settings, "de", folder, tmp_path)["normalized_lines"] == 1


def test_byte_fallback_leaves_nothing_unknown(corpus, tmp_path):
    settings = Tokenizer(kind="unigram", size={"default": 400}, byte_fallback=True, soft_limit=True)
    train_tokenizer(settings, "de", corpus, tmp_path)
    model = model_of(tmp_path)
    assert model.unk_id() not in model.encode("写真")
    assert model.decode(model.encode("写真")) == "写真"


def test_nothing_is_printed(corpus, tmp_path, capfd):
    train_tokenizer(Tokenizer(kind="unigram", size={"default": 120}), "de", corpus, tmp_path)
    with pytest.raises(UserError):
        train_tokenizer(Tokenizer(kind="unigram", size={"default": 99_999}), "de", corpus, tmp_path)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("settings", "language", "fault"),
    [
        (Tokenizer(kind="unigram", size={"default": 50}), "fr", "corpus mine has no language 'fr': .*allowed: de, en"),
        (Tokenizer(kind="unigram", size={"en": 50}), "de", "no value for 'de' and no default"),
    ],
)
def test_a_language_that_is_not_there_is_an_error(corpus, tmp_path, settings, language, fault):
    with pytest.raises(UserError, match=fault):
        train_tokenizer(settings, language, corpus, tmp_path)


def test_a_corpus_that_is_not_there_says_which_stage_makes_it(tmp_path):
    with pytest.raises(UserError, match=r"report\.json is missing: run the stage"):
        train_tokenizer(Tokenizer(kind="unigram", size={"default": 50}), "de", tmp_path, tmp_path)
