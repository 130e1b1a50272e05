"""Many random all-to-alls (tests/conformance/fuzz.c), of one thread and of several: what processes hold does not grow
(what is left after a third of them is compared with what is left at the end)."""

from __future__ import annotations

import re
import subprocess

import pytest

RANKS = 3
CALLS = 40_000  #: a leak of 20 bytes in each call is noticed
MANY_CALLS = 1_000_000
NIGHT_S = 3 * 3600
#: A node of several ranks, and messages between nodes; by the automatic choice without its trials, which change what is
#: kept.
VARIABLES = {"SWAPMEET_NODES": "1+2", "SWAPMEET_TRIALS": "0", "SWAPMEET_FIRST_CALLS": "0"}


def soak(launch, argv: list[object], calls: int, mpi: str, timeout: float) -> subprocess.CompletedProcess[str]:
    words = [*map(str, argv), "--soak", str(calls)]
    done: subprocess.CompletedProcess[str] = launch(RANKS, words, mpi=mpi, env=VARIABLES, timeout=timeout)
    return done


@pytest.mark.parametrize(
    ("calls", "limit_s"),
    [(CALLS, 120), pytest.param(MANY_CALLS, NIGHT_S, marks=[pytest.mark.long, pytest.mark.timeout(NIGHT_S)])],
)
def test_nothing_grows(launch, built, wheel: str, calls: int, limit_s: float) -> None:
    done = soak(launch, [built(wheel, "fuzz")], calls, wheel, limit_s)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert re.search(r"^\d+ passed, 0 failed, 0 skipped$", done.stdout, re.MULTILINE), done.stdout[-4000:]


def test_a_leak_is_noticed(launch, built, compiled) -> None:
    """Preloads an MPI_Comm_dup that leaves memory, a file and a mapping behind."""
    leaks = compiled("mpich", "leaks", "-shared", "-fPIC")
    argv = ["env", f"LD_PRELOAD={leaks}", built("mpich", "fuzz"), "--soak", "10000"]
    done = launch(2, argv, mpi="mpich", preload=False, timeout=60)
    assert done.returncode == 1
    assert "open files grew from" in done.stdout


INTERCOMMUNICATORS = 240


def test_nothing_of_ours_grows_with_intercommunicators(launch, compiled, wheel: str) -> None:
    """The others make none: both MPIs lose memory with each, so only what the library itself allocates is compared."""
    argv = [compiled(wheel, "intercommunicators", "-pthread"), str(INTERCOMMUNICATORS)]
    done = launch(RANKS, argv, mpi=wheel, env=VARIABLES, timeout=60)
    assert done.returncode == 0 and "intercommunicators: right" in done.stdout, done.stdout + done.stderr


def test_a_file_lost_with_each_intercommunicator_is_noticed(launch, compiled) -> None:
    argv = [compiled("mpich", "intercommunicators", "-pthread"), "60", "leaks"]
    done = launch(2, argv, mpi="mpich", env=VARIABLES, timeout=60)
    assert done.returncode == 1 and "open files grew from" in done.stdout, done.stdout + done.stderr
