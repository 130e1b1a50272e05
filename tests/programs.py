"""Build what the tests run, for every MPI that is here, so that no test's time includes compiling."""

from __future__ import annotations

from swapmeet import SwapmeetError, library
from swapmeet import mpi as mpis
from swapmeet.simulation import simgrid


def main() -> None:
    usable, _ = mpis.found()
    for mpi in usable:
        library.build(mpi, "all")
    try:
        library.build(simgrid.find(), "all")
    except SwapmeetError as problem:
        print(problem)


if __name__ == "__main__":
    main()
