"""`config/README.md`: every key of the settings, made from `optok.config` (`python -m optok.reference`)."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from optok.config import Settings

HEAD = """# Every key of the configuration

Made from `optok/config.py` by `python -m optok.reference`; do not edit by hand. `config.yaml` is the default;
`snakemake --configfile F` reads another, `snakemake --config 'seeds=[1,2]'` changes single values. Unknown keys are
errors.
"""


def reference() -> str:
    """The whole document, as Markdown."""
    sections: list[str] = [HEAD]
    seen: set[type[BaseModel]] = set()
    _section("the file", Settings, sections, seen)
    return "\n".join(sections)


def _section(title: str, model: type[BaseModel], sections: list[str], seen: set[type[BaseModel]]) -> None:
    seen.add(model)
    lines = [f"## {title}", "", " ".join((model.__doc__ or "").split()), "", "| key | type | default | meaning |"]
    lines.append("| --- | --- | --- | --- |")
    below: list[tuple[str, type[BaseModel]]] = []
    for key, field in model.model_fields.items():
        cells = [f"`{key}`", _type(field.annotation), _default(field), field.description or ""]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        below += [(_title(title, key, part), part) for part in _parts(field.annotation)]
    sections.append("\n".join(lines) + "\n")
    for name, part in below:
        if part not in seen:
            _section(name, part, sections, seen)


def _title(above: str, key: str, part: type[BaseModel]) -> str:
    name = f"`{key}:`" if above == "the file" else f"{above} `{key}:`"
    source = part.model_fields.get("source")
    kinds = get_args(source.annotation) if source is not None else ()
    return f"{name} with `source: {kinds[0]}`" if kinds else name


def _parts(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [part for argument in get_args(annotation) for part in _parts(argument)]


def _type(annotation: Any) -> str:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _type(get_args(annotation)[0])
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in get_args(annotation))
    if origin in (Union, types.UnionType):
        return " or ".join(_type(part) for part in get_args(annotation) if part is not type(None))
    if origin is list:
        return f"list of {_type(get_args(annotation)[0])}"
    if origin is dict:
        return f"mapping to {_type(get_args(annotation)[1])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "mapping"
    return {str: "text", int: "whole number", float: "number", bool: "true or false"}.get(annotation, str(annotation))


def _default(field: FieldInfo) -> str:
    if field.default is PydanticUndefined:
        return "required"
    if field.default is None:
        return "none"
    if isinstance(field.default, BaseModel):
        return "see below"
    return f"`{str(field.default).lower() if isinstance(field.default, bool) else field.default}`"


if __name__ == "__main__":
    Path("config/README.md").write_text(reference(), encoding="utf-8")
