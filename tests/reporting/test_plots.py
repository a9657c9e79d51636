"""Plots: systems are told apart twice, in both colour schemes; long curves are thinned, not cut."""

from pathlib import Path
from xml.etree import ElementTree

from optok.reporting.comparison import VALID_BLEU, learning_curves, series
from optok.reporting.marks import COLOURS, marks, variables
from optok.reporting.plots import MOST_MARKED, MOST_POINTS, SVG, Line, curves, scatter, thinned
from tests.reporting.making import make

BACKGROUNDS = ("#ffffff", "#1c1f24")  # of a panel, light and dark
STYLE = Path(__file__).parents[2] / "optok" / "reporting" / "page.css"


def luminance(colour: str) -> float:
    """Relative luminance of an sRGB colour (WCAG 2.2)."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def test_the_contrast_formula_gives_the_known_ends_of_its_scale():
    assert round(contrast("#ffffff", "#000000"), 2) == 21
    assert round(contrast("#777777", "#ffffff"), 2) == 4.48


def test_every_colour_has_a_contrast_of_three_with_its_panel():
    style = STYLE.read_text(encoding="utf-8")
    for scheme, background in enumerate(BACKGROUNDS):
        assert f"--raised: {background};" in style
        for colour in COLOURS:
            assert contrast(colour[scheme], background) >= 3, colour[scheme]
            assert colour[scheme] in variables(dark=bool(scheme))


def test_fifty_systems_differ_in_colour_or_shape_and_the_first_seven_in_both():
    made = marks([f"system-{number}" for number in range(50)])
    assert len({(mark.colour, mark.shape) for mark in made}) == 50
    assert len({mark.colour for mark in made[:7]}) == len({mark.shape for mark in made[:7]}) == 7


def test_a_point_a_run_with_colour_shape_and_what_it_says():
    lines = [Line("unigram", [(11.5, 20.0)], "unigram"), Line("<optok>", [(11.5, 20.0)], "<optok> seed 2")]
    drawn = scatter(lines, marks(["unigram", "<optok>"]), "tokens", "BLEU", (1, 2), "en-de & more")
    root = ElementTree.fromstring(drawn)
    assert (root.get("role"), root.get("aria-label")) == ("img", "en-de & more")
    assert root.get("viewBox")
    assert root.get("width") is None
    points = [path for path in root.iter(f"{{{SVG}}}path") if path.find(f"{{{SVG}}}title") is not None]
    assert [point[0].text for point in points] == [
        "unigram: 20.0 BLEU at 11.5 tokens",
        "<optok> seed 2: 20.0 BLEU at 11.5 tokens",
    ]
    assert "var(--series-0" in points[0].get("fill", "")
    assert "var(--series-1" in points[1].get("fill", "")
    assert points[0].get("d") != points[1].get("d")
    ticks = [text.text for text in root.iter(f"{{{SVG}}}text")]
    assert len(set(ticks)) == len(ticks)  # equal values still have an axis that can be read


def test_text_and_axes_take_the_colour_of_the_page():
    drawn = curves([Line("a", [(0, 1), (5, 2)], "a")], marks(["a"]), "update", "BLEU", "label", points=True)
    root = ElementTree.fromstring(drawn)
    for element in root.iter():
        for attribute in ("fill", "stroke"):
            assert element.get(attribute, "none").startswith(("none", "currentColor", "transparent", "var(")), drawn


def test_thinning_keeps_mean_and_order_and_leaves_short_lines_alone():
    points = [(float(x), float(x * x)) for x in range(1200)]
    thin = thinned(points, 120)
    assert len(thin) == 120
    assert thin == sorted(thin)
    assert thin[0] == (4.5, sum(x * x for x in range(10)) / 10)
    assert sum(y for _, y in thin) / 120 == sum(y for _, y in points) / 1200
    assert thinned(points[:50], 120) == points[:50]
    long = [Line("a", points, "a")]
    sizes = [len(curves(long, marks(["a"]), "x", "y", "label", points=marked)) for marked in (True, False)]
    assert max(sizes) < 200 * max(MOST_POINTS, 2 * MOST_MARKED)


def test_a_system_that_starts_from_another_goes_on_where_that_one_ends(tmp_path: Path):
    results = make(tmp_path, ["unigram-sampled", "optok-post"], [1], updates=20)
    run = next(run for run in results.runs if run.system == "optok-post")
    base = results.base(run)
    assert base is not None
    assert base.system == "unigram-sampled"
    shown = series(results, run, VALID_BLEU)
    assert [update for update, _ in shown] == [20.0, *(20.0 + update for update in range(1, 21))]
    assert shown[0] == series(results, base, VALID_BLEU)[-1]
    assert learning_curves(results)["later"] == ["optok-post"]
