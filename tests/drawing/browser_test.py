"""The page in a real browser: steps, keys, following a block, buffers, nodes, links; and not a word to the network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browser as chromium
import pytest

from swapmeet import _core
from swapmeet.draw.page import page
from swapmeet.draw.picture import take

pytest.importorskip("selenium.webdriver", reason="takes selenium: pip install selenium")
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium.browser() as started:
        yield started


class Page:
    """A page that is open, and what a reader sees of it."""

    def __init__(self, browser: Any, folder: Path, text: str, address: str = "") -> None:
        self.browser = browser
        file = folder / "page.html"
        file.write_text(text, encoding="utf-8")
        browser.get("about:blank")
        browser.get(f"{file.as_uri()}{address}")
        assert not chromium.errors(browser)

    def text(self, name: str) -> str:
        return str(self.browser.find_element(By.ID, name).text)

    def press(self, *keys: str) -> None:
        self.browser.switch_to.active_element.send_keys(*keys)

    def click(self, css: str) -> None:
        self.browser.find_element(By.CSS_SELECTOR, css).click()

    def count(self, css: str) -> int:
        return len(self.browser.find_elements(By.CSS_SELECTOR, css))

    def run(self, script: str) -> Any:
        return self.browser.execute_script(script)

    def costs(self) -> list[list[str]]:
        return [
            [cell.text for cell in row.find_elements(By.TAG_NAME, "td")]
            for row in self.browser.find_elements(By.CSS_SELECTOR, "#costs tr")
        ]


@pytest.fixture
def show(browser: Any, tmp_path: Path):
    def show(spec: str, ranks: int, nodes: str = "", address: str = "", network: str = "") -> Page:
        placed = None
        if network:
            placed = _core.PlacedNetwork(_core.named_network(network), placement="block", ranks=ranks)
            nodes = ",".join(map(str, placed.placement))
        return Page(browser, tmp_path, page(take(_core.parse_spec(spec), ranks, nodes, placed)), address)

    return show


def test_steps_by_keys_and_buttons(show) -> None:
    it = show("tra(r=2)", 8)
    assert it.text("title") == "Start"
    it.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert it.text("title") == "3. Round 1 of 3: digit of weight 1"
    assert it.count("#ring .chord") == 8
    it.click("#back")
    assert it.text("title") == "2. Pack"
    assert it.count("#ring .chord") == 0
    it.press(Keys.END)
    assert "every block is where it belongs" in it.text("meaning")
    assert not it.browser.find_element(By.ID, "forward").is_enabled()
    it.press(Keys.HOME)
    assert it.text("title") == "Start"
    it.click("#ticks span:nth-child(6)")
    assert it.text("title").startswith("6. Round 2 of 3")
    it.run(
        "const slider = document.getElementById('position'); slider.value = 9; slider.dispatchEvent(new Event('input'))"
    )
    assert it.text("title").startswith("9.")


def test_plays_and_pauses(show) -> None:
    it = show("tra(r=2)", 4)
    it.press(" ")
    assert it.text("title").startswith("1.")
    assert it.browser.find_element(By.ID, "play").get_attribute("aria-label") == "Pause"
    it.press(" ")
    assert it.browser.find_element(By.ID, "play").get_attribute("aria-label") == "Play"


def test_follows_a_block(show) -> None:
    it = show("tra(r=2)", 8, address="#step=3&block=1-6")
    assert "1→6 is 5 ahead" in it.text("journey")
    digits = it.browser.find_element(By.ID, "digits").text.split("\n")
    assert digits == ["weight 4 2 1", "digit 1 0 1"]
    assert [item.text for item in it.browser.find_elements(By.CSS_SELECTOR, "#journey .hop")] == [
        "3. rank 1 → rank 2",
        "8. rank 2 → rank 6",
    ]
    assert it.count("#ring .chord.marked") == 1
    assert it.count("#ring .trail") == 2
    it.click("#journey .hop:last-of-type button, #journey li:nth-child(5) button")
    assert it.text("title").startswith("8. Round 3 of 3")
    it.press(Keys.ESCAPE)
    assert "Choose one here" in it.text("journey")


def test_a_block_is_picked_in_a_buffer(show) -> None:
    it = show("pairwise", 5)
    it.run(
        "const canvas = document.querySelector('#grids canvas:not([hidden])'), box = canvas.getBoundingClientRect();"
        "const at = {clientX: box.left + 30 + 34 * 3.5, clientY: box.top + 30 + 26 * 2.5};"
        "canvas.dispatchEvent(new MouseEvent('click', at))"
    )
    assert "2→3 is 1 ahead" in it.text("journey")
    assert it.run("return location.hash") == "#block=2-3"


def test_a_rank_is_chosen_and_its_costs_grow(show) -> None:
    it = show("tra(r=2)", 8)
    it.click("#ring [data-rank='5'] circle")
    it.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert "sends to 6" in it.text("rank-detail") and "receives from 4" in it.text("rank-detail")
    assert it.count("#ring .chord:not(.faded)") == 2
    assert it.costs()[:3] == [
        ["messages, K", "1", "3"],
        ["blocks sent, D", "4", "12"],
        ["bytes sent", "256 B", "768 B"],
    ]
    field = it.browser.find_element(By.ID, "bytes")
    field.clear()
    field.send_keys("1024")
    assert it.costs()[2] == ["bytes sent", "4 KiB", "12 KiB"]
    it.click("#title")
    it.press("r")
    assert "sends to 7" in it.text("rank-detail")


def test_buffers_show_before_and_after(show) -> None:
    """The colour of a cell is the destination's, and it is there exactly after the block has come."""
    it = show("pairwise", 4, address="#step=1")
    script = (
        "const pixel = (n, x, y) => { const canvas = document.querySelectorAll('#grids canvas')[n];"
        "const scale = canvas.width / canvas.clientWidth; return [...canvas.getContext('2d').getImageData("
        "Math.round(x * scale), Math.round(y * scale), 1, 1).data.slice(0, 3)]; };"
        "const x = 30 + 34 * 4 + 14 + 34 * 3 + 5, y = 30 + 6;"  # receive[3] of rank 0
        "return [pixel(0, x, y), pixel(1, x, y)]"
    )
    before, after = it.run(script)
    colour = it.browser.find_element(By.CSS_SELECTOR, "#ring [data-rank='0'] circle").get_attribute("fill")
    assert after == [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    assert before != after
    it.press("v")
    assert [one.is_displayed() for one in it.browser.find_elements(By.CSS_SELECTOR, "#grids canvas")] == [True, False]


#: The colours of the rows of the receive buffer, read where all cells of a row are alike; and those of the ranks.
RECEIVED = """
const data = JSON.parse(document.getElementById('schedule').textContent), P = data.ranks;
const canvas = document.querySelector('#grids canvas:not([hidden])'), scale = canvas.width / canvas.clientWidth;
const parts = data.scratch ? 3 : 2, cell = (canvas.clientWidth - 30 - 14 * parts) / (2 * P + data.scratch);
const context = canvas.getContext('2d'), rows = [];
const colour = (x, y) => '#' + [...context.getImageData(Math.round(x * scale), Math.round(y * scale), 1, 1).data]
  .slice(0, 3).map((part) => part.toString(16).padStart(2, '0')).join('');
for (let y = 31; y < canvas.clientHeight - 4; ++y) {
  const row = new Set(Array.from({length: P}, (_, i) => colour(30 + 14 + (P + i + 0.15) * cell, y)));
  const [first] = row;
  if (row.size === 1 && first !== rows.at(-1) && data.fills.includes(first)) rows.push(first);
}
return [rows, data.fills];
"""


@pytest.mark.parametrize(
    ("spec", "ranks", "nodes"), [("tra(r=3)", 9, ""), ("two-layer", 6, "4+2"), ("node-leaders", 6, "3")]
)
def test_at_the_end_all_blocks_are_where_they_belong(show, spec: str, ranks: int, nodes: str) -> None:
    """The row of each rank in the receive buffer has the colour of the rank, in all its cells."""
    it = show(spec, ranks, nodes)
    it.press("v", "v")  # after
    it.press(Keys.END)
    rows, fills = it.run(RECEIVED)
    assert rows == fills


def test_keys_follow_blocks_and_change_colours(show) -> None:
    it = show("tra(r=2)", 8, address="#step=3&rank=2")
    it.press("f")
    assert it.run("return location.hash") == "#step=3&rank=2&block=2-3"
    it.press("f")
    assert it.run("return location.hash") == "#step=3&rank=2&block=2-5"
    for told in ("source.", "the digit of weight 1; grey is 0.", "destination."):
        it.press("c")
        assert f"Colour: {told}" in it.text("legend")
    it.press("R", "R", "R")
    assert it.run("return location.hash") == "#step=3&block=2-5"


def test_nodes_are_drawn(show) -> None:
    it = show("two-layer", 6, "4+2")
    assert it.count("#ring .node") == 2
    assert "2 nodes (4+2)" in it.text("summary")
    it.press(Keys.END)
    assert it.costs()[0] == ["messages, K", "3", "3"]


def test_links_are_loaded(show) -> None:
    it = show("pairwise", 8, network="fat-tree(leaves=4,hosts=2,spines=2)", address="#step=3")
    assert "Busiest link now: 1 block." in it.text("load")
    assert it.count("#rounds span") == 7
    assert it.count("#links line") == 8 + 8
    assert it.count("#busiest tr") == 8


def test_many_ranks(show) -> None:
    it = show("tra(r=2)", 64, address="#step=6")
    assert it.count("#ring .chord") == 64
    assert it.run("return document.documentElement.scrollWidth <= innerWidth")


def test_an_address_that_makes_no_sense_is_passed_over(show) -> None:
    it = show("pairwise", 3, address="#step=99&rank=x&block=7-1&__proto__=1")
    assert it.text("title") == "Start"
    assert "Choose one here" in it.text("journey")


def test_one_rank(show) -> None:
    it = show("pairwise", 1)
    it.press(Keys.ARROW_RIGHT)
    assert it.text("meaning").endswith("Now every block is where it belongs.")


def test_nothing_is_fetched(show) -> None:
    it = show("pairwise", 4)
    it.press(Keys.END)
    assert it.run("return performance.getEntriesByType('resource').map((one) => one.name)") == []
