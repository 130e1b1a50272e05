"""Build what the tests run, so that no test's time includes compiling: by day for the wheels' MPIs, or `--all`.

A folder that is made here has no link-time optimisation: it takes 20 s of linking for each MPI, and is tested at night.
A folder that is there stays as it is configured; `make build` switches the optimisation on.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from swapmeet import SwapmeetError
from swapmeet.mpi import library, mpis
from swapmeet.simulate import simgrid

SUITE = ("swapmeet", "conformance")
BENCHMARKS = ("measure", "users", "forms")
CLUSTER = ("cluster", "cluster_agent")
#: What the tests run by day. Much of it knows no MPI, and is built for one only.
BY_DAY = {
    "openmpi": (*SUITE, "swapmeet_heap", "errors", "fuzz", "typemaps", *BENCHMARKS, *CLUSTER),
    "mpich": (
        *(*SUITE, "swapmeet_heap", "errors", "fuzz", "typemaps", *BENCHMARKS, "typed"),
        *(*CLUSTER, "cluster_network", "cluster_probe", "transport", "interleavings", "interleavings_mistaken"),
    ),
}
QUICK = {"openmpi": SUITE, "mpich": ("swapmeet",)}  #: what `make check` runs
AT_NIGHT = {"openmpi-system": (*SUITE, "swapmeet_component", "errors")}  #: of MPIs that are not named, SUITE
AT_A_TIME = 2  #: MPIs: CMake configures, and the linker partitions the library, on one core only


def build_simulated() -> None:
    try:
        library.build(simgrid.find(), *SUITE, "simulated")
    except SwapmeetError as problem:
        print(problem)


def main() -> None:
    everything, quick = "--all" in sys.argv, "--quick" in sys.argv
    library.OPTIONS.append("-DSWAPMEET_LTO=OFF")
    wanted = QUICK if quick else {**BY_DAY, **AT_NIGHT}
    names = [mpi.name for mpi in mpis.found()[0]] if everything else [*(QUICK if quick else BY_DAY)]
    with ThreadPoolExecutor(AT_A_TIME) as builds:
        begun = [builds.submit(library.build, mpis.find(name), *wanted.get(name, SUITE)) for name in names]
        begun += [] if quick else [builds.submit(build_simulated)]
    for build_of_one in begun:
        build_of_one.result()


if __name__ == "__main__":
    main()
