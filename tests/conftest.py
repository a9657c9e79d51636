"""What the tests of several folders share."""

from __future__ import annotations

import pytest

from tests.chain import Benchmark, new_benchmark, optok


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """Corpus and tokenizers, by hand; tests only read it."""
    benchmark = new_benchmark(tmp_path_factory.mktemp("benchmark"))
    named = ("--configfile", benchmark.configfile, "--corpus", "own")
    assert optok("prepare", *named) == 0
    for tokenizer in ("unigram", "bpe"):
        for language in ("en", "zh-CN"):
            assert optok("tokenizer", "train", *named, "--tokenizer", tokenizer, "--language", language) == 0
    return benchmark
