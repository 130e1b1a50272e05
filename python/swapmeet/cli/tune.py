"""The command `swapmeet tune`: its options."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated

import typer

from swapmeet import progress, texts
from swapmeet.cli.arguments import RANKS, AsJson, Launcher
from swapmeet.errors import SwapmeetError
from swapmeet.mpi import mpis, places
from swapmeet.output import print_json, tables_console
from swapmeet.specs import parse_ranks

SIZES = "8,64,512,2KiB,8KiB,32KiB,128KiB,512KiB"


def tune(
    specs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SPEC]...", help="Candidates, as of swapmeet bench, instead of the usual ones."),
    ] = None,
    ranks: Annotated[
        str | None, typer.Option(*RANKS, metavar="RANKS", help="Numbers of ranks, as in 2:4,8. Default: the cores.")
    ] = None,
    mpi: Annotated[
        str | None, typer.Option(help="An MPI of `swapmeet info`. Default: of --from, if all is of one.")
    ] = None,
    sizes: Annotated[str, typer.Option("-S", "--sizes", help="Bytes of a block.")] = SIZES,
    nodes: Annotated[
        str | None, typer.Option(metavar="MAP", help="Ranks that count as a node, as of SWAPMEET_NODES.")
    ] = None,
    budget: Annotated[str, typer.Option(metavar="TIME", help="Time for all of it, as in 90s, 15m or 2h.")] = "10m",
    launches: Annotated[int, typer.Option(min=1, max=1000, help="Launches of each cell, at most.")] = 5,
    launcher: Launcher = None,
    machine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="A description, by which candidates are left out. Default: that of swapmeet calibrate; none: all.",
        ),
    ] = None,
    into: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Results go to NAME-alltoall.jsonl, NAME-alltoallv.jsonl; existing ones are continued."
        ),
    ] = None,
    measured: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Measure nothing: use results of swapmeet bench, or, to export, a tuning file. May be repeated.",
        ),
    ] = None,
    export_mpich: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write rules for MPICH itself, as far as it has the algorithms.")
    ] = None,
    export_openmpi: Annotated[Path | None, typer.Option(metavar="FILE", help="The same for Open MPI.")] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="The tuning file; default: where the library looks for it."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find what is fastest here, and write a tuning file.

    All candidates get a first look; then what is unclear and matters is launched again. From then on the library
    follows the tuning file (docs/tuning.md).
    """
    if not measured and ranks and parse_ranks(ranks)[0] < 2:
        raise SwapmeetError(f'-P "{ranks}": tune needs 2 ranks or more: a single rank exchanges nothing')
    try:
        from swapmeet.choose import exporting, measuring, pruning
    except ImportError as problem:
        raise SwapmeetError(f"swapmeet tune needs {problem.name}: `pip install 'swapmeet[bench]'`") from None
    target = mpis.find(mpi) if mpi else measuring.measured_with(measured or []) or mpis.default()
    exports = exporting.Exports(export_mpich, export_openmpi)
    exports.require(target)
    place = output or (None if exports else places.tuning_file(target.kind))
    for path in filter(None, (place, *exports.paths)):
        texts.require_place(path)
    sources = list(measured or [])
    if not sources:
        name = into or f"tune-{datetime.datetime.now():%Y%m%d-%H%M%S}"
        sources = [Path(f"{name}-{collective}.jsonl") for collective in ("alltoall", "alltoallv")]
        known = pruning.find_machine(machine, target)
        plan = measuring.Plan(
            mpi=mpi,
            specs=specs,
            ranks=ranks,
            sizes=sizes,
            nodes=nodes,
            budget=budget,
            launches=launches,
            launcher=launcher,
            machine=known,
        )
        try:
            measuring.measure(plan, sources)
        except KeyboardInterrupt:
            progress.note(f"go on by the same command with --into {name}")
            raise
    exported = list(exports.write(sources, target))
    left_out = list(exporting.left_out(sources, target)) if exports else []
    found = measuring.fitted(sources, target) if place is not None else None
    if place is not None and found is not None:
        texts.write(place, found.page)
    if as_json:
        rules = {"mpi": found.mpi, "machine": found.machine, "rules": found.rules} if found else {}
        print_json("tune", results=sources, tuning_file=place, exported=exported, left_out=left_out, **rules)
        return
    for path in exported:
        for line in exports.advice(path):
            print(f"swapmeet: {line}")
    for line in left_out:
        print(f"swapmeet: left out, {line}")
    if found is not None:
        tables_console(markup=True).print(measuring.table(found))
        when = "where SWAPMEET_TUNING_FILE names it" if output else "from now on (SWAPMEET_TUNING_FILE=none: not)"
        print(f"swapmeet: the library follows {place} {when}")
