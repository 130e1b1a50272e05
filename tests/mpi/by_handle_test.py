"""Programs that call MPI by a library's handle, as Julia's MPI.jl: a library that needs ours and MPI's serves them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from swapmeet.mpi import mpis
from swapmeet.mpi.library import heap_library, library

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def both(tmp_path: Path, wheel: str) -> Path:
    """What docs/mpis.md makes: a library from which on the loader finds ours first, then MPI's."""
    ours, libmpi, path = library(mpis.find(wheel)), mpis.find(wheel).libmpi, tmp_path / "libmpi-swapmeet.so"
    assert libmpi
    words = ["cc", "-shared", "-Wl,--no-as-needed", ours, libmpi, "-o", path]
    subprocess.run([*words, *(f"-Wl,-rpath,{one.parent}" for one in (ours, libmpi))], check=True)
    return path


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_library_that_needs_both_serves(launch, compiled, both: Path, wheel: str, ranks: int) -> None:
    env = {"SWAPMEET_EXPLAIN": "1", "SWAPMEET_ALGORITHM": "pairwise"}
    done = launch(ranks, [compiled(wheel, "by_handle", "-ldl"), both], mpi=wheel, env=env, preload=False)
    assert (done.returncode, done.stdout) == (0, "wrong: 0\n"), done.stderr
    assert done.stderr.count(f"swapmeet: Alltoall on {ranks} ranks") == 1


def test_julia_is_served(launch, both: Path, wheel: str) -> None:
    """By `ccall`, as MPI.jl does."""
    julia = shutil.which("julia")
    if not julia:
        pytest.skip("there is no julia")
    env = {"SWAPMEET_EXPLAIN": "1", "SWAPMEET_ALGORITHM": "pairwise"}
    words = [julia, "--startup-file=no", PROGRAMS / "by_handle.jl", both, wheel]
    done = launch(3, words, mpi=wheel, env=env, preload=False)
    assert (done.returncode, done.stdout) == (0, "wrong: 0\n"), done.stderr
    assert done.stderr.count("swapmeet: Alltoall on 3 ranks") == 1


def test_preloading_does_not(launch, compiled, wheel: str) -> None:
    """Nor does it do harm."""
    mpi = mpis.find(wheel)
    argv = [compiled(wheel, "by_handle", "-ldl"), mpi.libmpi]
    done = launch(2, argv, mpi=wheel, env={"SWAPMEET_EXPLAIN": "1"}, algorithm="pairwise")
    assert (done.returncode, done.stdout) == (0, "wrong: 0\n"), done.stderr
    assert "Alltoall" not in done.stderr


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("algorithm", ["auto", "pairwise"])
def test_a_library_that_is_closed_stays(launch, compiled, wheel: str, when: str, algorithm: str) -> None:
    """MPI_Finalize calls what the library has left in MPI: dlclose() must not take that away."""
    mpi = mpis.find(wheel)
    argv = [compiled(wheel, "unloads", "-ldl"), when, library(mpi), heap_library(mpi)]
    done = launch(3, argv, mpi=wheel, env={"SWAPMEET_EXPLAIN": "1", "SWAPMEET_ALGORITHM": algorithm}, preload=False)
    assert (done.returncode, done.stdout) == (0, "wrong or gone: 0\n"), done.stderr
    assert "swapmeet: Alltoall on 3 ranks" in done.stderr


@pytest.mark.parametrize("lacks", [0, 2])
def test_one_rank_does_not_load_it_later(launch, compiled, wheel: str, lacks: int) -> None:
    """The others have no communicator yet, and must not wait for that rank to make one."""
    argv = [compiled(wheel, "lacks_late", "-ldl"), library(mpis.find(wheel)), str(lacks)]
    done = launch(3, argv, mpi=wheel, preload=False, timeout=30)
    assert f"rank {lacks} runs without the library: in an all-to-all it has got parameters" in done.stderr, done.stdout
