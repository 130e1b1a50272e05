"""Exchanges of blocks that the ranks of a node map: MPI_Alloc_mem's, and those of malloc (libswapmeet-heap.so)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from limits import scaled

from swapmeet.mpi import launch as launching
from swapmeet.mpi import mpis
from swapmeet.mpi.library import heap_library, library

pytestmark = pytest.mark.in_turn  # the tested code is ours, whichever the host MPI is

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def with_heap() -> Run:
    """Run a program on `n` ranks with both libraries, or without the one for malloc."""

    def run(
        n: int, argv: list[object], wheel: str, algorithm: str, setting: str = "1", of_malloc: bool = True, **env: str
    ):
        chosen = mpis.find(wheel)
        libraries = [*([heap_library(chosen)] if of_malloc else []), library(chosen)]
        variables = {**launching.library_variables(algorithm), "SWAPMEET_HEAP": setting, **env}
        words = launching.command(chosen, n, [str(word) for word in argv], libraries, variables)
        return launching.run(chosen, n, words, timeout_s=scaled(120))

    return run


def check(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "heap: right" in done.stdout
    assert "swapmeet: warning" not in done.stderr


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
@pytest.mark.parametrize("memory", ["malloc", "alloc-mem"])
def test_every_byte(with_heap, compiled, wheel: str, memory: str, ranks: int) -> None:
    argv = [compiled(wheel, "heap"), memory, "call", "maps", "fork"]
    check(
        with_heap(
            ranks,
            argv,
            wheel,
            "shared-memory",
            of_malloc=memory == "malloc",
            setting="1" if memory == "malloc" else "mpi",
        )
    )


@pytest.mark.parametrize("algorithm", ["direct(intra=cma)", "direct(intra=auto)", "two-layer(intra=auto)", "pairwise"])
def test_every_transport(with_heap, compiled, wheel: str, algorithm: str) -> None:
    check(with_heap(3, [compiled(wheel, "heap"), "malloc", "call"], wheel, algorithm))


@pytest.mark.parametrize("ranks", [2, 3])
def test_trials_tell_memory_from_memory(with_heap, compiled, wheel: str, ranks: int) -> None:
    """What is measured with blocks that are copied directly does not count for others, nor theirs for these."""
    tries = {"SWAPMEET_TRIALS": "100", "SWAPMEET_EXPLAIN": "1"}
    words = [compiled(wheel, "heap"), "alloc-mem", "tried"]
    done = with_heap(ranks, words, wheel, "auto", setting="mpi", of_malloc=False, **tries)
    check(done)
    chosen = set(re.findall(r"\((online choice.*?): ", done.stderr))
    assert chosen == {"online choice", "online choice in memory that ranks copy directly"}


@pytest.mark.parametrize("algorithm", ["auto", "native"])
@pytest.mark.parametrize("ranks", [2, 3])
def test_trials_are_counted_alike_where_calls_are_not_alike(
    with_heap, compiled, wheel: str, ranks: int, algorithm: str
) -> None:
    words = [compiled(wheel, "heap"), "alloc-mem", "tried-by-one"]
    check(with_heap(ranks, words, wheel, algorithm, setting="mpi", of_malloc=False, SWAPMEET_TRIALS="10"))


@pytest.mark.parametrize("memory", ["malloc", "alloc-mem"])
def test_blocks_are_copied_directly_where_the_kernel_copies_nothing(
    with_heap, compiled, wheel: str, memory: str
) -> None:
    argv = [compiled(wheel, "heap"), "forbid", memory, "call", "maps"]
    setting = "1" if memory == "malloc" else "mpi"
    check(with_heap(2, argv, wheel, "shared-memory", setting=setting, of_malloc=memory == "malloc"))


@pytest.mark.parametrize(("setting", "of_malloc"), [("0", True), ("mpi", True)])
def test_ordinary_memory_where_nobody_asks(with_heap, compiled, wheel: str, setting: str, of_malloc: bool) -> None:
    argv = [compiled(wheel, "heap"), "malloc", "call", "no-maps"]
    check(with_heap(2, argv, wheel, "shared-memory", setting=setting, of_malloc=of_malloc))


@pytest.mark.parametrize("setting", ["0", "mpi"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_mistakes_and_odd_requests_are_the_host_mpis(with_heap, compiled, wheel: str, setting: str, ranks: int) -> None:
    done = with_heap(ranks, [compiled(wheel, "heap"), "errors"], wheel, "auto", setting=setting, of_malloc=False)
    check(done)


def test_a_foreign_pointer_is_freed_as_the_host_mpi_does(with_heap, compiled, wheel: str) -> None:
    """MPICH 5.0.2 ends the program, Open MPI 5.0.11 takes what malloc gave."""
    argv = [compiled(wheel, "heap"), "foreign"]
    without, done = (with_heap(1, argv, wheel, "auto", setting=on, of_malloc=False) for on in ("0", "mpi"))
    assert done.returncode == without.returncode
    assert ("Assertion" in done.stderr) == ("Assertion" in without.stderr) == (wheel == "mpich")


def test_a_library_that_is_not_there_is_missed_once(with_heap, compiled, wheel: str) -> None:
    done = with_heap(2, [compiled(wheel, "heap"), "alloc-mem", "call", "maps"], wheel, "shared-memory", of_malloc=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("SWAPMEET_HEAP: libswapmeet-heap.so is not preloaded; malloc gives ordinary memory") == 1


@pytest.mark.parametrize("by", ["run", "env"])
def test_the_command_preloads_both(compiled, wheel: str, by: str) -> None:
    program = compiled(wheel, "heap")
    command = [sys.executable, "-m", "swapmeet", by]
    options = ["--mpi", wheel, "--heap", "--algorithm", "shared-memory"]
    if by == "run":
        words = [*command, "-n", "2", *options, "--", program, "malloc", "call", "maps"]
    else:
        chosen = mpis.find(wheel)
        lines = subprocess.run([*command, *options], capture_output=True, text=True, check=True).stdout
        words = ["bash", "-ec", f"{lines}\nexec {chosen.mpiexec} -n 2 {program} malloc call maps"]
    environment = {**os.environ, **mpis.environment(mpis.find(wheel), 2)}
    check(subprocess.run(words, capture_output=True, text=True, env=environment, timeout=scaled(120)))


def test_the_command_has_no_heap_without_the_library() -> None:
    words = [sys.executable, "-m", "swapmeet", "run", "-n", "1", "--heap", "--native", "--", "true"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 2 and "--heap" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("when", ["first", "later"])
def test_a_rank_whose_memory_cannot_be_mapped(with_heap, compiled, wheel: str, when: str) -> None:
    argv = [
        compiled(wheel, "other_user", "-ldl"),
        "1",
        when,
        "2000",
        *([] if (wheel, when) == ("mpich", "first") else ["100000"]),  # MPICH 5.0.2 itself fails with larger messages
    ]
    done = with_heap(3, argv, wheel, "shared-memory", setting="16384")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(re.findall(r"other_user (\d): right", done.stdout)) == ["0", "1", "2"]


@pytest.mark.parametrize("algorithm", ["shared-memory", "two-layer(intra=auto)"])
def test_conforms(with_heap, built, wheel: str, algorithm: str) -> None:
    """Nearly all buffers of the suite come from the heap."""
    argv: list[str | Path] = [built(wheel, "conformance"), "--only", "alltoall/"]
    done = with_heap(3, argv, wheel, algorithm, setting="4096")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert re.search(r"^\d{3,} passed, 0 failed", done.stdout, re.MULTILINE), done.stdout[-3000:]
