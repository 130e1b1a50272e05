"""The commands `swapmeet run` and `swapmeet env`: an application with the library, at once or in a batch script."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from swapmeet import __version__, application, launch
from swapmeet import mpi as mpis
from swapmeet.arguments import Algorithm, Explain, Launcher, MpiOfApp, Stats, Trace


def run(
    argv: Annotated[list[str], typer.Argument(metavar="APP [ARGS]...", help="The program, behind `--`.")],
    ranks: Annotated[int, typer.Option("-n", "--ranks", min=1, help="Number of ranks.")],
    mpi: MpiOfApp = None,
    launcher: Launcher = None,
    algorithm: Algorithm = None,
    explain: Explain = False,
    stats: Stats = None,
    trace: Trace = None,
    native: Annotated[bool, typer.Option("--native", help="Without Swapmeet, to compare.")] = False,
) -> None:
    """Run an MPI program with its all-to-alls served by Swapmeet.

    The exit status is the launcher's, mostly the program's.
    """
    options = {"algorithm": algorithm, "explain": explain, "stats": stats, "trace": trace}
    chosen, preload, variables = application.prepare(argv, mpi, native, options)
    words = launch.command(chosen, ranks, argv, preload, variables, launcher)
    launch.replace_process(words, mpis.environment(chosen, ranks))


def env(
    argv: Annotated[
        list[str] | None, typer.Argument(metavar="[APP]", help="The program that will run; says which MPI.")
    ] = None,
    mpi: MpiOfApp = None,
    algorithm: Algorithm = None,
    explain: Explain = False,
    stats: Stats = None,
    trace: Trace = None,
) -> None:
    """Print the lines of a batch script that preload Swapmeet into what runs after them.

    For bash and other POSIX shells; `eval "$(swapmeet env)"` does it in the shell of now. The library is built if need
    be.
    """
    options = {"algorithm": algorithm, "explain": explain, "stats": stats, "trace": trace}
    chosen, library, variables = application.prepare(argv or [], mpi, False, options)
    assert library
    launch.require_preloadable(library)
    print(f"# Swapmeet {__version__} for {chosen.kind} {chosen.version} ({chosen.libmpi or chosen.mpicc})")
    print(f'export LD_PRELOAD="${{LD_PRELOAD:+$LD_PRELOAD:}}"{shlex.quote(str(library))}')
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(value)}")
    if chosen.kind == "openmpi":
        told = " ".join(f"-x {name}" for name in ("LD_PRELOAD", *variables))
        print(f"# mpirun passes them on to other hosts only by: mpirun {told} ...; srun does so by itself")
