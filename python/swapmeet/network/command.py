"""The command `swapmeet topology`: only reads its arguments and prints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from swapmeet import _core
from swapmeet.errors import SwapmeetError
from swapmeet.network import comparing, picture, reading
from swapmeet.plots.model import require_plotting
from swapmeet.specs import parse_spec, require_schedule

STALE = 1  #: exit status


def topology(
    network: Annotated[
        str,
        typer.Argument(
            metavar="FILE|NAME",
            help="A file (our text form, a dump of ibnetdiscover, Slurm's topology.conf), or a network by name: "
            + "; ".join(f"{name}({keys})" for name, keys, _ in _core.network_names()),
        ),
    ],
    ranks: Annotated[
        int | None,
        typer.Option("-P", "--ranks", min=1, max=1 << 20, help="Number of ranks; by default what --place makes."),
    ] = None,
    placement: Annotated[
        str,
        typer.Option(
            "--place",
            metavar="PLACEMENT",
            help="block[:RANKS] on each host in turn, cyclic[:HOSTS], random:SEED[:RANKS], or hosts, as in n3,n1*4.",
        ),
    ] = "block",
    routing: Annotated[
        str,
        typer.Option(
            metavar="WAY", help="Which of several minimal ways: destination (D-mod-k), hash[:SEED] (ECMP) or first."
        ),
    ] = "destination",
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare orders by the load of links: shift, xor, random, conflict-free.")
    ] = False,
    specs: Annotated[
        list[str] | None,
        typer.Option("--spec", metavar="SPEC", help="With --compare: another schedule; may be repeated."),
    ] = None,
    write: Annotated[
        Path | None, typer.Option("--slots", metavar="FILE", help="Compute a conflict-free order and write it.")
    ] = None,
    check: Annotated[
        Path | None, typer.Option("--check-slots", metavar="FILE", help="Whether FILE was written for this.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0, max=1e6, help="For improvement of the order, at most.")] = 10,
    moves: Annotated[int, typer.Option(min=0, max=2**62, help="Of improvement, at most.")] = 20_000_000,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Of the improvement.")] = 0,
    text: Annotated[bool, typer.Option("--text", help="Print the network in our text form.")] = False,
    drawn: Annotated[
        Path | None,
        typer.Option(
            "--picture",
            metavar="FILE",
            help="With --compare: draw the load of each link, round by round (PNG, SVG, PDF).",
        ),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="With --compare: for other programs.")] = False,
) -> None:
    """Inspect and check a network; compute an order of messages that keeps its links free of conflicts."""
    if (csv or specs or drawn) and not compare:
        raise SwapmeetError(f"{'--csv' if csv else '--spec' if specs else '--picture'} says nothing without --compare")
    if drawn is not None:
        require_plotting(drawn, "--picture")
    points = [parse_spec(spec, "--spec") for spec in specs or []]
    for point, spec in zip(points, specs or [], strict=True):
        require_schedule(point, spec)
    fabric = reading.read_network(network)
    if text:
        sys.stdout.write(str(fabric))
        return
    placed = reading.place(fabric, routing, placement, ranks or 0)
    if check is not None:
        _check(check, placed)
        return
    orders = [(spec, dict(spec.parameters)["order"]) for spec in comparing.specs_of(placed)]
    orders += zip(points, specs or [], strict=True)
    if drawn is not None:
        picture.require_drawable(placed, len(orders) + 1)
    rows = []
    if compare:
        rows += [comparing.measure(placed, spec, name) for spec, name in orders]
    slots = comparing.compute(placed, seed, moves, seconds) if compare or write is not None else None
    if write is not None and slots is not None:
        try:
            write.write_text(str(slots))
        except OSError as problem:
            raise SwapmeetError(f"--slots {write}: cannot be written: {problem.strerror}") from None
    if drawn is not None and slots is not None:
        loads = [picture.of_spec(placed, spec, name) for spec, name in orders]
        loads.append(picture.of_slots(placed, slots, comparing.CONFLICT_FREE))
        loads, notes = picture.fitting(loads, slots.bound)
        print(*notes, sep="\n", end="\n" if notes else "", file=sys.stderr)
        picture.draw(loads, slots.bound, f"{network}, {len(placed.placement)} ranks: an all-to-all", drawn)
    if not csv:
        print("\n".join(comparing.description(placed)))
    if compare and slots is not None:
        rows.append(comparing.conflict_free(slots))
        if csv:
            sys.stdout.writelines(comparing.csv_text(rows))
        else:
            width = None if sys.stdout.isatty() else 200
            Console(width=width, highlight=False, markup=False, emoji=False).print(comparing.table(rows))
    elif slots is not None:
        print(f"conflict-free: {slots.slots} slots, {slots.slots / max(1, slots.bound):.3f} of the bound")


def _check(path: Path, placed: _core.PlacedNetwork) -> None:
    slots = reading.read_slots(path)
    if slots.key != placed.key:
        print(f"{path}: made for another network, routing or placement (key {slots.key:016x}, not {placed.key:016x})")
        raise typer.Exit(STALE)
    print(f"{path}: {slots.ranks} ranks, {slots.slots} slots, bound {slots.bound}: made for this network and placement")
