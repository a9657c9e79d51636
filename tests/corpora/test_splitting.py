import random

import polars as pl
import pytest

from optok.corpora.splitting import assign, components, split_pairs
from optok.errors import UserError

SIZES = {"test": 20, "valid": 20}


def by_search(columns):
    """Components by walking a graph of all pairs of rows that share a text; named by their first row."""
    rows = range(len(columns[0]))
    near = {row: [other for other in rows if any(column[row] == column[other] for column in columns)] for row in rows}
    found = {}
    for row in rows:
        if row not in found:
            reached, waiting = {row}, [row]
            while waiting:
                for other in near[waiting.pop()]:
                    if other not in reached:
                        reached.add(other)
                        waiting.append(other)
            found.update(dict.fromkeys(reached, row))
    return [found[row] for row in rows]


def pairs(rows, variety, seed, groups=None):
    draw = random.Random(seed)
    columns = {code: [f"{code} {draw.randrange(variety)}" for _ in range(rows)] for code in ("en", "de")}
    if groups is not None:
        columns["group"] = [f"page {draw.randrange(groups)}" for _ in range(rows)]
    return pl.DataFrame(columns | {"line": [f"all:{row}" for row in range(rows)]})


@pytest.mark.parametrize("variety", [5, 30, 60, 100, 400])
@pytest.mark.parametrize("seed", range(4))
def test_components_are_those_of_a_graph_search(variety, seed):
    table = pairs(60, variety, seed)
    columns = [table["en"].to_list(), table["de"].to_list()]
    assert components(columns) == by_search(columns)


@pytest.mark.parametrize("seed", range(5))
def test_no_text_of_either_side_stands_in_two_splits(seed):
    table = pairs(500, 600, seed)
    splits, dropped = split_pairs(table, ["en", "de"], SIZES, seed, None, "c")
    assert dropped == 0
    assert sorted(line for part in splits.values() for line in part["line"]) == sorted(table["line"])
    assert {split: part.height for split, part in splits.items()} == {"train": 460, "test": 20, "valid": 20}
    for one, other in [("train", "test"), ("train", "valid"), ("valid", "test")]:
        for code in ("en", "de"):
            assert not set(splits[one][code]) & set(splits[other][code])


def test_what_is_held_out_depends_on_seed_and_texts_not_on_their_order():
    table = pairs(500, 600, 1)
    shuffled = table.sample(fraction=1.0, shuffle=True, seed=2)
    first, again, other = (
        set(split_pairs(given, ["en", "de"], SIZES, seed, None, "c")[0]["test"]["line"])
        for given, seed in [(table, 1), (shuffled, 1), (table, 2)]
    )
    assert first == again
    assert first != other


def test_a_text_that_holds_most_pairs_together_goes_to_training():
    table = pl.DataFrame(
        {"en": [f"en {row}" for row in range(200)], "de": ["OK"] * 100 + [f"de {row}" for row in range(100)]}
    )
    splits, _ = split_pairs(table, ["en", "de"], SIZES, 1, None, "c")
    assert "OK" not in [*splits["test"]["de"], *splits["valid"]["de"]]
    assert splits["train"].height == 160


def test_groups_stay_whole_and_training_loses_the_texts_that_they_share():
    table = pairs(2000, 1500, 3, groups=200)
    splits, dropped = split_pairs(table, ["en", "de"], {"test": 100, "valid": 60}, 1, "group", "c")
    held_out = {split: set(splits[split]["group"]) for split in ("test", "valid")}
    assert not held_out["test"] & held_out["valid"]
    assert not (held_out["test"] | held_out["valid"]) & set(splits["train"]["group"])
    test = table.filter(pl.col("group").is_in(list(held_out["test"])))
    assert splits["test"].equals(test)
    assert 80 <= test.height <= 100
    for one, other in [("train", "test"), ("train", "valid"), ("valid", "test")]:
        for code in ("en", "de"):
            assert not set(splits[one][code]) & set(splits[other][code])
    assert dropped == table.height - sum(part.height for part in splits.values())
    assert dropped > 0


def test_rows_go_to_the_first_split_with_room_in_an_order_drawn_from_the_text():
    texts = [f"text {number}" for number in range(1000)]
    splits = assign(list(range(1000)), texts, {"test": 300, "valid": 200}, seed=5)
    assert [splits.count(split) for split in ("test", "valid", "train")] == [300, 200, 500]
    # An unbiased draw: the mean row of the test is near the middle (standard error 1000 / √12 / √300 ≈ 17).
    rows = [row for row, split in enumerate(splits) if split == "test"]
    assert abs(sum(rows) / len(rows) - 500) < 70


@pytest.mark.parametrize(
    ("table", "group", "fault"),
    [
        (pairs(40, 10**6, 1), None, "has 40 pairs left, too few for 20 for test . 20 for valid and training"),
        (pairs(100, 2, 1), None, "pairs whose texts stand together give 0 pairs for test, 20 are asked"),
        (pairs(100, 10**6, 1, groups=2), "group", "whole groups of 'group' give 0 pairs for test, 20 are asked"),
    ],
)
def test_too_few_pairs_say_what_to_change(table, group, fault):
    with pytest.raises(UserError, match=f"corpus mine.*{fault}: hold out fewer, or relax 'clean'"):
        split_pairs(table, ["en", "de"], SIZES, 1, group, "mine")
