"""The command `swapmeet limits`: its options, and what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swapmeet import machines
from swapmeet.cli.arguments import RANKS, AsJson
from swapmeet.errors import SwapmeetError
from swapmeet.output import print_json
from swapmeet.specs import parse_ranks


def limits(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FOLDER", help="Where cells and pictures go.")],
    platform: Annotated[
        str | None,
        typer.Option("--machine", metavar="NAMES", help="Machines with a network, as in theta,polaris. Default: all."),
    ] = None,
    ranks: Annotated[
        str | None, typer.Option(*RANKS, metavar="RANKS", help="Numbers of ranks, as in 16,64. Default: 16 to 65536.")
    ] = None,
    simulated: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Results of `swapmeet simulate` too; may be repeated.")
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Compute nothing, print the page of the cells there.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Map how far the best known exchanges are from lower bounds.

    Estimates many specs on each platform and writes the fastest, the fastest of what MPIs have, and the lower bound
    (docs/limits.md). Cells of other platforms and ranks in the folder are kept.
    """
    from swapmeet.draw.plots.model import require_plotting
    from swapmeet.draw.plots.style import save
    from swapmeet.limits import computing, drawing, floors, page, store

    if markdown:
        if platform or ranks or simulated or as_json:
            raise SwapmeetError("--markdown computes nothing: leave --machine, -P, --simulated and --json out")
        print("\n\n".join(page.whole(output, output.name)))
        return
    require_plotting(Path("map.png"), "-o")
    names = platform.split(",") if platform else []
    numbers = parse_ranks(ranks) if ranks else list(computing.RANKS)
    wanted = computing.platforms(names, numbers)
    rows = [*computing.estimated(wanted), *computing.simulated(simulated or ())]
    if floors.MACHINE in (names or machines.names()) and (ranks is None or floors.RANKS in numbers):
        rows += floors.cells()
    files, all_rows = [output / store.FILE], store.write(output, rows)
    for name in page.platforms(rows):
        some = [row for row in all_rows if row["platform"] == name and row["how"] == computing.ESTIMATED]
        if some:
            files.append(output / f"{name}.png")
            save(drawing.maps(some, f"{name}, estimated"), files[-1], "-o")
    if as_json:
        print_json("limits", files=files, rows=rows)
        return
    print(f"{output}: {len(rows)} cells; swapmeet limits -o {output} --markdown makes the page")
