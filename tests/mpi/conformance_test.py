"""The conformance program under every algorithm. Without --all: a choice of the matrix that CI has time for."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

import pytest
from _pytest.mark import ParameterSet

from swapmeet.network.slot_tables import with_table
from swapmeet.specs import alias_names

FAMILY = [
    "direct(order=xor)",
    "direct(order=random,window=3,complete=any,segment=512)",
    "direct(order=random,window=2,complete=any,post=granted)",
    "direct(order=groups:2,window=2,complete=any)",
    "bruck(dims=2d,radix=3,digits=balanced,paths=rotated,layout=zero-rotation,window=all)",
]
ALGORITHMS = ["auto", *alias_names(sparse=False), *FAMILY]
RANKS = [1, 2, 3, 4, 5, 7, 8, 16]

ALWAYS = {"shared-memory", "pairwise", "random-segmented"}  #: at every P up to 8
SIXTEEN = {
    "mpich": set(),  # minutes on 2 cores
    "openmpi": {"random-segmented"},
}
#: The first in CI, but for Debian's MPICH 4.0.2, which crawls where ranks share cores (it serves in every_mpi_test.py).
SYSTEM = {"mpich-system": [2], "openmpi-system": [3, 2, 4]}
HUGE_RANKS = 2

NODES = {2: "1", 3: "2+1", 4: "3+1", 7: "4+2"}  #: by the number of ranks, where blocks are of unequal size
#: Every treatment of these: the algorithms that have names, then what lies between.
VARYING = [
    "two-phase-bruck",
    "sloav",
    "tuna(r=3)",
    "hybrid",
    "padded-alltoall",
    "padded-bruck",
    "two-layer",
    "two-layer-staggered",
]
BETWEEN = [
    "bruck(dims=2d,radix=3/2,sizes=ahead,window=2,layout=modified)",
    "bruck(radix=3,sizes=total,window=all,direct=100)",
    "bruck(dims=groups:2/4,radix=2,sizes=combined,window=1,direct=never,layout=zero-copy)",
    "bruck(dims=nodes,radix=2,sizes=total,window=2,messages=staggered,direct=auto)",
    "bruck(dims=nodes,radix=all/2,sizes=ahead,window=1,direct=0)",
    "bruck(radix=2,pack=datatype,complete=any,sizes=padded,direct=auto)",
    "direct(order=random,window=2,complete=any,sizes=padded,direct=100)",
    "two-layer(intra=shm,sizes=ahead,direct=1KiB)",
    "two-layer-staggered(intra=auto,sizes=total,direct=never)",
    "node-leaders(per-node=2)",
    "node-leaders(per-node=2,order=groups:3,window=1)",
    "two-layer(order=groups:3,r1=2,r2=all,window=1,sizes=ahead,direct=64)",
    "two-layer(order=topology(torus(dims=3),place=block),r1=all,window=1)",
    "bruck(radix=3,digits=balanced,sizes=ahead,window=2,layout=zero-rotation)",
    "bruck(dims=nodes,radix=2,digits=balanced,paths=rotated,sizes=combined,direct=auto)",
]
LIMIT_S = 400  #: more than the 300 s after which the suite names the case that hangs


def in_ci(mpi: str, algorithm: str, ranks: int) -> bool:
    if mpi in SYSTEM:
        return mpi != "mpich-system" and ranks == SYSTEM[mpi][0] and algorithm in ALWAYS
    if ranks == 16:
        return algorithm in SIXTEEN[mpi]
    if mpi == "mpich" and ranks > 3:  # its ranks keep the cores that they share: up to minutes for each
        return algorithm == "shared-memory" and ranks <= 5 or (ranks == 4 and "xor" in algorithm)
    if algorithm == "auto":  # few calls on each communicator, hence mostly the host MPI
        return ranks == 3
    if algorithm in VARYING:  # for equal blocks like others of the family; for unequal ones see below
        return mpi == "openmpi" and ranks == 3
    if algorithm in ALWAYS or (ranks == 4 and "xor" in algorithm):
        return True
    turn = "mpich" if zlib.crc32(algorithm.encode()) % 2 else "openmpi"
    return mpi == turn and ranks == {"mpich": 3, "openmpi": 5}[mpi]


def matrix() -> Iterator[ParameterSet]:
    for mpi in ("mpich", "openmpi", *SYSTEM):
        for ranks in SYSTEM.get(mpi, RANKS):
            for algorithm in ALGORITHMS:
                if "xor" in algorithm and ranks & (ranks - 1):
                    continue
                marks = [] if in_ci(mpi, algorithm, ranks) else [pytest.mark.long]
                yield pytest.param(mpi, ranks, algorithm, marks=marks, id=f"{mpi}-{ranks}-{algorithm}")


def check(done, minimum: int) -> None:
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "swapmeet: warning" not in done.stderr
    summary = re.search(r"^(\d+) passed, 0 failed, \d+ skipped$", done.stdout, re.MULTILINE)
    assert summary, done.stdout[-4000:]
    assert int(summary[1]) >= minimum


@pytest.mark.parametrize(("mpi", "ranks", "algorithm"), list(matrix()), indirect=["mpi"])
def test_conforms(launch, built, request: pytest.FixtureRequest, mpi: str, ranks: int, algorithm: str) -> None:
    """By day ALWAYS make the calls with large counts, 45 % on MPICH: to an algorithm they are the same `Blocks`."""
    fewer = [] if (algorithm in ALWAYS and ranks < 16) or request.config.getoption("--all") else ["--except", "_c/"]
    done = launch(ranks, [built(mpi, "conformance"), *fewer], mpi=mpi, algorithm=algorithm, timeout=LIMIT_S)
    check(done, minimum=500)


def unequal_sizes(launch, built, mpi: str, ranks: int, algorithm: str, collective: str = "alltoallv") -> None:
    """The cases of a collective, or of integers only where MPICH takes up to 20 s for all on 2 cores."""
    few = ranks == 7 or (mpi == "mpich" and ranks > 2)
    only, minimum = (f"{collective}/int", 94) if few else (collective, 200)
    argv = [built(mpi, "conformance"), "--only", only]
    env = {"SWAPMEET_NODES": NODES[ranks], "SWAPMEET_FIRST_CALLS": "0"}
    check(launch(ranks, argv, mpi=mpi, algorithm=with_table(algorithm, ranks), env=env, timeout=LIMIT_S), minimum)


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.long), 7])
@pytest.mark.parametrize("algorithm", VARYING)
def test_blocks_of_unequal_size_conform(launch, built, wheel: str, ranks: int, algorithm: str) -> None:
    unequal_sizes(launch, built, wheel, ranks, algorithm)


@pytest.mark.in_turn
@pytest.mark.parametrize("algorithm", BETWEEN)
def test_other_treatments_of_sizes_conform(launch, built, wheel: str, algorithm: str) -> None:
    unequal_sizes(launch, built, wheel, 3 if wheel == "mpich" else 7, algorithm)


@pytest.mark.in_turn
@pytest.mark.parametrize("algorithm", ["shared-memory"])
def test_blocks_of_one_size_between_nodes_conform(launch, built, wheel: str, algorithm: str) -> None:
    """Some partners of a rank share its node, others do not."""
    argv = [built(wheel, "conformance"), "--only", "alltoall/"]
    env = {"SWAPMEET_NODES": NODES[3], "SWAPMEET_FIRST_CALLS": "0"}
    check(launch(3, argv, mpi=wheel, algorithm=algorithm, env=env, timeout=LIMIT_S), minimum=130)


@pytest.mark.in_turn
@pytest.mark.parametrize("algorithm", ["two-phase-bruck", "padded-bruck", "two-layer(intra=shm)", BETWEEN[2]])
def test_blocks_of_many_types_conform(launch, built, wheel: str, algorithm: str) -> None:
    unequal_sizes(launch, built, wheel, 3 if wheel == "mpich" else 7, algorithm, "alltoallw")


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("algorithm", ["pairwise"])
def test_blocks_beyond_two_gigabytes(launch, built, wheel: str, algorithm: str) -> None:
    argv = [built(wheel, "conformance"), "--huge", "--only", "huge"]
    check(launch(HUGE_RANKS, argv, mpi=wheel, algorithm=algorithm, timeout=1700), minimum=1)


def test_the_suite_notices_wrong_data(launch, built, compiled, wheel: str) -> None:
    """Preloads an MPI_Alltoall that flips a bit of its answer."""
    spoiler = compiled(wheel, "spoiler", "-shared", "-fPIC", "-ldl")
    argv = ["env", f"LD_PRELOAD={spoiler}", built(wheel, "conformance"), "--only", "alltoall/int/"]
    done = launch(2, argv, mpi=wheel, preload=False)
    assert done.returncode != 0
    assert re.search(r"^\d+ passed, [1-9]\d* failed", done.stdout, re.MULTILINE), done.stdout[-2000:]


def test_the_suite_notices_what_is_read_beyond_an_array(launch, built, compiled, wheel: str) -> None:
    """Preloads an MPI_Alltoallv that reads one count too many."""
    spoiler = compiled(wheel, "spoiler", "-shared", "-fPIC", "-ldl", "-DREADS_TOO_MUCH")
    argv = ["env", f"LD_PRELOAD={spoiler}", built(wheel, "conformance"), "--only", "alltoallv/int/basic"]
    done = launch(2, argv, mpi=wheel, preload=False)
    assert done.returncode != 0
    assert "conformance: dies in case alltoallv/int/basic" in done.stdout + done.stderr
