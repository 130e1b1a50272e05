"""Fortran programs, on the MPIs of Debian: no wheel brings Fortran. Each call is intercepted, and once."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1] / "fortran"
SYSTEM = {"openmpi-system": "openmpi-bin libopenmpi-dev gfortran", "mpich-system": "mpich libmpich-dev gfortran"}


@pytest.fixture(params=SYSTEM, scope="module")
def mpif90(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Name and Fortran wrapper of an MPI of Debian."""
    name: str = request.param
    wrapper = shutil.which(f"mpif90.{name.removesuffix('-system')}")
    if not wrapper or not shutil.which("gfortran"):
        pytest.skip(f"no Fortran for {name}: apt-get install {SYSTEM[name]}")
    return name, wrapper


@pytest.mark.parametrize("algorithm", ["pairwise", "random-segmented"])
@pytest.mark.parametrize("binding", ["mpif_h", "use_mpi", "use_mpi_f08"])
def test_fortran_calls_are_intercepted_once(
    launch, tallies, tmp_path: Path, mpif90: tuple[str, str], binding: str, algorithm: str
) -> None:
    mpi, wrapper = mpif90
    program, statistics = tmp_path / binding, tmp_path / "statistics.json"
    words = [wrapper, "-fallow-argument-mismatch", "-w", f"-J{tmp_path}", SOURCES / f"{binding}.f90", "-o", program]
    subprocess.run(words, check=True)
    ranks = 2 if mpi == "mpich-system" else 3  # Debian's MPICH 4.0.2 crawls where ranks share cores
    done = launch(ranks, [program], mpi=mpi, algorithm=algorithm, env={"SWAPMEET_STATS": str(statistics)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fortran: all answers right" in done.stdout
    counted = {tally["collective"]: tally for tally in tallies(statistics)}
    assert {name: tally["calls"] for name, tally in counted.items()} == {"Alltoall": 2, "Alltoallv": 2}
    assert all(tally["algorithm"].startswith("direct(") for tally in counted.values())
