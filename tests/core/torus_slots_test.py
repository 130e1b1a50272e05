"""Orders of tori that are made of orders of their rings: checked by code that knows no rings."""

from __future__ import annotations

import math

import pytest
from core.slots_test import check

from swapmeet import _core


def torus(dims: str, more: str = "", place: str = "", ranks: int = 0) -> _core.PlacedNetwork:
    network = _core.named_network(f"torus(dims={dims},ordered=1{more})")
    return _core.PlacedNetwork(network, placement=place, ranks=ranks)


def ring_slots(n: int) -> int:
    """Those of a ring at least: each place sends to all, and n²/8 messages share a link (a ring of 2 has two)."""
    return max(n, math.ceil(n * n / 8)) if n > 2 else n


@pytest.mark.parametrize("dims", ["2", "3", "5", "2x2x2", "4x4", "4x4x4", "4x2x3", "8", "8x8", "1x8x1", "8x3", "5x3x2"])
def test_orders_of_short_rings_are_at_the_bound(dims: str) -> None:
    """Up to 8 places in a ring, those that send to all others are what takes longest."""
    placed = torus(dims)
    slots = placed.slots(moves=0)
    check(placed, slots)
    ranks = len(placed.placement)
    assert slots.bound in (ranks - 1, ranks)
    assert slots.slots <= ranks


@pytest.mark.parametrize("n", [6, 7, 9, 10, 11, 13, 14])
def test_rings_of_any_length(n: int) -> None:
    """A search finds orders of those that are no multiple of 4."""
    placed = torus(f"{n}x1")
    slots = placed.slots(moves=0)
    check(placed, slots)
    assert slots.slots <= 1.1 * ring_slots(n)


@pytest.mark.parametrize(
    ("dims", "ratio"), [("12x4", 1.06), ("16x8", 1.0), ("12x12", 1.33), ("6x6x3", 1.0), ("16x2x2", 1.0)]
)
def test_long_rings_take_turns(dims: str, ratio: float) -> None:
    """What a link of the longest ring carries is the bound."""
    placed = torus(dims)
    slots = placed.slots(moves=0)
    check(placed, slots)
    assert slots.slots <= ratio * slots.bound + 1


def test_every_slot_uses_all_dimensions_both_ways() -> None:
    """On 8x8x8 places, where P - 1 messages and the links' load are the same bound: no window of any size waits."""
    placed = torus("8x8x8")
    slots = placed.slots(moves=0)
    assert placed.overfull(slots) == ""
    assert slots.slots == slots.bound == 512
    for window in (1, 8):
        spec = _core.parse_spec(f"direct(order=topology(torus(dims=8x8x8,ordered=1)),window={window})")
        rounds, blocks = placed.load(spec)
        assert set(rounds) == {window}
        inner = [count for count, link in zip(blocks, placed.network.links, strict=True) if min(link[:2]) >= 512]
        assert set(inner) == {512}
        assert len(inner) == 6 * 512


@pytest.mark.parametrize(
    ("dims", "more", "place", "ranks"),
    [
        ("4x4", ",hosts=2", "", 0),
        ("8x2", ",hosts=2", "block:2", 0),
        ("4x4x2", "", "random:5", 0),
        ("4x4x2", "", "random:1", 13),
        ("8x4", "", "n3,n9*2,n30,n1,n8", 0),
        ("6x4", "", "cyclic:20", 47),
    ],
)
def test_ranks_may_be_anywhere(dims: str, more: str, place: str, ranks: int) -> None:
    placed = torus(dims, more, place, ranks)
    check(placed, placed.slots(moves=1000))


def test_the_order_of_ranks_does_not_matter() -> None:
    assert torus("8x4").slots(moves=0).slots == torus("8x4", place="random:7").slots(moves=0).slots == 32


def test_a_file_is_a_torus_too() -> None:
    placed = torus("8x8")
    read = _core.PlacedNetwork(_core.parse_network(str(placed.network)))
    assert read.slots(moves=0) == placed.slots(moves=0)
    assert read.slots(moves=0).slots == 64


@pytest.mark.parametrize("text", ["torus(dims=4x4x4)", "torus(dims=5x5)", "slim-fly(q=3)", "torus(dims=1,hosts=5)"])
def test_other_routes_and_networks_are_searched(text: str) -> None:
    """Messages that go any way may meet: an order of rings would not do."""
    placed = _core.PlacedNetwork(_core.named_network(text))
    check(placed, placed.slots(moves=100))
