"""Build what the tests run, for every MPI that is here, so that no test's time includes compiling."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from swapmeet import SwapmeetError
from swapmeet.mpi import library, mpis
from swapmeet.simulate import simgrid

SUITE = ("swapmeet", "conformance")
#: Of an MPI that is not named, SUITE. All is built for one MPI only: much of it knows no MPI.
PROGRAMS = {
    "mpich": ("all",),
    "openmpi": (
        *(*SUITE, "swapmeet_heap", "errors", "fuzz", "typemaps"),
        *("measure", "users", "forms", "cluster", "cluster_agent"),
    ),
    "openmpi-system": (*SUITE, "swapmeet_component", "errors"),
}
AT_A_TIME = 2  #: MPIs: CMake configures, and the linker partitions the library, on one core only


def build(mpi: mpis.Mpi) -> None:
    library.build(mpi, *PROGRAMS.get(mpi.name, SUITE))


def build_simulated() -> None:
    try:
        library.build(simgrid.find(), *SUITE, "simulated")
    except SwapmeetError as problem:
        print(problem)


def main() -> None:
    usable, _ = mpis.found()
    with ThreadPoolExecutor(AT_A_TIME) as builds:
        begun = [*(builds.submit(build, mpi) for mpi in usable), builds.submit(build_simulated)]
    for build_of_one in begun:
        build_of_one.result()


if __name__ == "__main__":
    main()
