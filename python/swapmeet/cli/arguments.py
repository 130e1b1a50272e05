"""What several commands share: options, and what a shell completes them with."""

from __future__ import annotations

from typing import Annotated

import typer

from swapmeet import _core
from swapmeet.mpi import discovery

FINDINGS = 1  #: exit status of a command that found what it looks for: a wrong schedule, something slower, a problem
RANKS = ("-P", "--ranks", "-n")  #: how many ranks: -n as mpiexec has it


def mpi_names(incomplete: str) -> list[str]:
    """What a shell may complete a name of `swapmeet info` to."""
    return [name for name, _ in discovery.wrappers() if name.startswith(incomplete)]


def algorithm_names(incomplete: str) -> list[str]:
    """What a shell may complete a spec to: names, to which parameters can be added."""
    names = ["auto", "native", *_core.families(), *(name for name, *_ in _core.aliases())]
    return sorted({name for name in names if name.startswith(incomplete)})


Nodes = Annotated[
    str,
    typer.Option(
        metavar="MAP",
        help="Ranks of each node, as in 8 or 4+2 (the last is repeated); cyclic:3; or each rank's node, as in 0,1,0,2. "
        "Or several such levels, the innermost first, as in 2/8.",
    ),
]

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on standard output (docs/json.md).")]
MpiName = Annotated[
    str | None,
    typer.Option(
        "--mpi",
        help="A name of `swapmeet info`, or the path of an mpicc. Default: the first of these.",
        autocompletion=mpi_names,
    ),
]

# Of commands that run or prepare an application

MpiOfApp = Annotated[
    str | None,
    typer.Option(
        "--mpi",
        help="A name of `swapmeet info`, or the path of an mpicc. Default: what APP uses.",
        autocompletion=mpi_names,
    ),
]
Algorithm = Annotated[
    str | None, typer.Option(help="A spec (see `swapmeet algorithms`), or auto.", autocompletion=algorithm_names)
]
Explain = Annotated[bool, typer.Option("--explain", help="Print which algorithm runs, and why.")]
Stats = Annotated[str | None, typer.Option(metavar="FILE", help="Write statistics as JSON; - prints them.")]
Trace = Annotated[str | None, typer.Option(metavar="FILE[,call=N]", help="Trace one all-to-all, for ui.perfetto.dev.")]
Watchdog = Annotated[
    str | None, typer.Option(metavar="SECONDS", help="Print which ranks wait for which, after this wait, as in 60s.")
]
Heap = Annotated[bool, typer.Option("--heap", help="Allocate large blocks where the node's ranks can map them.")]
Launcher = Annotated[str | None, typer.Option(metavar="WORDS", help="As in 'srun -n {ranks}', for the MPI's own.")]
