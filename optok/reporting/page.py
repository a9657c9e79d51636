"""The stage `report`: one page of a whole benchmark, in one file that asks for nothing else.

A page is a list of sections. Each has its facts and its template, and one that fails says so in its place: the
others still come.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import ChainableUndefined, Environment, PackageLoader
from markupsafe import Markup

from optok.files import write_text
from optok.reporting import comparison, marks, materials, provenance
from optok.reporting.gathering import Results

PAGE = "report.html"


@dataclass(frozen=True)
class Section:
    """One part of the page: `facts` gives its template what it shows."""

    id: str
    title: str
    facts: Callable[[Results], dict[str, Any]]


SECTIONS = (
    Section("overview", "What was compared", comparison.overview),
    Section("scores", "Scores", comparison.scores),
    Section("tokens", "BLEU against tokens per sentence", comparison.tokens_plot),
    Section("curves", "Learning curves", comparison.learning_curves),
    Section("tokenizers", "Tokenizers", materials.tokenizers),
    Section("corpora", "Corpora and cleaning", materials.corpora),
    Section("settings", "Settings, versions, time", provenance.settings),
    Section("reproduce", "How to make these numbers again", provenance.reproduction),
)


def write_page(results: Path, planned: dict[str, Any]) -> Path:
    """Writes `report.html` into the results folder. planned: `optok.plan.report_settings`."""
    path = results / PAGE
    write_text(path, page(Results(results, planned)))
    return path


def page(results: Results) -> str:
    """The page's HTML."""
    shown = [(section, _rendered(section, results)) for section in SECTIONS]
    return (
        _environment()
        .get_template("page.jinja")
        .render(
            sections=shown,
            style=Markup(_style()),  # our own text
            title=f"optok: {len(results.systems)} systems, {len(results.directions)} directions",
        )
    )


def _rendered(section: Section, results: Results) -> Markup:
    try:
        return Markup(_environment().get_template(f"{section.id}.jinja").render(**section.facts(results)))
    except Exception as error:  # whatever a damaged file leads to, the other sections come
        failed = _environment().get_template("failed.jinja")
        return Markup(failed.render(title=section.title, reason=f"{type(error).__name__}: {error}"))


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("optok.reporting", "."),
        autoescape=True,
        undefined=ChainableUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": _number, "share": _share, "duration": _duration}
    return environment


def _style() -> str:
    text = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
    return text.replace("/* series light */", marks.variables(dark=False)).replace(
        "/* series dark */", marks.variables(dark=True)
    )


def _number(value: Any, decimals: int = 0) -> str:
    """A number with a thin space between thousands; a dash where there is none."""
    if not isinstance(value, int | float):
        return "–"
    return f"{value:,.{decimals}f}".replace(",", "\u202f")


def _share(value: Any) -> str:
    return f"{value:.1%}" if isinstance(value, int | float) else "–"


def _duration(seconds: Any) -> str:
    """Seconds as a person says them: `45 s`, `12 min 5 s`, `3 h 20 min`."""
    if not isinstance(seconds, int | float):
        return "–"
    if seconds < 100:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {left} s"
