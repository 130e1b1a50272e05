"""Build what the tests run, for every MPI that is here, so that no test's time includes compiling."""

from __future__ import annotations

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


def main() -> None:
    usable, _ = mpis.found()
    for mpi in usable:
        library.build(mpi, *PROGRAMS.get(mpi.name, SUITE))
    try:
        library.build(simgrid.find(), *SUITE, "simulated")
    except SwapmeetError as problem:
        print(problem)


if __name__ == "__main__":
    main()
