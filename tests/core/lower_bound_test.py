"""Lower bounds of exchanges: no estimate is below, some reach them, and what they are made of."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from limits import examples
from network_costs import costs

from swapmeet import _core

NETWORKS = {
    name: _core.named_network(name)
    for name in (
        "torus(dims=1,hosts=64)",
        "slim-fly(q=5,hosts=4)",
        "fat-tree(leaves=4,hosts=4,spines=2)",
        "fat-tree3(pods=4,leaves=2,hosts=2,aggregations=2,cores=2)",
        "dragonfly(a=4,p=2,h=2)",
        "torus(dims=3x4x2,hosts=2)",
        "torus(dims=4x4x4,hosts=1,ordered=1)",
    )
}
SIZES = (0, 1, 4, 8, 63, 64, 65, 100, 1000, 5000, 9000, 100_000)
WINDOWS = st.sampled_from(["1", "2", "3", "7", "all"])
COMPLETE = st.sampled_from(["all", "any", "test"])
ONE_SWITCH = _core.link_bound(NETWORKS["torus(dims=1,hosts=64)"], 1)


def pick(*values: float) -> st.SearchStrategy[float]:
    return st.sampled_from(values)


@st.composite
def some_costs(draw: st.DrawFn) -> _core.NetworkCosts:
    costs = _core.NetworkCosts()
    costs.message_us = draw(pick(0, 0.1, 1, 10))
    costs.latency_us = draw(pick(0, 0.5, 1, 5))
    costs.hop_us = draw(pick(0, 0.1, 0.5))
    for name in ("byte_ns", "node_byte_ns", "link_byte_ns", "memory_byte_ns"):
        setattr(costs, name, draw(pick(0, 0.01, 0.1, 1)))
    costs.within_latency_us, costs.within_byte_ns = draw(pick(0, 0.2, 1)), draw(pick(0, 0.1, 0.5))
    costs.contention, costs.overlap, costs.call_us = draw(pick(1, 2)), draw(pick(1, 0.5, 0)), draw(pick(0, 1))
    costs.eager_bytes = int(draw(pick(1 << 40, 8192, 1024, 64, 3, 0)))
    between = costs.between
    between.handshake_trips, between.fragment_byte_ns = draw(pick(0, 1, 2)), draw(pick(0, 0.3))
    between.fragment_bytes, between.cached_peers = int(draw(pick(100, 8192))), int(draw(pick(1, 4, 16)))
    between.cold_us = draw(pick(0, 1, 5))
    copying = costs.copying
    copying.byte_ns, copying.piece_us = draw(pick(0, 0.1, 1)), draw(pick(0, 0.1))
    copying.uncached_byte_ns, costs.cache_bytes = draw(pick(0, 0.2)), draw(pick(0, 1000, 1e6))
    return costs


@st.composite
def some_spec(draw: st.DrawFn) -> str:
    family = draw(st.sampled_from(["direct", "bruck", "bruck", "leaders", "two-layer"]))
    ends = f"window={draw(WINDOWS)},complete={draw(COMPLETE)}"
    if family == "direct":
        order, segment = draw(st.sampled_from(["shift", "xor", "random", "scatter"])), draw(pick(0, 1, 8, 100, 4096))
        return f"direct(order={order},{ends}{f',segment={segment:.0f}' if segment else ''})"
    if family == "bruck":
        radix, dims = draw(st.sampled_from([2, 3, 4, 7, "all"])), draw(st.sampled_from(["P", "2d", "3d", "nodes"]))
        layout = draw(st.sampled_from(["basic", "zero-rotation", "zero-copy", "modified"]))
        pack = draw(st.sampled_from(["memcpy", "datatype"]))
        return f"bruck(radix={radix},dims={dims},layout={layout},pack={pack},{ends})"
    if family == "leaders":
        return f"leaders(per-node={draw(st.sampled_from([1, 2, 4]))},window={draw(WINDOWS)})"
    return f"two-layer(r1={draw(st.sampled_from([2, 3, 'all']))},r2={draw(st.sampled_from([2, 4, 'all']))})"


@settings(max_examples=examples(150))
@given(
    st.sampled_from(sorted(NETWORKS)),
    st.integers(2, 120),
    st.sampled_from([1, 1, 2, 3, 4, 8]),
    some_spec(),
    st.lists(some_costs(), min_size=3, max_size=3),
)
def test_no_estimate_is_below_the_bound(
    name: str, ranks: int, per_node: int, text: str, costs: list[_core.NetworkCosts]
) -> None:
    network, spec = NETWORKS[name], _core.parse_spec(text)
    assume(ranks <= network.hosts * per_node and not spec.unsuitable(ranks, str(per_node)))
    links = _core.link_bound(network, ranks, per_node)
    for given_costs in costs:
        estimate = _core.NetworkEstimate(spec, ranks, per_node, network, given_costs)
        for size in SIZES:
            bound, us = _core.lower_bound(ranks, per_node, links, given_costs, size), estimate.time_us(size)
            assert bound.us <= us * (1 + 1e-9) + 1e-12, (size, bound.parts_us)
            if spec.family in ("direct", "bruck") and (spec.family == "direct" or ranks % per_node == 0):
                balanced = _core.lower_bound(ranks, per_node, links, given_costs, size, 0, True)
                assert bound.us <= balanced.us <= us * (1 + 1e-9) + 1e-12, (size, balanced.parts_us)
            assert max(bound.alone_us.values()) <= bound.us * (1 + 1e-9) + 1e-12, size


def bound(
    ranks: int, given_costs: _core.NetworkCosts, size: int = 0, per_node: int = 1, ports: int = 0
) -> _core.LowerBound:
    return _core.lower_bound(ranks, per_node, ONE_SWITCH, given_costs, size, ports)


def test_few_messages_are_as_many_as_radix_2_has() -> None:
    """Each costs a core twice: log2 P messages and no fewer, whatever P."""
    for ranks in (2, 3, 8, 13, 64, 1000, 4096):
        assert bound(ranks, costs(message_us=2)).us == pytest.approx(2 * 2 * math.ceil(math.log2(ranks)))


def test_rounds_at_a_number_of_ports() -> None:
    for ranks, ports in ((64, 1), (64, 3), (65, 3), (1000, 9)):
        rounds = math.ceil(math.log(ranks) / math.log(ports + 1) - 1e-9)
        assert bound(ranks, costs(latency_us=3), ports=ports).us == pytest.approx(3 * rounds)
        assert bound(ranks, costs(latency_us=3), ports=ports).alone_us["latency"] == pytest.approx(3 * rounds)
    assert bound(64, costs(latency_us=3)).us == pytest.approx(3), "one round, if a rank may send to all"


def test_bytes_of_a_nic_are_those_that_leave_a_node() -> None:
    size = 10**9
    found = bound(64, costs(node_byte_ns=1), size, per_node=4)
    assert found.us == pytest.approx(4 * 60 * size * 1e-3, rel=1e-6)
    assert found.binding == "nic"


def test_copies_within_a_node_are_the_bound_of_one_node() -> None:
    found = bound(16, costs(memory_byte_ns=1), 1000, per_node=16)
    assert found.us == pytest.approx(16 * 15 * 1000 * 1e-3)
    assert found.binding == "memory"


def test_links_are_the_bound_of_a_torus() -> None:
    network = NETWORKS["torus(dims=4x4x4,hosts=1,ordered=1)"]
    found = _core.lower_bound(64, 1, _core.link_bound(network, 64), costs(link_byte_ns=1), 1000)
    assert found.us == pytest.approx(64 / 2 * 1000 * 1e-3), "k/8 of all blocks"
    assert found.binding == "links"


@pytest.mark.parametrize("ranks", [4, 5, 6])
def test_blocks_of_few_messages_are_the_least_of_all_ways(ranks: int) -> None:
    """By looking at all numbers of messages in each round: none needs fewer blocks."""

    def blocks(sends: tuple[int, ...]) -> float:
        left, sum_of_blocks = ranks - 1, 0
        for j in range(1, len(sends) + 1):
            ways = sum(math.prod(chosen) for chosen in itertools.combinations(sends, j))
            reached = min(left, ways)
            left, sum_of_blocks = left - reached, sum_of_blocks + j * reached
        return math.inf if left else sum_of_blocks

    for rounds in (1, 2, 3, 4):
        for sends in itertools.product(range(1, ranks), repeat=rounds):
            least = _core.least_blocks(ranks, rounds, sum(sends))
            assert least <= blocks(sends) * (1 + 1e-9)
            if len(set(sends)) == 1:
                assert least == pytest.approx(blocks(sends))


def test_least_blocks_of_known_exchanges() -> None:
    assert _core.least_blocks(8, 1, 7) == 7, "direct"
    assert _core.least_blocks(8, 3, 3) == 3 * 8 / 2, "radix 2"
    assert _core.least_blocks(16, 2, 6) == 2 * 16 * 3 / 4, "radix 4"
    assert _core.least_blocks(9, 3, 3) == math.inf, "three messages reach 7 others"


def test_large_messages_of_a_few_ranks_may_cost_them_nothing() -> None:
    """Unless exchanges are balanced: 63 blocks of 8 B are eager in one message."""
    given_costs = costs(message_us=1, byte_ns=0.01, node_byte_ns=0.01, eager_bytes=1024)
    any_us, balanced = (_core.lower_bound(64, 1, ONE_SWITCH, given_costs, 8, 0, only).us for only in (False, True))
    assert 6 <= any_us < 12 <= balanced


def test_one_rank_and_wrong_numbers() -> None:
    assert bound(1, costs(call_us=2, message_us=5)).us == pytest.approx(2)
    with pytest.raises(ValueError, match="from 0 on"):
        bound(4, costs(), -1)
    with pytest.raises(ValueError, match="one rank"):
        bound(0, costs())
