"""The conformance suite across hosts. Without --all: the cases of integers, once for each number of hosts and MPI."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from _pytest.mark import ParameterSet
from mpi.conformance_test import check

from swapmeet.mpi.library import program
from swapmeet.mpi.mpis import find
from swapmeet.specs import alias_names

HOSTS = {2: [2, 1], 3: [1, 2, 1], 4: [2, 1, 1, 1]}
IN_CI = {
    ("mpich", 2): "two-layer(intra=shm)",
    ("openmpi", 3): "node-leaders",
    ("mpich", 4): "two-phase-bruck",
    ("openmpi", 4): "two-layer(intra=auto)",
}
LIMIT_S = 900


def matrix() -> Iterator[ParameterSet]:
    for mpi in ("mpich", "openmpi"):
        for hosts in HOSTS:
            for algorithm in ["auto", *alias_names(sparse=False)]:
                yield pytest.param(mpi, hosts, algorithm, id=f"{mpi}-{hosts}-{algorithm}")


@pytest.mark.parametrize(("mpi", "hosts"), IN_CI)
def test_integers_conform(on_cluster, mpi: str, hosts: int) -> None:
    for collective, minimum in (("alltoall", 40), ("alltoallv", 90)):
        argv = [program(find(mpi), "conformance"), "--only", f"{collective}/int"]
        check(on_cluster(mpi, HOSTS[hosts], argv, algorithm=IN_CI[mpi, hosts], timeout=LIMIT_S), minimum)


@pytest.mark.long
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize(("mpi", "hosts", "algorithm"), list(matrix()))
def test_everything_conforms(on_cluster, mpi: str, hosts: int, algorithm: str) -> None:
    argv = [program(find(mpi), "conformance")]
    check(on_cluster(mpi, HOSTS[hosts], argv, algorithm=algorithm, timeout=LIMIT_S, limit="15m"), 500)
