"""The HTML report: complete, readable by itself, and silent on the network."""

from __future__ import annotations

import html.parser
import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("plotly")
pytest.importorskip("scipy")

from plots.synthetic import write

from swapmeet.plots import heat, latency, phases, radix, samples
from swapmeet.plots.measured import Filter, load
from swapmeet.plots.pictures import LeftOut, Picture
from swapmeet.plots.report import HEADINGS, report

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
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open = tag
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action")]
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

    @property
    def figures(self) -> dict[str, list[dict[str, Any]]]:
        """What is drawn."""
        (found,) = (text for attributes, text in self.scripts if attributes.get("id") == "figures")
        figures: dict[str, list[dict[str, Any]]] = json.loads(found)
        return figures


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    file = write(
        tmp_path_factory.mktemp("report") / "r.jsonl",
        specs=SPECS,
        sizes=(64, 32768, 65536, 131072),
        ranks=(4, 8),
        phases=True,
        header={"options": {"specs": ["</script><!--plotly-->"]}},
    )
    data = load([file], Filter())
    everything = [one for module in (heat, latency, radix, phases, samples) for one in module.pictures(data)]
    pictures = [one for one in everything if isinstance(one, Picture)]
    return Page(report(data, pictures, [LeftOut("heat", "no reason")], lambda: None))


def test_nothing_is_fetched(page: Page) -> None:
    assert [address for address in page.addresses if not address.startswith("data:")] == []
    own = "".join(page.styles) + "".join(text for _, text in page.scripts[0:1] + page.scripts[-1:])
    assert "http" not in own and "@import" not in own and "url(" not in own
    assert any("plotly.js v" in text[:300] for _, text in page.scripts)
    assert 'plotlyServerURL: ""' in page.scripts[-1][1]


def test_all_figures_have_data(page: Page) -> None:
    assert set(page.figures) == set(HEADINGS)
    assert {kind: len(figures) for kind, figures in page.figures.items()} == {
        "heat": 4,  # the best, and each spec
        "latency": 2,
        "radix": 8,
        "phases": 8,
        "samples": 8,
    }
    for figures in page.figures.values():
        for figure in figures:
            assert figure["data"]
            for trace in figure["data"]:
                assert trace["x"] and trace["y"]


def test_plotly_accepts_the_figures(page: Page) -> None:
    objects = pytest.importorskip("plotly.graph_objects")
    for figures in page.figures.values():
        objects.Figure(figures[0])  # ValueError if a property is unknown


def test_hover_tells_spec_sizes_median_interval_and_samples(page: Page) -> None:
    for figure in page.figures["latency"]:
        hovers = [text for trace in figure["data"] for text in trace.get("hovertext", ())]
        assert len(hovers) == 4 * 4
        pattern = r"<b>[^<]+</b><br>\d+ K?i?B, P = \d<br>median [\d.]+ .s<br>95 %: .+ to .+<br>90 samples, launches: 3"
        assert all(re.fullmatch(pattern, text) for text in hovers), hovers[0]


def test_facts_on_top(page: Page) -> None:
    text = "".join(page.text)
    for fact in ("nowhere", "Slide Rule", "16.0 GiB", "openmpi 5.0.11", "abcdef0123", "2024-01-02", "slow disk"):
        assert fact in text
    assert "A='b c' mpirun -n 4 measure   (3 times)" in text
    assert "bruck: it <b>broke</b>" in text  # as text: it was escaped
    assert "</script><!--plotly-->" in text
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
    assert len(page.scripts) == 3
    assert len(page.figures["samples"]) == 1
    assert any(name in row[3] for row in page.rows if row)


def test_constants_are_there(page: Page) -> None:
    rows = [row for row in page.rows if len(row) == 5]
    assert len(rows) == 2 * 4
    assert all(re.fullmatch(r"[\d.e-]+ \[[\d.e-]+, [\d.e+-]+\]", row[2]) for row in rows)
