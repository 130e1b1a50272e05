"""The site of the documentation: it builds without a warning, has a page for everything, and fetches nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import typer.main
from docs.pages import PAGES, ROOT

from swapmeet import _core, catalogue
from swapmeet.cli import app

pytestmark = pytest.mark.slow

FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
#: Where a page names a file or a folder of the tree.
PATH = re.compile(
    r"(?<![\w/.~-])(?:docs|src|tests|examples|include|python|benchmarks|fortran|packaging|cmake)/[\w/.-]*\w(?!\.?\*|\w)"
)
#: As of the commit that a page names; and what docs/howto/algorithm.md has its reader write.
NOT_HERE = {"benchmarks/node.py", "src/algorithms/ring.cpp", "src/algorithms/ring.hpp", "tests/core/ring_test.py"}


class Page(HTMLParser):
    """What a page fetches, and its text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.text = ""
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        address = found.get(FETCHED.get(tag, ""))
        if address and found.get("rel") != "canonical":
            self.fetched.append(address)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(package, reason=f"{package} is not installed: pip install 'swapmeet[docs]'")
    folder = tmp_path_factory.mktemp("site")
    argv = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    unreachable = {name: "http://127.0.0.1:9" for name in ("http_proxy", "https_proxy", "all_proxy")}
    environment = {**os.environ, **unreachable, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(argv, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return folder


def test_nothing_is_fetched(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 35
    for path in pages:
        fetched = Page(path).fetched
        assert fetched, f"{path}: nothing was found, not even its style"
        assert not [address for address in fetched if re.match(r"(?:\w+:)?//", address)], path
    for path in site.rglob("*.css"):
        assert not re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//", path.read_text()), path


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    header = (ROOT / "include" / "swapmeet" / "swapmeet.h").read_text()
    functions = set(re.findall(r"\b(swapmeet_\w+)\(", re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)))
    assert len(functions) > 15
    c, fortran, python = (Page(site / "reference" / f"{name}.html").text for name in ("c", "fortran", "python"))
    assert not [name for name in functions if name not in c]
    module = (ROOT / "fortran" / "swapmeet.f90").read_text()
    public = re.findall(r"\bswapmeet_\w+", " ".join(re.findall(r"^  public :: (.*)$", module, re.MULTILINE)))
    assert not [name for name in public if name not in fortran]
    interface = (ROOT / "python" / "swapmeet" / "exchange" / "__init__.py").read_text()
    names = re.findall(r'^    "(\w+)",$', interface, re.MULTILINE)
    assert len(names) > 10
    assert not [name for name in names if name not in python]


def test_every_command_and_its_options_are_in_the_reference(site: Path) -> None:
    text = Page(site / "reference" / "commands.html").text
    for name, command in typer.main.get_command(app).commands.items():
        assert f"swapmeet {name}" in text
        options = [option for param in command.params for option in param.opts if option.startswith("-")]
        assert not [option for option in options if option not in text]


def test_the_table_of_aliases_is_up_to_date() -> None:
    page = ROOT / "docs" / "family.md"
    assert page.read_text().endswith("\n\n" + catalogue.aliases_markdown() + "\n"), (
        f"{page}: put the output of `swapmeet algorithms --markdown` at its end again"
    )
    assert len(_core.aliases()) > 20


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_are_named_exist(page: Path) -> None:
    text = re.sub(r"```.*?```|<!--.*?-->", "", page.read_text(), flags=re.DOTALL)
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
    named = {path for path in PATH.findall(prose) if "NAME" not in path} - NOT_HERE
    assert not [path for path in named if not (ROOT / path).exists()]
