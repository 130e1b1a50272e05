"""The first MPI_Alltoall on a communicator: small blocks travel with what its ranks must know of one another."""

from __future__ import annotations

import sys

import pytest

UNLIKE_TYPES = """
from array import array
from mpi4py import MPI
comm = MPI.COMM_WORLD
pair = MPI.INT.Create_vector(2, 1, 2).Commit()
resized = pair.Create_resized(0, 16).Commit()
for sender, receiver in ((0, 1), (1, 1), (2, 0)):
    other = comm.Dup()
    mine, theirs = array("i", range(4 * comm.size)), array("i", [-1] * 4 * comm.size)
    send = [mine, 1, resized] if comm.rank == sender else [mine, 2, MPI.INT]
    receive = [theirs, 1, resized] if comm.rank == receiver else [theirs, 2, MPI.INT]
    other.Alltoall(send, receive)
    for source in range(comm.size):
        step = 2 if source == sender else 1
        first = (4 if source == sender else 2) * comm.rank
        place, apart = (4 * source, 2) if comm.rank == receiver else (2 * source, 1)
        assert [theirs[place], theirs[place + apart]] == [first, first + step], (sender, receiver, source)
    other.Free()
"""

UNLIKE_COUNTS = """
from array import array
from mpi4py import MPI
for unlike in (2, 40):  # as small as the blocks that are carried, and larger
    comm = MPI.COMM_WORLD.Dup()
    comm.Set_errhandler(MPI.ERRORS_RETURN)
    count = unlike if comm.rank == 0 else 1
    try:
        comm.Alltoall([array("i", [7] * count * comm.size), count, MPI.INT],
                      [array("i", [7] * count * comm.size), count, MPI.INT])
        raise SystemExit("no error")
    except MPI.Exception:
        pass
    got = array("i", [-1] * comm.size)
    comm.Alltoall([array("i", [10 * comm.rank + i for i in range(comm.size)]), 1, MPI.INT], [got, 1, MPI.INT])
    assert list(got) == [10 * source + comm.rank for source in range(comm.size)], got
"""


@pytest.fixture
def gathers(launch, compiled, preloaded, wheel: str):
    """Run `calls`, which checks every block; how often each rank called PMPI_Allgather."""

    def gathers(ranks: int, *words: str, nodes: str = "", **env: str) -> list[int]:
        counter = compiled(wheel, "gathers", "-shared", "-fPIC", "-ldl")
        preload = f"LD_PRELOAD={preloaded(wheel)}:{counter}"
        argv = ["env", preload, *(f"{name}={value}" for name, value in env.items()), compiled(wheel, "calls"), *words]
        done = launch(ranks, argv, mpi=wheel, preload=False, env={"SWAPMEET_NODES": nodes} if nodes else None)
        assert done.returncode == 0, done.stdout + done.stderr
        return [int(line.rpartition(" ")[2]) for line in done.stdout.splitlines() if line.startswith("set up: ")]

    return gathers


@pytest.mark.parametrize("ints", [0, 1, 16, 17])
def test_blocks_between_nodes_need_no_gather(gathers, ints: int) -> None:
    assert gathers(3, f"ints={ints}", "alltoall=2", nodes="1") == []


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", [2, 5])
@pytest.mark.parametrize("nodes", ["", "1", "2"])
@pytest.mark.parametrize("first", ["alltoall=1", "in-place=1"])
def test_every_block_arrives(gathers, ranks: int, nodes: str, first: str) -> None:
    words = (word for ints in (1, 7, 16, 17) for word in (f"ints={ints}", "dup", first, "alltoall=2", "alltoallv=1"))
    gathers(ranks, *words, nodes=nodes)


@pytest.mark.parametrize("algorithm", ["pairwise", "tra", "native"])
def test_an_algorithm_that_is_ordered_exchanges_the_first_blocks(
    launch, compiled, tallies, tmp_path, algorithm
) -> None:
    statistics = tmp_path / "statistics.json"
    argv = [compiled("mpich", "calls"), "ints=2", "alltoall=1"]
    env = {"SWAPMEET_STATS": str(statistics)}
    done = launch(3, argv, mpi="mpich", algorithm=algorithm, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    (tally,) = tallies(statistics)
    assert tally["calls"] == 1
    assert (tally["algorithm"] == "native") == (algorithm == "native")


def test_types_of_some_ranks_only(launch, wheel: str) -> None:
    pytest.importorskip("mpi4py")
    done = launch(3, [sys.executable, "-c", UNLIKE_TYPES], mpi=wheel, env={"SWAPMEET_NODES": "1"})
    assert done.returncode == 0, done.stderr


def test_counts_that_do_not_match_are_reported_and_leave_nothing_for_the_next_call(launch, wheel: str) -> None:
    pytest.importorskip("mpi4py")
    env = {"SWAPMEET_NODES": "1", "SWAPMEET_CHECK": "1"}
    done = launch(3, [sys.executable, "-c", UNLIKE_COUNTS], mpi=wheel, env=env, timeout=30)
    assert done.returncode == 0, done.stderr
    assert all(f"rank 1 sends 4 B to rank 0, which receives {much} B" in done.stderr for much in (8, 160))
