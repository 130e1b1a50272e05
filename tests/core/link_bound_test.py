"""What an all-to-all asks of links whatever ways its messages take: against the linear program, and known networks."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import examples
from scipy.optimize import linprog
from scipy.sparse import lil_matrix

from swapmeet import _core

NEAR = 0.95  #: of the optimum, that lengths reach


def random_network(seed: int) -> _core.Network:
    """Some switches in a ring with chords, hosts on some of them."""
    draw = random.Random(seed)
    switches = draw.randint(2, 6)
    pairs = {(i, (i + 1) % switches) for i in range(switches) if i < (i + 1) % switches} | {(0, switches - 1)}
    pairs |= {pair for pair in itertools.combinations(range(switches), 2) if draw.random() < 0.3}
    lines = [f"link s{a} s{b} {draw.randint(1, 3)}" for a, b in sorted(pairs) if a != b]
    lines += [f"host n{i} s{draw.randrange(switches)}" for i in range(draw.randint(2, 7))]
    return _core.parse_network("\n".join(lines))


def least_load(network: _core.Network, ranks: int, per_node: int) -> float:
    """The optimum of the linear program: flows from each host along routes to others, which may pass blocks on."""
    placed = _core.PlacedNetwork(network, _core.Spread.destination, 0, f"block:{per_node}", ranks)
    hosts = -(-ranks // per_node)
    weight = [min(per_node, ranks - host * per_node) for host in range(hosts)]
    pairs = [(a, b) for a in range(hosts) for b in range(hosts) if a != b]
    capacity = [link[2] for link in network.links]
    inner = {i for i, link in enumerate(network.links) if min(link[:2]) >= network.hosts}
    variables = hosts * len(pairs) + 1
    equal, right = lil_matrix((hosts * hosts, variables)), np.zeros(hosts * hosts)
    most = lil_matrix((len(capacity), variables))
    most[:, variables - 1] = -np.array(capacity, dtype=float).reshape(-1, 1)
    for source in range(hosts):
        for at in range(hosts):
            sent = -sum(weight) + weight[source] if at == source else weight[at]
            right[source * hosts + at] = weight[source] * sent
        for i, (a, b) in enumerate(pairs):
            flow = source * len(pairs) + i
            equal[source * hosts + b, flow] += 1
            equal[source * hosts + a, flow] -= 1
            for link in placed.path(a, b):
                if link in inner:
                    most[link, flow] += 1
    cost = np.zeros(variables)
    cost[-1] = 1
    found = linprog(cost, A_ub=most.tocsr(), b_ub=np.zeros(len(capacity)), A_eq=equal.tocsr(), b_eq=right)
    assert found.success
    return float(found.fun)


@settings(max_examples=examples(60))
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_lengths_reach_the_linear_program_and_never_exceed_it(seed: int, per_node: int) -> None:
    network = random_network(seed)
    ranks = network.hosts * per_node
    bound, optimum = _core.link_bound(network, ranks, per_node).blocks, least_load(network, ranks, per_node)
    assert bound <= optimum * (1 + 1e-6) + 1e-9
    assert bound >= NEAR * optimum


@pytest.mark.parametrize(
    ("name", "ranks", "per_node", "blocks"),
    [
        ("torus(dims=8x8x8,hosts=1)", 512, 1, 512),  # k/8 · n: every ring of 8 is used both ways
        ("torus(dims=8x8x8,hosts=1,ordered=1)", 512, 1, 512),
        ("torus(dims=4x4,hosts=2)", 32, 1, 32 / 2 * 16 / 16 * 2),  # the cut in halves: 16·16 over 8 links
        ("slim-fly(q=5,hosts=4)", 200, 1, 200 * 4 * (7 + 2 * 42) / 350),  # 7 neighbours, 42 two hops away
        ("fat-tree(leaves=16,hosts=16,spines=8)", 256, 1, 480),
        ("torus(dims=1,hosts=64)", 64, 1, 0),
    ],
)
def test_known_networks(name: str, ranks: int, per_node: int, blocks: float) -> None:
    assert _core.link_bound(_core.named_network(name), ranks, per_node).blocks == pytest.approx(blocks, rel=1e-6)


def test_a_cut_is_named_by_its_hosts() -> None:
    lines = ["link a b", *(f"host n{i} {'a' if i < 3 else 'b'}" for i in range(8))]
    found = _core.link_bound(_core.parse_network("\n".join(lines)), 8)
    assert (found.blocks, found.cut) in ((15, [0, 1, 2]), (15, [3, 4, 5, 6, 7]))


def test_ways_through_a_host_with_several_links_count_as_free() -> None:
    """Ranks may pass blocks on: n2 joins a and b."""
    lines = ["link a b", "host n0 a", "host n1 b", "host n2 a", "host n2 b"]
    assert _core.link_bound(_core.parse_network("\n".join(lines)), 3).blocks == 0


def test_nearest_hops_and_links_of_hosts() -> None:
    alone = _core.link_bound(_core.named_network("slim-fly(q=5,hosts=1)"), 50)
    assert (alone.nearest_hops, alone.host_links) == (1, 1)
    assert _core.link_bound(_core.named_network("slim-fly(q=5,hosts=4)"), 50).nearest_hops == 0
    assert _core.link_bound(_core.named_network("slim-fly(q=5,hosts=1)"), 2).nearest_hops in (1, 2)


def test_a_network_that_is_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="64 hosts"):
        _core.link_bound(_core.named_network("torus(dims=1,hosts=64)"), 65)


def test_groups_of_a_dragonfly_share_one_link() -> None:
    """32 ranks in each of 33 groups, a link between every two: less than routes ask, more than a cut of two groups."""
    network = _core.named_network("dragonfly(a=8,p=4,h=4)")
    routed = _core.PlacedNetwork(network, _core.Spread.destination, 0, "block:1", 1056).bound()[1]
    assert 1024 <= _core.link_bound(network, 1056).blocks <= routed


def test_routes_that_use_few_links_bind_although_others_are_free() -> None:
    """A part of a Slim Fly: routes are fixed, and only hosts of the part pass blocks on."""
    network = _core.named_network("slim-fly(q=5,hosts=4)")
    assert _core.link_bound(network, 64, 10).blocks == pytest.approx(960), "40 ranks and 24 on two switches, one link"
    some = _core.link_bound(network, 256, 10).blocks
    assert 2000 < some < _core.PlacedNetwork(network, _core.Spread.destination, 0, "block:10", 256).bound()[1]
