"""The command `swapmeet conformance`: the suite that proves an MPI with the library right."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from swapmeet import progress
from swapmeet.cli.arguments import FINDINGS, RANKS, AsJson, MpiName
from swapmeet.errors import SwapmeetError
from swapmeet.mpi import conformance as suite
from swapmeet.mpi import mpis
from swapmeet.output import print_json, tables_console
from swapmeet.specs import alias_names, parse_ranks, parse_spec
from swapmeet.units import parse_duration


def conformance(
    mpi: MpiName = None,
    ranks: Annotated[str, typer.Option(*RANKS, metavar="RANKS", help="Numbers of ranks.")] = "1:5,7,8,16",
    algorithm: Annotated[
        list[str] | None, typer.Option(help="A spec, or auto; may be repeated. Default: all aliases.")
    ] = None,
    native: Annotated[bool, typer.Option("--native", help="The host MPI alone, without Swapmeet.")] = False,
    limit: Annotated[str, typer.Option("--time-limit", metavar="TIME", help="For each run: 90s, 15m.")] = "10m",
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[ARGS]...", help="For the suite, behind `--`.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run the conformance suite with an MPI.

    Once for each algorithm and number of ranks.
    """
    if native and algorithm:
        raise SwapmeetError("--native runs no algorithm of Swapmeet: leave --algorithm out")
    wanted = algorithm or alias_names()
    for spec in wanted:
        if spec != "auto":
            parse_spec(spec, "--algorithm")
    values, limit_s = parse_ranks(ranks), parse_duration(limit, "--time-limit")
    outcomes = []
    for outcome in suite.run(mpis.chosen(mpi), wanted, values, native, arguments or [], limit_s):
        outcomes.append(outcome)
        progress.note(f"{outcome.algorithm}, P = {outcome.ranks}: {outcome.summary}")
        if outcome.details:
            print(outcome.details, file=sys.stderr, flush=True)
    if as_json:
        print_json("conformance", runs=[suite.record(outcome) for outcome in outcomes])
    else:
        tables_console().print(suite.table(outcomes))
    if not all(outcome.passed for outcome in outcomes):
        raise typer.Exit(FINDINGS)
