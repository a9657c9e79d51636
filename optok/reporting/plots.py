"""Plots as static SVG: drawn by Vega-Lite inside this process, without a browser or a network.

A plot has no colours of its own but those of `optok.reporting.marks`: axes and text are `currentColor`, the
background is transparent, so that it reads on white and on black.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.etree import ElementTree

import altair as alt

from optok.reporting.marks import Mark

WIDTH, HEIGHT = 340, 236  # with axes
WIDEST, NARROWEST = 190, 80  # areas of points: an earlier system shows around a later one at the same place
MOST_POINTS = 120  # of one line: more than the eye tells apart
MOST_MARKED = 30  # of one line whose points are marked
SVG = "http://www.w3.org/2000/svg"
POINT = "point"  # role of a mark that a reader may point at
FIT = alt.AutoSizeParams(type="fit", contains="padding")  # so that panels are equally large
AXIS = alt.Axis(tickCount=5)
OUTLINE = "var(--raised, #ffffff)"
LONG = re.compile(r"(\.\d\d)\d+")  # a hundredth of a pixel is enough


@dataclass(frozen=True)
class Line:
    """A series of one run: (x, y) in order of x."""

    system: str
    points: Sequence[tuple[float, float]]
    name: str  # of the run, for whoever points at it


def scatter(
    lines: Sequence[Line], marks: Sequence[Mark], x: str, y: str, spans: tuple[float, float], label: str
) -> str:
    """One point for each (x, y) of each line; x and y name the axes.

    spans: the least that each axis spans, so that a small difference does not look like a large one.
    """
    points = [point for line in lines for point in line.points]
    domains = [_spanning([point[axis] for point in points], spans[axis]) for axis in (0, 1)]
    scales = [alt.Scale(domain=domain, nice=True, zero=False) for domain in domains]
    steps = (WIDEST - NARROWEST) / max(1, len(marks) - 1)
    sizes = alt.Scale(
        domain=[mark.system for mark in marks], range=[WIDEST - steps * number for number in range(len(marks))]
    )
    pointed = _base(_values(lines, x, y)).mark_point(filled=True, opacity=1, stroke=OUTLINE, strokeWidth=1)
    encoded = pointed.encode(
        x=alt.X("x:Q", title=x, scale=scales[0], axis=AXIS),
        y=alt.Y("y:Q", title=y, scale=scales[1], axis=AXIS),
        size=alt.Size("system:N", scale=sizes, legend=None),
        color=_colour(marks),
        shape=_shape(marks),
        description="said:N",
    )
    return _svg(encoded, label)


def curves(lines: Sequence[Line], marks: Sequence[Mark], x: str, y: str, label: str, points: bool) -> str:
    """One curve for each line, thinned, from x = 0; its points are marked, and y begins at 0, where `points` is set."""
    most = MOST_MARKED if points else MOST_POINTS
    thin = [Line(line.system, thinned(line.points, most), line.name) for line in lines]
    base = _base(_values(thin, x, y)).encode(
        x=alt.X("x:Q", title=x, scale=alt.Scale(zero=True, nice=False, padding=6), axis=AXIS),
        y=alt.Y("y:Q", title=y, scale=alt.Scale(zero=points, nice=True), axis=AXIS),
        color=_colour(marks),
        detail="run:N",
    )
    layers = [base.mark_line(strokeWidth=1.8, aria=False)]
    if points:
        marked = base.mark_point(filled=True, size=60, opacity=1)
        layers.append(marked.encode(shape=_shape(marks), description="said:N"))
    return _svg(alt.layer(*layers), label)


def _spanning(values: Sequence[float], least: float) -> list[float]:
    """The domain of some values with room around them, at least `least` wide."""
    middle, span = (min(values) + max(values)) / 2, 1.2 * (max(values) - min(values))
    half = max(span, least) / 2
    return [middle - half, middle + half]


def thinned(points: Sequence[tuple[float, float]], most: int) -> list[tuple[float, float]]:
    """At most `most` points: each the mean of a window of neighbours in x and y; few points stay as they are."""
    if len(points) <= most:
        return list(points)
    edges = [round(number * len(points) / most) for number in range(most + 1)]
    windows = [points[start:end] for start, end in pairwise(edges)]
    return [(sum(x for x, _ in window) / len(window), sum(y for _, y in window) / len(window)) for window in windows]


def _values(lines: Sequence[Line], x: str, y: str) -> list[dict[str, object]]:
    return [
        {
            "x": round(at, 4),
            "y": round(value, 4),
            "system": line.system,
            "run": line.name,
            "said": f"{line.name}: {value:.1f} {y} at {at:.6g} {x}",
        }
        for line in lines
        for at, value in line.points
    ]


def _base(values: list[dict[str, object]]) -> alt.Chart:
    return alt.Chart(alt.Data(values=values), width=WIDTH, height=HEIGHT)


def _colour(marks: Sequence[Mark]) -> alt.Color:
    scale = alt.Scale(domain=[mark.system for mark in marks], range=[mark.colour for mark in marks])
    return alt.Color("system:N", scale=scale, legend=None)


def _shape(marks: Sequence[Mark]) -> alt.Shape:
    scale = alt.Scale(domain=[mark.system for mark in marks], range=[mark.shape for mark in marks])
    return alt.Shape("system:N", scale=scale, legend=None)


def _svg(chart: alt.Chart | alt.LayerChart | alt.FacetChart, label: str) -> str:
    styled = (
        chart.configure(font="sans-serif", padding=4, background="transparent", autosize=FIT)
        .configure_view(stroke=None)
        .configure_axis(
            **dict.fromkeys(("labelColor", "titleColor", "gridColor", "tickColor", "domainColor"), "currentColor"),
            gridOpacity=0.13,
            tickOpacity=0.4,
            domainOpacity=0.4,
            labelFontSize=11,
            titleFontSize=12,
            titleFontWeight="normal",
            titlePadding=7,
        )
    )
    drawn = io.StringIO()
    styled.save(drawn, format="svg")
    return finished(drawn.getvalue(), label)


def finished(drawn: str, label: str) -> str:
    """A drawn SVG as a page holds it: one image with one name, as wide as there is room, a tooltip on each point."""
    ElementTree.register_namespace("", SVG)
    root = ElementTree.fromstring(LONG.sub(r"\1", drawn))
    for size in ("width", "height", "class"):
        root.attrib.pop(size, None)
    root.attrib |= {"role": "img", "aria-label": label}
    for parent in root.iter():
        for child in list(parent):
            if child.get("d") == "" or (child.get("class") == "background" and parent.get("role") is None):
                parent.remove(child)
        if parent is root:
            continue
        said = parent.attrib.pop("aria-label", None)
        if said and parent.get("aria-roledescription") == POINT:
            ElementTree.SubElement(parent, f"{{{SVG}}}title").text = said
        for name in ("role", "aria-roledescription", "aria-hidden", "class", "pointer-events", "font-family"):
            parent.attrib.pop(name, None)
        if parent.get("opacity") == "1":
            del parent.attrib["opacity"]
    return ElementTree.tostring(root, encoding="unicode")
