"""The command `swapmeet topology`: only reads its arguments and prints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from swapmeet import _core, output, texts
from swapmeet.cli.arguments import RANKS, AsJson
from swapmeet.draw import network as picture
from swapmeet.draw.plots.model import require_plotting
from swapmeet.errors import SwapmeetError
from swapmeet.measure.profiling import weights
from swapmeet.network import comparing, reading
from swapmeet.output import JSON, TABLE, tables_console
from swapmeet.specs import parse_spec, require_schedule
from swapmeet.units import parse_duration

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
        typer.Option(*RANKS, min=1, max=1 << 20, help="Number of ranks; by default what --place makes."),
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
            metavar="WAY", help="Choice among minimal ways: destination (D-mod-k), hash[:SEED] (ECMP) or first."
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
    sizes: Annotated[
        str | None,
        typer.Option(
            weights.OPTION,
            metavar="FILE|FOLDER|WORKLOAD",
            help="Order messages of unequal size, and compare: P lines of P sizes, the folder of SWAPMEET_RECORD, or a "
            "workload, as in uniform:max=1KiB.",
        ),
    ] = None,
    check: Annotated[
        Path | None, typer.Option("--check-slots", metavar="FILE", help="Whether FILE was written for this.")
    ] = None,
    budget: Annotated[
        str, typer.Option(metavar="TIME", help="Time to improve the order, at most, as in 10s or 2m.")
    ] = "10s",
    moves: Annotated[int, typer.Option(min=0, max=2**62, help="Moves that improve the order, at most.")] = 20_000_000,
    seed: Annotated[
        int, typer.Option(min=0, max=2**64 - 1, help="Random seed of the improvement, and of a workload.")
    ] = 0,
    text: Annotated[bool, typer.Option("--text", help="Print the network in our text form.")] = False,
    drawn: Annotated[
        Path | None,
        typer.Option(
            "--picture",
            metavar="FILE",
            help="With --compare: draw the load of each link, round by round (PNG, SVG, PDF).",
        ),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="With --compare: print CSV.")] = False,
    bound: Annotated[
        bool, typer.Option("--bound", help="What links carry at least if ranks may forward blocks: docs/limits.md.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Inspect a network; compute orders that keep its links free.

    In such an order of messages no link carries more than it can at a time.
    """
    form = output.form(as_json, csv)
    seconds = parse_duration(budget, "--budget")
    if as_json and text:
        raise SwapmeetError("--text and --json are two forms of the same: leave one out")
    if bound and (csv or sizes or check):
        raise SwapmeetError("--bound is a text about equal blocks: leave --csv, --check-slots and the sizes out")
    if (csv or specs or drawn) and not compare and not (sizes and not drawn):
        raise SwapmeetError(f"{'--csv' if csv else '--spec' if specs else '--picture'} has no effect without --compare")
    if sizes and (drawn or check):
        raise SwapmeetError(f"{weights.OPTION} with {'--picture' if drawn else '--check-slots'}: choose one of them")
    if drawn is not None:
        require_plotting(drawn, "--picture")
    points = [parse_spec(spec, "--spec") for spec in specs or []]
    for point, spec in zip(points, specs or [], strict=True):
        require_schedule(point, spec)
    fabric = reading.read_network(network)
    if text:
        sys.stdout.write(str(fabric))
        return
    given = weights.read(sizes, ranks) if sizes else None
    placed = reading.place(fabric, routing, placement, ranks or (weights.ranks_of(given) if given else 0))
    if check is not None:
        _check(check, placed, form)
        return
    if compare or write or given is not None:
        comparing.require_orders(placed)
    orders = [(spec, dict(spec.parameters)["order"]) for spec in comparing.specs_of(placed)]
    orders += zip(points, specs or [], strict=True)
    if given is not None:
        bytes_of = weights.for_ranks(given, seed, len(placed.placement))
        _by_bytes(placed, bytes_of, orders, (seed, moves, seconds), write, form)
        return
    if drawn is not None:
        picture.require_drawable(placed, len(orders) + 1)
    rows = []
    if compare:
        rows += [comparing.measure(placed, spec, name) for spec, name in orders]
    slots = comparing.compute(placed, seed, moves, seconds) if compare or write is not None else None
    if write is not None and slots is not None:
        texts.write(write, str(slots), "--slots")
    if drawn is not None and slots is not None:
        loads = [picture.of_spec(placed, spec, name) for spec, name in orders]
        loads.append(picture.of_slots(placed, slots, comparing.CONFLICT_FREE))
        loads, notes = picture.fitting(loads, slots.bound)
        print(*notes, sep="\n", end="\n" if notes else "", file=sys.stderr)
        picture.draw(loads, slots.bound, f"{network}, {len(placed.placement)} ranks: an all-to-all", drawn)
    if compare and slots is not None:
        rows.append(comparing.conflict_free(slots))
    if form != TABLE:
        fields = {"network": comparing.facts(placed)}
        if bound:
            fields["link_bound"] = comparing.link_bound_facts(placed)
        if slots is not None:
            fields["conflict_free"] = {"slots": slots.slots, "bound": slots.bound}
        output.print_records("topology", comparing.records(rows), form, **fields)
        return
    print("\n".join(comparing.description(placed)))
    if bound:
        print(*comparing.bound_description(placed), sep="\n")
    if compare:
        tables_console().print(comparing.table(rows))
    elif slots is not None:
        print(f"conflict-free: {slots.slots} slots, {slots.slots / max(1, slots.bound):.3f} of the bound")


def _by_bytes(
    placed: _core.PlacedNetwork,
    sizes: comparing.Sizes,
    orders: list[tuple[_core.Spec, str]],
    effort: tuple[int, int, float],
    write: Path | None,
    form: str,
) -> None:
    """`swapmeet topology --workload`."""
    rows = [comparing.measure(placed, spec, name, sizes) for spec, name in orders]
    equal = comparing.compute(placed, *effort)
    rows.append(comparing.weighted(placed, equal, sizes, comparing.CONFLICT_FREE))
    slots = comparing.compute(placed, *effort, sizes)
    rows.append(comparing.weighted(placed, slots, sizes, comparing.BY_BYTES))
    if write is not None:
        texts.write(write, str(slots), "--slots")
    if form != TABLE:
        fields = {"network": comparing.facts(placed)}
        output.print_records("topology", comparing.records(rows, in_bytes=True), form, **fields)
        return
    print("\n".join(comparing.description(placed) + comparing.weights_description(placed, sizes)))
    tables_console().print(comparing.table(rows, in_bytes=True))


def _check(path: Path, placed: _core.PlacedNetwork, form: str) -> None:
    slots = reading.read_slots(path)
    fits = slots.key == placed.key
    if form == JSON:
        numbers = {"ranks": slots.ranks, "slots": slots.slots, "bound": slots.bound}
        output.print_json("topology", slots_file=path, made_for_this=fits, **numbers)
    elif fits:
        found = f"{slots.ranks} ranks, {slots.slots} slots, bound {slots.bound}"
        print(f"{path}: {found}: made for this network and placement")
    else:
        keys = f"key {slots.key:016x}, not {placed.key:016x}"
        print(f"{path}: made for another network, routing or placement ({keys})")
    if not fits:
        raise typer.Exit(STALE)
