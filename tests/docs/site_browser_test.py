"""The site in a real browser, from files and a server: search, frames, the console, accessibility."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from browser import browser, errors, use_scheme
from docs.pages import ROOT

pytestmark = pytest.mark.slow

AXE = "axe-core@4.14.1"
#: One page of each kind: start, frame and pictures, tables, reference, code, and a page of `swapmeet draw`.
KINDS = ("index", "families/layers", "reference/commands", "tutorial", "schedules/bruck-8")
ABSOLUTE = "404.html"  #: is read from a server only
MISSING = "return [...document.images].filter(one => one.complete && !one.naturalWidth).map(one => one.src)"
FOUND = "return [...document.querySelectorAll('.md-search-result__item a')].map(one => one.href)"
AUDIT = """
const done = arguments[0];
axe.run(document, {resultTypes: ["violations"], preload: false, iframes: false}).then(found => done(
  found.violations.filter(one => ["serious", "critical"].includes(one.impact))
    .map(one => `${one.id}: ${one.nodes[0].html.slice(0, 200)}`)));
"""


class Quiet(SimpleHTTPRequestHandler):
    """A server that prints nothing."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as started:
        yield started


@pytest.fixture(params=["file", "server"])
def root(request: pytest.FixtureRequest, site: Path) -> Iterator[str]:
    """The address of the site."""
    if request.param == "file":
        yield site.as_uri()
        return
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core, from npm."""
    file = ROOT / "build" / AXE / "axe.min.js"
    if not file.exists():
        if not shutil.which("npm"):
            pytest.skip("takes npm, to get axe-core: Debian's npm")
        file.parent.mkdir(parents=True, exist_ok=True)
        argv = ["npm", "pack", AXE, "--silent", "--pack-destination", str(file.parent)]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            pytest.skip(f"axe-core cannot be fetched from npm: {done.stderr[-200:]}")
        with tarfile.open(next(file.parent.glob("*.tgz"))) as package:
            script = package.extractfile("package/axe.min.js")
            assert script is not None
            file.write_bytes(script.read())
    return file.read_text(encoding="utf-8")


def problems(chromium: Any, address: str) -> list[str]:
    """What is wrong with a page that is opened: its console, and pictures that are missing."""
    chromium.get(address)
    return [f"{address}: {problem}" for problem in (*errors(chromium), *chromium.execute_script(MISSING))]


def wait(chromium: Any, script: str) -> Any:
    """The value of a script as soon as it is true."""
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(chromium, 20).until(lambda one: one.execute_script(script))


def test_search_finds_a_word(chromium: Any, root: str) -> None:
    from selenium.webdriver.common.keys import Keys

    assert not problems(chromium, f"{root}/index.html")
    chromium.switch_to.active_element.send_keys("/")
    wait(chromium, "return document.activeElement.matches('input.md-search__input')")
    chromium.switch_to.active_element.send_keys("ibnetdiscover")
    addresses = wait(chromium, f"const found = (() => {{ {FOUND} }})(); return found.length && found")
    assert all(address.startswith(root) for address in addresses)
    assert any(address.startswith(f"{root}/networks.html") for address in addresses)
    chromium.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not errors(chromium)


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible(chromium: Any, site: Path, axe: str, scheme: str) -> None:
    use_scheme(chromium, scheme)
    assert not [found for kind in KINDS for found in audit(chromium, axe, site / f"{kind}.html")]


def audit(chromium: Any, axe: str, page: Path) -> list[str]:
    """What axe finds serious or critical in a page."""
    chromium.get(page.as_uri())
    chromium.execute_script(axe)
    return [f"{page.stem}: {found}" for found in chromium.execute_async_script(AUDIT)]


@pytest.mark.long
def test_problems_are_found(chromium: Any, axe: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        '<html lang="en"><title>x</title><img src="none.png"><script>none()</script><button></button></html>'
    )
    found = "\n".join(problems(chromium, page.as_uri()))
    assert "none is not defined" in found and "page.html: file://" in found and "none.png" in found
    assert {line.split(": ")[1] for line in audit(chromium, axe, page)} >= {"image-alt", "button-name"}
    errors(chromium)


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page(chromium: Any, site: Path, root: str, scheme: str) -> None:
    use_scheme(chromium, scheme)
    pages = [
        page.relative_to(site) for page in site.rglob("*.html") if root.startswith("http") or page.name != ABSOLUTE
    ]
    assert not [problem for page in sorted(pages) for problem in problems(chromium, f"{root}/{page}")]


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_accessible(chromium: Any, site: Path, axe: str, scheme: str) -> None:
    use_scheme(chromium, scheme)
    pages = sorted(page for page in site.rglob("*.html") if page.name != ABSOLUTE)
    assert not [found for page in pages for found in audit(chromium, axe, page)]
