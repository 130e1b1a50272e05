"""Exchanges with neighbours: the schedules of random multigraphs and grids are proved; what breaks them is found."""

from __future__ import annotations

import itertools
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import examples

from swapmeet import _core
from swapmeet._core import Neighbourhood

SPECS = (
    "direct(window=all)",
    "direct(window=1)",
    "direct(window=2,order=random,seed=7)",
    "direct(window=3,post=interleaved,order=xor)",
    "direct(window=2,order=scatter,seed=3)",
    "direct(window=1,complete=any)",
    "direct(window=2,complete=test,order=random)",
    "direct(window=2,complete=any,order=xor,segment=4KiB)",
)
LEADERS = (
    "leaders(per-node=1)",
    "leaders(per-node=all,intra=auto)",
    "leaders(per-node=2,window=1)",
    "leaders(per-node=2,window=2,complete=any,pack=datatype)",
    "leaders(per-node=3,window=1,complete=test,intra=auto)",
)
NOBODY = -1


def graph(edges: list[list[int]], rng: random.Random) -> list[Neighbourhood]:
    """`edges[a][b]`: how many from a to b; each rank lists its ends in an order of its own."""
    ranks = len(edges)
    to = [[b for b in range(ranks) for _ in range(edges[a][b])] for a in range(ranks)]
    from_ = [[a for a in range(ranks) for _ in range(edges[a][b])] for b in range(ranks)]
    for each in (*to, *from_):
        rng.shuffle(each)
    return [Neighbourhood(ranks, rank, to[rank], from_[rank]) for rank in range(ranks)]


def grid(sizes: tuple[int, ...], periodic: tuple[bool, ...]) -> list[Neighbourhood]:
    """A Cartesian topology, rows first, as MPI_Cart_create makes it."""
    places = list(itertools.product(*(range(size) for size in sizes)))
    rank_of = {place: rank for rank, place in enumerate(places)}

    def neighbour(place: tuple[int, ...], dimension: int, step: int) -> int:
        along = place[dimension] + step
        if periodic[dimension]:
            along %= sizes[dimension]
        return rank_of.get((*place[:dimension], along, *place[dimension + 1 :]), NOBODY)

    lists = [[neighbour(place, d, step) for d in range(len(sizes)) for step in (-1, 1)] for place in places]
    return [Neighbourhood(len(places), rank, lists[rank], lists[rank], grid=True) for rank in range(len(places))]


def schedules(spec: str, all_ranks: list[Neighbourhood], nodes: str = "") -> list[_core.Schedule]:
    return _core.schedules_for_neighbours(_core.parse_spec(spec), all_ranks, nodes)


def findings(spec: str, all_ranks: list[Neighbourhood], nodes: str = "") -> list[str]:
    """Of equal blocks, and of unequal ones."""
    flows = _core.flows_for_neighbours(_core.parse_spec(spec), all_ranks, nodes)
    return [
        *_core.verify_neighbours(schedules(spec, all_ranks, nodes), all_ranks).findings,
        *_core.verify_neighbour_flows(flows, all_ranks).findings,
    ]


def node_map(ranks: int, rng: random.Random) -> list[int]:
    """Nodes of any size, their ranks in any order."""
    return [rng.randrange(rng.randint(1, ranks)) for _ in range(ranks)]


@given(st.integers(1, 12), st.integers(0, 3), st.floats(0, 1), st.integers(0, 2**32), st.sampled_from(SPECS))
@settings(max_examples=examples(300))
def test_random_multigraphs_are_proved(ranks: int, most: int, share: float, seed: int, spec: str) -> None:
    rng = random.Random(seed)
    edges = [[rng.randint(0, most) if rng.random() < share else 0 for _ in range(ranks)] for _ in range(ranks)]
    all_ranks = graph(edges, rng)
    verdict = _core.verify_neighbours(schedules(spec, all_ranks), all_ranks)
    assert verdict.findings == []
    assert verdict.messages == sum(edges[a][b] for a in range(ranks) for b in range(ranks) if a != b)


GRIDS = [sizes for n in (1, 2, 3) for sizes in itertools.product((1, 2, 3, 5), repeat=n) if sum(sizes) <= 8]


@pytest.mark.parametrize("spec", [*SPECS, *LEADERS])
def test_grids_are_proved(spec: str) -> None:
    for sizes in GRIDS:
        for periodic in itertools.product((False, True), repeat=len(sizes)):
            assert findings(spec, grid(sizes, periodic), "2+3") == [], (sizes, periodic)


@given(st.integers(1, 13), st.integers(0, 3), st.floats(0, 1), st.integers(0, 2**32), st.sampled_from(LEADERS))
@settings(max_examples=examples(300))
def test_leaders_are_proved(ranks: int, most: int, share: float, seed: int, spec: str) -> None:
    """Self-edges, duplicates, ranks without neighbours and unequal nodes among them; and the messages between nodes."""
    rng = random.Random(seed)
    edges = [[rng.randint(0, most) if rng.random() < share else 0 for _ in range(ranks)] for _ in range(ranks)]
    all_ranks = graph(edges, rng)
    node_of = node_map(ranks, rng)
    nodes = ",".join(map(str, node_of)) if ranks > 1 else ""
    assert findings(spec, all_ranks, nodes) == []
    assert between_nodes(schedules(spec, all_ranks, nodes), node_of) == len(aggregated(spec, edges, node_of))


def between_nodes(all_ranks: list[_core.Schedule], node_of: list[int]) -> int:
    return sum(
        node_of[rank] != node_of[peer]
        for rank, one in enumerate(all_ranks)
        for _, _, _, _, sends, _ in one.steps
        for peer, _ in sends
    )


def aggregated(spec: str, edges: list[list[int]], node_of: list[int]) -> set[tuple[int, int, int]]:
    """(sending node, receiving node, group of ranks there) of what travels between nodes."""
    leaders = {"1": 1, "2": 2, "3": 3, "a": len(edges)}[spec[len("leaders(per-node=")]]
    members = {node: [rank for rank, one in enumerate(node_of) if one == node] for node in node_of}
    group = {}
    for ranks in members.values():
        groups = min(leaders, len(ranks))
        for number in range(groups):
            for place in range(number * len(ranks) // groups, (number + 1) * len(ranks) // groups):
                group[ranks[place]] = number
    return {
        (node_of[a], node_of[b], group[b])
        for a, row in enumerate(edges)
        for b, count in enumerate(row)
        if count and node_of[a] != node_of[b]
    }


def test_a_node_sends_one_message_where_ranks_have_many() -> None:
    """4 nodes of 4 ranks, all with all: 12 messages between nodes by one leader, 48 by all ranks, 192 directly."""
    all_ranks = graph([[int(a != b) for b in range(16)] for a in range(16)], random.Random(2))
    nodes = [rank // 4 for rank in range(16)]
    found = {
        spec: between_nodes(schedules(spec, all_ranks, "4"), nodes)
        for spec in ("direct", "leaders(per-node=all)", "leaders(per-node=1)")
    }
    assert found == {"direct": 192, "leaders(per-node=all)": 48, "leaders(per-node=1)": 12}


def test_leaders_send_as_many_messages_of_a_stencil_as_forwarding_along_dimensions() -> None:
    """docs/decisions.md, docs/measurements/neighbours-clusters.md: nine points on 4 x 4 ranks, a row on each node."""
    near = [
        [sum((x - y) % 4 == 2 for x, y in ((a // 4, b // 4), (a % 4, b % 4))) == 0 for b in range(16)]
        for a in range(16)
    ]
    all_ranks = graph([[int(near[a][b] and a != b) for b in range(16)] for a in range(16)], random.Random(3))
    nodes = [rank // 4 for rank in range(16)]
    found = {
        spec: between_nodes(schedules(spec, all_ranks, "4"), nodes)
        for spec in ("direct", "leaders(per-node=all)", "leaders(per-node=1)")
    }
    assert found == {"direct": 16 * 6, "leaders(per-node=all)": 16 * 2, "leaders(per-node=1)": 4 * 2}


def test_two_periodic_ranks_swap_the_directions() -> None:
    """MPI-4.1, example 8.10: what goes in the negative direction comes from the positive one."""
    text = str(schedules("direct", grid((2,), (True,)))[0])
    assert "out=2 in=2" in text
    assert [line.split() for line in text.splitlines() if "receive 1" in line] == [
        ["receive", "1", "last", "receive[1]"],
        ["receive", "1", "last", "receive[0]"],
    ]
    alone = str(schedules("direct", grid((1,), (True,)))[0])
    assert "copy send[0] receive[1]" in alone
    assert "copy send[1] receive[0]" in alone


def test_no_order_of_completion_is_harmful() -> None:
    rng = random.Random(1)
    for spec in SPECS[:6]:
        all_ranks = graph([[1, 2, 0], [1, 0, 1], [2, 1, 0]], rng)
        verdict, states = _core.search_orders(schedules(spec, all_ranks))
        assert verdict.findings == []
        assert states > 1


@pytest.mark.parametrize("spec", LEADERS[:4])
def test_no_order_of_completion_is_harmful_to_leaders(spec: str) -> None:
    all_ranks = graph([[1, 2, 1, 0], [1, 0, 1, 1], [2, 1, 0, 1], [0, 1, 1, 1]], random.Random(1))
    verdict, states = _core.search_orders(schedules(spec, all_ranks, "2"))
    assert verdict.findings == []
    assert states > 1


def test_text_parses_back() -> None:
    for one in schedules("direct(window=1)", graph([[2, 1, 0], [0, 0, 3], [1, 1, 1]], random.Random(3))):
        assert _core.parse_schedule(str(one)) == one
    with pytest.raises(ValueError, match="in=BLOCKS"):
        _core.parse_schedule("schedule ranks=2 rank=0 out=1 scratch=0 segment=0")


RING = [[0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 2], [2, 0, 0, 1]]
MUTATIONS = {
    "blocks of two edges are swapped": (1, r"send 2 last send\[0\]", "send 2 last send[1]", "ends with block (1, 1)"),
    "a receive is dropped": (1, r"  receive 0 .*\n", "", "fewer messages than are sent"),
    "a block is out of bounds": (1, r"receive\[0\]", "receive[2]", "out of bounds"),
    "a copy goes elsewhere": (3, r"  copy .*\n", "", "rank 3 ends with nothing"),
    "a rank says that it has more neighbours": (0, "out=2", "out=3", "not for as many blocks"),
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_what_is_broken_is_found(mutation: str) -> None:
    rank, pattern, replacement, expected = MUTATIONS[mutation]
    all_ranks = graph(RING, random.Random(5))
    texts = [str(one) for one in schedules("direct", all_ranks)]
    texts[rank], changes = re.subn(pattern, replacement, texts[rank], count=1)
    assert changes == 1
    broken = [_core.parse_schedule(text) for text in texts]
    assert any(expected in finding for finding in _core.verify_neighbours(broken, all_ranks).findings)


def test_a_graph_whose_ranks_disagree_is_found() -> None:
    one_way = [Neighbourhood(2, 0, [1], []), Neighbourhood(2, 1, [], [])]
    assert findings("direct", one_way)
    other_way = [Neighbourhood(2, 0, [], []), Neighbourhood(2, 1, [], [0])]
    assert "but not the other way round" in findings("direct", other_way)[0]


def test_windows_of_messages_with_complete_all_would_deadlock() -> None:
    """Why rounds hold positions there: batches of so many messages wait for one another in a circle."""
    rng = random.Random(0)
    waits = 0
    for _ in range(200):
        all_ranks = graph([[int(rng.random() < 0.4) for _ in range(6)] for _ in range(6)], rng)
        texts = [str(one) for one in schedules("direct(window=1,complete=any)", all_ranks)]
        batches = [_core.parse_schedule(text.replace("complete=any", "complete=all")) for text in texts]
        waits += any("deadlock" in finding for finding in _core.verify_neighbours(batches, all_ranks).findings)
    assert waits > 0


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("tra(r=4)", "directly, or by leaders"),
        ("leaders(sizes=padded)", "not padded"),
        ("leaders(direct=never)", "must be a number"),
        ("leaders(direct=auto)", "must be a number"),
        ("leaders(order=topology(torus(dims=3)))", "all with all"),
        ("direct(order=topology(torus(dims=3)))", "all with all"),
        ("direct(sizes=padded)", "exchange none"),
        ("native", "no schedule"),
    ],
)
def test_what_cannot_serve_neighbours_says_why(spec: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        schedules(spec, [Neighbourhood(1, 0, [], [])])


def counted(spec: str, neighbourhoods: list[Neighbourhood]) -> list[tuple[tuple[float, ...], tuple[float, ...], int]]:
    """Of each phase of exchanges on two nodes of two ranks: messages and blocks of a rank, then of a node, within and
    between nodes; batches."""

    def of(traffic: _core.Traffic) -> tuple[float, ...]:
        return traffic.messages, traffic.blocks, traffic.node_messages, traffic.node_blocks

    work = _core.work_for_neighbours(_core.parse_spec(spec), neighbourhoods, "2")
    return [(of(phase.within), of(phase.between), phase.batches) for phase in work.phases]


CIRCLE = graph([[int((a - b) % 4 in (1, 3)) for b in range(4)] for a in range(4)], random.Random(1))
STAR = graph([[int((a == 0) != (b == 0)) for b in range(4)] for a in range(4)], random.Random(1))


def test_the_work_of_direct_exchanges_is_counted() -> None:
    """As of the host MPI: a rank of the ring has a neighbour on its node and one on the other; the star's centre has
    two on the other node."""
    ring, star = counted("direct(window=all)", CIRCLE), counted("direct(window=all)", STAR)
    assert ring == [((1, 1, 2, 2), (1, 1, 2, 2), 1)]
    assert star == [((1, 1, 1, 1), (2, 2, 2, 2), 1)]


def test_the_work_of_one_leader_a_node_is_counted() -> None:
    """Ranks 0 and 2 lead. On the ring ranks 1 and 3 send two messages to them, one for their leader and one to be
    passed on; on the star rank 3 alone has a block to be passed on, and two nodes share three gathering messages."""
    ring, star = counted("leaders(per-node=1)", CIRCLE), counted("leaders(per-node=1)", STAR)
    nothing = (0, 0, 0, 0)
    assert ring == [((2, 2, 3, 3), nothing, 1), (nothing, (1, 2, 1, 2), 1), ((1, 1, 1, 1), nothing, 1)]
    assert star == [((1, 1, 1.5, 1.5), nothing, 1), (nothing, (1, 2, 1, 2), 1), ((1, 1, 0.5, 0.5), nothing, 1)]
    work = _core.work_for_neighbours(_core.parse_spec("leaders(per-node=1)"), CIRCLE, "2")
    assert work.packed == (2, 2)  # of the one message that has more than one block


def test_the_work_of_all_ranks_as_leaders_is_counted() -> None:
    """On the ring both blocks that leave a node pass through the other rank; nothing is scattered."""
    ring = counted("leaders(per-node=all)", CIRCLE)
    assert ring == [((2, 2, 4, 4), (0, 0, 0, 0), 1), ((0, 0, 0, 0), (1, 1, 2, 2), 1)]
