"""A real browser for tests of pages: Debian's Chromium, without a window."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

WORDS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--force-prefers-reduced-motion",
    "--hide-scrollbars",
)


@contextmanager
def browser(width: int = 1500, height: int = 1000) -> Iterator[Any]:
    """Start one, with a log of its console, or skip the test."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="takes selenium: pip install selenium")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("takes a browser: Debian's chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for word in (*WORDS, f"--window-size={width},{height}"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield started
    finally:
        started.quit()


def errors(started: Any) -> list[str]:
    """What the console has complained about since it was asked last."""
    return [line["message"] for line in started.get_log("browser") if line["level"] == "SEVERE"]


def use_scheme(started: Any, scheme: str) -> None:
    """Have pages see a system that prefers `light` or `dark`."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    started.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
