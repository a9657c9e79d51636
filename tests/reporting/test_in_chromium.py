"""The page in a real browser without a network: it opens, fits, reads, and says what table.md says."""

import shutil
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe

from optok.reporting.page import write_page
from tests.browser import Visit, chromium_page
from tests.chain import Benchmark, optok
from tests.reporting.making import make
from tests.reporting.test_plots import contrast

pytestmark = pytest.mark.browser
PLAIN = """
element => [getComputedStyle(element).color, getComputedStyle(document.body).backgroundColor].map(
    colour => '#' + colour.match(/[0-9]+/g).slice(0, 3).map(n => Number(n).toString(16).padStart(2, '0')).join(''))
"""


@pytest.fixture(scope="module")
def finished(prepared: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results folder of two systems that were really trained, translated, scored and reported."""
    folder = tmp_path_factory.mktemp("report")
    shutil.copytree(prepared.results, folder / "results")
    settings = yaml.safe_load(prepared.configfile.read_text(encoding="utf-8"))
    settings["results"] = str(folder / "results")
    settings["systems"] = {name: settings["systems"][name] for name in ("unigram-sampled", "optok")}
    settings["corpora"]["own"]["directions"] = ["en-zh_CN"]
    configfile = folder / "config.yaml"
    configfile.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    corpus = folder / "results/own/corpus"
    for system in settings["systems"]:
        run = folder / "results/own/en-zh_CN" / system / "seed1"
        named = ("--corpus", "own", "--direction", "en-zh_CN", "--system", system)
        assert optok("train", "--configfile", configfile, *named) == 0
        assert optok("export", "--translator", run / "translator", "--output", run / "export") == 0
        text = ("--input", corpus / "test.en", "--output", run / "hypotheses.txt")
        assert optok("translate", "--export", run / "export", *text) == 0
        scored = ("--corpus", corpus, "--direction", "en-zh_CN", "--translator", run / "translator")
        hypotheses = ("--hypotheses", run / "hypotheses.txt", "--output", run / "scores.json")
        assert optok("score", *hypotheses, *scored) == 0
    assert optok("table", "--configfile", configfile) == 0
    assert optok("report", "--configfile", configfile) == 0
    return folder / "results"


def visit_page(visit: Visit, page: Path) -> list[str]:
    """Opens the page; returns what its console says."""
    said: list[str] = []
    visit.page.on("console", lambda message: said.append(message.text))
    visit.page.goto(page.as_uri())
    return said


def table_of(markdown: str) -> list[list[str]]:
    rows = [line.strip("|").split("|") for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows if "---" not in row[0]]


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (400, False)])
def test_it_opens_without_a_network_fits_and_reads(finished: Path, width: int, dark: bool):
    page = finished / "report.html"
    with chromium_page(offline=True, width=width, dark=dark) as visit:
        said = visit_page(visit, page)
        assert visit.requested == [page.as_uri()]
        assert visit.errors == said == []
        assert visit.page.evaluate("document.documentElement.scrollWidth") == width
        for selector in ("main p", "th", "a", "summary", ".quiet"):
            text, background = visit.page.locator(selector).first.evaluate(PLAIN)
            assert contrast(text, background) >= 4.5, selector
        assert (contrast(background, "#000000") < 2) == dark
        visit.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert visit.page.evaluate("document.documentElement.scrollWidth") == width
        violations = Axe().run(visit.page).response["violations"]
        assert [one["id"] for one in violations if one["impact"] in ("serious", "critical")] == []


def test_the_table_has_the_cells_of_table_md(finished: Path):
    with chromium_page(offline=True) as visit:
        visit_page(visit, finished / "report.html")
        rows = visit.page.locator("table.scores tr").all()
        shown = [row.locator("th, td").all_inner_texts() for row in rows]
    assert shown == table_of((finished / "table.md").read_text(encoding="utf-8"))
    assert len(shown) == 2


def test_headings_go_down_one_step_at_a_time_and_tables_have_captions_and_scopes(finished: Path):
    with chromium_page(offline=True) as visit:
        visit_page(visit, finished / "report.html")
        levels = visit.page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(one => +one.tagName[1])")
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
        for landmark in ("header", "nav[aria-label]", "main"):
            assert visit.page.locator(landmark).count() == 1
        tables = visit.page.locator("table").count()
        assert tables == visit.page.locator("table > caption").count() > 4
        assert visit.page.locator("th:not([scope])").count() == 0
        targets = visit.page.evaluate(
            "[...document.querySelectorAll('nav a')].map(a => !!document.querySelector(a.hash))"
        )
        assert targets == [True] * 8


def test_every_scrolling_table_and_every_closed_part_is_reached_by_the_keyboard(finished: Path):
    with chromium_page(offline=True, width=400) as visit:
        visit_page(visit, finished / "report.html")
        visit.page.keyboard.press("Tab")
        assert visit.page.evaluate("document.activeElement.className") == "skip"
        reached = set()
        for _ in range(60):
            visit.page.keyboard.press("Tab")
            reached.add(
                visit.page.evaluate(
                    "document.activeElement.getAttribute('aria-labelledby') || document.activeElement.tagName"
                )
            )
        assert {"A", "SUMMARY", "scores-caption"} <= reached


def test_what_was_learned_and_the_curves_of_real_runs_are_on_it(finished: Path):
    with chromium_page(offline=True) as visit:
        visit_page(visit, finished / "report.html")
        text = visit.page.locator("main").inner_text()
        assert "What was learned" in text
        assert "This section could not be made" not in text
        points = visit.page.locator("#curves figure title").all_text_contents()
        assert any(point.startswith("optok: ") and " at 12 update" in point for point in points)


def test_the_default_benchmark_fits_a_phone_and_prints(tmp_path: Path):
    systems = ["unigram", "unigram-sampled", "optok", "optok-post", "optok-restricted"]
    results = make(tmp_path, systems, [1], corpora=4, updates=30)
    page = write_page(tmp_path, results.planned)
    with chromium_page(offline=True, width=400) as visit:
        visit_page(visit, page)
        assert visit.page.evaluate("document.documentElement.scrollWidth") == 400
        scrolling = visit.page.locator(".scroll:has(#scores-caption)")
        assert scrolling.evaluate("one => one.scrollWidth > one.clientWidth")
        visit.page.emulate_media(media="print")
        visit.page.set_viewport_size({"width": 700, "height": 1000})
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 700
        assert visit.page.pdf(format="A4").startswith(b"%PDF")
