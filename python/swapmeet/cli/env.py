"""The command `swapmeet env`: the lines of a batch script that preload the library."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from swapmeet import __version__
from swapmeet.cli.arguments import Algorithm, Explain, Heap, MpiOfApp, Stats, Trace
from swapmeet.mpi import application, launch
from swapmeet.mpi.library import heap_library


def env(
    argv: Annotated[
        list[str] | None, typer.Argument(metavar="[APP]", help="The program that will run; its MPI is used.")
    ] = None,
    mpi: MpiOfApp = None,
    algorithm: Algorithm = None,
    explain: Explain = False,
    stats: Stats = None,
    trace: Trace = None,
    heap: Heap = False,
) -> None:
    """Print the lines of a batch script that preload Swapmeet.

    What the script runs after them is served. For bash and other POSIX shells; `eval "$(swapmeet env)"` sets the
    current shell. The library is built if necessary.
    """
    options = {"algorithm": algorithm, "explain": explain, "stats": stats, "trace": trace}
    chosen, library, variables = application.prepare(argv or [], mpi, False, options)
    assert library
    launch.require_preloadable(library)
    print(f"# Swapmeet {__version__} for {chosen.kind} {chosen.version} ({chosen.libmpi or chosen.mpicc})")
    libraries = [library]
    if heap:
        libraries.insert(0, heap_library(chosen))
        launch.require_preloadable(libraries[0])
        variables |= application.heap_variables()
    print(f'export LD_PRELOAD="${{LD_PRELOAD:+$LD_PRELOAD:}}"{shlex.quote(":".join(map(str, libraries)))}')
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(value)}")
    if chosen.kind == "openmpi":
        told = " ".join(f"-x {name}" for name in ("LD_PRELOAD", *variables))
        print(f"# mpirun passes them on to other hosts only by: mpirun {told} ...; srun does so by itself")
