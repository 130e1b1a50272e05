"""What goes wrong with a cluster: no wrong data, and no longer a wait than the MPI's own."""

from __future__ import annotations

import re
import subprocess

import pytest

ON_NODES = "two-layer(intra=shm)"
RUN_S = "2"  #: of the program, at least; faults come while it starts, too, for nobody knows how long that takes
BYTES = "2000"


def right(done: subprocess.CompletedProcess[str]) -> int:
    """The number of calls, if all were right."""
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    calls = re.search(r"^(\d+) calls, 0 wrong$", done.stdout, re.MULTILINE)
    assert calls, done.stdout
    return int(calls[1])


@pytest.mark.parametrize(
    ("mpi", "fault"),
    [
        ("mpich", "slow(node=1,factor=10)"),
        ("mpich", "stall(node=1,after=1s,for=1s)"),
        ("openmpi", "stall(node=0,after=2s,for=1s)"),
        pytest.param("openmpi", "slow(node=1,factor=10)", marks=pytest.mark.long),
        pytest.param("mpich", "cut(node=1,after=1500ms,for=500ms)", marks=pytest.mark.long),
        pytest.param("openmpi", "cut(node=1,after=3s,for=1s)", marks=pytest.mark.long),
    ],
)
def test_what_passes_costs_time_only(on_cluster, exchange, mpi: str, fault: str) -> None:
    done = on_cluster(mpi, [2, 2], [exchange(mpi), RUN_S, BYTES], algorithm=ON_NODES, faults=[fault])
    assert right(done) > 0
    assert "(SWAPMEET_ALGORITHM)" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
@pytest.mark.parametrize("algorithm", ["pairwise", "tra", "two-phase-bruck", "two-layer-staggered", "node-leaders"])
def test_other_algorithms_bear_it(on_cluster, exchange, mpi: str, algorithm: str) -> None:
    faults = ["slow(node=0,factor=10,after=1s,for=1s)", "stall(node=1,after=2s,for=1s)", "slow(node=2,factor=50)"]
    right(on_cluster(mpi, [2, 1, 3], [exchange(mpi), "5", BYTES], algorithm=algorithm, faults=faults))


def test_a_stalled_node_stalls_all(on_cluster, exchange) -> None:
    """So that a stall is one: where nothing could stop it, this would be over before."""
    done = on_cluster("mpich", [1, 1], [exchange("mpich"), "0.1", BYTES], faults=["stall(node=1,for=100s)"], limit="3s")
    assert done.returncode == 124
    assert "calls" not in done.stdout


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
@pytest.mark.parametrize("preload", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_dead_node_ends_the_job(on_cluster, exchange, mpi: str, preload: bool) -> None:
    """As without the library: the MPI's launcher notices, and ends what is left. (Open MPI's status may then be 0.)"""
    argv = [exchange(mpi), "1000", BYTES]
    faults = ["die(node=1,after=4s)"]
    done = on_cluster(mpi, [2, 2], argv, algorithm=ON_NODES, preload=preload, faults=faults, limit="60s")
    assert done.returncode != 124, done.stderr[-3000:]
    assert "wrong data" not in done.stderr
    assert "calls" not in done.stdout
