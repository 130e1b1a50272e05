"""The picture of what orders put on links: its numbers are those of the table, and it is a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from swapmeet import _core
from swapmeet.cli.app import app
from swapmeet.draw import network as picture

SMALL = "dragonfly(a=4,p=2,h=1)"  # 40 hosts


@pytest.fixture(scope="module")
def placed() -> _core.PlacedNetwork:
    return _core.PlacedNetwork(_core.named_network(SMALL))


@pytest.mark.parametrize("text", ["direct(window=1)", "direct(order=random,window=3)", "tra(r=3)", "direct"])
def test_loads_are_those_of_the_core(placed: _core.PlacedNetwork, text: str) -> None:
    spec = _core.parse_spec(text)
    largest, blocks = placed.load(spec)
    load = picture.of_spec(placed, spec, text)
    assert load.lasts.tolist() == largest and load.slots == sum(largest)
    assert load.totals.tolist() == [blocks[number] for number in picture.links_between_switches(placed)]
    assert load.over_time().shape == (load.slots, len(load.totals))


def test_a_conflict_free_order_has_a_block_on_a_link_at_a_time(placed: _core.PlacedNetwork) -> None:
    slots = placed.slots(0, 1000, 60)
    load = picture.of_slots(placed, slots, "conflict-free")
    assert load.slots == slots.slots and load.rounds.max() == 1
    _, blocks = placed.load(_core.parse_spec("direct"))
    assert load.totals.tolist() == [blocks[number] for number in picture.links_between_switches(placed)]


def test_capacities_count(placed: _core.PlacedNetwork) -> None:
    text = "".join(f"host n{i} s{i // 4}\n" for i in range(8)) + "link s0 s1 4\n"
    wide = _core.PlacedNetwork(_core.parse_network(text))
    load = picture.of_spec(wide, _core.parse_spec("direct(window=1)"), "shift")
    assert load.rounds.shape == (7, 2) and load.rounds.max() == 1, "4 blocks on a link of capacity 4"
    assert np.array_equal(load.totals, [4, 4])


def test_what_takes_too_long_is_left_out(placed: _core.PlacedNetwork) -> None:
    loads = [picture.of_spec(placed, _core.parse_spec(f"direct(order={o},window=1)"), o) for o in ("shift", "scatter")]
    fitting, notes = picture.fitting(loads, placed.bound()[0])
    assert [load.name for load in fitting] == ["shift"] and len(notes) == 1 and "scatter" in notes[0]


def invoke(*words: str, status: int = 0) -> str:
    done = CliRunner().invoke(app, ["topology", SMALL, *words])
    assert done.exit_code == status, done.output
    return done.output


def test_the_command_draws(tmp_path: Path) -> None:
    file = tmp_path / "links.png"
    output = invoke("--compare", "--moves", "1000", "--spec", "direct(window=4)", "--picture", str(file))
    assert "conflict-free" in output and "scatter is not in the picture" in output
    assert file.read_bytes().startswith(b"\x89PNG") and file.stat().st_size > 10_000


@pytest.mark.parametrize(
    "words, problem",
    [
        (("--picture", "links.png"), "has no effect without --compare"),
        (("--compare", "--picture", "links.txt"), "the name must end in"),
        (("--compare", "--picture", "/nowhere/links.png"), "there is no folder"),
        (("--compare", "--picture", "links.png", "--place", "block:40"), "has too many messages"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], problem: str) -> None:
    output = invoke(*words, status=2)
    assert problem in output and len(output.splitlines()) == 1
