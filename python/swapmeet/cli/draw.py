"""The command `swapmeet draw`: only reads its arguments and writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from swapmeet import texts
from swapmeet.cli.arguments import RANKS, AsJson, Nodes
from swapmeet.draw.page import page
from swapmeet.draw.picture import Picture, take
from swapmeet.errors import SwapmeetError
from swapmeet.network import reading
from swapmeet.output import print_json
from swapmeet.specs import parse_ranks, parse_spec, require_nodes, require_schedule

MOST_RANKS = 128  #: more rows than a screen has
PAGES = (".html", ".htm")
STILLS = (".svg", ".png", ".pdf")


def draw(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="What to draw: see `swapmeet algorithms`.")],
    ranks: Annotated[int, typer.Option(*RANKS, min=1, help=f"Number of ranks, up to {MOST_RANKS}.")],
    nodes: Nodes = "",
    topology: Annotated[
        str,
        typer.Option(
            "--on", metavar="FILE|NAME", help="Show the load of links, too: a network as in `swapmeet topology`."
        ),
    ] = "",
    placement: Annotated[
        str, typer.Option("--place", metavar="PLACEMENT", help="With --on: as in `swapmeet topology`.")
    ] = "block",
    routing: Annotated[str, typer.Option(metavar="WAY", help="With --on: as in `swapmeet topology`.")] = "destination",
    rounds: Annotated[
        str, typer.Option(metavar="RANGE", help="In a still only these rounds, from 1 on, as in 1:4,9.")
    ] = "",
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="A page (.html), or a still (.svg, .png, .pdf).")
    ] = Path("schedule.html"),
    as_json: AsJson = False,
) -> None:
    """Draw a schedule step by step.

    Messages between ranks, and what buffers hold.
    """
    suffix = output.suffix.lower()
    if suffix not in PAGES + STILLS:
        raise SwapmeetError(f'-o "{output}": expected a file that ends in {", ".join((PAGES[0], *STILLS))}')
    if rounds and suffix in PAGES:
        raise SwapmeetError("--rounds is for stills: the page has all rounds")
    for option, value, default in (("--place", placement, "block"), ("--routing", routing, "destination")):
        if value != default and not topology:
            raise SwapmeetError(f"{option} has no effect without --on")
    point = parse_spec(spec, "SPEC")
    require_schedule(point, spec)
    if ranks > MOST_RANKS:
        raise SwapmeetError(
            f"-P {ranks}: more than {MOST_RANKS} ranks are too many to draw; `swapmeet show --rank` prints one"
        )
    placed = reading.place(reading.read_network(topology), routing, placement, ranks) if topology else None
    if placed is not None and not nodes:
        nodes = ",".join(map(str, placed.placement))  # ranks of a host share a node
    require_nodes(point, nodes, [ranks])
    if problem := point.unsuitable(ranks, nodes):
        raise SwapmeetError(f'"{spec}" cannot serve P = {ranks}: {problem}')
    picture = take(point, ranks, nodes, placed)
    if suffix in PAGES:
        texts.write(output, page(picture))
    else:
        _draw_still(picture, output, parse_ranks(rounds, "--rounds") if rounds else None)
    if as_json:
        print_json("draw", file=output, spec=point, ranks=ranks, nodes=nodes, rounds=len(picture.rounds))
        return
    print(f"{output}: {point} on P = {ranks} ranks, rounds: {len(picture.rounds)}")


def _draw_still(picture: Picture, file: Path, rounds: Sequence[int] | None) -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise SwapmeetError(
            f'-o "{file}" takes matplotlib: pip install "swapmeet[plot]"; pages (.html) do not'
        ) from None
    from swapmeet.draw.plots.style import save
    from swapmeet.draw.stills import still

    last = len(picture.rounds)
    if rounds and not 1 <= rounds[0] <= rounds[-1] <= last:
        raise SwapmeetError(f"--rounds: the schedule has rounds 1 to {last}")
    save(still(picture, rounds or range(1, last + 1)), file, "-o")
