"""Buffers in memory that the ranks of a node share, on real MPIs."""

from __future__ import annotations

import subprocess

import pytest

pytestmark = pytest.mark.in_turn  # the tested code is ours, whichever the host MPI is


def check(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "memory: right" in done.stdout


@pytest.mark.parametrize("ranks", [2, 3, 5])
@pytest.mark.parametrize("words", [("call",), ("odd", "call"), ("call", "free-some"), ("call", "forbid", "call")])
def test_every_byte(launch, compiled, wheel: str, ranks: int, words: tuple[str, ...]) -> None:
    check(launch(ranks, [compiled(wheel, "memory"), *words], mpi=wheel, algorithm="shared-memory"))


@pytest.mark.parametrize("algorithm", ["direct(intra=cma)", "direct(intra=shm)", "two-layer(intra=auto)", "pairwise"])
def test_every_transport(launch, compiled, wheel: str, algorithm: str) -> None:
    check(launch(4, [compiled(wheel, "memory"), "call"], mpi=wheel, algorithm=algorithm, env={"SWAPMEET_NODES": "3+1"}))


def test_blocks_are_copied_straight(launch, compiled, wheel: str) -> None:
    """Where the kernel copies nothing, a single copy is possible only of what is shared."""
    argv = [compiled(wheel, "memory"), "forbid", "call"]
    check(launch(2, argv, mpi=wheel, algorithm="direct(intra=auto)"))


@pytest.mark.parametrize("words", [("halves",), ("forbid", "halves")])
def test_blocks_that_are_only_partly_in_shared_memory(launch, compiled, wheel: str, words: tuple[str, ...]) -> None:
    check(launch(2, [compiled(wheel, "memory"), *words], mpi=wheel, algorithm="shared-memory"))


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_mistakes(launch, compiled, wheel: str, ranks: int) -> None:
    check(launch(ranks, [compiled(wheel, "memory"), "errors"], mpi=wheel, algorithm="shared-memory"))


@pytest.mark.parametrize("nodes", ["3", "2+1"])
def test_sizes_that_no_machine_has(launch, compiled, wheel: str, nodes: str) -> None:
    """Only the ranks that want too much get an error. With a limit of files, no memory is shared."""
    argv = ["sh", "-c", 'ulimit -f 1048576; exec "$@"', "sh", compiled(wheel, "memory"), "absurd"]
    env = {"SWAPMEET_ALGORITHM": "two-layer(intra=auto)", "SWAPMEET_NODES": nodes}
    done = launch(3, argv, mpi=wheel, env=env, timeout=60)
    check(done)
    assert "the size of files is limited (ulimit -f); the memory is not shared" in done.stderr
