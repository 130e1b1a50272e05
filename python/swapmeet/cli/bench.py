"""The command `swapmeet bench`: its options."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated

import typer

from swapmeet.cli.arguments import FINDINGS, RANKS, AsJson, Launcher
from swapmeet.cli.missing import needs_package
from swapmeet.errors import SwapmeetError
from swapmeet.output import form


def bench(
    specs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SPEC]...", help="What to measure: specs, auto, 'tra(r=2:P)', '*bruck*'. Default: auto."
        ),
    ] = None,
    ranks: Annotated[
        str | None, typer.Option(*RANKS, metavar="RANKS", help="Numbers of ranks, as in 2:4,8. Default: the cores.")
    ] = None,
    mpi: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="MPIs of `swapmeet info`, as in mpich,openmpi; or all.")
    ] = None,
    collective: Annotated[str | None, typer.Option(help="alltoall, alltoallv or both: alltoall,alltoallv.")] = None,
    sizes: Annotated[str | None, typer.Option("-S", "--sizes", help="Bytes of a block, as in 8,1KiB,64KiB.")] = None,
    doubling: Annotated[
        str | None,
        typer.Option("-m", metavar="[MIN:]MAX", help="Blocks of MIN (1), 2·MIN, ... to MAX bytes, as OSU's."),
    ] = None,
    workload: Annotated[
        list[str] | None, typer.Option(help="Sizes of an Alltoallv, as in uniform:max=1KiB; may be repeated.")
    ] = None,
    seeds: Annotated[
        str | None, typer.Option("--seed", metavar="N,...", help="Random seeds of the workloads, as in 0,1,2.")
    ] = None,
    datatype: Annotated[str | None, typer.Option(help="byte, double, strided (with gaps), or some of them.")] = None,
    nodes: Annotated[
        str | None, typer.Option(metavar="MAP", help="Ranks that count as a node, as of SWAPMEET_NODES.")
    ] = None,
    launches: Annotated[int | None, typer.Option(help="Number of launches (5).")] = None,
    samples: Annotated[
        int | None, typer.Option("-i", help="Samples of each candidate in a launch: exactly this number,")
    ] = None,
    least: Annotated[int | None, typer.Option(help="or at least this number (30),")] = None,
    most: Annotated[int | None, typer.Option(help="and at most this number (300),")] = None,
    precision: Annotated[
        float | None,
        typer.Option(metavar="PERCENT", help="until half the 95 % interval is this part of the median (2)."),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Time for all of it, as in 90s, 15m or 2h.")
    ] = None,
    warm_up: Annotated[
        int | None, typer.Option("-x", help="Samples that do not count, at the beginning of each size (1).")
    ] = None,
    full: Annotated[bool, typer.Option("-f", help="With --osu: least, most and calls too.")] = False,
    validate: Annotated[
        bool, typer.Option("-c", help="Check data every 10 samples, not 50; with --osu: a column.")
    ] = False,
    percentiles: Annotated[bool, typer.Option("-z", help="With --osu: percentiles 50, 90 and 99 of samples.")] = False,
    phases: Annotated[bool, typer.Option("--phases", help="Also where the time of each candidate goes.")] = False,
    limits: Annotated[bool, typer.Option("--limits", help="Also what a node allows: memcpy, a flag.")] = False,
    overlap: Annotated[
        str | None,
        typer.Option(
            metavar="TESTS",
            help="Also how much of a non-blocking exchange computing hides, with these "
            "numbers of calls of MPI_Test in it, as in 0,10.",
        ),
    ] = None,
    touch: Annotated[bool, typer.Option("--touch", help="Rewrite send buffers before each call, untimed.")] = False,
    pin: Annotated[bool, typer.Option("--pin", help="Bind rank i to core i, in turn.")] = False,
    launcher: Launcher = None,
    order_seed: Annotated[int | None, typer.Option(help="Random seed of the order of samples (1).")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where results go.")] = None,
    resume: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Continue these results; options are theirs unless given.")
    ] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Measure nothing: print these results.")] = None,
    as_osu: Annotated[bool, typer.Option("--osu", help="Print what the OSU micro-benchmarks print.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure all-to-alls beside those of the host MPI.

    Candidates take turns in random order, several launches each, until medians are known well enough. All samples go
    to one file, for `swapmeet plot`, `swapmeet compare` and your own programs (docs/results.md).
    """
    if not as_osu and (full or percentiles):
        raise SwapmeetError(f"{'-f' if full else '-z'} has no effect without --osu")
    if as_osu and as_json:
        raise SwapmeetError("--osu and --json are two forms of the same: leave one out")
    if resume is not None and output is not None:
        raise SwapmeetError("--resume continues its file: leave --output out")
    with needs_package("bench"):
        from swapmeet.measure.bench import osu, running
        from swapmeet.measure.bench.request import Request
    request = Request(
        specs=specs,
        mpi=mpi,
        ranks=ranks,
        collective=collective,
        sizes=sizes,
        doubling=doubling,
        workloads=workload,
        seeds=seeds,
        datatype=datatype,
        nodes=nodes,
        launches=launches,
        samples=samples,
        least=least,
        most=most,
        precision=precision,
        budget=budget,
        warm_up=warm_up,
        validate=10 if validate else None,
        phases=phases or None,
        limits=limits or None,
        overlap=overlap,
        touch=touch or None,
        pin=pin or None,
        launcher=launcher,
        order_seed=order_seed,
    )
    columns = osu.Columns(full, validate, osu.PERCENTILES if percentiles else ()) if as_osu else None
    if report is not None:
        if not running.report(report, columns, form(as_json)):
            raise typer.Exit(FINDINGS)
        return
    file = resume or output or Path(f"bench-{datetime.datetime.now():%Y%m%d-%H%M%S}.jsonl")
    if not running.measure(request, file, resume is not None, columns, form(as_json)):
        raise typer.Exit(FINDINGS)
