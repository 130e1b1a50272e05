"""The command `swapmeet goal`: schedules for LogGOPSim and other simulators that read GOAL (docs/simulation.md)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from swapmeet import _core, texts
from swapmeet.cli.arguments import RANKS, AsJson, Nodes
from swapmeet.errors import SwapmeetError
from swapmeet.machines import Machine, load
from swapmeet.output import print_json
from swapmeet.specs import parse_spec, require_nodes, require_schedule
from swapmeet.units import bytes_text, parse_bytes

MOST_RANKS = 1 << 16


def goal(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="Which exchange: see `swapmeet algorithms`.")],
    ranks: Annotated[int, typer.Option(*RANKS, min=1, max=MOST_RANKS, help="Number of ranks.")],
    size: Annotated[str, typer.Option("-S", "--sizes", metavar="BYTES", help="Bytes of a block, as in 128 or 2KiB.")],
    machine: Annotated[
        str | None,
        typer.Option(
            help="A name or file (docs/models.md): copies take as long as there. Without it they take no time."
        ),
    ] = None,
    nodes: Nodes = "",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Default: standard output.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a schedule as GOAL text, for LogGOPSim."""
    point = parse_spec(spec, "SPEC")
    require_schedule(point, spec)
    require_nodes(point, nodes, [ranks])
    if problem := point.unsuitable(ranks, nodes):
        raise SwapmeetError(f'"{spec}" cannot serve P = {ranks}: {problem}')
    block_bytes = parse_bytes(size, "-S")
    if block_bytes < 1:
        raise SwapmeetError(f'-S "{size}": GOAL has no messages without bytes: choose 1 or more')
    costs = load(machine) if machine else None
    lines = text(point, ranks, block_bytes, nodes, costs)
    if output is not None:
        texts.write(output, lines)
    elif not as_json:
        sys.stdout.writelines(lines)
    if as_json:
        what = {"spec": point, "ranks": ranks, "nodes": nodes, "block_bytes": block_bytes}
        print_json("goal", **what, machine=costs and costs.name, file=output, goal=None if output else "".join(lines))


def text(
    spec: _core.Spec, ranks: int, block_bytes: int, nodes: str = "", machine: Machine | None = None
) -> Iterator[str]:
    """The file, a rank at a time.

    Parameters
    ----------
    spec : Spec
        That can serve that many ranks.
    block_bytes : int
        1 or more.
    nodes : str
        Node map; "" if all ranks share one.
    machine : Machine, optional
        What copies cost; without one they are left out.
    """
    copies = f"copies as on {machine.name}" if machine else "copies take no time"
    yield f"// {spec} on {ranks} ranks, blocks of {bytes_text(block_bytes)}, {copies}\nnum_ranks {ranks}\n"
    copying = machine.costs.pack if machine else None
    for rank in range(ranks):
        yield "\n" + _core.goal(spec, ranks, rank, block_bytes, nodes, copying)
