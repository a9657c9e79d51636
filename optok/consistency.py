"""What the settings must agree on among themselves: names that exist, parts that fit together."""

from __future__ import annotations

from optok.config import FilesCorpus, Settings, System, TextFiles, language_code
from optok.errors import UserError, nearest


def check(settings: Settings, where: str) -> None:
    """Raises `UserError` for the first thing that does not fit."""
    try:
        _check_corpora(settings)
        _check_tokenizers(settings)
        for name in settings.systems:
            _check_system(name, settings)
        _check_translator(settings)
        baseline = settings.evaluation.baseline
        if baseline is not None and baseline not in settings.systems:
            raise UserError(f"evaluation.baseline is {baseline!r}, no system: {nearest(baseline, settings.systems)}")
        if len(set(settings.seeds)) != len(settings.seeds):
            raise UserError(f"seeds {settings.seeds} name a seed twice")
    except UserError as error:
        raise UserError(f"{where}: {error}") from None


def chain_of_bases(name: str, settings: Settings) -> list[str]:
    """The systems that `name` is built from, itself first, the trained one last."""
    chain = [name]
    while (base := settings.systems[chain[-1]].base) is not None:
        if base not in settings.systems:
            raise UserError(f"systems.{chain[-1]}.base is {base!r}, no system: {nearest(base, settings.systems)}")
        if base in chain:
            raise UserError(f"systems.{name}.base goes in a circle: {' → '.join([*chain, base])}")
        chain.append(base)
    return chain


def _check_corpora(settings: Settings) -> None:
    for name, corpus in settings.corpora.items():
        first, second = (language_code(language) for language in corpus.languages)
        if first == second:
            raise UserError(f"corpora.{name}.languages are twice the same: {first}")
        possible = [f"{first}-{second}", f"{second}-{first}"]
        for direction in corpus.directions:
            if direction not in possible:
                raise UserError(f"corpora.{name}.directions holds {direction!r}: {nearest(direction, possible)}")
        if len(set(corpus.directions)) != len(corpus.directions):
            raise UserError(f"corpora.{name}.directions name a direction twice")
        if isinstance(corpus, FilesCorpus):
            for split in ("train", "valid", "test"):
                given = getattr(corpus, split)
                if isinstance(given, TextFiles):
                    _check_files(f"corpora.{name}.{split}", given, corpus.languages)


def _check_files(key: str, given: TextFiles, languages: list[str]) -> None:
    if (given.files is None) == (given.table is None):
        raise UserError(f"{key} needs exactly one of 'files' (one per language) and 'table'")
    if given.table is None and (given.columns or given.group):
        raise UserError(f"{key}: 'columns' and 'group' belong to a 'table'")
    for part in ("files", "columns"):
        named = getattr(given, part)
        if named is not None and set(named) != set(languages):
            raise UserError(f"{key}.{part} must name the languages {', '.join(languages)}; it names {', '.join(named)}")


def _check_tokenizers(settings: Settings) -> None:
    known = {language for corpus in settings.corpora.values() for language in corpus.languages}
    for name, tokenizer in settings.tokenizers.items():
        for key in ("size", "coverage"):
            for language in getattr(tokenizer, key):
                if language not in known | {"default"}:
                    raise UserError(
                        f"tokenizers.{name}.{key} names {language!r}, a language of no corpus: "
                        f"{nearest(language, known | {'default'})}"
                    )
        missing = known - set(tokenizer.size)
        if "default" not in tokenizer.size and missing:
            raise UserError(f"tokenizers.{name}.size has no default and none for {', '.join(sorted(missing))}")
        if "default" not in tokenizer.coverage and known - set(tokenizer.coverage):
            raise UserError(f"tokenizers.{name}.coverage has no default")


def _check_system(name: str, settings: Settings) -> None:
    system = settings.systems[name]
    key = f"systems.{name}"
    if (system.tokenizer is None) == (system.base is None):
        what = "neither" if system.base is None else "both"
        raise UserError(f"{key} has {what} of 'tokenizer' (train) and 'base' (start from a system): give one")
    if system.base is None:
        _check_trained_system(key, system, settings)
        return
    if (system.retokenize is None) == (system.restrict is None):
        raise UserError(f"{key} has a 'base', so it needs exactly one of 'retokenize' and 'restrict'")
    if system.sampling or system.joint:
        raise UserError(f"{key} has a 'base': 'sampling' and 'joint' belong to a system with a 'tokenizer'")
    root = chain_of_bases(name, settings)[-1]
    tokenizer = settings.systems[root].tokenizer
    if tokenizer in settings.tokenizers and settings.tokenizers[tokenizer].kind != "unigram":
        raise UserError(
            f"{key} starts from {root!r}, whose tokenizer {tokenizer!r} is no unigram model: "
            "'retokenize' and 'restrict' need one"
        )


def _check_trained_system(key: str, system: System, settings: Settings) -> None:
    tokenizer = system.tokenizer or ""
    if tokenizer not in settings.tokenizers:
        raise UserError(f"{key}.tokenizer is {tokenizer!r}, no tokenizer: {nearest(tokenizer, settings.tokenizers)}")
    if system.retokenize or system.restrict:
        raise UserError(f"{key}: 'retokenize' and 'restrict' need a 'base', not a 'tokenizer'")
    if settings.tokenizers[tokenizer].kind != "unigram":
        for part in ("sampling", "joint"):
            if getattr(system, part) is not None:
                raise UserError(
                    f"{key}.{part} needs a unigram tokenizer; {tokenizer!r} is "
                    f"{settings.tokenizers[tokenizer].kind}, which has no lattice of weighted segmentations"
                )
    if system.joint is not None:
        if system.sampling is None:
            raise UserError(f"{key}.joint needs 'sampling' (the translator learns from sampled segmentations)")
        if system.joint.start_after >= settings.training.updates:
            raise UserError(
                f"{key}.joint.start_after is {system.joint.start_after}, but training ends after "
                f"{settings.training.updates} updates (training.updates): the tokenizers would never learn"
            )


def _check_translator(settings: Settings) -> None:
    sizes = settings.translator.architecture()
    if sizes.width % sizes.heads or sizes.width % 2:
        raise UserError(
            f"translator.width is {sizes.width}: it must be even and divisible by translator.heads ({sizes.heads})"
        )
