"""The command `swapmeet info`: the MPIs that were found."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table

from swapmeet.cli.arguments import AsJson
from swapmeet.cli.listing import table
from swapmeet.errors import SwapmeetError
from swapmeet.mpi import mpis
from swapmeet.mpi.library import build_folder, built, library
from swapmeet.mpi.mpis import Mpi
from swapmeet.output import print_json, tables_console

FIELDS = (*(field.name for field in dataclasses.fields(Mpi) if field.repr), "abi", "prefix", "library", "build")


def info(
    mpi: Annotated[str | None, typer.Option(help="A name of this list, or the path of an mpicc.")] = None,
    field: Annotated[str | None, typer.Option(help=f"Only this: {', '.join(FIELDS)}.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the MPIs that were found, or describe one."""
    if as_json:
        if field is not None:
            raise SwapmeetError("--field and --json exclude each other: --field prints one word")
        usable, problems = mpis.found() if mpi is None else ([mpis.find(mpi)], [])
        print_json("info", mpis=[mpi_record(one) for one in usable], problems=[str(why) for why in problems])
        return
    if mpi is None and field is None:
        usable, problems = mpis.found()
        if usable:
            tables_console().print(mpi_table(usable))
        else:
            print(f"swapmeet: {mpis.none_found()}", file=sys.stderr)
        for problem in problems:
            print(f"swapmeet: not usable: {problem}", file=sys.stderr)
        return
    chosen = mpis.chosen(mpi)
    if field is not None:
        print(mpi_field(chosen, field))
        return
    for name in FIELDS:
        if name != "library":
            print(f"{name + ':':9}{mpi_field(chosen, name)}")
    print(f"library: {built(chosen) or 'not built yet: `swapmeet lib --mpi ' + chosen.name + '`'}")


def mpi_table(mpis: Sequence[Mpi]) -> Table:
    """The MPIs that were found."""
    rows = [
        (mpi.name, mpi.kind, mpi.version, mpi.abi, str(mpi.mpicc or "none"), str(built(mpi) or "not built yet"))
        for mpi in mpis
    ]
    return table(("name", "kind", "version", "ABI", "mpicc", "libswapmeet"), rows)


def mpi_record(mpi: Mpi) -> dict[str, object]:
    """An MPI for other programs; its library is null if it is not built yet."""
    fields = {name: getattr(mpi, name) for name in FIELDS if name not in ("library", "build")}
    return {**fields, "library": built(mpi)}


def mpi_field(mpi: Mpi, field: str) -> str:
    """One property of an MPI, for scripts; `library` is built if it is not up to date.

    Raises
    ------
    SwapmeetError
        If there is no such property.
    """
    if field == "library":
        return str(library(mpi))
    if field == "build":
        return str(build_folder(mpi))
    if field in FIELDS:
        return str(getattr(mpi, field) or "")
    raise SwapmeetError(f'--field "{field}": expected one of {", ".join(FIELDS)}')
