"""The HTML report: complete, readable by itself, and silent on the network."""

from __future__ import annotations

import base64
import html.parser
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from plots.synthetic import write

from swapmeet.draw.plots import heat, latency, phases, radix, samples
from swapmeet.draw.plots.measured import Filter, load
from swapmeet.draw.plots.pictures import LeftOut, Picture
from swapmeet.draw.plots.report import HEADINGS, report

SPECS = ("tra(r=2)", "tra(r=4)", "pairwise")


class Page(html.parser.HTMLParser):
    """What the page would load, and its parts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.styles: list[str] = []
        self.rows: list[list[str]] = []
        self.text: list[str] = []
        self.images: list[tuple[str, str]] = []  #: section, address
        self._section = ""
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open = tag
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action")]
        given = dict(attrs)
        if tag == "section":
            self._section = given.get("id") or ""
        elif tag == "img":
            self.images.append((self._section, given.get("src") or ""))
            assert given.get("alt")
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        elif tag == "tr":
            self.rows.append([])
        elif tag == "td":
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif self._open == "style":
            self.styles.append(data)
        elif self._open in ("td", "wbr"):
            self.rows[-1][-1] += data
        self.text.append(data)

    def pictures(self, kind: str) -> list[ElementTree.Element]:
        """Those of a section, as XML."""
        svg = "data:image/svg+xml;base64,"
        return [
            ElementTree.fromstring(base64.b64decode(address.removeprefix(svg)))
            for section, address in self.images
            if section == kind and address.startswith(svg)
        ]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    file = write(
        tmp_path_factory.mktemp("report") / "r.jsonl",
        specs=SPECS,
        sizes=(64, 32768, 65536, 131072),
        ranks=(4, 8),
        phases=True,
        header={"options": {"specs": ["</script><!--script-->"]}},
    )
    data = load([file], Filter())
    everything = [one for module in (heat, latency, radix, phases, samples) for one in module.pictures(data)]
    pictures = [one for one in everything if isinstance(one, Picture)]
    return Page(report(data, pictures, [LeftOut("heat", "no reason")], lambda: None))


def test_nothing_is_fetched(page: Page) -> None:
    assert [address for address in page.addresses if not address.startswith("data:")] == []
    own = "".join(page.styles) + "".join(text for _, text in page.scripts)
    assert "http" not in own and "@import" not in own and "url(" not in own


def test_all_pictures_are_there(page: Page) -> None:
    found = {kind: page.pictures(kind) for kind in HEADINGS}
    assert {kind: len(pictures) for kind, pictures in found.items()} == {
        "heat": 1,
        "latency": 2,  # for each number of ranks, as all that follow
        "radix": 2,
        "phases": 2,
        "samples": 2,
    }
    for pictures in found.values():
        for picture in pictures:
            assert picture.tag.endswith("svg") and len(list(picture.iter())) > 50


def test_facts_on_top(page: Page) -> None:
    text = "".join(page.text)
    for fact in ("nowhere", "Slide Rule", "16.0 GiB", "openmpi 5.0.11", "abcdef0123", "2024-01-02", "slow disk"):
        assert fact in text
    assert "A='b c' mpirun -n 4 measure   (3 times)" in text
    assert "bruck: it <b>broke</b>" in text  # as text: it was escaped
    assert "</script><!--script-->" in text
    assert "heat: no reason" in text


def test_the_table_has_every_median(page: Page) -> None:
    rows = [row for row in page.rows if len(row) == 11]
    assert len(rows) == 2 * 4 * 4
    assert {row[3] for row in rows} == {"native", *SPECS}
    assert all(row[9:] == ["90", "3"] for row in rows)
    assert {row[8] for row in rows if row[3] == "native"} == {"the MPI"}
    assert {row[8] for row in rows if row[3] != "native"} <= {"faster", "slower", "tie", "unclear"}


def test_names_cannot_end_the_script(tmp_path: Path) -> None:
    name = "mpi</script><b>"
    data = load([write(tmp_path / "r.jsonl", specs=(name,), sizes=(64,))], Filter())
    page = Page(report(data, [one for one in samples.pictures(data) if isinstance(one, Picture)], [], lambda: None))
    assert len(page.scripts) == 1
    assert len(page.pictures("samples")) == 1
    assert any(name in row[3] for row in page.rows if row)


def test_constants_are_there(page: Page) -> None:
    rows = [row for row in page.rows if len(row) == 5]
    assert len(rows) == 2 * 4
    assert all(re.fullmatch(r"[\d.e-]+ \[[\d.e-]+, [\d.e+-]+\]", row[2]) for row in rows)
