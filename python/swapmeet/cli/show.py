"""The command `swapmeet show`: a schedule as text."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from swapmeet.cli.arguments import RANKS, AsJson, Nodes
from swapmeet.errors import SwapmeetError
from swapmeet.model import show as listing
from swapmeet.output import print_json, tables_console
from swapmeet.specs import parse_spec, require_nodes, require_schedule

MOST_RANKS_SHOWN = 1 << 20


def show(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="What to show: see `swapmeet algorithms`.")],
    ranks: Annotated[int, typer.Option(*RANKS, min=1, help="Number of ranks.")],
    rank: Annotated[int | None, typer.Option(min=0, help="Only this rank, with its blocks.")] = None,
    plain: Annotated[bool, typer.Option("--plain", help="The text form, which parses back.")] = False,
    nodes: Nodes = "",
    as_json: AsJson = False,
) -> None:
    """Print a schedule."""
    if plain and as_json:
        raise SwapmeetError("--plain and --json are two forms of the same: leave one out")
    if ranks > MOST_RANKS_SHOWN:
        raise SwapmeetError(f"-P {ranks}: a schedule of more than {MOST_RANKS_SHOWN} ranks is too long to print")
    point = parse_spec(spec, "SPEC")
    require_schedule(point, spec)
    require_nodes(point, nodes, [ranks])
    if problem := point.unsuitable(ranks, nodes):
        raise SwapmeetError(f'"{spec}" cannot serve P = {ranks}: {problem}')
    if rank is not None and rank >= ranks:
        raise SwapmeetError(f"--rank {rank} is not one of {ranks}: choose 0 to {ranks - 1}")
    if as_json:
        print_json("show", **listing.record(point, ranks, rank, nodes))
    elif plain:
        for text in listing.plain(point, ranks, rank, nodes):
            sys.stdout.write(text)
    elif rank is None:
        tables_console().print(listing.all_ranks(point, ranks, nodes))
    else:
        tables_console().print(listing.one_rank(point, ranks, rank, nodes))
