"""Nodes for real: what the library makes of several hosts, of unequal ones, of what it is told wrongly about them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence

import pytest
from cluster.faults_test import right
from limits import scaled

from swapmeet.cluster import launching as cluster_launching
from swapmeet.cluster.description import Network
from swapmeet.mpi import launch as launching
from swapmeet.mpi import mpis

LONG = pytest.mark.long
SPECS = ["two-layer(intra=shm)", "two-layer(intra=cma)", "node-leaders(per-node=2)", "two-layer-staggered(intra=auto)"]
FEW_CALLS = "0.1"  #: seconds
FRAMES = 1.25  #: bytes of a link over those of the blocks, at most: headers, acknowledgements, other messages
START = 300_000  #: bytes of a launch, on any link


def nodes_seen(done: subprocess.CompletedProcess[str]) -> list[int]:
    """The number of ranks that share a node with each, by the MPI."""
    found = re.search(r"^nodes:((?: \d+)+)$", done.stdout, re.MULTILINE)
    assert found, done.stdout
    return [int(word) for word in found[1].split()]


def by_itself(done: subprocess.CompletedProcess[str], intra: str = "") -> None:
    """The library did it, by the algorithm that was asked for."""
    (line,) = {line.partition(": ")[2].partition(": ")[2] for line in done.stderr.splitlines() if "Alltoall on" in line}
    assert line.endswith("(SWAPMEET_ALGORITHM)"), line
    assert intra in line


def per_rank(per_node: Sequence[int]) -> list[int]:
    return [ranks for ranks in per_node for _ in range(ranks)]


@pytest.mark.parametrize(
    ("mpi", "per_node", "algorithm"),
    [
        ("mpich", [3, 1, 4], SPECS[0]),
        ("mpich", [1, 2, 2, 1], SPECS[2]),
        ("openmpi", [3, 1, 4], SPECS[1]),
        ("openmpi-system", [2, 1], SPECS[0]),
        *(pytest.param(mpi, [4, 1, 3, 2], spec, marks=LONG) for mpi in ("mpich", "openmpi") for spec in SPECS),
        pytest.param("mpich-system", [2, 1], SPECS[0], marks=LONG),
        pytest.param("intel", [3, 1, 2], SPECS[0], marks=LONG),
    ],
)
def test_irregular_nodes_are_served(on_cluster, exchange, mpi: str, per_node: list[int], algorithm: str) -> None:
    done = on_cluster(mpi, per_node, [exchange(mpi), FEW_CALLS, "1000"], algorithm=algorithm)
    right(done)
    assert nodes_seen(done) == per_rank(per_node)
    by_itself(done, re.sub(r".*\((intra=\w+)\)|.*", r"\1", algorithm))


def sent_by(done: subprocess.CompletedProcess[str], node: int) -> int:
    """Bytes that a node sent, by the counts of the switch."""
    return next(int(line.split()[3]) for line in done.stderr.splitlines() if line.startswith(f"node{node} up"))


def test_shared_memory_is_for_a_node_only(on_cluster, exchange) -> None:
    """Through the network goes what is for other nodes, once: no more, and no less."""
    per_node, block = [3, 2], 50_000
    done = on_cluster("mpich", per_node, [exchange("mpich"), FEW_CALLS, str(block)], algorithm=SPECS[0], counts=True)
    calls = right(done)
    by_itself(done, "intra=shm")
    between = calls * per_node[0] * per_node[1] * block
    for node in range(2):
        assert between < sent_by(done, node) < FRAMES * between + START


@pytest.mark.parametrize("spec", ["two-layer(intra=shm)", "direct(intra=cma)", "shared-memory"])
def test_hosts_that_are_called_one_node_share_nothing(on_cluster, exchange, spec: str) -> None:
    """SWAPMEET_NODES says what is not so: the ranks cannot open one another's memory, though process numbers agree."""
    env = {"SWAPMEET_NODES": "4"}
    done = on_cluster("mpich", [2, 2], [exchange("mpich"), FEW_CALLS, "20000"], algorithm=spec, env=env)
    right(done)
    assert "no shared memory: cannot open the shared memory of another rank of the node" in done.stderr


@pytest.mark.parametrize("algorithm", SPECS[:1])
def test_hosts_of_one_name_are_several(on_cluster, exchange, algorithm: str) -> None:
    """To MPICH, whose launcher tells them apart. (To Open MPI they are one: it fails by itself.)"""
    done = on_cluster("mpich", [2, 1], [exchange("mpich"), FEW_CALLS, "1000"], algorithm=algorithm, same_hostname=True)
    right(done)
    assert nodes_seen(done) == [2, 2, 1]
    by_itself(done, "intra=shm")


def test_ranks_that_go_round_the_nodes_are_served(on_cluster, exchange) -> None:
    env = {"PRTE_MCA_rmaps_default_mapping_policy": "node:oversubscribe"}
    done = on_cluster("openmpi", [3, 1, 1], [exchange("openmpi"), FEW_CALLS, "1000"], algorithm=SPECS[0], env=env)
    right(done)
    assert nodes_seen(done) == [2, 2, 1, 2, 2]
    by_itself(done)


@pytest.mark.parametrize(
    ("mpi", "hidden"), [("mpich", False), ("openmpi", False), ("mpich", True)], ids=["mpich", "openmpi", "hidden"]
)
def test_ranks_of_all_containers_share_the_cores_of_a_machine(on_cluster, exchange, mpi: str, hidden: bool) -> None:
    """Each host alone would have a core for each of its ranks; so it seems where the kernel does not name itself."""
    hide = "mount --bind /dev/null /proc/sys/kernel/random/boot_id && " if hidden else ""
    argv = ["sh", "-c", f'{hide}exec "$@"', "sh", exchange(mpi), "0.5", "8"]
    done = on_cluster(mpi, [2] * (os.cpu_count() or 1), argv, algorithm="auto")
    right(done)
    assert "between nodes: " in done.stderr, done.stderr
    assert ("; 2 ranks share a core" in done.stderr) != hidden, done.stderr


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_what_a_byte_takes_is_measured_when_there_is_time(on_cluster, exchange, mpi: str) -> None:
    """It completes what is known of the network, which is described again."""
    done = on_cluster(mpi, [2, 2], [exchange(mpi), "5", "8", "4000"], algorithm="auto", rate="1gbit")
    right(done)
    described = re.findall(r"between nodes: [^;]* us a message([^;]*)", done.stderr)
    bytes_ns = [float(one[1]) if (one := re.search(r"(\S+) ns a byte", more)) else None for more in described]
    assert bytes_ns and None not in bytes_ns[1:] and len(bytes_ns) <= 2, done.stderr
    assert all(one is None or one > 0 for one in bytes_ns), done.stderr


def test_clusters_beside_others(namespaces: None) -> None:
    """Launchers name files by process numbers, which are the same in each cluster."""
    target = mpis.find("openmpi")
    # not `true`: Open MPI 5.0.11 waits for ever, if rarely, for programs that end at once
    words = launching.command(target, 2, ["sleep", "0.3"], None)
    words = cluster_launching.command(target, [1, 1], Network(), words)
    env = {**os.environ, **cluster_launching.variables(target, 2)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    for process in [subprocess.Popen(words, env=env, text=True, **pipes) for _ in range(4)]:
        said, _ = process.communicate(timeout=scaled(60))
        assert process.returncode == 0, said
