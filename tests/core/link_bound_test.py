"""What an all-to-all asks of links whatever ways its messages take: against the linear program, and known networks."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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
    """The optimum of the linear program: flows from each switch with ranks, on links between switches."""
    hosts = network.hosts
    home = {link[0]: link[1] for link in network.links if link[0] < hosts}
    inner = [link for link in network.links if link[0] >= hosts and link[1] >= hosts]
    switches = sorted({end for link in inner for end in link[:2]} | set(home.values()))
    weight = dict.fromkeys(switches, 0)
    for rank in range(ranks):
        weight[home[rank // per_node]] += 1
    sources = [one for one in switches if weight[one]]
    count = len(inner)
    variables = len(sources) * count + 1
    equal, right = lil_matrix((len(sources) * len(switches), variables)), np.zeros(len(sources) * len(switches))
    for s, source in enumerate(sources):
        for v, vertex in enumerate(switches):
            row = s * len(switches) + v
            for e, (tail, head, _) in enumerate(inner):
                equal[row, s * count + e] = (head == vertex) - (tail == vertex)
            others = ranks - weight[source]
            right[row] = -weight[source] * others if vertex == source else weight[source] * weight[vertex]
    most = lil_matrix((count, variables))
    for e, (_, _, capacity) in enumerate(inner):
        for s in range(len(sources)):
            most[e, s * count + e] = 1
        most[e, variables - 1] = -capacity
    cost = np.zeros(variables)
    cost[-1] = 1
    found = linprog(cost, A_ub=most.tocsr(), b_ub=np.zeros(count), A_eq=equal.tocsr(), b_eq=right)
    assert found.success
    return float(found.fun)


@settings(max_examples=60, deadline=None)
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
    """32 ranks in each of 33 groups, and a link between every two: less than routes ask, more than a cut of two groups."""
    network = _core.named_network("dragonfly(a=8,p=4,h=4)")
    routed = _core.PlacedNetwork(network, _core.Spread.destination, 0, "block:1", 1056).bound()[1]
    assert 1024 <= _core.link_bound(network, 1056).blocks <= routed
