"""What the model counts of an Alltoallv is what the library sends and keeps: on every rank, to the byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swapmeet import _core

SOURCES = Path(__file__).parents[2] / "tools"
FLAGS = [f"-I{SOURCES}", "-ffp-contract=off", *map(str, sorted((SOURCES / "workload").glob("*.c"))), "-lm"]

RANKS = (2, 3, 5, 8)  #: of communicators; all in one job of the largest
SEED = 7
NODES = "3"  #: ranks of a node: 3+3+2, 3+2
LIMIT = 64 << 10  #: SWAPMEET_SCRATCH_LIMIT of some cases

SPECS = [
    "bruck(sizes=combined,direct=never)",
    "bruck(radix=3,sizes=ahead,direct=never,window=1)",
    "bruck(radix=root,sizes=total,layout=zero-copy,direct=500)",
    "bruck(radix=4-2,layout=modified,direct=auto)",
    "bruck(radix=3,messages=staggered,sizes=ahead,window=2,direct=1KiB)",
    "two-phase-bruck",
    "sloav",
    "hybrid",
    "grid",
    "tra2(sizes=total,direct=300)",
    "bruck(dims=nodes,radix=all,sizes=ahead,direct=never,messages=staggered)",
    "bruck(direct=0)",
    "two-layer(intra=shm,sizes=ahead,direct=1KiB)",
    "two-layer-staggered(intra=auto,sizes=total,direct=never)",
    "node-leaders(per-node=2)",
    "padded-alltoall",
    "padded-bruck(direct=1000)",
    "bruck(radix=3,sizes=padded,direct=2000)",
    "direct(sizes=padded,segment=100,direct=2KiB)",
]
WORKLOADS = [
    "uniform:max=2KiB",
    "power-law:exponent=0.99,max=4KiB",
    "sparse:density=0.2,bytes=700",
    "hot-spot:bytes=8,hot=256KiB,source=0,destination=1",
    "constant:bytes=0",
]
#: Every spec with one workload, and each treatment of sizes with all of them.
CASES = sorted(
    {(spec, WORKLOADS[i % len(WORKLOADS)]) for i, spec in enumerate(SPECS)}
    | {(SPECS[i], workload) for i in (0, 5, 6, 7, 10, 14) for workload in WORKLOADS}
)


def compare(launch, compiled, tallies, folder: Path, mpi: str, spec: str, workload: str, limit: int = 1 << 30) -> int:
    """Run and count; returns how many communicators were left to the host MPI."""
    env = {"SWAPMEET_STATS": f"{folder}/%r.json", "SWAPMEET_NODES": NODES, "SWAPMEET_SCRATCH_LIMIT": str(limit)}
    argv = [compiled(mpi, "workload", *FLAGS), workload, str(SEED), *map(str, RANKS)]
    done = launch(max(RANKS), argv, mpi=mpi, algorithm=spec, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    point = _core.parse_spec(spec)
    reported = {
        (rank, row["communicator_ranks"]): row
        for rank in range(max(RANKS))
        for row in tallies(folder / f"{rank}.json")
        if row["collective"] == "Alltoallv"
    }
    declined = 0
    for ranks in RANKS:
        counts = _core.count_varying(point, ranks, _core.workload_sizes(workload, SEED, ranks), NODES, limit)
        declined += counts.declined
        for rank, counted in enumerate(counts.ranks):
            row = reported[rank, ranks]
            assert row["algorithm"] == ("native" if counts.declined else str(point)), (ranks, rank)
            sent = tuple(row.get(key, 0) for key in ("messages_sent", "message_bytes", "working_bytes"))
            expected = (counted.messages, counted.message_bytes, counted.working_bytes)
            assert sent == expected, (spec, workload, ranks, rank)
            assert counted.working_bytes <= counts.bound_bytes
    return declined


@pytest.mark.in_turn
@pytest.mark.parametrize(("spec", "workload"), CASES)
def test_the_model_is_what_runs(
    launch, compiled, tallies, tmp_path: Path, wheel: str, spec: str, workload: str
) -> None:
    assert compare(launch, compiled, tallies, tmp_path, wheel, spec, workload) == 0


def test_the_automatic_threshold_of_padded_blocks(launch, compiled, tallies, tmp_path: Path, wheel: str) -> None:
    spec = "bruck(radix=3,sizes=padded,direct=auto)"
    compare(launch, compiled, tallies, tmp_path, wheel, spec, "uniform:max=2KiB")


@pytest.mark.in_turn
@pytest.mark.parametrize("spec", ["hybrid", "bruck(direct=8KiB)", "two-phase-bruck", "padded-bruck(direct=3KiB)"])
def test_little_working_memory(launch, compiled, tallies, tmp_path: Path, wheel: str, spec: str) -> None:
    """The limit lowers the threshold; where there is none, calls with too large blocks go to the host MPI."""
    declined = compare(launch, compiled, tallies, tmp_path, wheel, spec, "uniform:max=6KiB", LIMIT)
    assert (0 < declined < len(RANKS)) == (spec == "two-phase-bruck")


def test_padded_alltoall_is_the_mpis_own(launch, compiled, tmp_path: Path, wheel: str) -> None:
    """It is not an all-to-all of the application, to be served by whatever it asked for."""
    argv = [compiled(wheel, "workload", *FLAGS), "uniform:max=100", "1", "3"]
    env = {"SWAPMEET_STATS": f"{tmp_path}/%r.json", "SWAPMEET_EXPLAIN": "1"}
    done = launch(3, argv, mpi=wheel, algorithm="padded-alltoall", env=env)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "0.json").read_text())["calls"]
    assert {row["collective"] for row in rows} == {"Alltoallv"}
    assert "Alltoall on " not in done.stderr
