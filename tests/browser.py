"""Debian's Chromium, driven by Playwright: what the tests of pages share (marker `browser`)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
HEIGHT = 900  # pixels
PATIENCE = 30_000  # milliseconds for a page's element to appear


@dataclass
class Visit:
    """An open page, every address that it asked for, and every error that its scripts ended with."""

    page: Page
    requested: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def need_chromium() -> None:
    """Skips the test where there is no Chromium; fails it with CI=true, where there must be one."""
    if CHROMIUM.exists():
        return
    reason = f"{CHROMIUM} is missing: apt-get install chromium"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def chromium_page(offline: bool = False, width: int = 1280, dark: bool = False) -> Iterator[Visit]:
    """A fresh page, `width` pixels wide, light or dark, with the network on or off."""
    need_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        try:
            context = browser.new_context(
                viewport={"width": width, "height": HEIGHT},
                color_scheme="dark" if dark else "light",
                offline=offline,
            )
            context.set_default_timeout(PATIENCE)
            visit = Visit(context.new_page())
            visit.page.on("request", lambda request: visit.requested.append(request.url))
            visit.page.on("pageerror", lambda error: visit.errors.append(str(error)))
            yield visit
        finally:
            browser.close()
