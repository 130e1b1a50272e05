"""The command `swapmeet simulate`: its options."""

from __future__ import annotations

import datetime
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from swapmeet import machines
from swapmeet.cli.arguments import FINDINGS, RANKS, AsJson
from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.candidates import AUTO
from swapmeet.output import JSON, form, print_records, tables_console
from swapmeet.simulate import peers
from swapmeet.units import parse_duration

SIZES = "8,64,512,4KiB"


def simulate(
    specs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SPEC]... [-- APP ARGS...]",
            help="As of swapmeet bench; and native:mpich, native:bruck and others. Behind --: a program instead.",
        ),
    ] = None,
    platform: Annotated[
        str,
        typer.Option(
            "--machine", metavar="NAME|FILE,...", help="Machines with a network: names or files, as in theta,polaris."
        ),
    ] = "cluster",
    ranks: Annotated[str, typer.Option(*RANKS, metavar="RANKS", help="Numbers of ranks, as in 64,512.")] = "64",
    network: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Another network, as in 'slim-fly(q=7,hosts=5)' (docs/networks.md)."),
    ] = None,
    per_node: Annotated[
        int | None, typer.Option("-Q", "--ranks-per-node", min=1, help="Default: the machine's.")
    ] = None,
    collective: Annotated[str | None, typer.Option(help="alltoall, alltoallv or both: alltoall,alltoallv.")] = None,
    sizes: Annotated[str | None, typer.Option("-S", "--sizes", help=f"Bytes of a block ({SIZES}).")] = None,
    workload: Annotated[
        list[str] | None, typer.Option(help="Sizes of an Alltoallv, as in uniform:max=1KiB; may be repeated.")
    ] = None,
    seeds: Annotated[
        str | None, typer.Option("--seed", metavar="N,...", help="Random seeds of the workloads, as in 0,1,2.")
    ] = None,
    datatype: Annotated[str | None, typer.Option(help="byte, double, strided (with gaps), or some of them.")] = None,
    native: Annotated[
        str, typer.Option(help=f"The MPI that native stands for: {', '.join(peers.SELECTORS)}.")
    ] = "mpich",
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", min=1, help="Simulations side by side. Default: the cores.")
    ] = None,
    limit: Annotated[
        str, typer.Option("--time-limit", metavar="TIME", help="For each simulation: 90s, 15m, 2h.")
    ] = "30m",
    budget: Annotated[
        str, typer.Option(metavar="TIME", help="Refuse what is estimated to take longer in all.")
    ] = "12h",
    jitter: Annotated[
        float,
        typer.Option(
            min=0, max=1_000_000_000, metavar="US", help="Ranks begin up to this many microseconds late, at random."
        ),
    ] = 0,
    tuning: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Rules that the automatic choice follows (docs/tuning.md).")
    ] = None,
    score: Annotated[
        bool, typer.Option("--scoreboard", help="The automatic choice against the best of what four MPIs choose.")
    ] = False,
    estimated: Annotated[
        bool,
        typer.Option(
            "--estimate", help="Do not simulate: estimate, up to 32768 ranks, without SimGrid (docs/estimates.md)."
        ),
    ] = False,
    against: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Print how far estimates are off the simulations in FILE; may be repeated."),
    ] = None,
    dry: Annotated[
        bool, typer.Option("--dry-run", help="Only print what would be simulated, and what that takes.")
    ] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where results go.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run Swapmeet and MPIs' algorithms on simulated machines.

    Results are those of `swapmeet bench`, but the same every time. What has been simulated once is remembered
    (docs/simulation.md).
    """
    if dry and as_json:
        raise SwapmeetError("--dry-run has no results: leave --json out")
    if native not in peers.SELECTORS:
        raise SwapmeetError(f'--native "{native}": expected {", ".join(peers.SELECTORS)}')
    application = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    if "--" in sys.argv and not application:
        raise SwapmeetError("nothing behind --: give a program, or leave it out")
    patterns = (specs or [])[: len(specs or []) - len(application)] or [AUTO]
    if tuning and AUTO not in patterns and not score:
        raise SwapmeetError(f"--tuning {tuning} is for the automatic choice: give {AUTO} among the SPECs")
    if score:
        patterns = list(dict.fromkeys([*scoreboard_specs(), *patterns]))
    for spec in patterns:
        if spec.startswith(peers.PREFIX):
            peers.require_peer(spec)
    try:
        from swapmeet.simulate import running
    except ImportError as problem:
        raise SwapmeetError(f"swapmeet simulate needs {problem.name}: `pip install 'swapmeet[bench]'`") from None
    if against:
        _require_nothing_else(specs, estimated, score)
        _compare(against, as_json)
        return
    chosen = running.Chosen(
        platform=platform,
        ranks=ranks,
        network=network,
        per_node=per_node,
        native=native,
        jobs=jobs or len(os.sched_getaffinity(0)),
        limit_s=parse_duration(limit, "--time-limit"),
        budget_s=parse_duration(budget, "--budget"),
        jitter_us=jitter,
        tuning=tuning,
    )
    if estimated and (application or score or AUTO in patterns):
        wrong = "a program" if application else "--scoreboard" if score else "the automatic choice"
        raise SwapmeetError(f"--estimate: {wrong} can only be simulated; give other SPECs")
    if application:
        running.application(chosen, application, patterns, form(as_json))
        return
    exchanges = running.exchanges(collective, sizes or (None if workload else SIZES), workload, seeds, datatype)
    file = output or Path(f"simulated-{platform_stem(platform)}-{datetime.datetime.now():%Y%m%d-%H%M%S}.jsonl")
    if not running.measure(chosen, patterns, exchanges, None if dry else file, score, estimated, form(as_json)):
        raise typer.Exit(FINDINGS)


def _require_nothing_else(specs: list[str] | None, estimated: bool, score: bool) -> None:
    if specs or estimated or score:
        raise SwapmeetError("--against FILE: what is estimated, and on what, is what FILE has: give nothing else")


def _compare(files: list[Path], as_json: bool) -> None:
    from swapmeet.simulate import deviation

    found = deviation.deviations(files)
    if as_json:
        print_records("simulate", deviation.records(found), JSON)
    else:
        tables_console().print(*deviation.tables(found), sep="\n")


def scoreboard_specs() -> list[str]:
    """What a scoreboard compares."""
    return [AUTO, *(peers.PREFIX + name for name in peers.SELECTORS)]


def platform_stem(name: str) -> str:
    """Of platforms' names or files, for the names of files."""
    return "-".join(word if word in machines.names() else Path(word).stem for word in name.split(","))
