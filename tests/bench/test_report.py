"""The list that every benchmark adds to."""

from __future__ import annotations

from bench.report import Entry, add_entries
from optok.files import read_json


def test_an_entry_replaces_the_one_of_its_name_and_keeps_the_others(tmp_path):
    path = tmp_path / "results" / "bench.json"
    add_entries([Entry("one", 1.0, 2.0, 2.0, "s", ""), Entry("two", 1.0, None, None, "s", "")], path)
    add_entries([Entry("one", 1.0, 3.0, 3.0, "s", "again")], path)
    assert [(entry["name"], entry["ratio"]) for entry in read_json(path)] == [("two", None), ("one", 3.0)]
    assert set(read_json(path)[0]) == {"name", "ours", "reference", "ratio", "unit", "note"}
