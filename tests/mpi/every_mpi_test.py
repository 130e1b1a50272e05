"""One library for each ABI: on every MPI that has it, in every program, and never with a second MPI in the process."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from swapmeet import SwapmeetError
from swapmeet.mpi import mpis
from swapmeet.mpi.library import library, program

PYTHON_CALLS = Path(__file__).parent / "programs" / "mpi4py_calls.py"
#: (what the library was built for, what it runs on)
PAIRS = [
    ("mpich", "mpich-system"),
    ("mpich-system", "mpich"),
    ("mpich", "intel"),
    ("openmpi-system", "openmpi"),
    ("openmpi", "openmpi-system"),
]
STANDARD = ["mpich-abi", "intel-abi"]


def installed(*names: str) -> None:
    """Skip where one of these is missing."""
    try:
        for name in names:
            mpis.find(name)
    except SwapmeetError as problem:
        pytest.skip(str(problem))


def check_served(done: subprocess.CompletedProcess[str], mpi: str) -> None:
    """The answers are right, Swapmeet gave them, and the only MPI in the process is `mpi`."""
    assert done.returncode == 0, done.stdout + done.stderr
    assert "wrong: 0" in done.stdout
    loaded = [Path(path).resolve() for path in re.findall("^loaded: (.*)$", done.stdout, re.MULTILINE)]
    libmpi = mpis.find(mpi).libmpi
    assert libmpi
    assert loaded == [libmpi.resolve()]
    assert re.findall(r"^swapmeet: (Alltoallv?) on 2 ranks.*direct\(", done.stderr, re.MULTILINE) == [
        "Alltoall",
        "Alltoallv",
    ]


def preloading(built_for: str, *words: str | Path) -> list[str | Path]:
    variables = [f"LD_PRELOAD={library(mpis.find(built_for))}", "SWAPMEET_ALGORITHM=pairwise", "SWAPMEET_EXPLAIN=1"]
    return ["env", *variables, *words]


@pytest.mark.parametrize(("built_for", "mpi"), [*PAIRS, *(("abi", mpi) for mpi in STANDARD)])
def test_one_library_serves_all_of_its_abi(launch, compiled, built_for: str, mpi: str) -> None:
    installed(built_for, mpi)
    argv = preloading(built_for, compiled(mpi, "loaded"))
    check_served(launch(2, argv, mpi=mpi, preload=False), mpi)


def test_a_host_without_what_came_with_mpi_4(launch, compiled) -> None:
    """Open MPI 4, which is of MPI 3.1, has the ABI of Open MPI 5, and is served by the same library."""
    older = compiled("openmpi", "mpi3", "-shared", "-fPIC")
    preloaded = f"LD_PRELOAD={library(mpis.find('openmpi'))}:{older}"
    argv = preloading("openmpi", preloaded, compiled("openmpi", "loaded"))
    check_served(launch(2, argv, mpi="openmpi", preload=False), "openmpi")


@pytest.mark.parametrize("mpi", STANDARD)
def test_a_program_for_the_standard_abi_runs_on_any_mpi_that_has_it(launch, compiled, mpi: str) -> None:
    """Wherever it was linked."""
    installed(mpi)
    argv = preloading("abi", compiled("mpich-abi", "loaded"))
    check_served(launch(2, argv, mpi=mpi, preload=False), mpi)


@pytest.mark.parametrize("ranks", [pytest.param(1, marks=pytest.mark.long), 3, pytest.param(5, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "algorithm", ["pairwise", "shared-memory", pytest.param("two-phase-bruck", marks=pytest.mark.long)]
)
@pytest.mark.parametrize("mpi", STANDARD)
def test_the_standard_abi_conforms(launch, mpi: str, algorithm: str, ranks: int) -> None:
    installed(mpi)
    done = launch(ranks, [program(mpis.find(mpi), "conformance")], mpi=mpi, algorithm=algorithm, timeout=400)
    summary = re.search(r"^(\d+) passed, 0 failed, \d+ skipped$", done.stdout, re.MULTILINE)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert summary, done.stdout[-4000:]
    assert int(summary[1]) >= 340


@pytest.mark.parametrize(
    ("mpi", "expected"), [("abi", "the MPI-5 ABI"), ("mpich", "MPICH 5"), ("openmpi", "Open MPI 5")]
)
def test_the_library_says_what_it_was_built_for(mpi: str, expected: str) -> None:
    """It can be loaded where there is no MPI."""
    code = (
        "import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).swapmeet_built_for; f.restype = ctypes.c_char_p; print(f())"
    )
    words = [sys.executable, "-c", code, library(mpis.find(mpi))]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"b'{expected}")


@pytest.mark.parametrize(
    ("built_for", "mpi", "says"),
    [
        ("openmpi", "mpich", "built for Open MPI, but the application uses MPICH"),
        ("mpich", "openmpi", "built for MPICH, but the application uses Open MPI"),
        ("mpich", "abi", "built for MPICH, but the application uses the MPI-5 ABI"),
        ("abi", "mpich", "built for the MPI-5 ABI, but the application uses MPICH"),
    ],
)
def test_a_library_for_another_abi_says_so_and_stands_aside(
    launch, compiled, built_for: str, mpi: str, says: str
) -> None:
    done = launch(2, preloading(built_for, compiled(mpi, "loaded")), mpi=mpi, preload=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.count(f"swapmeet: warning: this libswapmeet.so was {says}") == 2  # who is rank 0 it cannot know
    assert "wrong: 0" in done.stdout


@pytest.mark.parametrize("binding", ["lazy", "now"])
@pytest.mark.parametrize("mpi", ["mpich", "openmpi", "intel"])
def test_mpi4py_is_served(launch, mpi: str, binding: str) -> None:
    """Its wheel loads the MPI with RTLD_LOCAL, hence out of sight, and calls the _c functions where there are any."""
    installed(mpi)
    settings = ["LD_BIND_NOW=1"] if binding == "now" else []
    argv = preloading(mpi, *settings, sys.executable, PYTHON_CALLS)
    check_served(launch(2, argv, mpi=mpi, preload=False), mpi)
