"""The command `swapmeet profile`: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swapmeet.cli.arguments import RANKS, AsJson, Launcher, MpiOfApp
from swapmeet.errors import SwapmeetError
from swapmeet.mpi import mpis
from swapmeet.output import form


def profile(
    argv: Annotated[
        list[str] | None, typer.Argument(metavar="[APP [ARGS]...]", help="The program, behind `--`.")
    ] = None,
    ranks: Annotated[int | None, typer.Option(*RANKS, min=1, help="Number of ranks.")] = None,
    mpi: MpiOfApp = None,
    launcher: Launcher = None,
    recorded: Annotated[
        list[str] | None,
        typer.Option("--from", metavar="FILE", help="Instead of running APP: what SWAPMEET_RECORD wrote, or a folder."),
    ] = None,
    candidates: Annotated[
        list[str] | None,
        typer.Option(
            "--candidates", metavar="SPEC", help="Specs for the replay, as in 'radix(r=2:P)'; may be repeated."
        ),
    ] = None,
    budget: Annotated[str, typer.Option(metavar="TIME", help="For the replay, as in 90s, 15m or 2h.")] = "60s",
    no_replay: Annotated[bool, typer.Option("--no-replay", help="Only what the application does.")] = False,
    keep: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep the recording and the samples of the replay there.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write all as JSON.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show an application's all-to-alls, and the possible gain.

    The application runs once, with the all-to-alls of its MPI. Those that cost most are then replayed by candidates.
    """
    try:
        from swapmeet.measure.bench.candidates import require_candidates
        from swapmeet.measure.profiling import running
        from swapmeet.measure.profiling.replay import CANDIDATES
        from swapmeet.units import parse_duration
    except ImportError as problem:
        raise SwapmeetError(f"swapmeet profile needs {problem.name}: `pip install 'swapmeet[bench]'`") from None
    patterns = tuple(candidates or CANDIDATES)
    require_candidates(patterns)
    budget_s = parse_duration(budget, "--budget")
    target = None if mpi is None else mpis.find(mpi)
    wanted = None if no_replay else running.Wanted(target, patterns, budget_s, launcher)
    program = running.Program(argv or [], ranks, mpi, launcher)
    status = running.profile(program, recorded or [], wanted, keep, output, form(as_json))
    if status:
        raise typer.Exit(status)
