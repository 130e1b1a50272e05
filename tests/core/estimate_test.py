"""Estimates on networks: the terms, one at a time, and what they take to compute."""

from __future__ import annotations

import pytest
from network_costs import costs

from swapmeet import _core
from swapmeet.simulate.expecting import costs_of, estimate
from swapmeet.simulate.platform import platform

SWITCH = "torus(dims=1,hosts=64)"


def time_us(
    spec: str, ranks: int, given: _core.NetworkCosts, size: int = 0, per_node: int = 1, network: str = SWITCH
) -> float:
    point = _core.parse_spec(spec)
    return _core.NetworkEstimate(point, ranks, per_node, _core.named_network(network), given).time_us(size)


def test_a_core_sends_and_receives_one_after_the_other() -> None:
    for spec in ("pairwise", "direct(window=all)", "direct(window=3,complete=any)", "direct(window=5)"):
        assert time_us(spec, 16, costs(message_us=2)) == pytest.approx(2 * 15 * 2)
    assert time_us("tra(r=4)", 16, costs(message_us=2)) == pytest.approx(2 * 6 * 2)
    large = costs(message_us=2, eager_bytes=10)
    assert time_us("pairwise", 16, large, 100) == pytest.approx(15 * 2), "their receives cost nothing"


def test_receives_of_eager_messages_cost_a_core_beside_larger_ones() -> None:
    """Six ranks, radix 4: messages of 2, 1 and 1 blocks at once, then one of 2 blocks; one block is eager."""
    given = costs(message_us=2, eager_bytes=100)
    assert time_us("bruck(radix=4,window=all)", 6, given, 100) == pytest.approx((3 + 2) * 2 + 2)


def test_each_batch_waits_for_the_latency_and_a_sliding_window_once() -> None:
    given = costs(latency_us=3)
    assert time_us("pairwise", 13, given) == pytest.approx(12 * 3)
    assert time_us("direct(window=4)", 13, given) == pytest.approx(3 * 3)
    assert time_us("direct(window=4,complete=any)", 13, given) == pytest.approx(3)
    assert time_us("tra(r=2)", 16, given) == pytest.approx(4 * 3)


def test_a_batch_that_is_granted_waits_for_the_latency_twice() -> None:
    given = costs(latency_us=3)
    assert time_us("direct(window=1,post=granted)", 13, given) == pytest.approx(2 * 12 * 3)
    assert time_us("direct(window=4,complete=any,post=granted)", 13, given) == pytest.approx(2 * 3)
    core = costs(message_us=2)
    granted, others = (time_us(f"direct(window=4{post})", 16, core) for post in (",post=granted", ""))
    assert granted == pytest.approx(2 * others)


def test_hops_cost_their_latency() -> None:
    """Slim Fly: neighbours are one link apart, all others two."""
    given = costs(latency_us=1, hop_us=0.25)
    assert time_us("direct", 50, given, network="slim-fly(q=5,hosts=1)") == pytest.approx(1.25)
    assert time_us("direct", 4, given, network="slim-fly(q=5,hosts=4)") == pytest.approx(0.75), "of one switch"


def test_ranks_of_a_node_share_its_link_and_its_memory() -> None:
    size = 10**6
    between = costs(node_byte_ns=1)
    assert time_us("direct", 16, between, size, per_node=4) == pytest.approx(4 * 12 * 1000, rel=1e-3)
    assert time_us("direct", 16, costs(byte_ns=1, node_byte_ns=1e-9), size, per_node=4) == pytest.approx(1000, rel=1e-3)
    assert time_us("direct", 16, costs(memory_byte_ns=1), size, per_node=4) == pytest.approx(4 * 3 * 1000, rel=1e-3)
    assert time_us("direct", 16, costs(within_byte_ns=1), size, per_node=4) == pytest.approx(1000, rel=1e-3)


@pytest.mark.parametrize("spec", ["direct(window=1)", "direct(order=random,window=1)", "tra(r=3)", "direct(window=7)"])
def test_links_are_as_busy_as_the_networks_own_count(spec: str) -> None:
    """Against PlacedNetwork.load, where nothing else costs anything and ranks have nodes of their own."""
    size, network = 10**9, _core.named_network("slim-fly(q=5,hosts=4)")
    placed = _core.PlacedNetwork(network)
    point = _core.parse_spec(spec)
    largest, _ = placed.order_load(point) if "random" in spec else placed.load(point)
    one = _core.NetworkEstimate(point, 200, 1, network, costs(link_byte_ns=1, node_byte_ns=1))
    assert one.time_us(size) == pytest.approx(sum(largest) * size / 1000, rel=1e-6)


def test_eager_messages_of_a_sliding_window_are_all_in_flight() -> None:
    """So the busiest link in all counts: 208 blocks, the bound of a full exchange on this Slim Fly."""
    size = 10**9
    given = costs(link_byte_ns=1, node_byte_ns=1)
    for spec in ("direct(window=4,complete=any)", "direct(window=all)"):
        found = time_us(spec, 200, given, size, network="slim-fly(q=5,hosts=4)")
        assert found == pytest.approx(208 * size / 1000, rel=1e-6)


def test_segments_are_passes() -> None:
    given = costs(latency_us=3, node_byte_ns=1)
    whole = time_us("direct(window=1)", 8, given, 1000)
    parts = time_us("direct(window=1,segment=400)", 8, given, 1000)
    assert parts - whole == pytest.approx(7 * 2 * (3 + 0.016))


def test_copies_are_added() -> None:
    copying = _core.Copying()
    copying.byte_ns, copying.piece_us = 1, 0.5
    given = costs()
    given.copying = copying
    point = _core.parse_spec("tra(r=2,layout=basic)")
    blocks, pieces = (sum(step[i] for step in _core.rounds(point, 16)) for i in (0, 1))
    assert time_us("tra(r=2,layout=basic)", 16, given, 100) == pytest.approx(blocks * 0.1 + pieces * 0.5)


@pytest.mark.slow
def test_32768_ranks_take_few_operations() -> None:
    """A rank's messages are looked at for all ranks, and links once for neighbours that send to neighbours."""
    theta = platform("theta", 32768)
    for spec, per_rank in (("tra(r=2)", 15), ("tra(r=182)", 361), ("two-layer(r1=8,r2=all)", 525)):
        one = estimate(theta, spec)
        assert one.messages == 32768 * per_rank
        assert one.operations < 1.25 * one.messages
        assert one.time_us(8) < one.time_us(2048)


def test_a_direct_exchange_is_streamed() -> None:
    one = estimate(platform("theta", 2048), "direct(window=8)")
    assert one.messages == 2048 * 2047 and one.operations < 1.25 * one.messages
    assert one.rounds == [256]


def test_what_cannot_be_is_refused() -> None:
    network = _core.named_network(SWITCH)
    theta = costs_of(platform("theta", 64))
    with pytest.raises(ValueError, match="too few for 65 ranks"):
        _core.NetworkEstimate(_core.parse_spec("tra"), 65, 1, network, theta)
    with pytest.raises(ValueError, match="no schedule"):
        _core.NetworkEstimate(_core.parse_spec("native"), 8, 1, network, theta)
    with pytest.raises(ValueError, match="one rank at least"):
        _core.NetworkEstimate(_core.parse_spec("tra"), 8, 0, network, theta)
