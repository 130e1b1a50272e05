"""Exchanges with neighbours: the schedules of random multigraphs and grids are proved; what breaks them is found."""

from __future__ import annotations

import itertools
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


def schedules(spec: str, all_ranks: list[Neighbourhood]) -> list[_core.Schedule]:
    return [_core.schedule_for_neighbours(_core.parse_spec(spec), one) for one in all_ranks]


def findings(spec: str, all_ranks: list[Neighbourhood]) -> list[str]:
    return list(_core.verify_neighbours(schedules(spec, all_ranks), all_ranks).findings)


@given(st.integers(1, 12), st.integers(0, 3), st.floats(0, 1), st.integers(0, 2**32), st.sampled_from(SPECS))
@settings(max_examples=300, deadline=None)
def test_random_multigraphs_are_proved(ranks: int, most: int, share: float, seed: int, spec: str) -> None:
    rng = random.Random(seed)
    edges = [[rng.randint(0, most) if rng.random() < share else 0 for _ in range(ranks)] for _ in range(ranks)]
    all_ranks = graph(edges, rng)
    verdict = _core.verify_neighbours(schedules(spec, all_ranks), all_ranks)
    assert verdict.findings == []
    assert verdict.messages == sum(edges[a][b] for a in range(ranks) for b in range(ranks) if a != b)


GRIDS = [sizes for n in (1, 2, 3) for sizes in itertools.product((1, 2, 3, 5), repeat=n) if sum(sizes) <= 8]


@pytest.mark.parametrize("spec", SPECS)
def test_grids_are_proved(spec: str) -> None:
    for sizes in GRIDS:
        for periodic in itertools.product((False, True), repeat=len(sizes)):
            assert findings(spec, grid(sizes, periodic)) == [], (sizes, periodic)


def test_two_periodic_ranks_swap_the_directions() -> None:
    """MPI-4.1, example 8.10: what goes in the negative direction comes from the positive one."""
    text = str(_core.schedule_for_neighbours(_core.parse_spec("direct"), grid((2,), (True,))[0]))
    assert "out=2 in=2" in text
    assert [line.split() for line in text.splitlines() if "receive 1" in line] == [
        ["receive", "1", "last", "receive[1]"],
        ["receive", "1", "last", "receive[0]"],
    ]
    alone = str(_core.schedule_for_neighbours(_core.parse_spec("direct"), grid((1,), (True,))[0]))
    assert "copy send[0] receive[1]" in alone
    assert "copy send[1] receive[0]" in alone


def test_no_order_of_completion_is_harmful() -> None:
    rng = random.Random(1)
    for spec in SPECS[:6]:
        all_ranks = graph([[1, 2, 0], [1, 0, 1], [2, 1, 0]], rng)
        verdict, states = _core.search_orders(schedules(spec, all_ranks))
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
        ("tra(r=4)", "are sent directly"),
        ("node-leaders", "are sent directly"),
        ("direct(order=topology(torus(dims=3)))", "all with all"),
        ("direct(sizes=padded)", "exchange none"),
        ("native", "no schedule"),
    ],
)
def test_what_cannot_serve_neighbours_says_why(spec: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        _core.schedule_for_neighbours(_core.parse_spec(spec), Neighbourhood(1, 0, [], []))
