"""`config/README.md` is made from the settings and up to date."""

from pathlib import Path
from typing import get_args

from pydantic import BaseModel

from optok.config import Settings
from optok.reference import reference

ROOT = Path(__file__).parents[1]


def test_the_committed_reference_is_up_to_date():
    committed = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    assert committed == reference(), "renew it with: python -m optok.reference"


def keys_in(annotation: object) -> set[str]:
    """Every key of the settings that may stand in a value of this type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = annotation.model_fields
        return set(fields).union(*(keys_in(field.annotation) for field in fields.values()))
    return {key for argument in get_args(annotation) for key in keys_in(argument)}


def test_every_key_has_a_row_with_a_meaning():
    rows = [line for line in reference().splitlines() if line.startswith("| `")]
    assert {row.split("`")[1] for row in rows} == keys_in(Settings)
    for row in rows:
        cells = [cell.strip() for cell in row.replace("\\|", "").strip("|").split("|")]
        assert len(cells) == 4
        assert all(cells), row
