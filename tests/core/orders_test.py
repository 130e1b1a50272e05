"""Peer orders, and the shuffle under the random ones."""

import collections
import itertools

import pytest

from swapmeet import _core


def peers(order: str, ranks: int, seed: int = 0) -> tuple[list[list[int]], list[list[int]]]:
    """Whom each rank sends to and receives from, in order, itself left out."""
    spec = _core.parse_spec(f"direct(order={order},seed={seed})")
    steps = [_core.generate(spec, ranks, rank).steps[0] for rank in range(ranks)]
    return [[p for p, _ in step[4]] for step in steps], [[p for p, _ in step[5]] for step in steps]


@pytest.mark.parametrize("order", ["shift", "xor", "random", "scatter"])
@pytest.mark.parametrize("ranks", [1, 2, 4, 16])
def test_everybody_meets_everybody_once(order: str, ranks: int) -> None:
    to, source = peers(order, ranks)
    for rank in range(ranks):
        others = [r for r in range(ranks) if r != rank]
        assert sorted(to[rank]) == sorted(source[rank]) == others


def test_shift_and_xor_by_their_formulas() -> None:
    to, source = peers("shift", 5)
    assert to[3] == [4, 0, 1, 2]
    assert source[3] == [2, 1, 0, 4]
    to, source = peers("xor", 8)
    assert to[5] == source[5] == [4, 7, 6, 1, 0, 3, 2]


@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 16, 31])
@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_random_is_an_anticirculant_matrix(ranks: int, seed: int) -> None:
    """Row r, column i of the matrix is ranks[(i + r) mod P]; each column is a permutation: no rank is hit twice."""
    first = _core.shuffled_ranks(ranks, seed)
    matrix = [[first[(i + rank) % ranks] for i in range(ranks)] for rank in range(ranks)]
    assert all(sorted(column) == list(range(ranks)) for column in zip(*matrix, strict=True))
    to, source = peers("random", ranks, seed)
    for rank in range(ranks):
        assert to[rank] == [peer for peer in matrix[rank] if peer != rank]
        senders = [s for i in range(ranks) for s in range(ranks) if matrix[s][i] == rank]
        assert source[rank] == [s for s in senders if s != rank]


def test_scatter_is_one_list_for_all() -> None:
    to, source = peers("scatter", 12, 7)
    first = _core.shuffled_ranks(12, 7)
    for rank in range(12):
        assert to[rank] == source[rank] == [peer for peer in first if peer != rank]


def test_shuffles_are_uniform() -> None:
    """All 24 permutations of 4 occur equally often; with `rand() % i` only the 6 cyclic ones would."""
    draws = 24_000
    counts = collections.Counter(tuple(_core.shuffled_ranks(4, seed)) for seed in range(draws))
    assert set(counts) == set(itertools.permutations(range(4)))
    chi_squared = sum((count - draws / 24) ** 2 / (draws / 24) for count in counts.values())
    assert chi_squared < 49.7  # 23 degrees of freedom, 0.1 %


@pytest.mark.parametrize("n", [2, 3, 10])
def test_first_elements_are_uniform(n: int) -> None:
    draws = 6000
    counts = collections.Counter(_core.shuffled_ranks(n, seed)[0] for seed in range(draws))
    assert all(abs(counts[value] - draws / n) < 5 * (draws / n) ** 0.5 for value in range(n))


GOLDEN = {  # by a second implementation of SplitMix64 and Fisher-Yates, in Python
    0: [3, 5, 0, 2, 4, 1, 7, 6],
    1: [3, 2, 5, 7, 4, 6, 1, 0],
    2**64 - 1: [6, 5, 4, 0, 7, 3, 2, 1],
}


def test_shuffles_are_the_same_on_every_machine() -> None:
    assert _core.shuffled_ranks(1, 0) == [0]
    assert [_core.shuffled_ranks(8, seed) for seed in GOLDEN] == list(GOLDEN.values())


GROUPS = [("groups:1", ""), ("groups:2", ""), ("groups:3", ""), ("groups:4", ""), ("groups:100", "")]
GROUPS += [("groups:nodes", nodes) for nodes in ("", "2", "4", "3+5", "cyclic:3", "2/4")]


@pytest.mark.parametrize(("order", "nodes"), GROUPS)
@pytest.mark.parametrize(("window", "complete"), [("all", "all"), ("1", "all"), ("3", "all"), ("2", "any")])
def test_orders_balanced_by_groups_are_proved(order: str, nodes: str, window: str, complete: str) -> None:
    spec = _core.parse_spec(f"direct(order={order},window={window},complete={complete})")
    for ranks in (1, 2, 3, 4, 7, 8, 12, 16, 17, 24):
        assert _core.verify(spec, ranks, nodes=nodes).findings == [], f"P = {ranks}"


NODE_MAPS = ("", "1", "2", "4", "3+5", "5+1+3", "cyclic:3")


@pytest.mark.parametrize("family", ["leaders(", "leaders(per-node=2,", "bruck(dims=nodes,radix=2/all,"])
@pytest.mark.parametrize("nodes", NODE_MAPS)
@pytest.mark.parametrize(("window", "complete"), [("all", "all"), ("1", "all"), ("3", "all"), ("2", "any")])
def test_orders_of_nodes_balanced_by_groups_are_proved(family: str, nodes: str, window: str, complete: str) -> None:
    for members in (1, 3, 4, 8):
        spec = _core.parse_spec(f"{family}order=groups:{members},window={window},complete={complete})")
        for ranks in (1, 2, 3, 7, 8, 12, 17, 24):
            if spec.unsuitable(ranks, nodes):
                continue
            assert _core.verify(spec, ranks, nodes=nodes).findings == [], f"{spec}, P = {ranks}"


@pytest.mark.parametrize("groups", [2, 4, 8])
@pytest.mark.parametrize("family", ["leaders(", "bruck(dims=nodes,radix=all/all,"])
def test_in_a_slot_nodes_send_to_different_groups(family: str, groups: int) -> None:
    """16 nodes of 2 ranks; in the order of shift all nodes of a group send to one or two groups."""
    ranks, members = 32, 32 // groups
    spec = _core.parse_spec(f"{family}order=groups:{members},window=1)")
    slots = collections.defaultdict(collections.Counter)
    for rank in range(0, ranks, 2):  # the leader, or one of two that do alike
        schedule = _core.generate(spec, ranks, rank, "2")
        sent = [[(rank // members, to // members) for to, _ in s[4] if to // 2 != rank // 2] for s in schedule.steps]
        for number, pairs in enumerate(sent):
            slots[number].update(pairs)
    nodes = members // 2
    assert max(max(pairs.values(), default=0) for pairs in slots.values()) == -(-nodes // groups)


@pytest.mark.parametrize(("groups", "members"), [(4, 8), (8, 8), (8, 4), (3, 6), (9, 3), (6, 18)])
def test_in_a_slot_members_send_to_different_groups(groups: int, members: int) -> None:
    """Between any two groups at most members / groups messages, rounded up, where either number divides the other."""
    ranks = groups * members
    spec = _core.parse_spec(f"direct(order=groups:{members},window=1)")
    slots = collections.defaultdict(list)
    for rank in range(ranks):
        for number, step in enumerate(_core.generate(spec, ranks, rank).steps):
            slots[number] += [(rank // members, peer // members) for peer, _ in step[4]]
    for pairs in slots.values():
        assert max(collections.Counter(pairs).values()) <= -(-members // groups)
        for end in (0, 1):
            assert max(collections.Counter(pair[end] for pair in pairs).values()) <= members


def test_groups_that_differ_too_much_are_refused() -> None:
    spec = _core.parse_spec("direct(order=groups:nodes)")
    assert not spec.unsuitable(16, "4")
    assert "too unequal" in spec.unsuitable(40, "20+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1")
    for family in ("leaders(", "bruck(dims=nodes,r2=all,"):
        of_nodes = _core.parse_spec(f"{family}order=groups:20)")
        assert not of_nodes.unsuitable(400, "20")
        assert "too unequal" in of_nodes.unsuitable(420, "+".join(["1"] * 20 + ["20"]))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("bruck(dims=2d,order=groups:2)", "order=groups is for exchanges between nodes here"),
        ("bruck(dims=nodes,r2=2,order=groups:2)", "order=groups needs a direct exchange between nodes"),
        ("bruck(dims=nodes,r2=all,paths=rotated,order=groups:2)", "order=groups is for paths=ordered"),
    ],
)
def test_orders_of_nodes_say_what_they_need(text: str, why: str) -> None:
    assert why in _core.parse_spec(text).unsuitable(16, "2")
