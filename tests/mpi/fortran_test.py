"""Fortran programs, on the MPIs of Debian: no wheel brings Fortran. Each call is intercepted, and once."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1] / "fortran"
MODULE = Path(__file__).parents[2] / "fortran" / "swapmeet.f90"
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


@pytest.mark.parametrize("binding", ["mpif_h", "use_mpi", "use_mpi_f08"])
def test_through_the_front(launch, tallies, front: Path, tmp_path: Path, mpif90: tuple[str, str], binding: str) -> None:
    """By the library of the same ABI, also where what Fortran calls was bound when the program began."""
    mpi, wrapper = mpif90
    program, statistics = tmp_path / binding, tmp_path / "statistics.json"
    words = [wrapper, "-fallow-argument-mismatch", "-w", f"-J{tmp_path}", SOURCES / f"{binding}.f90", "-o", program]
    subprocess.run(words, check=True)
    variables = [f"LD_PRELOAD={front}", "LD_BIND_NOW=1", "SWAPMEET_ALGORITHM=pairwise", f"SWAPMEET_STATS={statistics}"]
    done = launch(2, ["env", *variables, program], mpi=mpi, preload=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fortran: all answers right" in done.stdout
    assert {tally["collective"]: tally["calls"] for tally in tallies(statistics)} == {"Alltoall": 2, "Alltoallv": 2}


@pytest.mark.parametrize("binding", ["mpif_h", "use_mpi", "use_mpi_f08"])
def test_calls_that_do_not_block(launch, tallies, tmp_path: Path, mpif90: tuple[str, str], binding: str) -> None:
    """Debian's MPICH 4.0.2 calls nobody in its progress: there they are its own."""
    mpi, wrapper = mpif90
    request = "type(MPI_Request)" if binding == "use_mpi_f08" else "integer"
    body = f"{request} :: requests(2)\n  include 'nonblocking.inc'"
    source, statistics = tmp_path / "nonblocking.f90", tmp_path / "statistics.json"
    source.write_text((SOURCES / f"{binding}.f90").read_text().replace("include 'exchange.inc'", body))
    words = [wrapper, "-fallow-argument-mismatch", "-w", f"-J{tmp_path}", f"-I{SOURCES}", source, "-o", tmp_path / "a"]
    subprocess.run(words, check=True)
    ranks = 2 if mpi == "mpich-system" else 3
    env = {"SWAPMEET_STATS": str(statistics)}
    done = launch(ranks, [tmp_path / "a"], mpi=mpi, algorithm="shared-memory", env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fortran: all answers right" in done.stdout
    served = {tally["collective"] for tally in tallies(statistics)} if statistics.exists() else set()
    assert served == ({"Alltoall", "Alltoallv"} if mpi == "openmpi-system" else set())


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory, mpif90: tuple[str, str], preloaded):
    """Compile a program that uses the module swapmeet, and link it with the library."""
    mpi, wrapper = mpif90
    folder, library = tmp_path_factory.mktemp(mpi), preloaded(mpi).parent

    def linked(source: Path) -> Path:
        program = folder / source.stem
        words = [wrapper, "-std=f2018", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-function-elimination"]
        words += ["-fcheck=all", "-O1", MODULE, source, "-J", folder, "-o", program]
        subprocess.run([*words, f"-L{library}", f"-Wl,-rpath,{library}", "-lswapmeet"], check=True, cwd=folder)
        return program

    return linked


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("preload", [False, True], ids=["linked", "preloaded"])
def test_every_procedure_of_the_module(launch, mpif90: tuple[str, str], linked, ranks: int, preload: bool) -> None:
    if ranks == 3 and mpif90[0] == "mpich-system":
        pytest.skip("Debian's MPICH 4.0.2 crawls where ranks share cores")
    done = launch(ranks, [linked(SOURCES / "module.f90")], mpi=mpif90[0], preload=preload)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == "module: right"


def test_an_error_that_nobody_takes_ends_the_program(launch, mpif90: tuple[str, str], linked, tmp_path: Path) -> None:
    source = tmp_path / "careless.f90"
    source.write_text(
        "use mpi_f08\nuse swapmeet\ncall MPI_Init()\n"
        "call swapmeet_set_algorithm(MPI_COMM_NULL, 'pairwise')\nprint *, 'went on'\ncall MPI_Finalize()\nend\n"
    )
    done = launch(1, [linked(source)], mpi=mpif90[0], preload=False)
    assert done.returncode != 0
    assert "went on" not in done.stdout
    assert "swapmeet: " in done.stderr


def test_the_example(launch, mpif90: tuple[str, str], linked) -> None:
    done = launch(2, [linked(SOURCES.parents[1] / "examples" / "plan.f90")], mpi=mpif90[0], preload=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == "plan: right"
