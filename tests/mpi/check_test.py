"""SWAPMEET_CHECK=1: what ranks pass is held against one another before each exchange."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

RANKS = 3
MISTAKES = {
    "sizes": "call 2 of MPI_Alltoallv on 3 ranks: rank 1 sends 12 B to rank 2, which receives 8 B",
    "block": "call 2 of MPI_Alltoall on 3 ranks: rank 1 sends 12 B to rank 0, which receives 8 B",
    "types": "call 2 of MPI_Alltoall on 3 ranks: rank 1 sends MPI_FLOAT to rank 0, which receives MPI_INT",
    "place": "call 2 of MPI_Alltoall on 3 ranks: rank 1 passes MPI_IN_PLACE, rank 0 does not",
    "call": "call 2 of MPI_Alltoallv on 3 ranks: rank 1 calls MPI_Alltoall, rank 0 MPI_Alltoallv",
    "overlap": "call 2 of MPI_Alltoallv on 3 ranks: on rank 1, what comes from rank 0 and what comes from rank 1 "
    "overlap in its memory",
    "aliased": "call 2 of MPI_Alltoall on 3 ranks: on rank 1, what comes from rank 1 and what goes to rank 0 "
    "overlap in its memory",
    "ring-sizes": "call 1 of MPI_Neighbor_alltoallv on 3 ranks: rank 1 sends 12 B to rank 2, which receives 8 B",
    "ring-call": "call 1 of MPI_Neighbor_alltoallv on 3 ranks: rank 1 calls MPI_Neighbor_alltoall, rank 0 "
    "MPI_Neighbor_alltoallv",
    "ring-edges": "call 1 of MPI_Neighbor_alltoallv on 3 ranks: rank 1 sends 2 blocks to rank 2, which receives 1",
}


@pytest.fixture
def run(cases, wheel: str):
    """Make mistakes, each on a new communicator, in one launch; all that is printed."""

    def run(mistakes: Sequence[str], right: str, algorithm: str, nodes: str = "mpi"):
        env = {"SWAPMEET_CHECK": "1", "SWAPMEET_NODES": nodes}
        runs = [[mistake] for mistake in mistakes]
        more = {"times": RANKS, "job_ranks": RANKS + 1, "algorithm": algorithm, "env": env, "timeout": 240}
        return cases(wheel, "mistakes", [RANKS], runs, right, **more)

    return run


@pytest.mark.parametrize("algorithm", ["auto", "pairwise", "native"])
def test_a_mistake_is_told_once_and_is_an_error_of_all(run, algorithm: str) -> None:
    done = run(list(MISTAKES), "arguments, right\n", algorithm)
    told = [line for line in done.stderr.splitlines() if line.startswith("swapmeet: error")]
    assert told == ["swapmeet: error: " + said for said in MISTAKES.values()]


@pytest.mark.parametrize("algorithm", ["auto", "bruck"])
def test_what_is_right_passes(run, algorithm: str) -> None:
    assert run(["none", "pairs", "names"], "right, right\n", algorithm, "2").stderr == ""


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("algorithm", "to", "sent"),
    [("padded-bruck", 2, 100), ("padded-alltoall", 2, 100), ("bruck", 1, 100_000), ("shared-memory", 1, 100)],
)
def test_sizes_that_differ_are_told_where_nothing_else_shows_them(
    launch, compiled, wheel: str, algorithm: str, to: int, sent: int
) -> None:
    """Padded blocks are cut; one whose ends see it on different sides of `direct` hangs."""
    argv = [compiled(wheel, "mismatch"), "from=0", f"to={to}", f"sent={sent}", "expected=60", "others=100"]
    done = launch(4, argv, mpi=wheel, algorithm=algorithm, env={"SWAPMEET_CHECK": "1"})
    assert done.returncode == 0, done.stderr
    said = f"call 1 of MPI_Alltoallv on 4 ranks: rank 0 sends {sent} B to rank {to}, which receives 60 B"
    assert [line for line in done.stderr.splitlines() if "error" in line] == ["swapmeet: error: " + said]
    assert sum(line.endswith("afterwards right") for line in done.stdout.splitlines()) == 4
