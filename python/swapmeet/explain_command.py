"""The command `swapmeet explain`: what the library would do with a call, and why."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from swapmeet import __version__, _core, bounds, machines, prices
from swapmeet import mpi as mpis
from swapmeet.arguments import RANKS, tables_console
from swapmeet.errors import SwapmeetError
from swapmeet.specs import parse_bytes
from swapmeet.tuning import native
from swapmeet.tuning.foreign import Call

MOST_RANKS = 1 << 20  #: the node of each is looked at
COLLECTIVES = dict(_core.Collective.__members__)


def explain(
    ranks: Annotated[int, typer.Option(*RANKS, help="Number of ranks.")],
    block: Annotated[str, typer.Option("-S", "--sizes", help="Bytes of a block, as in 512 or 4KiB.")] = "0",
    per_node: Annotated[
        int | None, typer.Option("-Q", "--ranks-per-node", help="Ranks on a node. Default: all share one.")
    ] = None,
    collective: Annotated[str, typer.Option(help="alltoall, alltoallv or alltoallw.")] = "alltoall",
    mpi: Annotated[str | None, typer.Option(help="Name of `swapmeet info`, whose tuning file counts.")] = None,
    imported: Annotated[
        Path | None,
        typer.Option(
            "--import",
            metavar="FILE",
            help="What the MPI itself does by its own rules: MPICH's JSON, Open MPI's dynamic.",
        ),
    ] = None,
    machine: Annotated[
        str | None, typer.Option(help="Also the expected times there: a name or file of `swapmeet model --machine`.")
    ] = None,
) -> None:
    """Print what the library would do with a call, and why.

    The SWAPMEET_ variables count as they are set now. SWAPMEET_EXPLAIN=1 prints the same for the calls of a program.
    """
    if collective not in COLLECTIVES:
        raise SwapmeetError(f'--collective "{collective}": expected {", ".join(COLLECTIVES)}')
    if not all(1 <= number <= MOST_RANKS for number in (ranks, 1 if per_node is None else per_node)):
        raise SwapmeetError(f"-P and -Q are numbers from 1 on, up to {MOST_RANKS}")
    size = parse_bytes(block, "-S")
    target = mpis.find(mpi) if mpi else mpis.default()
    theirs = native.chosen(target, Call(collective, ranks, size, per_node), imported)
    name = f"{target.kind} {target.version}"
    environment = [f"{key}={value}" for key, value in os.environ.items() if key.startswith("SWAPMEET_")]
    options = _core.read_options(environment, ranks, name)
    memory = _core.MemoryStore()
    memory.begin(options, name, __version__)
    recalled = [] if options.algorithm else memory.recall(ranks)
    knowledge = _core.Knowledge(evidence=_core.conclusive(recalled))
    for problem in filter(None, [*options.problems, memory.take_problem()]):
        print(f"warning: {problem}")
    print(f"tuning file for {name}: {options.tuning.file or 'none'}")
    nodes = "" if per_node is None or per_node >= ranks else str(per_node)
    spec, reason, most = _choose(collective, ranks, size, options, nodes, knowledge)
    until = "" if collective != "alltoall" or most == 2**63 - 1 else f", up to {most} B"
    print(
        f"{collective} on {ranks} ranks{f', {per_node} on a node' if nodes else ''}, blocks of {size} B: {spec}{until}"
    )
    print(f"because: {reason}")
    for one in _measured(recalled, collective, ranks, size, nodes):
        print(f"remembered: {1e6 * one.mean_s:.4g} ± {1e6 * one.spread_s:.2g} us, {one.calls} calls: {one.spec}")
    if spec.family != "native":
        print(bounds.sentences(bounds.certificate(spec, ranks, nodes), size if collective == "alltoall" else None))
    for other in _tried(collective, ranks, size, options, nodes, knowledge):
        if other.spec != spec:
            print(f"may be tried: {other.spec}, expected: {1e6 * other.seconds:.4g} us ({other.basis})")
    if theirs is not None:
        like = f", which sends what {theirs.spec} does" if theirs.spec else ""
        print(f"native is: {theirs.algorithm}{like}, by {theirs.why}")
    elif imported is not None:
        print(f"native is: the MPI's own choice; {imported} has no rule for it")
    print(f"the MPI is {target}{'' if mpi else ', the default; --mpi names another'}")
    if machine is not None:
        pricing = prices.Pricing(machines.load(machine))
        priced = [] if spec.family == "native" else [spec]  # the models know nothing of the host MPI
        tables_console().print(
            *prices.best_tables(prices.best(priced, ranks, [size], pricing, nodes), pricing), sep="\n"
        )


def _measured(
    recalled: list[_core.Evidence], collective: str, ranks: int, size: int, nodes: str
) -> list[_core.Evidence]:
    """What earlier runs know of such calls, the fastest first."""
    call = COLLECTIVES[collective]
    wanted = _core.block_class(size) if collective == "alltoall" else -1
    count, *per_node = _core.kind_of(call, ranks, nodes)
    found = [
        one
        for one in recalled
        if (one.collective, one.size_class, one.nodes, one.per_node) == (call, wanted, count, tuple(per_node))
    ]
    return sorted(found, key=lambda one: one.mean_s)


def _tried(
    collective: str, ranks: int, size: int, options: _core.Options, nodes: str, knowledge: _core.Knowledge
) -> list[_core.Expectation]:
    """What the running application may find to be faster, the host MPI first (docs/tuning.md)."""
    call = COLLECTIVES[collective]
    if ranks < 2 or (size == 0 and collective == "alltoall") or not _core.tries(call, ranks, options, nodes):
        return []
    return _core.candidates(call, ranks, size, nodes=nodes, options=options, knowledge=knowledge)


def _choose(
    collective: str, ranks: int, size: int, options: _core.Options, nodes: str, knowledge: _core.Knowledge
) -> tuple[_core.Spec, str, int]:
    """The choice, as the library finds it: without orders of the topology that cannot be had, of which it warns."""
    while True:
        shared = 0 if collective != "alltoall" else size
        call = COLLECTIVES[collective]
        spec, reason, most = _core.choose(call, ranks, shared, options, nodes=nodes, knowledge=knowledge)
        ordered = dict(spec.parameters).get("order", "").startswith("topology")
        problem = spec.unsuitable(ranks, nodes) if ordered else ""
        if not problem:
            return spec, reason, most
        print(f"warning: {_core.give_up_order(spec, problem, options)}")
