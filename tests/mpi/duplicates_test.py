"""Duplicates of a communicator share what one of them has set up, and deliver what others do."""

from __future__ import annotations

import pytest
from ranks import RANK_VARIABLE

ALGORITHMS = [
    pytest.param(None, id="auto"),
    "shared-memory",
    "tra",
    pytest.param("pairwise", marks=pytest.mark.long),
    pytest.param("two-phase-bruck", marks=pytest.mark.long),
]


@pytest.mark.parametrize("ranks", [[2, 3], pytest.param([5], marks=pytest.mark.long)], ids=str)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("what", ["short", "mixed"])
@pytest.mark.in_turn
def test_blocks_arrive(cases, wheel: str, what: str, algorithm: str | None, ranks: list[int]) -> None:
    """On 2 and 3 ranks in one launch of 4, hence on communicators that nothing has been set up for."""
    job = {"flags": ["-ldl"], "job_ranks": ranks[-1] + 1, "algorithm": algorithm}
    cases(wheel, "duplicates", ranks, [[what]], "duplicates: done", **job)


@pytest.mark.parametrize("threads", [False, True], ids=["one-thread", "threads"])
def test_one_is_set_up_for_all(launch, compiled, preloaded, wheel: str, threads: bool) -> None:
    """With threads, a duplicate takes over what the last one had, which takes no gather of its own."""
    counter = compiled(wheel, "gathers", "-shared", "-fPIC", "-ldl")
    program = compiled(wheel, "duplicates", "-ldl", *(["-DTHREADS"] if threads else []))
    argv = ["env", f"LD_PRELOAD={preloaded(wheel)}:{counter}", "SWAPMEET_FIRST_CALLS=0", program, "short"]
    done = launch(2, argv, mpi=wheel, preload=False)
    assert done.returncode == 0 and "duplicates: done" in done.stdout, done.stdout + done.stderr
    counts = [int(line.rpartition(" ")[2]) for line in done.stdout.splitlines() if line.startswith("set up: ")]
    assert len(counts) == 2 and all(count <= 3 for count in counts), counts


def test_phases_are_measured_by_one_rank_alone(launch, compiled, wheel: str) -> None:
    done = launch(2, [compiled(wheel, "duplicates", "-ldl"), "phases"], mpi=wheel, timeout=20)
    assert done.returncode == 0 and "duplicates: done" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("setting", ["SWAPMEET_WATCHDOG=20s", "SWAPMEET_PHASES=1", "SWAPMEET_STATS=1"])
def test_one_rank_observes(launch, compiled, wheel: str, setting: str) -> None:
    """Blocking and non-blocking calls on duplicates, and on parts, whose first calls go to the host MPI."""
    script = f'[ "${RANK_VARIABLE[wheel]}" = 1 ] && export {setting}; exec "$@"'
    words = ["dup", "alltoall=2", "nonblocking=6", "alltoall=2"]
    parts = ["half", "alltoall=3", "nonblocking=2", "alltoallv=12", "half", "alltoallw=1", "nonblocking=9"]
    argv = ["sh", "-c", script, "sh", compiled(wheel, "calls"), "alltoall=2", *words, "world", *words, *parts]
    done = launch(3, argv, mpi=wheel, timeout=20)
    assert done.returncode == 0 and "calls: done" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("setting", ["SWAPMEET_STATS=1", "SWAPMEET_GATHERED_RANKS=1"])
@pytest.mark.parametrize("first", [1, 8])
def test_ranks_set_up_at_the_same_call(launch, compiled, wheel: str, setting: str, first: int) -> None:
    """A duplicate is made, and an exchange planned, while the first calls are left to the host MPI; one rank counts."""
    script = f'[ "${RANK_VARIABLE[wheel]}" = 1 ] && export SWAPMEET_STATS=1; exec "$@"'
    words = ["half", f"alltoall={first}", "copy", "alltoall=3", "half", f"alltoall={first}", "planned=2", "alltoall=9"]
    argv = ["env", setting, "sh", "-c", script, "sh", compiled(wheel, "calls"), *words]
    done = launch(4, argv, mpi=wheel, timeout=20)
    assert done.returncode == 0 and "calls: done" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("before", [0, 1, 3])
def test_phases_are_measured_however_few_the_calls(launch, compiled, wheel: str, before: int) -> None:
    argv = [compiled(wheel, "calls"), "half", f"alltoall={before}", "phases", "alltoall=2", "phases"]
    done = launch(4, argv, mpi=wheel, timeout=20)
    assert done.returncode == 0 and "calls: done" in done.stdout, done.stdout + done.stderr
