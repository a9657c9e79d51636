"""The lattice engine against stock SentencePiece, in one process, on the same lines: `make bench`.

Text: the default corpus's catalogues (fetched if they are not there), or `--text FILE`, one sentence a line. Lines of
30, 120 and 2,000 characters are cut from the running English and German text; vocabularies of 8,000 pieces are trained
on these two languages, of 32,000 on eleven. Both sides are timed in turns, best of several; one thread by its own CPU
time, all threads by the clock.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import sentencepiece

from bench.report import Entry, add_entries
from optok.corpora.catalogue import find_archive
from optok.corpora.fetch import fetch
from optok.corpora.gettext import read_catalogue
from optok.files import read_lines
from optok.lattice import Vocabulary, best_path, entropy, expected_counts, log_partition, nbest, sample

LANGUAGES = ["de", "fr", "es", "it", "nl", "sv", "pl", "cs", "fi", "ru"]  # beside English
SIZES = {"8k": 8_000, "32k": 32_000}
LENGTHS = {30: 4_000, 120: 2_000, 2_000: 200}  # characters of a line: lines of a batch
ALPHA = 0.3
ROUNDS = 5


@dataclass(frozen=True)
class Operation:
    """`ours` and `theirs`, where SentencePiece has it, do one batch; `aim` is the main setting's ratio to reach."""

    name: str
    ours: Callable[[], object]
    theirs: Callable[[], object] | None
    note: str
    aim: float | None = None


def texts_of(file: Path | None) -> tuple[list[str], list[str]]:
    """Sentences in English and German, and in all languages; of a file, its lines twice."""
    if file is not None:
        lines = [line for line in read_lines(file) if line.strip()]
        return lines, lines
    entry = find_archive("gramps")
    archive = fetch("gramps", Path("data"))
    messages = {language: read_catalogue(archive, entry, language) for language in LANGUAGES}
    english = [message.source for message in messages["de"]]
    translated = {language: [message.target for message in found] for language, found in messages.items()}
    return english + translated["de"], english + [line for lines in translated.values() for line in lines]


def trained(texts: list[str], size: int, folder: Path) -> Path:
    prefix = folder / str(size)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_prefix=str(prefix),
        vocab_size=size,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
    )
    return prefix.with_suffix(".model")


def operations(vocabulary: Vocabulary, stock: object, lines: list[str], threads: int) -> Iterator[Operation]:
    scores = vocabulary.scores
    ready = vocabulary.lattices(lines)
    numbers = range(len(lines))
    lists = "strings to lists of ids; limited by making the lists and by reading the text byte by byte"
    arrays = "strings to lists of ids, ours to arrays; limited by"
    reading = f"{arrays} reading the text byte by byte (normaliser, automaton)"
    forward = "the forward pass, in which each position waits for the one before"
    ready_note = f"ours from ready edges, {arrays}"

    def raw():
        return vocabulary.lattices(lines, threads)

    def their_best():
        return stock.encode(lines, num_threads=threads)

    def their_nbest():
        return stock.nbest_encode(lines, nbest_size=3, out_type=int)

    def their_samples():
        return stock.encode(lines, enable_sampling=True, alpha=ALPHA, nbest_size=-1, num_threads=threads)

    yield Operation("best_raw", lambda: best_path(raw(), scores, threads).to_lists(), their_best, lists, 0.8)
    yield Operation("best_arrays", lambda: best_path(raw(), scores, threads), their_best, reading)
    yield Operation("best_edges", lambda: best_path(ready, scores, threads), their_best, f"{ready_note} {forward}")
    yield Operation("nbest3_raw", lambda: nbest(raw(), scores, 3, threads), their_nbest, reading, 3.0)
    yield Operation(
        "nbest3_edges", lambda: nbest(ready, scores, 3, threads), their_nbest, f"{ready_note} {forward}", 10.0
    )
    yield Operation(
        "sampling_raw",
        lambda: sample(raw(), scores, ALPHA, 1, 1, numbers, threads=threads),
        their_samples,
        reading,
        3.0,
    )
    yield Operation(
        "sampling_edges",
        lambda: sample(ready, scores, ALPHA, 1, 1, numbers, threads=threads),
        their_samples,
        f"{ready_note} {forward}",
    )
    if threads == 1:
        yield Operation(
            "nbest64_raw",
            lambda: nbest(raw(), scores, 64),
            lambda: stock.nbest_encode(lines, nbest_size=64, out_type=int),
            f"{arrays} writing out 64 paths",
        )
    for name, call, limit in (
        ("log_partition", log_partition, forward),
        ("expected_counts", expected_counts, "the passes forward and backward, and a count for each edge"),
        ("entropy", entropy, "the forward pass, and a mean of log p for each edge"),
    ):
        alone = "SentencePiece 0.2.3 has no such operation; to arrays; limited by"
        yield Operation(f"{name}_raw", lambda call=call: call(raw(), scores, ALPHA, threads), None, f"{alone} {limit}")
        yield Operation(
            f"{name}_edges",
            lambda call=call: call(ready, scores, ALPHA, threads),
            None,
            f"from ready edges, {alone} {limit}",
        )


def seconds(calls: list[Callable[[], object]], clock: Callable[[], float]) -> list[float]:
    """The best time of each; they take turns, so that a busy machine slows all of them."""
    best = [float("inf")] * len(calls)
    for turn in range(ROUNDS + 1):
        for side, call in enumerate(calls):
            began = clock()
            call()
            if turn > 0:  # the first turn warms up
                best[side] = min(best[side], clock() - began)
    return best


def measured(operation: Operation, name: str, lines: int, threads: int, setting: str) -> Entry:
    clock = time.process_time if threads == 1 else time.perf_counter
    calls = [operation.ours] + [operation.theirs] * (operation.theirs is not None)
    ours, *theirs = (1e6 * value / lines for value in seconds(calls, clock))
    reference, ratio = (round(theirs[0], 3), round(theirs[0] / ours, 3)) if theirs else (None, None)
    note = f"{setting}; {operation.note}" + (
        f"; aim {operation.aim}" if operation.aim and name == operation.name else ""
    )
    return Entry(name, round(ours, 3), reference, ratio, "µs a line", note)


def long_line(vocabulary: Vocabulary, stock: object, text: str) -> list[Entry]:
    """One line of a million characters: its time, and the memory it takes beside that of a tenth of it."""
    line = (text * (1_000_000 // len(text) + 1))[:1_000_000]
    scores = vocabulary.scores
    peaks = []
    for part in (line[:100_000], line):
        best_path(vocabulary.lattices([part]), scores)
        nbest(vocabulary.lattices([part]), scores, 3)
        sample(vocabulary.lattices([part]), scores, ALPHA, 1, 1, [0])
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    calls = {
        "best": (lambda: best_path(vocabulary.lattices([line]), scores).to_lists(), lambda: stock.encode(line)),
        "sampling": (
            lambda: sample(vocabulary.lattices([line]), scores, ALPHA, 1, 1, [0]),
            lambda: stock.encode(line, enable_sampling=True, alpha=ALPHA, nbest_size=-1),
        ),
    }
    note = f"one line of 1,000,000 characters, 8k pieces; peak memory {peaks[1]:.0f} MB, {peaks[0]:.0f} MB at 100,000"
    entries = []
    for name, (ours, theirs) in calls.items():
        times = seconds([ours, theirs], time.process_time)
        entries.append(
            Entry(
                f"{name}_raw_million", round(times[0], 3), round(times[1], 3), round(times[1] / times[0], 3), "s", note
            )
        )
    return entries


def main() -> None:
    parser = argparse.ArgumentParser(description="The lattice engine against stock SentencePiece.")
    parser.add_argument("--text", type=Path, help="a text file of one sentence a line, instead of the default corpus")
    two, all_of_them = texts_of(parser.parse_args().text)
    running = " ".join(two)
    entries: list[Entry] = []
    with tempfile.TemporaryDirectory() as folder:
        for size, pieces in SIZES.items():
            model = trained(two if size == "8k" else all_of_them, pieces, Path(folder))
            vocabulary = Vocabulary.load(model)
            stock = sentencepiece.SentencePieceProcessor(model_file=str(model))
            if size == "8k":
                entries += long_line(vocabulary, stock, running)
            for length, batch in LENGTHS.items():
                lines = [running[first : first + length] for first in range(0, len(running) - length, length)][:batch]
                for threads in sorted({1, os.cpu_count() or 1}):
                    setting = f"batch of {len(lines)} lines of {length} characters, {len(vocabulary)} pieces"
                    setting += f", {threads} thread{'s' * (threads > 1)}"
                    for operation in operations(vocabulary, stock, lines, threads):
                        suffixes = [
                            f"_{length}" * (length != 120),
                            f"_{size}" * (size != "8k"),
                            "_all_threads" * (threads > 1),
                        ]
                        entries.append(
                            measured(operation, operation.name + "".join(suffixes), len(lines), threads, setting)
                        )
    for entry in entries:
        held = f"{entry.reference:10.3f}" if entry.reference else f"{'–':>10}"
        times = f"{entry.ratio:7.2f} ×" if entry.ratio else f"{'–':>9}"
        print(f"{entry.name:38} {entry.ours:10.3f} {held} {entry.unit} {times}  {entry.note}")
    add_entries(entries)


if __name__ == "__main__":
    main()
