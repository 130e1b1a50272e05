"""The site of the documentation: it builds without a warning, has a page for everything, and fetches nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import typer.main
from docs.html import Page, read
from docs.pages import PAGES, ROOT

from swapmeet.cli.app import app

pytestmark = pytest.mark.slow

ABSOLUTE = "404.html"  #: is served wherever nothing was found, so its addresses begin at the server's root
IN_SCRIPTS = {f"step={number}" for number in range(1, 10)}  #: places that a page of `swapmeet draw` understands
#: Where a page names a file or a folder of the tree.
PATH = re.compile(
    r"(?<![\w/.~-])(?:docs|src|tests|examples|include|python|benchmarks|fortran|packaging|cmake)/[\w/.-]*\w(?!\.?\*|\w)"
)
#: As of the commit that a page names; and what docs/howto/algorithm.md has its reader write.
NOT_HERE = {"src/algorithms/ring.cpp", "src/algorithms/ring.hpp", "tests/core/ring_test.py"}


def test_nothing_is_fetched(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 35
    for path in pages:
        if path.parent.name == "schedules":
            assert not read(path).fetched, path  # each is one file
            continue
        fetched = [address for address, _ in read(path).fetched]
        assert fetched, f"{path}: nothing was found, not even its style"
        assert not [address for address in fetched if re.match(r"(?:\w+:)?//", address)], path
    for path in site.rglob("*.css"):
        assert not re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//", path.read_text()), path


def test_links_anchors_and_pictures(site: Path) -> None:
    pages = {path: read(path) for path in site.rglob("*.html") if path.name != ABSOLUTE}
    wrong = [f"{path.relative_to(site)}: {problem}" for path in pages for problem in broken(path, site, pages)]
    assert not wrong, "\n".join(sorted(wrong))
    assert sum(len(page.links) for page in pages.values()) > 1000


def broken(path: Path, site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """What a page refers to in vain, and pictures that a reader who does not see them misses."""
    page = pages[path]
    for address in [*page.links, *(address for address, _ in page.fetched)]:
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir() or not target.exists() or not target.is_relative_to(site.resolve()):
            yield f"{address}: no such file"
        elif not target.stat().st_size:
            yield f"{address}: empty"
        elif parts.fragment and target in pages and parts.fragment not in (*pages[target].anchors, *IN_SCRIPTS):
            yield f"{address}: no such place in that page"
    yield from (f"{address}: a picture without a text" for address, text in page.fetched if text == "")


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    names = ("a.html", "b.html", "empty.png")
    page, other, picture = (tmp_path / name for name in names)
    page.write_text(
        '<a href="b.html#here"></a><a href="b.html#there"></a><a href="c.html"></a><img src="empty.png" alt="">'
        '<iframe src="d.html"></iframe><a href="https://example.org/none"></a><a href="#top"></a><h1 id="top"></h1>'
    )
    other.write_text('<p id="here"></p>')
    picture.touch()
    pages = {path: read(path) for path in (page, other)}
    assert sorted(broken(page, tmp_path, pages)) == [
        "b.html#there: no such place in that page",
        "c.html: no such file",
        "d.html: no such file",
        "empty.png: a picture without a text",
        "empty.png: empty",
    ]


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    header = (ROOT / "include" / "swapmeet" / "swapmeet.h").read_text()
    functions = set(re.findall(r"\b(swapmeet_\w+)\(", re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)))
    assert len(functions) > 15
    c, fortran, python = (read(site / "reference" / f"{name}.html").text for name in ("c", "fortran", "python"))
    assert not [name for name in functions if name not in c]
    module = (ROOT / "fortran" / "swapmeet.f90").read_text()
    public = re.findall(r"\bswapmeet_\w+", " ".join(re.findall(r"^  public :: (.*)$", module, re.MULTILINE)))
    assert not [name for name in public if name not in fortran]
    interface = (ROOT / "python" / "swapmeet" / "exchange" / "__init__.py").read_text()
    names = re.findall(r'^    "(\w+)",$', interface, re.MULTILINE)
    assert len(names) > 10
    assert not [name for name in names if name not in python]


def test_every_command_and_its_options_are_in_the_reference(site: Path) -> None:
    text = read(site / "reference" / "commands.html").text
    for name, command in typer.main.get_command(app).commands.items():
        assert f"swapmeet {name}" in text
        options = [option for param in command.params for option in param.opts if option.startswith("-")]
        assert not [option for option in options if option not in text]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_are_named_exist(page: Path) -> None:
    text = re.sub(r"```.*?```|<!--.*?-->", "", page.read_text(), flags=re.DOTALL)
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
    named = {path for path in PATH.findall(prose) if "NAME" not in path} - NOT_HERE
    assert not [path for path in named if not (ROOT / path).exists()]
