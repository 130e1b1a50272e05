"""Sparse exchanges, swapmeet_sparse_alltoallv, on real MPIs."""

from __future__ import annotations

from pathlib import Path

import pytest

import swapmeet
from swapmeet.mpi import mpis
from swapmeet.mpi.library import library

INCLUDE = Path(swapmeet.__file__).parents[2] / "include"
SPECS = [
    "",
    "nbx",
    "nbx(window=1)",
    "census",
    "sparse-bruck",
    "sparse-bruck(r=3,direct=300)",
    "two-layer(sparse=forward,direct=0)",
]
MESSAGES, BYTES = "8", "1500"


@pytest.fixture(scope="session")
def linked(compiled, guarded: list[str]):
    """A program, linked to libswapmeet.so for an MPI."""

    def linked(mpi: str, name: str) -> Path:
        folder = library(mpis.find(mpi)).parent
        return compiled(mpi, name, f"-I{INCLUDE}", f"-L{folder}", "-lswapmeet", f"-Wl,-rpath,{folder}", *guarded)

    return linked


def check(done, line: str) -> None:
    assert done.returncode == 0 and line in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.fixture
def sparse(cases, guarded: list[str], wheel: str):
    """Run `sparse` by each spec on each number of ranks."""

    def sparse(ranks: list[int], specs: list[str], *words: str, **options):
        folder = library(mpis.find(wheel)).parent
        flags = [f"-I{INCLUDE}", f"-L{folder}", "-lswapmeet", f"-Wl,-rpath,{folder}"]
        for word in guarded:  # guarded.c has no main(), and is included lest it gets one by cases.h
            flags += ["-include", word] if word.endswith(".c") else [word]
        runs = [[spec, *words] for spec in specs]
        return cases(wheel, "sparse", ranks, runs, "sparse: 0 errors", flags, preload=False, **options)

    return sparse


@pytest.mark.parametrize(
    ("ranks", "specs"),
    [
        pytest.param([2, 3], SPECS, id="2,3"),
        pytest.param([1, 5], [""], id="1,5"),
        pytest.param([1, 5, 8], SPECS[1:], id="1,5,8", marks=pytest.mark.long),
    ],
)
def test_random_patterns(sparse, ranks: list[int], specs: list[str]) -> None:
    """Calls behind one another on two communicators in turn; several messages to one rank, to itself, empty ones."""
    sparse(ranks, specs, "60", MESSAGES, BYTES, env={"SWAPMEET_NODES": "2"})


def test_eight_ranks(sparse) -> None:
    sparse([8], ["nbx", "census", "sparse-bruck"], "15", MESSAGES, BYTES)


def test_large_messages(sparse) -> None:
    """Beyond what an MPI sends before its receiver is ready."""
    sparse([3], ["nbx", "census", "sparse-bruck", "sparse-bruck(direct=never)"], "8", "4", "1000000")


@pytest.mark.parametrize("spec", ["nbx", "census", "sparse-bruck"])
def test_a_communicator_for_each_thread(launch, linked, wheel: str, spec: str) -> None:
    argv = [linked(wheel, "sparse"), spec, "20", MESSAGES, BYTES, "threads"]
    done = launch(2, argv, mpi=wheel, preload=False, timeout=300)
    if "no MPI_THREAD_MULTIPLE" in done.stdout:
        pytest.skip(f"{wheel} was built without MPI_THREAD_MULTIPLE")
    check(done, "sparse: 0 errors")


@pytest.mark.parametrize(
    ("spec", "ranks"),
    [
        ("nbx", 2),
        ("census", 3),
        ("sparse-bruck", 3),
        *(pytest.param(spec, 1, marks=pytest.mark.long) for spec in SPECS),
    ],
)
def test_mistakes(launch, linked, wheel: str, spec: str, ranks: int) -> None:
    argv = [linked(wheel, "sparse_mistakes"), *([spec] if spec else [])]
    done = launch(ranks, argv, mpi=wheel, preload=False)
    check(done, "mistakes: 0 errors")


def test_explains_the_choice(launch, linked, wheel: str) -> None:
    for spec, expected in (
        ("", "direct(order=shift,window=all,complete=all,sparse=census) (up to 1024 ranks)"),
        ("nbx", "direct(order=shift,window=all,complete=all,sparse=nbx) (by swapmeet_set_algorithm)"),
    ):
        argv = [linked(wheel, "sparse"), spec, "1", "2", "8"]
        done = launch(2, argv, mpi=wheel, preload=False, env={"SWAPMEET_EXPLAIN": "1"})
        check(done, "sparse: 0 errors")
        assert f"swapmeet: sparse Alltoallv on 2 ranks: {expected}" in done.stderr


def test_by_the_variable(launch, linked, wheel: str) -> None:
    argv = [linked(wheel, "sparse"), "", "3", "2", "8"]
    env = {"SWAPMEET_EXPLAIN": "1", "SWAPMEET_ALGORITHM": "tra(r=2,sparse=forward)"}
    done = launch(3, argv, mpi=wheel, preload=False, env=env)
    check(done, "sparse: 0 errors")
    assert "sparse=forward) (by SWAPMEET_ALGORITHM)" in done.stderr
