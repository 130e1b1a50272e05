"""Grids, layers and unequal nodes on real MPIs: what one machine does not show unless it is told where ranks are."""

from __future__ import annotations

import pytest

GRIDS = [
    (6, "grid", ""),
    (8, "torus", ""),
    (8, "bruck(dims=4x2,radix=3-2/2,layout=modified,pack=datatype)", ""),
    (7, "bruck(dims=groups:2/4,radix=2,layout=basic)", ""),
    (6, "tra2", "4+2"),
    (7, "two-layer(r1=2,r2=2,window=1)", "4+2+1"),
    (6, "bruck(dims=nodes,radix=2,layout=zero-copy,pack=datatype)", "cyclic:3"),
    (8, "bruck(dims=nodes,radix=3,layout=zero-rotation,complete=any)", "0,1,0,2,2,1,0,1"),
    (8, "bruck(dims=nodes,radix=2/all,layout=zero-copy)", "0,0,1,2,0,2,3,2/5,5,5,7,5,7,7,7"),
]


def in_ci(mpi: str, number: int) -> bool:
    """One MPI for each grid: 8 ranks of MPICH keep the cores that they share. A torus is a grid of three dimensions."""
    ranks, algorithm, _ = GRIDS[number]
    return algorithm != "torus" and mpi == ("openmpi" if ranks == 8 or number % 2 else "mpich")


CASES = [
    pytest.param(mpi, *GRIDS[number], marks=[] if in_ci(mpi, number) else [pytest.mark.long])
    for number in range(len(GRIDS))
    for mpi in ("mpich", "openmpi")
]


@pytest.mark.parametrize(("mpi", "ranks", "algorithm", "nodes"), CASES)
def test_grids_conform(launch, built, mpi: str, ranks: int, algorithm: str, nodes: str) -> None:
    env = {"SWAPMEET_NODES": nodes or "mpi"}
    whole = mpi == "openmpi" and nodes and ranks < 8  # half a minute elsewhere
    few = [] if whole else ["--only", "alltoall/int/"]
    done = launch(ranks, [built(mpi, "conformance"), *few], mpi=mpi, algorithm=algorithm, env=env)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert " 0 failed" in done.stdout.splitlines()[-1]


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("ranks", "algorithm", "nodes"), [(7, "two-layer", "4+2"), (6, "bruck(dims=2d,layout=zero-copy)", "")]
)
@pytest.mark.parametrize(
    "limit", [200, *(pytest.param(limit, marks=pytest.mark.long) for limit in (220, 240, 400)), 27600]
)
def test_ranks_with_unequal_scratch_decide_alike(
    launch, built, wheel: str, ranks: int, algorithm: str, nodes: str, limit: int
) -> None:
    """Scratch differs between ranks: those under the limit must not wait for those above it."""
    argv = [built(wheel, "conformance"), "--only", "alltoall/int/"]
    env = {"SWAPMEET_NODES": nodes or "mpi", "SWAPMEET_SCRATCH_LIMIT": str(limit)}
    done = launch(ranks, argv, mpi=wheel, algorithm=algorithm, env=env, timeout=60)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
