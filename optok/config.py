"""Every setting of a benchmark: its key, its type, its default and what it is for.

This module is the one source of all three: `config/README.md` and the JSON schema are made from it
(`python -m optok.config`), the workflow reads its configuration through it, and each stage receives the
slice of the validated settings that it needs (`optok.plan`). Keys it does not know are errors.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from optok.errors import UserError, nearest

LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def language_code(language: str) -> str:
    """A BCP-47 language as it stands in paths and tables: `zh-CN` → `zh_CN`."""
    return language.replace("-", "_")


def _language(value: str) -> str:
    if not LANGUAGE.fullmatch(value):
        raise ValueError(f"{value!r} is no language tag (BCP-47, like en, zh-CN, pt-BR)")
    return value


def _name(value: str) -> str:
    if not NAME.fullmatch(value):
        raise ValueError(f"{value!r} cannot be a name: letters, digits, '.', '_' and '-' only")
    return value


def _per_language(value: Any) -> Any:
    return value if isinstance(value, dict) else {"default": value}


Language = Annotated[str, AfterValidator(_language)]
Name = Annotated[str, AfterValidator(_name)]
Share = Annotated[float, Field(gt=0, le=1)]
Coverage = Annotated[float, Field(ge=0.98, le=1)]  # SentencePiece takes no less
Count = Annotated[int, Field(ge=1)]


class Part(BaseModel):
    """A part of the settings: unknown keys and values of another type are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Cleaning(Part):
    """What makes a pair unfit. Applied to whole messages before splitting where the corpus has no split of
    its own (`gettext`), and to training text alone where the split is given."""

    min_words: int = Field(default=1, ge=1, description="Fewest words on the English (else the first) side of a pair.")
    max_characters: Count = Field(default=1000, description="Longest side of a pair, in characters.")
    max_ratio: float = Field(
        default=4.0,
        gt=1,
        description="Largest ratio between the lengths of the two sides, after each is divided by its "
        "language's mean length; a side under ten characters counts as ten.",
    )


class Corpus(Part):
    """Parallel text of exactly two languages."""

    source: str = Field(description="How the text comes: `gettext` or `files`.")
    languages: Annotated[list[Language], Field(min_length=2, max_length=2)] = Field(
        description="The two languages, as BCP-47 tags: `[en, de]`, `[en, zh-CN]`."
    )
    directions: Annotated[list[str], Field(min_length=1, max_length=2)] = Field(
        description="One or both of `<source>-<target>`; a hyphen inside a tag becomes `_` (`en-zh_CN`)."
    )
    split_seed: int = Field(default=1, ge=0, description="Seed of a split that is made here.")
    clean: Cleaning = Field(default=Cleaning(), description="What makes a pair unfit for training.")


class GettextCorpus(Corpus):
    """The message catalogues of a program: real human translations of its interface."""

    source: Literal["gettext"] = Field(description="`gettext`: message catalogues out of a Python wheel.")
    archive: Name = Field(default="gramps", description="Entry of `optok/corpora/catalogue.yaml`.")
    valid: Count = Field(default=250, description="Pairs held out for validation.")
    test: Count = Field(default=250, description="Pairs held out for the test.")
    clean: Cleaning = Field(
        default=Cleaning(min_words=3, max_characters=500, max_ratio=3.0),
        description="What makes a message unfit. Messages under three words are labels, not sentences.",
    )


class TextFiles(Part):
    """One split of your own text: two line-aligned files, or one table with named columns."""

    files: dict[Language, str] | None = Field(
        default=None, description="A plain text file for each language, line k of one translating line k."
    )
    table: str | None = Field(default=None, description="One `.tsv` (with a header line) or `.parquet`.")
    columns: dict[Language, str] | None = Field(
        default=None, description="The table's column for each language; default: the language tags."
    )
    group: str | None = Field(
        default=None,
        description="A column of the table that names the document, page or talk of a row: when a split is "
        "made here, rows of one group stay together.",
    )


class FilesCorpus(Corpus):
    """Your own text."""

    source: Literal["files"] = Field(description="`files`: text that lies on this machine.")
    train: TextFiles = Field(description="The training text, or all text where the others are numbers.")
    valid: Count | TextFiles = Field(description="Validation pairs: a number held out of `train`, or files.")
    test: Count | TextFiles = Field(description="Test pairs: a number held out of `train`, or files.")


class Tokenizer(Part):
    """A baseline tokenizer, trained by SentencePiece on the training text, one model per language."""

    kind: Literal["unigram", "bpe"] = Field(description="SentencePiece's algorithm.")
    size: Annotated[dict[str, Count], BeforeValidator(_per_language)] = Field(
        description="Vocabulary size: one number, or `{default: 2000, vi: 1200}`."
    )
    coverage: Annotated[dict[str, Coverage], BeforeValidator(_per_language)] = Field(
        default={"default": 1.0},
        description="Share of the text's characters that get a piece of their own, 0.98 to 1: one number or per "
        "language. At 1.0 a small Chinese or Japanese vocabulary fills with rare characters; 0.9995 is usual there.",
    )
    soft_limit: bool = Field(
        default=False,
        description="Accept a smaller vocabulary where the text does not support `size`; the size reached "
        "stands in every report. Otherwise that is an error.",
    )
    normalizer: Literal["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"] = Field(
        default="nmt_nfkc",
        description="SentencePiece's normalisation of what is segmented; references stay raw.",
    )
    byte_fallback: bool = Field(default=False, description="Spell unknown characters as bytes instead of `<unk>`.")
    threads: Count = Field(
        default=1,
        description="Threads of SentencePiece's trainer. They change the scores' last bits, so they are a "
        "setting and never the machine's.",
    )
    max_sentences: Count = Field(
        default=1_000_000, description="Train on a seeded sample of this many sentences where there are more."
    )


class Sampling(Part):
    """Subword regularisation: every training sentence is cut anew in every epoch (Kudo 2018)."""

    alpha: float = Field(
        ge=0,
        description="A segmentation s is drawn with p(s)^α over the whole lattice. Lower is wilder and longer: "
        "about × 1.05 tokens at 0.5, × 1.1 to 1.3 at 0.2; 0 is uniform.",
    )


class Joint(Part):
    """The tokenizers are neural unigram models learned with the translator (OpTok, Hiraoka et al. 2021)."""

    side: Literal["both", "source", "target"] = Field(default="both", description="Whose tokenizer learns.")
    candidates: int = Field(default=3, ge=2, le=64, description="N: segmentations weighed per sentence.")
    mu: float = Field(default=0.01, ge=0, description="μ: weight of the language-model term.")
    start_after: int = Field(default=100, ge=0, description="Updates of the translator alone, first.")
    fraction: Share = Field(
        default=0.25,
        description="Share of each batch's sentences that carries the tokenizer terms (unbiased).",
    )
    learning_rate: float = Field(default=1e-3, ge=0, description="Of the tokenizers' own Adam, constant.")
    embedding: Count = Field(default=64, description="Width of a piece's embedding in the neural unigram model.")
    clip_norm: float = Field(default=1.0, gt=0, description="Largest norm of the tokenizers' gradient.")


class Retokenize(Part):
    """A new source tokenizer for a finished, frozen system (post-processing)."""

    updates: Count = Field(default=200, description="Updates of the tokenizer.")
    candidates: int = Field(default=3, ge=2, le=64, description="N: segmentations weighed per sentence.")
    mu: float = Field(default=0.01, ge=0, description="μ: weight of the language-model term.")
    learning_rate: float = Field(default=1e-3, ge=0, description="Of the tokenizer's Adam, constant.")
    embedding: Count = Field(default=64, description="Width of a piece's embedding in the neural unigram model.")
    clip_norm: float = Field(default=1.0, gt=0, description="Largest norm of the tokenizer's gradient.")


class Restrict(Part):
    """A smaller vocabulary for a finished system."""

    method: Literal["top"] = Field(default="top", description="`top`: the most probable pieces stay.")
    keep: Share = Field(
        description="Share of the NORMAL pieces of each side that stays, single characters counted in it."
    )


class System(Part):
    """A way to build a translator: from a tokenizer, or from another system."""

    tokenizer: Name | None = Field(default=None, description="Train with this entry of `tokenizers`.")
    sampling: Sampling | None = Field(default=None, description="Cut the training text at random (unigram only).")
    joint: Joint | None = Field(default=None, description="Learn the tokenizers too; needs `sampling`.")
    base: Name | None = Field(default=None, description="Start from this finished entry of `systems` instead.")
    retokenize: Retokenize | None = Field(default=None, description="… and learn its source tokenizer anew.")
    restrict: Restrict | None = Field(default=None, description="… and make its vocabularies smaller.")


class Architecture(Part):
    """Sizes of a Transformer."""

    encoder_layers: Count = 2
    decoder_layers: Count = 2
    width: Count = 128
    feed_forward: Count = 256
    heads: Count = 4
    dropout: float = Field(default=0.2, ge=0, lt=1)
    pre_norm: bool = True


PRESETS = {
    "tiny": Architecture(),
    "iwslt": Architecture(encoder_layers=6, decoder_layers=6, width=512, feed_forward=1024, heads=4, dropout=0.3),
    "base": Architecture(encoder_layers=6, decoder_layers=6, width=512, feed_forward=2048, heads=8, dropout=0.1),
    "big": Architecture(encoder_layers=6, decoder_layers=6, width=1024, feed_forward=4096, heads=16, dropout=0.3),
}


class Translator(Part):
    """The Transformer (Vaswani et al. 2017): sinusoidal positions, target embeddings tied to the output."""

    preset: Literal["tiny", "iwslt", "base", "big"] = Field(
        default="tiny",
        description="`tiny` 2+2 layers, width 128, for a laptop; `iwslt` 6+6, 512, feed-forward 1024, 4 heads; "
        "`base` 6+6, 512, 2048, 8 heads; `big` 6+6, 1024, 4096, 16 heads. The other keys change single sizes.",
    )
    encoder_layers: Count | None = Field(default=None, description="Layers of the encoder.")
    decoder_layers: Count | None = Field(default=None, description="Layers of the decoder.")
    width: Count | None = Field(default=None, description="Width of embeddings and states.")
    feed_forward: Count | None = Field(default=None, description="Width inside a feed-forward block.")
    heads: Count | None = Field(default=None, description="Attention heads; divides `width`.")
    dropout: Annotated[float, Field(ge=0, lt=1)] | None = Field(
        default=None, description="Dropout, on the embeddings and on what each block adds (Vaswani et al. 2017, §5.4)."
    )
    pre_norm: bool | None = Field(
        default=None, description="Layer normalisation before each block (true) or after it (false)."
    )

    def architecture(self) -> Architecture:
        """The preset's sizes with the given ones in their place."""
        given = self.model_dump(exclude={"preset"}, exclude_none=True)
        return PRESETS[self.preset].model_copy(update=given)


class Training(Part):
    """How a translator is trained. Updates are the budget: the same for every system."""

    updates: Count = Field(default=500, description="Updates of the translator.")
    batch_characters: Count = Field(
        default=6000,
        description="Size of a batch in normalised characters of both sides together. Not in tokens: so every "
        "system sees the same sentence pairs at update k.",
    )
    learning_rate: float = Field(default=3e-3, gt=0, description="Peak learning rate of Adam (β 0.9, 0.98).")
    warmup: Count = Field(default=200, description="Updates of linear warm-up, before the rate falls.")
    schedule: Literal["inverse-sqrt", "linear"] = Field(
        default="inverse-sqrt",
        description="How the rate falls: `inverse-sqrt` with 1/√update, whatever `updates` is; `linear` to 0 at the "
        "end, which is better where `updates` is small and known.",
    )
    clip_norm: float = Field(default=1.0, gt=0, description="Largest norm of the gradient.")
    label_smoothing: float = Field(default=0.1, ge=0, lt=1, description="Label smoothing.")
    validate_every: Count = Field(default=100, description="Updates between validations; each also saves a checkpoint.")
    log_every: Count = Field(default=20, description="Updates between two lines of the run log.")
    device: Annotated[str, Field(pattern=r"^(auto|cpu|cuda(:\d+)?)$")] = Field(
        default="auto", description="`auto` (a GPU where there is one), `cpu`, `cuda` or `cuda:N`."
    )
    threads: Count = Field(default=1, description="CPU threads of a training job.")


class Decoding(Part):
    """Beam search by CTranslate2; every default not named here is CTranslate2's own."""

    beam: Count = Field(default=5, description="Beam size.")
    length_penalty: float = Field(default=1.0, ge=0, description="Exponent of the length normalisation.")


class Evaluation(Part):
    """How systems are compared."""

    baseline: Name | None = Field(
        default=None, description="The system that others are compared with; default: the first."
    )


class Settings(Part):
    """A benchmark."""

    task: Literal["translation"] = Field(default="translation", description="What the systems learn to do.")
    results: str = Field(default="results", description="Folder of everything the benchmark makes.")
    data: str = Field(default="data", description="Folder of fetched archives.")
    seeds: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)] = Field(
        default=[1], description="Each system is built once per seed."
    )
    corpora: Annotated[
        dict[Name, Annotated[GettextCorpus | FilesCorpus, Field(discriminator="source")]],
        Field(min_length=1),
    ] = Field(description="The corpora, by id.")
    tokenizers: Annotated[dict[Name, Tokenizer], Field(min_length=1)] = Field(
        description="The baseline tokenizers, by name."
    )
    systems: Annotated[dict[Name, System], Field(min_length=1)] = Field(description="The systems to compare, by name.")
    translator: Translator = Field(default=Translator(), description="The model.")
    training: Training = Field(default=Training(), description="Its training.")
    decoding: Decoding = Field(default=Decoding(), description="The search for a translation.")
    evaluation: Evaluation = Field(default=Evaluation(), description="The comparison.")


def load(*paths: Path) -> Settings:
    """The settings in YAML files, later ones merged into earlier ones key by key; raises `UserError`."""
    merged: dict[str, Any] = {}
    for path in paths:
        try:
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise UserError(f"{path} does not exist") from None
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise UserError(f"{path} is not valid YAML: {error}") from None
        if not isinstance(content, dict):
            raise UserError(f"{path} holds no settings (a mapping of keys is expected)")
        merged = merge(merged, content)
    return validate(merged, ", ".join(map(str, paths)))


def merge(settings: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    """`settings` with every value of `overrides` in place, mappings merged key by key."""
    merged = dict(settings)
    for key, value in overrides.items():
        below = merged.get(key)
        merged[key] = merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged


def as_in_a_file(value: Any) -> Any:
    """What `--config` gave, typed as the same words in a file: Snakemake leaves lists and mappings as text."""
    if isinstance(value, dict):
        return {key: as_in_a_file(part) for key, part in value.items()}
    if isinstance(value, list):
        return [as_in_a_file(part) for part in value]
    try:
        return yaml.safe_load(value) if isinstance(value, str) else value
    except yaml.YAMLError:
        return value


def validate(content: dict[str, Any], where: str = "the settings") -> Settings:
    """Typed settings from parsed YAML or JSON; raises `UserError` with one line about the first fault."""
    from optok.consistency import check  # it needs the classes above

    try:
        settings = Settings.model_validate(content)
    except ValidationError as error:
        raise UserError(f"{where}: {describe(error, Settings)}") from None
    check(settings, where)
    return settings


def describe(error: ValidationError, model: type[BaseModel]) -> str:
    """The first fault of a validation, in one line: key, what was found, what is allowed."""
    faults = error.errors()
    first = next((fault for fault in faults if fault["type"] == "extra_forbidden"), faults[0])
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return _describe(first, model) + more


def _describe(fault: ErrorDetails, model: type[BaseModel]) -> str:
    # Tags of a discriminated union ("gettext") and of plain unions stand in the location, not in the file.
    location = [str(part) for part in fault["loc"] if str(part) not in {"gettext", "files", "[key]"}]
    if fault["loc"] and fault["loc"][-1] == "files":
        location.append("files")
    key = ".".join(location)
    found = fault["input"]
    match fault["type"]:
        case "extra_forbidden":
            return f"unknown key {key!r}: {nearest(location[-1], _keys_beside(fault['loc'], model))}"
        case "missing":
            return f"key {key!r} is missing"
        case "union_tag_not_found":
            return f"key '{key}.source' is missing: allowed: files, gettext"
        case "union_tag_invalid":
            tag = str(found.get("source")) if isinstance(found, dict) else str(found)
            return f"key '{key}.source' is {tag!r}: {nearest(tag, ['files', 'gettext'])}"
        case "literal_error":
            allowed = re.findall(r"'([^']+)'", fault["ctx"]["expected"])
            return f"key {key!r} is {found!r}: {nearest(str(found), allowed)}"
        case "value_error":
            return f"key {key!r}: {fault['ctx']['error']}"
    if found is None:
        return f"key {key!r} is null: give it a value, or leave the key out for its default"
    shown = repr(found) if len(repr(found)) < 60 else type(found).__name__
    return f"key {key!r} is {shown}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"


def _keys_beside(location: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    """The keys allowed where an unknown one stands."""
    parts: dict[str, type[Part]] = {
        "corpora": Corpus, "tokenizers": Tokenizer, "systems": System, "gettext": GettextCorpus,
        "files": FilesCorpus, "clean": Cleaning, "sampling": Sampling, "joint": Joint, "translator": Translator,
        "retokenize": Retokenize, "restrict": Restrict, "training": Training, "decoding": Decoding,
        "evaluation": Evaluation, "train": TextFiles, "valid": TextFiles, "test": TextFiles,
    }  # fmt: skip
    inside: type[BaseModel] = model
    for part in location[:-1]:
        inside = parts.get(str(part), inside)
    return list(inside.model_fields)
