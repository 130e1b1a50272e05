"""The command `swapmeet compare`: two results files of `swapmeet bench`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swapmeet.cli.arguments import FINDINGS, AsJson
from swapmeet.cli.missing import needs_package
from swapmeet.errors import SwapmeetError
from swapmeet.output import JSON


def compare(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="A results file of `swapmeet bench`.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="Another one.")],
    everything: Annotated[bool, typer.Option("--all", help="Also what has not changed.")] = False,
    tie: Annotated[float, typer.Option(metavar="PERCENT", help="Changes of less do not count.")] = 1,
    plain: Annotated[bool, typer.Option("--plain", help="Lines with tabs, for other programs.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print which cells of two results files differ beyond noise.

    Exit status 1: something became slower.
    """
    if not 0 <= tie < 100:
        raise SwapmeetError(f"--tie {tie:g}: expected a percentage from 0 to below 100")
    with needs_package("compare"):
        from swapmeet.measure.bench import running
    if plain and as_json:
        raise SwapmeetError("--plain and --json are two forms of the same: leave one out")
    wanted = JSON if as_json else "plain" if plain else "table"
    if not running.compare(before, after, tie / 100, everything, wanted):
        raise typer.Exit(FINDINGS)
