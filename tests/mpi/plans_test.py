"""Exchanges that the application plans: swapmeet_plan_*, on real MPIs."""

from __future__ import annotations

from pathlib import Path

import pytest

import swapmeet
from swapmeet.mpi import mpis
from swapmeet.mpi.library import library

INCLUDE = Path(swapmeet.__file__).parents[2] / "include"
SPECS = [
    "",
    "pairwise",
    "multipair-waitany",
    "random-segmented(segment=8)",
    "shared-memory",
    "bruck",
    "bruck-zero-copy",
    "tuna",
    "sloav",
    "padded-bruck",
    "padded-alltoall",
    "hybrid",
    "grid",
    "leaders(per-node=1)",
]


def linking(mpi: str) -> list[str]:
    """What links a program to libswapmeet.so for an MPI."""
    folder = library(mpis.find(mpi)).parent
    return [f"-I{INCLUDE}", f"-L{folder}", "-lswapmeet", f"-Wl,-rpath,{folder}"]


@pytest.fixture(scope="session")
def plans(compiled):
    """The program, or another, linked to libswapmeet.so for an MPI."""

    def plans(mpi: str, name: str = "plans") -> Path:
        return compiled(mpi, name, *linking(mpi))

    return plans


@pytest.mark.parametrize(
    ("ranks", "specs"),
    [
        pytest.param([2, 3], SPECS, id="2,3"),
        pytest.param([1, 5], ["bruck", "tuna"], id="1,5"),
        pytest.param([5], SPECS, id="5", marks=pytest.mark.long),
    ],
)
def test_two_at_a_time(cases, wheel: str, ranks: list[int], specs: list[str]) -> None:
    runs = [[spec, "3", "12"] for spec in specs]
    env = {"SWAPMEET_NODES": "2"}
    cases(wheel, "plans", ranks, runs, "plans: right", linking(wheel), preload=False, env=env)


def test_intercommunicators(cases, wheel: str) -> None:
    """Every split of the ranks into two groups, which need not send as much as they receive."""
    runs = [[spec] for spec in ("", "native", "pairwise")]
    cases(wheel, "plans_between", [2, 3, 5], runs, "plans_between: right", linking(wheel), preload=False, timeout=60)


@pytest.mark.parametrize("algorithm", ["auto", "native", "spread-out"])
def test_no_type_of_a_plan_is_lost(launch, plans, wheel: str, algorithm: str) -> None:
    """On one rank Open MPI's own MPI_Ialltoallw never gives them back."""
    done = launch(2, [plans(wheel, "typed_plans")], mpi=wheel, algorithm=algorithm, timeout=60)
    assert done.stdout.count("typed_plans: right") == 2, done.stdout + done.stderr


def test_threads_that_plan_at_a_time_share_no_memory(launch, compiled, wheel: str) -> None:
    """Three of a rank take more of its arena than there is, so that some of them are refused, and give back."""
    done = launch(6, [compiled(wheel, "threaded_plans", "-pthread")], mpi=wheel, env={"SWAPMEET_NODES": "2"})
    assert "threaded_plans: right" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("spec", ["pairwise", "tuna", "padded-bruck"])
def test_large_blocks(launch, plans, wheel: str, spec: str) -> None:
    done = launch(3, [plans(wheel), spec, "100000", "3"], mpi=wheel, preload=False)
    assert done.returncode == 0 and "plans: right" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.mark.parametrize(
    ("spec", "limit"),
    [
        ("padded-bruck(intra=auto)", "10KiB"),
        ("padded-bruck(intra=auto,direct=4KiB)", "1GiB"),
        ("tuna(intra=auto)", "10KiB"),
        ("two-phase-bruck(intra=shm)", "1GiB"),
    ],
)
def test_threads_may_make_progress_within_a_node(launch, plans, wheel: str, spec: str, limit: str) -> None:
    """MPICH ends a program whose progress calls MPI where that must wait: so it did where padded blocks do not fit."""
    env = {"SWAPMEET_SCRATCH_LIMIT": limit}
    done = launch(3, [plans(wheel, "plan_late"), spec], mpi=wheel, preload=False, env=env)
    assert done.returncode == 0 and "plan_late: right" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_mistakes(launch, plans, wheel: str, ranks: int) -> None:
    done = launch(ranks, [plans(wheel), "mistakes"], mpi=wheel, preload=False)
    assert done.returncode == 0 and "plans: right" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.mark.parametrize("nodes", ["1", "2"])
def test_requests_that_live_long_keep_their_tags(launch, compiled, preloaded, wheel: str, nodes: str) -> None:
    """Where tags are few, numbers of later requests come round to theirs."""
    few = compiled(wheel, "few_tags", "-DPRELOADED", "-shared", "-fPIC", "-ldl")
    argv = ["env", f"LD_PRELOAD={preloaded(wheel)}:{few}", compiled(wheel, "few_tags", "-ldl")]
    env = {"SWAPMEET_ALGORITHM": "direct(intra=auto)", "SWAPMEET_NODES": nodes}
    done = launch(2, argv, mpi=wheel, preload=False, env=env, timeout=60)
    assert (done.returncode, done.stdout) == (0, "few_tags: right\n"), done.stdout + done.stderr


def test_of_several_runs_in_a_launch_the_failing_one_is_named(cases, wheel: str) -> None:
    runs = [["pairwise", "3", "2"], ["no-such", "3", "2"], ["pairwise", "3", "2"]]
    with pytest.raises(AssertionError, match="cases: status 1 on 2 ranks: no-such 3 2"):
        cases(wheel, "plans", [2, 1], runs, "plans: right", linking(wheel), preload=False)
