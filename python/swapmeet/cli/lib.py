"""The command `swapmeet lib`: the library for an MPI, built if need be."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swapmeet.cli.arguments import MpiName
from swapmeet.errors import SwapmeetError
from swapmeet.mpi import mpis, site
from swapmeet.mpi.launch import require_preloadable
from swapmeet.mpi.library import component, library, source_tree


def lib(
    mpi: MpiName = None,
    fortran: Annotated[
        bool, typer.Option("--fortran", help="The source of the Fortran module instead, to compile with the program.")
    ] = False,
    without_preloading: Annotated[
        bool,
        typer.Option("--component", help="Open MPI's component coll/swapmeet instead, for use without preloading."),
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="The one for every MPI instead, with the libraries that it loads beside it.")
    ] = False,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FOLDER", help="With --all: put them there, for all users.")
    ] = None,
) -> None:
    """Print the path of libswapmeet.so, built if need be."""
    if to is not None and not every:
        raise SwapmeetError("--to needs --all; copy a single library by `cp`")
    if fortran:
        print(source_tree() / "fortran" / "swapmeet.f90")
    elif without_preloading:
        print(component(mpis.chosen(mpi)))
    elif every:
        print(site.deploy(to))
    else:
        path = library(mpis.chosen(mpi))
        require_preloadable(path)
        print(path)
