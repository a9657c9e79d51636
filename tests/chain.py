"""A benchmark small enough to build in seconds: own text in a made-up word-for-word language."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

from optok import cli, plan
from optok.config import Settings, load, merge

ENGLISH = ["ba", "dil", "ger", "po", "tun", "ra", "kes", "mor", "fin", "lub"]
CHINESE = "打开文件编辑设置世界你好保存关闭人名地点日期事注"
SETTINGS = {
    "results": "results",
    "corpora": {
        "own": {
            "source": "files",
            "languages": ["en", "zh-CN"],
            "directions": ["en-zh_CN", "zh_CN-en"],
            "train": {"files": {"en": "own.en", "zh-CN": "own.zh"}},
            "valid": 12,
            "test": 16,
        }
    },
    "tokenizers": {
        "unigram": {"kind": "unigram", "size": {"default": 50, "zh-CN": 48}},
        "bpe": {"kind": "bpe", "size": {"default": 50, "zh-CN": 48}},
    },
    "systems": {
        "bpe": {"tokenizer": "bpe"},
        "unigram": {"tokenizer": "unigram"},
        "unigram-sampled": {"tokenizer": "unigram", "sampling": {"alpha": 0.3}},
        "optok": {
            "tokenizer": "unigram",
            "sampling": {"alpha": 0.3},
            "joint": {"start_after": 3, "fraction": 0.5, "learning_rate": 0.05},
        },
        "optok-post": {"base": "unigram-sampled", "retokenize": {"updates": 8, "learning_rate": 0.05}},
        "optok-restricted": {"base": "optok", "restrict": {"keep": 0.8}},
    },
    "translator": {"width": 16, "feed_forward": 16, "heads": 2, "encoder_layers": 1, "decoder_layers": 1},
    "training": {
        "updates": 12,
        "batch_characters": 900,
        "validate_every": 4,
        "log_every": 2,
        "warmup": 4,
        "device": "cpu",
    },
}


def pairs(seed: int, count: int) -> tuple[list[str], list[str]]:
    """Sentences of two to six words, and their translations word for word."""
    draw = random.Random(seed)
    lexicon = {}
    while len(lexicon) < 40:
        lexicon["".join(draw.choices(ENGLISH, k=draw.randint(1, 3)))] = "".join(draw.choices(CHINESE, k=2))
    source = [draw.choices(list(lexicon), k=draw.randint(2, 6)) for _ in range(count)]
    return [" ".join(words) for words in source], ["".join(lexicon[word] for word in words) for words in source]


@dataclass(frozen=True)
class Benchmark:
    """A folder to work in, with own text and a configuration."""

    folder: Path
    configfile: Path

    @property
    def settings(self) -> Settings:
        return load(self.configfile)

    @property
    def results(self) -> Path:
        return self.folder / "results"

    @property
    def corpus(self) -> Path:
        return self.results / "own" / "corpus"

    def run(self, system: str, direction: str = "en-zh_CN") -> plan.Run:
        return plan.Run("own", direction, system, 1)

    def run_folder(self, system: str, direction: str = "en-zh_CN") -> Path:
        return self.results / self.run(system, direction).folder

    def configured(self, **overrides) -> Path:
        """Another configuration file, with other values."""
        path = self.folder / "other.yaml"
        content = merge(yaml.safe_load(self.configfile.read_text(encoding="utf-8")), overrides)
        path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        return path


def new_benchmark(folder: Path) -> Benchmark:
    english, chinese = pairs(1, 300)
    (folder / "own.en").write_text("".join(f"{line}\n" for line in english), encoding="utf-8")
    (folder / "own.zh").write_text("".join(f"{line}\n" for line in chinese), encoding="utf-8")
    given = {language: str(folder / name) for language, name in (("en", "own.en"), ("zh-CN", "own.zh"))}
    overrides = {"results": str(folder / "results"), "corpora": {"own": {"train": {"files": given}}}}
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(merge(SETTINGS, overrides), sort_keys=False), encoding="utf-8")
    return Benchmark(folder, path)


def optok(*arguments: object) -> int:
    """The command line in this process; returns its exit code."""
    before = sys.argv
    sys.argv = ["optok", *map(str, arguments)]
    try:
        cli.main()
    except SystemExit as leave:
        return int(leave.code or 0)
    finally:
        sys.argv = before
    return 0
