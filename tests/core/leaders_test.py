"""The family of leaders: every exchange policy on every node map, proved by symbolic execution, and counted."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter

import pytest
from core.bruck_test import node_maps
from core.flow_test import mutations_run, run
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import examples

from swapmeet import _core

LEADERS = ("1", "2", "3", "all")
POLICIES = [
    f"window={window},complete={complete},post={post}"
    for window, complete, post in itertools.product(
        ("1", "2", "3", "all"), ("all", "any", "test"), ("receives-first", "interleaved")
    )
]
MEANS = [f"pack={pack},intra={intra}" for pack in ("memcpy", "datatype") for intra in ("mpi", "shm", "cma", "auto")]
variants = st.builds(
    lambda *parts: ",".join(parts),
    st.sampled_from(LEADERS).map("per-node={}".format),
    st.sampled_from(POLICIES),
    st.sampled_from(MEANS),
)
NODES = ("", "1", "2", "3", "4+2", "5+3+1", "1+7", "7+1", "cyclic:2", "cyclic:3", "cyclic:7", "3+1+2+5+1")


def leaders(parameters: str) -> _core.Spec:
    return _core.parse_spec(f"leaders({parameters})")


def schedules(parameters: str, ranks: int, nodes: str = "") -> list[_core.Schedule]:
    return [_core.generate(leaders(parameters), ranks, rank, nodes) for rank in range(ranks)]


def proved(parameters: str, ranks: int, nodes: str = "") -> list[_core.Schedule]:
    where = f"leaders({parameters}), P = {ranks}, nodes {nodes!r}"
    assert _core.verify(leaders(parameters), ranks, nodes=nodes).findings == [], where
    return schedules(parameters, ranks, nodes)


# --- proofs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("per_node", LEADERS)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_up_to_24_ranks(per_node: str, policy: str) -> None:
    means, maps = itertools.cycle(MEANS), itertools.cycle(NODES)
    for p in range(1, 25):
        for _ in range(3):
            proved(f"per-node={per_node},{policy},{next(means)}", p, next(maps))
        next(maps)  # 24 · 4 = 12 · 8: each map meets other numbers of ranks


@pytest.mark.slow
@settings(max_examples=examples(500))
@given(node_maps(), variants)
def test_any_node_map(nodes: tuple[str, int], variant: str) -> None:
    text, ranks = nodes
    for plan in proved(variant, ranks, text):
        assert _core.parse_schedule(str(plan)) == plan


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(node_maps(), variants, st.integers(0, 2**32))
def test_what_is_proved_also_runs_with_blocks_of_unequal_size(nodes: tuple[str, int], variant: str, seed: int) -> None:
    text, ranks = nodes
    draw = random.Random(seed)
    sizes = [[draw.choice((0, 0, 1, draw.randrange(100))) for _ in range(ranks)] for _ in range(ranks)]
    assert run([_core.flow(leaders(variant), ranks, rank, text) for rank in range(ranks)], sizes, draw)


def test_every_order_of_completion() -> None:
    """Leaders of unequal nodes have unequally many messages; still none waits for ever, at any window."""
    for per_node, window, complete in itertools.product(("1", "2", "all"), ("1", "2", "all"), ("all", "any")):
        for nodes, ranks in (("2+1", 3), ("1+2", 3), ("1,0,1", 3)):
            plans = schedules(f"per-node={per_node},window={window},complete={complete},pack=datatype", ranks, nodes)
            verdict, states = _core.search_orders(plans)
            assert verdict.findings == [] and states > 1


def test_batches_of_messages_would_deadlock() -> None:
    """Why a round holds positions: in one round, with a window of messages, some ranks would wait for ever."""
    plans = schedules("per-node=2,window=all,complete=all,pack=datatype", 6, "4")
    assert _core.verify_schedules(plans).proved
    texts = [str(plan).replace("window=all", "window=1") for plan in plans]
    findings = _core.verify_schedules([_core.parse_schedule(text) for text in texts]).findings
    assert any("deadlock" in finding for finding in findings)


def test_mutations_are_found() -> None:
    """A schedule that is proved although something was changed in it delivers all the same."""
    draw = random.Random(7)

    def drawn() -> list[_core.Schedule]:
        nodes, window, per_node = draw.choice(("4+2", "3", "cyclic:2")), draw.choice("12"), draw.choice(LEADERS)
        return schedules(f"per-node={per_node},window={window},pack=datatype", 6, nodes)

    outcomes = mutations_run(500, draw, drawn)
    assert min(outcomes.values()) > 20, outcomes


def test_ranks_are_not_alike() -> None:
    assert not _core.verify_symmetric(leaders("per-node=all"), 8).proved


# --- what they do ----------------------------------------------------------------------------------------------------


def exact(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def test_two_nodes_of_two_ranks() -> None:
    """Rank 0 leads: what arrives from 2 and 3 is in scratch[0..3], what it gathers for them in scratch[4..7]."""
    zero, one, *_ = schedules("per-node=1,window=all,intra=shm", 4, "2")
    policy = "step window=all complete=all post=receives-first"
    assert exact(str(zero))[1:] == [
        policy,
        "copy send[0] receive[0]",
        "copy send[2..3] scratch[4..5]",
        "send 1 last send[1]",
        "receive 1 last receive[1]",
        "receive 1 scratch[6..7]",
        policy,
        "send 2 scratch[4..7]",
        "receive 2 scratch[0..3]",
        policy,
        "copy scratch[0..2/2] receive[2..3]",
        "send 1 last scratch[1..3/2]",
    ]
    assert exact(str(one))[1:] == [
        policy,
        "copy send[1] receive[1]",
        "send 0 last send[0]",
        "send 0 send[2..3]",
        "receive 0 last receive[0]",
        *[policy] * 2,
        "receive 0 last receive[2..3]",
    ]


def test_one_node_exchanges_directly() -> None:
    for per_node, nodes in itertools.product(LEADERS, ("", "9")):
        for plan in schedules(f"per-node={per_node},pack=datatype", 9, nodes):
            assert (plan.messages, plan.blocks, plan.scratch_blocks, len(plan.steps)) == (8, 8, 0, 1)


def test_nodes_of_one_rank_exchange_directly() -> None:
    for per_node, parameters in itertools.product(LEADERS, ("", ",intra=auto", ",pack=datatype")):
        for plan in schedules(f"per-node={per_node}{parameters}", 7, "1"):
            assert (plan.messages, plan.blocks, plan.scratch_blocks) == (6, 6, 0)
            assert all(" last " in line for line in str(plan).splitlines() if " send " in line)


def members_of(ranks: int, nodes: str) -> list[list[int]]:
    """Of each node, in the order of their first ranks."""
    levels = _core.parse_node_map(nodes, ranks)
    node_of = levels[0] if levels else [0] * ranks
    return [[rank for rank in range(ranks) if node_of[rank] == node] for node in dict.fromkeys(node_of)]


def groups_of(members: list[int], per_node: str) -> list[list[int]]:
    """Sizes differ by one at most, the first of each leads."""
    size = len(members)
    k = size if per_node == "all" else min(size, int(per_node))
    return [members[g * size // k : (g + 1) * size // k] for g in range(k)]


def messages_of(ranks: int, nodes: str, per_node: str) -> Counter[tuple[int, int, bool, int]]:
    """(sender, receiver, last, blocks) of all messages, by the rule in words."""
    found = Counter[tuple[int, int, bool, int]]()
    members = members_of(ranks, nodes)
    groups = [groups_of(some, per_node) for some in members]
    for a, own in enumerate(members):
        for source, target in itertools.permutations(own, 2):
            found[source, target, True, 1] += 1
        others = [group for i in range(1, len(members)) for group in groups[(a + i) % len(members)]]
        for number, mine in enumerate(groups[a]):
            served = others[number :: len(groups[a])]  # dealt out in turn
            for group in served:
                found[mine[0], group[0], len(group) == 1, len(own) * len(group)] += 1
            for source in own:
                if served and source != mine[0]:
                    found[source, mine[0], False, sum(map(len, served))] += 1
            for target in mine[1:]:
                if ranks > len(own):
                    found[mine[0], target, True, ranks - len(own)] += 1
    return found


@settings(max_examples=examples(200))
@given(node_maps(), variants)
def test_messages_are_those_of_the_rule(nodes: tuple[str, int], variant: str) -> None:
    text, ranks = nodes
    sent = Counter(
        (rank, peer, last, len(blocks))
        for rank in range(ranks)
        for _, _, sends, _ in _core.flow(leaders(variant), ranks, rank, text).rounds
        for peer, last, blocks in sends
    )
    assert sent == messages_of(ranks, text, re.match("per-node=([^,]*)", variant)[1])


def way(source: int, destination: int, members: list[list[int]], per_node: str) -> list[int]:
    """The ranks that have a block one after the other."""
    a, b = (next(i for i, some in enumerate(members) if rank in some) for rank in (source, destination))
    if a == b:
        return [source, destination]
    others = [group for i in range(1, len(members)) for group in groups_of(members[(a + i) % len(members)], per_node)]
    own = groups_of(members[a], per_node)
    turn = next(i for i, group in enumerate(others) if destination in group)
    stops = [source, own[turn % len(own)][0], others[turn][0], destination]
    return [rank for rank, _ in itertools.groupby(stops)]


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(node_maps(), st.sampled_from(LEADERS), st.sampled_from(("combined", "ahead", "total")), st.integers(0, 2**32))
def test_blocks_of_unequal_size_go_the_same_way(nodes: tuple[str, int], per_node: str, how: str, seed: int) -> None:
    text, ranks = nodes
    draw = random.Random(seed)
    sizes = [[draw.choice((0, 1, 3, 100)) for _ in range(ranks)] for _ in range(ranks)]
    counts = _core.count_varying(
        leaders(f"per-node={per_node},window=2,sizes={how},direct=never"), ranks, sizes, nodes=text
    )
    sent = [0] * ranks
    for source, destination in itertools.permutations(range(ranks), 2):
        for rank in way(source, destination, members_of(ranks, text), per_node)[:-1]:
            sent[rank] += sizes[source][destination]
    assert [rank.message_bytes - rank.size_bytes for rank in counts.ranks] == sent
    assert max((rank.working_bytes for rank in counts.ranks), default=0) <= counts.bound_bytes


def test_sizes_are_sent_where_they_are_not_known() -> None:
    """Two nodes of two ranks: to a leader that passes blocks on, and between leaders; never to where blocks end."""
    spec, sizes = leaders("per-node=1,direct=never"), [[10] * 4 for _ in range(4)]
    sizes[0][1] = 11
    leader, other = (10 + (40 + 16) + 20, 16), (10 + (20 + 8), 8)
    for equal in (False, True):
        counts = _core.count_varying(spec, 4, [[10] * 4] * 4 if equal else sizes, nodes="2")
        for rank, count in enumerate(counts.ranks):
            data, told = other if rank % 2 else leader
            expected = (data - told, 0) if equal else (data + (rank == 0), told)
            assert (count.messages, count.message_bytes, count.size_bytes) == (2 if rank % 2 else 3, *expected)


def test_leaders_share_the_work() -> None:
    """Those of a node send to as many groups, give or take one."""
    for per_node, nodes, ranks in (("2", "4", 20), ("3", "3+1", 20), ("all", "5+1", 27), ("2", "2+1+1+1", 21)):
        for own, flows in (
            (own, [_core.flow(leaders(f"per-node={per_node}"), ranks, r, nodes) for r in own])
            for own in members_of(ranks, nodes)
        ):
            sent = [
                sum(peer not in own for _, _, sends, _ in flow.rounds for peer, _, _ in sends)
                for flow in flows
                if flow.rank in [group[0] for group in groups_of(own, per_node)]
            ]
            assert max(sent) - min(sent) <= 1, (per_node, nodes, own)


# --- costs -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(node_maps(), variants)
def test_counts_are_those_of_the_busiest_rank(nodes: tuple[str, int], variant: str) -> None:
    text, ranks = nodes
    plans, counts = schedules(variant, ranks, text), _core.count(leaders(variant), ranks, text)
    assert counts.messages == max(plan.messages for plan in plans)
    assert counts.blocks == max(plan.blocks for plan in plans)
    assert counts.scratch_blocks == max(plan.scratch_blocks for plan in plans)
    assert counts.ranks_differ == (len({(plan.messages, plan.blocks) for plan in plans}) > 1)
    members = members_of(ranks, text)
    assert counts.sizes == [max(map(len, members)), len(members)]


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(node_maps(), st.sampled_from(LEADERS))
def test_rounds_are_positions(nodes: tuple[str, int], per_node: str) -> None:
    """With a window of one, each is a step."""
    text, ranks = nodes
    variant = f"per-node={per_node},window=1,complete=all,pack=datatype"
    plans = schedules(variant, ranks, text)
    lengths = [re.compile(r"\[(\d+)(?:\.\.(\d+)(?:/(-?\d+))?)?\]")]

    def blocks(sends: list[tuple[int, list[str]]]) -> int:
        return sum(length(lengths[0], run) for _, runs in sends for run in runs)

    steps = [
        (max(len(plan.steps[s][4]) for plan in plans), max(blocks(plan.steps[s][4]) for plan in plans))
        for s in range(len(plans[0].steps))
    ]
    rounds = _core.count_rounds(leaders(variant), ranks, text)
    assert [row[4:] for row in rounds] == [step for step in steps if step[0]]
    assert [(row[0], row[1]) for row in rounds] == sorted(
        ((row[0], row[1]) for row in rounds), key=[(0, 0), (1, 0), (0, 1)].index
    )
    assert _core.count(leaders(variant), ranks, text).batches == len(rounds)


def length(pattern: re.Pattern[str], run: str) -> int:
    first, last, stride = pattern.search(run).groups()
    return 1 if last is None else (int(last) - int(first)) // int(stride or 1) + 1


def test_equal_nodes_cost_what_the_header_says() -> None:
    """src/algorithms/leaders.cpp: N nodes of Q ranks, k leaders of groups of G."""
    for n, g, k in itertools.product((2, 3, 4, 7), (1, 2, 3, 5), (1, 2, 3)):
        q = g * k
        others = (n - 1) * q
        for means in MEANS:
            spec = leaders(f"per-node={k},{means}")
            counts = _core.count(spec, n * q, str(q))
            assert counts.messages == (q - 1) + (k - 1) + (n - 1) + (g - 1)
            assert counts.blocks == (q - 1) + (n - 1) * ((k - 1) * g + q * g + (g - 1) * q)
            arrives, leaves = others * g if g > 1 else 0, others * g if q > 1 else 0
            staged = (n - 1) * ((k - 1) * g + (q - 1) * g), (g - 1) * others
            bound = arrives + (max(leaves + staged[0], staged[1]) if "intra=mpi" in means else leaves)
            if "memcpy" in means:
                assert counts.scratch_blocks <= bound
                if n > 3 and (n - 1) % k != 0:
                    assert counts.scratch_blocks == bound, (n, q, k, means)
            else:
                assert counts.scratch_blocks == arrives + leaves
            assert counts.ranks_differ == (k < q)


@pytest.mark.parametrize(
    ("window", "batches"), [("all", 1 + 1 + 1), ("1", 7 + 3 + 3), ("2", 4 + 2 + 2), ("5", 2 + 1 + 1), ("100", 3)]
)
def test_batches(window: str, batches: int) -> None:
    """Four nodes of eight ranks, in groups of four."""
    spec = leaders(f"per-node=2,window={window},pack=datatype")
    assert _core.count(spec, 32, "8").batches == batches
    assert max(len(_core.generate(spec, 32, rank, "8").steps) for rank in range(32)) == batches


def test_forwarding_of_leaders() -> None:
    assert _core.forwarding(leaders("per-node=all"), 6, "") == (5, 1)
    messages, hops = _core.forwarding(leaders("per-node=1,sizes=ahead"), 8, "4")
    assert (messages, hops) == (2 * (3 + 1 + 3), (3 + 16 + 12) / 7)


def test_too_many_blocks_are_refused() -> None:
    assert leaders("per-node=1").unsuitable(131072, "65536") == (
        "a node of 65536 ranks has too few leaders for its blocks"
    )
    assert leaders("per-node=all").unsuitable(131072, "128") == leaders("per-node=1").unsuitable(131072, "128") == ""
    assert leaders("per-node=1").unsuitable(131072) == ""  # one node
