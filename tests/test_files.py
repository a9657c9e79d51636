"""Files appear whole or not at all; `\\n` alone ends a line."""

from pathlib import Path

import pytest

from optok import files
from optok.errors import UserError


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path):
    path = tmp_path / "a.txt"
    files.write_text(path, "old")
    with pytest.raises(OSError, match="disk"), files.atomic_path(path) as temporary:
        temporary.write_text("half", encoding="utf-8")
        raise OSError("disk")
    assert path.read_text(encoding="utf-8") == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("line", ["", "a\u2028b", "a\u0085b", "a\rb", "\x0b", "ü"])
def test_only_a_line_feed_ends_a_line(tmp_path: Path, line: str):
    path = tmp_path / "a.txt"
    files.write_lines(path, [line, "next"])
    assert files.read_lines(path) == [line, "next"]


def test_invalid_utf8_is_named_by_its_line(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_bytes("gut\nschön\n".encode("latin-1"))
    with pytest.raises(UserError, match="line 2 is not valid UTF-8"):
        files.read_lines(path)


def test_a_digest_does_not_depend_on_the_order_of_keys():
    assert files.digest_of({"a": 1, "b": 2}) == files.digest_of({"b": 2, "a": 1})
    assert files.digest_of({"a": 1}) != files.digest_of({"a": 2})
