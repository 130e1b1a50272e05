"""Terms of prices and estimates that measurements asked for, and what each adds."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import examples

from swapmeet import SwapmeetError, _core, machines

SWITCH = "torus(dims=1,hosts=512)"
LINK = {"latency_us": 1.5, "overhead_us": 0.25, "byte_ns": 0.5}


def machine(between: dict[str, float] | None = None, **more: object) -> machines.Machine:
    """One of these numbers alone; no nodes share anything."""
    text = {"format": "swapmeet-machine", "version": 1, "between": LINK | (between or {})} | more
    return machines.parse(json.dumps(text), "x")


def price(spec: str, ranks: int, of: machines.Machine, size: int) -> float:
    """By max-rate, with a rank a node."""
    return _core.Work(_core.parse_spec(spec), ranks, "1").price(of.costs, "max-rate", size).total


def costs(**given: float) -> _core.NetworkCosts:
    """All that is not given costs nothing."""
    made = _core.NetworkCosts()
    for name, value in given.items():
        setattr(made.between if hasattr(made.between, name) else made, name, value)
    return made


def estimate(spec: str, ranks: int, given: _core.NetworkCosts, size: int, network: str = SWITCH) -> float:
    """With a rank a node."""
    return _core.NetworkEstimate(_core.parse_spec(spec), ranks, 1, _core.named_network(network), given).time_us(size)


def between(**terms: float) -> _core.NetworkCosts:
    """LINK, where a core works while the network does not."""
    made = costs(overlap=0)
    link = made.between
    link.latency_us, link.overhead_us, link.byte_ns = LINK["latency_us"], LINK["overhead_us"], LINK["byte_ns"]
    for name, value in terms.items():
        setattr(link, name, value)
    made.between = link
    return made


def both(spec: str, ranks: int, size: int, **terms: float) -> tuple[float, float]:
    """What some terms of a link add to a price, and to an estimate."""
    return (
        price(spec, ranks, machine(terms), size) - price(spec, ranks, machine(), size),
        estimate(spec, ranks, between(**terms), size) - estimate(spec, ranks, between(), size),
    )


def test_a_handshake_costs_round_trips_and_the_cores_of_both_ends() -> None:
    for spec, batches, messages in (("pairwise", 7, 7), ("spread-out", 1, 7)):
        small, large = both(spec, 8, 64, handshake_trips=1, eager_bytes=64), {"handshake_trips": 1, "eager_bytes": 63}
        assert small == pytest.approx((0, 0))
        priced = price(spec, 8, machine(large), 64) - price(spec, 8, machine({"eager_bytes": 63}), 64)
        estimated = estimate(spec, 8, between(**large), 64) - estimate(spec, 8, between(eager_bytes=63), 64)
        expected = 2 * 1.5 * batches + 2 * 0.25 * messages
        assert priced == pytest.approx(expected) and estimated == pytest.approx(expected)


def test_a_first_fragment_is_waited_for_once_a_batch() -> None:
    for spec, batches in (("pairwise", 7), ("spread-out", 1), ("direct(window=4)", 2)):
        for size, first in ((100, 100), (5000, 4096)):
            added = both(spec, 8, size, fragment_byte_ns=2, fragment_bytes=4096)
            assert added == pytest.approx((batches * first * 2e-3,) * 2), (spec, size)


def test_peers_that_are_not_kept_ready_cost_both_ends() -> None:
    terms = {"cached_peers": 16, "cold_us": 2}
    assert both("pairwise", 17, 8, **terms) == pytest.approx((0, 0))
    share = 1 - 16 / 63
    assert both("pairwise", 64, 8, **terms) == pytest.approx((2 * 63 * 2 * share,) * 2)
    assert both("spread-out", 64, 8, **terms) == pytest.approx((2 * 63 * 2 * share,) * 2)
    assert both("tra(r=2)", 64, 8, **terms) == pytest.approx((0, 0))


def test_messages_within_a_node_know_their_peers() -> None:
    work = _core.Work(_core.parse_spec("spread-out"), 64, "64")
    cold = machine({"cached_peers": 1, "cold_us": 5, "handshake_trips": 3, "eager_bytes": 0}).costs
    plain = machine({"eager_bytes": 0}).costs
    with_trips = work.price(cold, "max-rate", 8)
    assert with_trips.overhead == work.price(plain, "max-rate", 8).overhead


@pytest.mark.parametrize("ranks", [8, 24, 32])
def test_datatypes_cost_messages_blocks_and_pieces(ranks: int) -> None:
    work = _core.Work(_core.parse_spec("bruck-dt"), ranks, "1")
    blocks, pieces = work.typed
    assert 0 < work.typed_messages <= (ranks - 1).bit_length()
    assert _core.Work(_core.parse_spec("tra(r=2)"), ranks, "1").typed_messages == 0
    given = costs(datatype_us=1000)
    given.datatype = copying = _core.Copying()
    copying.byte_ns, copying.piece_us = 1, 0.5
    given.datatype = copying
    expected = work.typed_messages * 1000 + blocks * 100 * 1e-3 + pieces * 0.5
    assert estimate("bruck-dt", ranks, given, 100) == pytest.approx(expected)
    described = machine(pack={"byte_ns": 0}, datatype={"byte_ns": 1, "piece_us": 0.5, "message_us": 1000})
    assert price("bruck-dt", ranks, described, 100) - price("bruck-dt", ranks, machine(), 100) == pytest.approx(
        expected
    )


def test_copies_beyond_the_cache_cost_more() -> None:
    pack = {"byte_ns": 0.1, "uncached_byte_ns": 0.4}
    cached = machine(pack={"byte_ns": 0.1}, node={"cache_bytes": 1 << 20})
    half = machine(pack=pack, node={"cache_bytes": 1 << 20})
    blocks = _core.Work(_core.parse_spec("tra(r=2)"), 16, "1").packed[0]
    fits, twice = (1 << 20) // 32, (1 << 20) // 16  # two buffers of 16 blocks
    assert price("tra(r=2)", 16, half, fits) == pytest.approx(price("tra(r=2)", 16, cached, fits))
    added = price("tra(r=2)", 16, half, twice) - price("tra(r=2)", 16, cached, twice)
    assert added == pytest.approx(blocks * twice * 0.4e-3 / 2)
    given = costs(cache_bytes=1 << 20)
    copying = _core.Copying()
    copying.byte_ns, copying.uncached_byte_ns = 0.1, 0.4
    given.copying = copying
    assert estimate("tra(r=2)", 16, given, twice) == pytest.approx(blocks * twice * (0.1 + 0.2) * 1e-3)


def test_without_overlap_core_and_wire_take_turns() -> None:
    together, apart = between(), between()
    together.overlap = 1
    assert estimate("spread-out", 8, apart, 100) == pytest.approx(2 * 7 * 0.25 + 1.5 + 7 * 116 * 0.5e-3, abs=0.01)
    assert estimate("spread-out", 8, together, 100) < estimate("spread-out", 8, apart, 100)


def test_a_call_is_added_once() -> None:
    given = costs(call_us=7)
    assert estimate("pairwise", 8, given, 100) == pytest.approx(7)
    assert estimate("direct(window=1,segment=10)", 8, given, 100) == pytest.approx(7)


TORUS = "torus(dims=8x8,hosts=1,ordered=1)"


def test_links_on_which_messages_part_are_slower() -> None:
    """In one dimension all that a link carries goes on along it; in two some of it turns."""
    row, size = "torus(dims=8,hosts=1,ordered=1)", 10**6
    free, slow = costs(link_byte_ns=1), costs(link_byte_ns=1, contention=3)
    assert estimate("spread-out", 8, slow, size, row) == estimate("spread-out", 8, free, size, row)
    ratio = estimate("spread-out", 64, slow, size, TORUS) / estimate("spread-out", 64, free, size, TORUS)
    assert 1.2 < ratio < 3


def test_a_message_alone_on_its_links_waits_for_nobody() -> None:
    network = "torus(dims=2x2x2,hosts=1,ordered=1)"
    slow = costs(link_byte_ns=1, contention=9)
    assert estimate("pairwise", 8, slow, 1000, network) == pytest.approx(7 * 1.016)


@settings(max_examples=examples(30))
@given(
    st.sampled_from(["pairwise", "spread-out", "tra(r=2)", "torus", "bruck-dt", "direct(window=3,complete=any)"]),
    st.integers(0, 1 << 20),
    st.sampled_from(["handshake_trips", "fragment_byte_ns", "cold_us", "contention", "call_us", "datatype_us"]),
    st.floats(1, 10),
)
def test_no_term_makes_an_exchange_shorter(spec: str, size: int, term: str, value: float) -> None:
    given = dict(latency_us=1, overhead_us=0.1, byte_ns=0.2, node_byte_ns=0.2, link_byte_ns=0.2, eager_bytes=1000)
    given |= dict(cached_peers=5, hop_us=0.1)
    more = estimate(spec, 64, costs(**given, **{term: value}), size, TORUS)
    assert more >= estimate(spec, 64, costs(**given), size, TORUS) * (1 - 1e-12)


def test_terms_that_make_no_sense_are_refused() -> None:
    network = {"topology": SWITCH, "link_byte_ns": 1, "hop_us": 0}
    for bad, why in (
        ({"contention": 0.5}, "network.contention: expected 1 or more, not 0.5"),
        ({"overlap": 2}, "network.overlap: expected a share from 0 to 1, not 2"),
        ({"congestion": 2}, "network.congestion: not one of"),
    ):
        with pytest.raises(SwapmeetError, match=why):
            machine(network=network | bad)
    with pytest.raises(SwapmeetError, match="pack.message_us: not one of"):
        machine(pack={"message_us": 1})
    with pytest.raises(SwapmeetError, match="between.cached_peers: expected a whole number"):
        machine({"cached_peers": 1.5})
    for cell in (["32", "linear", 8], ["32", 1, 32, "linear", "8", 9.5], "32"):
        with pytest.raises(SwapmeetError, match="measured.fitted: expected a list"):
            machine(measured={"fitted": [cell]})


@pytest.mark.parametrize("dims", [(4,), (2, 3), (8, 8), (5, 4, 2)])
def test_ordered_torus_routes_go_along_one_dimension_after_the_other(dims: tuple[int, ...]) -> None:
    text = "x".join(map(str, dims))
    network = _core.named_network(f"torus(dims={text},hosts=1,ordered=1)")
    placed = _core.PlacedNetwork(network)
    ends = [link[:2] for link in network.links]

    def at(vertex: int) -> tuple[int, ...]:
        return tuple(map(int, network.names[vertex][1:].split(".")))

    hosts = network.hosts
    loads: dict[int, int] = {}
    for source in range(hosts):
        for target in range(hosts):
            if source == target:
                continue
            way = [link for link in placed.path(source, target) if min(ends[link]) >= hosts]
            moved = []
            for link in way:
                loads[link] = loads.get(link, 0) + 1
                before, after = (at(vertex) for vertex in ends[link])
                moved += [d for d in range(len(dims)) if before[d] != after[d]]
            assert moved == sorted(moved)
            here, there = at(ends[placed.path(source, target)[0]][1]), at(ends[placed.path(source, target)[-1]][0])
            assert len(way) == sum(min((b - a) % n, (a - b) % n) for a, b, n in zip(here, there, dims, strict=True))
    if len(set(dims)) == 1:
        assert max(loads.values()) == min(loads.values())  # ties go half each way


def test_an_order_of_the_topology_is_estimated_in_that_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWAPMEET_ORDER_TIME", "0")
    size, free = 10**6, costs(link_byte_ns=1)
    ordered = estimate(f"direct(order=topology({TORUS}),window=1)", 64, free, size, TORUS)
    assert ordered < estimate("pairwise", 64, free, size, TORUS)
    slots = _core.order_slots(_core.parse_spec(f"direct(order=topology({TORUS}),window=1)"), 64).slots
    assert ordered == pytest.approx(slots * size / 1000, rel=0.01)
