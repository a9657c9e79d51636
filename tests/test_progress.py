"""Progress says what is happening, how far it is and how long is left."""

import re

import pytest

from optok.progress import Progress, duration


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (95, "1 min 35 s"), (3600, "1 h 0 min"), (9000, "2 h 30 min")],
)
def test_durations_are_in_the_largest_two_units(seconds: float, shown: str):
    assert duration(seconds) == shown


def test_every_line_says_what_how_far_how_fast_and_how_long(capsys: pytest.CaptureFixture[str]):
    progress = Progress("train optok", 2000, "updates", interval=0)
    for update in (998, 999, 2000):
        progress(update, "loss 3.142")
    first, second, last = capsys.readouterr().err.splitlines()
    assert first == "train optok: 998 of 2,000 updates, loss 3.142"  # no speed from one moment alone
    pattern = r"train optok: 999 of 2,000 updates, loss 3\.142, [\d.e+]+ updates a second, (\d+ min )?\d+ s left"
    assert re.fullmatch(pattern, second)
    assert re.fullmatch(r"train optok: 2,000 of 2,000 updates, loss 3\.142, [\d.e+]+ updates a second", last)


def test_lines_are_rare_and_the_end_is_always_told(capsys: pytest.CaptureFixture[str]):
    progress = Progress("translate", 50, "lines", interval=3600)
    for done in range(1, 51):
        progress(done)
    captured = capsys.readouterr()
    assert captured.err.startswith("translate: 50 of 50 lines, ")
    assert len(captured.err.splitlines()) == 1
    assert captured.out == ""
