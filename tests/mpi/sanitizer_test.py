"""`make sanitize` (tests/sanitizing.py): that reports are noticed, and many threads, for ThreadSanitizer."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from sanitizing import REPORTS

SOURCE = Path(__file__).parents[2] / "src"
EXPECTED = {
    "overflow": ("address", "heap-buffer-overflow"),
    "signed": ("address", "signed integer overflow"),
    "leak": ("address", "detected memory leaks"),
    "race": ("thread", "data race"),
}


@pytest.mark.sanitized
@pytest.mark.parametrize("mistake", EXPECTED)
def test_a_mistake_is_noticed(launch, compiled, pytestconfig: pytest.Config, wheel: str, mistake: str) -> None:
    """Suppressing a module of the host MPI does not suppress what a program does."""
    reports = pytestconfig.stash[REPORTS]
    sanitizer, expected = EXPECTED[mistake]
    launch(2, [compiled(wheel, "reported", "-pthread"), mistake], mpi=wheel)
    found = reports.take()
    assert expected in found if sanitizer == reports.name else not found


def test_changes_between_stacks_are_followed(compiled) -> None:
    """And no stack is unmapped, or emptied."""
    flags = ("-std=c++20", f"-I{SOURCE}", str(SOURCE / "mpi" / "coroutine.cpp"), "-lstdc++", "-pthread")
    done = subprocess.run([compiled("mpich", "coroutines.cpp", *flags)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "coroutines: 5300 frames; 1000 of them on 1 stacks, 0 emptied\n"), (
        done.stderr
    )


@pytest.mark.sanitized
@pytest.mark.parametrize("thread", [False, True])
@pytest.mark.parametrize("algorithm", ["auto", "pairwise", "tuna", "shared-memory"])
@pytest.mark.parametrize(
    ("name", "words", "right"),
    [
        ("threads", [], "threads: 0 elements wrong"),
        ("threads_varying", [], "threads: 0 elements wrong"),
        ("node_threads", ["300"], "node: 0 calls wrong"),
        ("nonblocking", ["multiple", "mixed"], "nonblocking: right"),
        ("progress", ["threads"], "progress: right"),
    ],
)
def test_threads(
    launch, compiled, wheel: str, name: str, words: list[str], right: str, algorithm: str, thread: bool
) -> None:
    env = {"SWAPMEET_STATS": os.devnull, **({"SWAPMEET_NONBLOCKING": "thread"} if thread else {})}
    done = launch(2, [compiled(wheel, name, "-pthread"), *words], mpi=wheel, algorithm=algorithm, env=env, timeout=300)
    assert done.returncode == 0 and right in done.stdout, done.stdout[-4000:] + done.stderr[-4000:]
