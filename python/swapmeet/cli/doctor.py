"""The command `swapmeet doctor`: its options, and the page that it prints."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.table import Table

from swapmeet.cli.arguments import FINDINGS, RANKS, AsJson, Launcher, MpiOfApp
from swapmeet.doctor import kernel, machine, with_mpi
from swapmeet.doctor.finding import NOTE, WRONG, Finding, note, wrong
from swapmeet.errors import SwapmeetError
from swapmeet.mpi import application, launch, mpis
from swapmeet.output import print_json, tables_console


def doctor(
    argv: Annotated[
        list[str] | None, typer.Argument(metavar="[APP]", help="A program to look at, too; its MPI is used.")
    ] = None,
    ranks: Annotated[int, typer.Option(*RANKS, min=2, help="Number of ranks that are launched.")] = 2,
    mpi: MpiOfApp = None,
    launcher: Launcher = None,
    as_json: AsJson = False,
) -> None:
    """Check whether Swapmeet works here, and what prevents it.

    Looks at the machine, the MPI and the variables, and launches two ranks to see what serves their all-to-alls. Exit
    status 1: something keeps the library from working.
    """
    if argv:
        launch.require_program(argv[0])
    if mpi is not None:
        mpis.find(mpi)
    found = list(_all(argv or [], ranks, mpi, launcher))
    problems = [finding.matter for finding in found if finding.state == WRONG]
    if as_json:
        rows = [{**vars(finding), "state": finding.state.lower()} for finding in found]
        print_json("doctor", works=not problems, findings=rows)
        if problems:
            raise typer.Exit(FINDINGS)
        return
    tables_console().print(page(found))
    if problems:
        print("Swapmeet does not work here:", ", ".join(problems))
        raise typer.Exit(FINDINGS)
    notes = ", ".join(dict.fromkeys(finding.matter for finding in found if finding.state == NOTE))
    print(f"Swapmeet works here{notes and f'; see the notes on: {notes}'}.")
    options = [*(["--mpi", mpi] if mpi else []), *(["--launcher", launcher] if launcher else [])]
    words = shlex.join(["run", "-n", str(ranks), *options, "--stats", "-", "--", *(argv or ["APP"])])
    print(f"Next: swapmeet {words}")


def page(found: list[Finding]) -> Table:
    """A row for each matter, with a hint below where there is one."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in found:
        table.add_row(finding.state, finding.matter, finding.what)
        if finding.hint:
            table.add_row("", "", f"-> {finding.hint}")
    return table


def _all(argv: list[str], ranks: int, mpi: str | None, launcher: str | None) -> Iterator[Finding]:
    yield from machine.findings(kernel.permissions())
    if argv and application.used(argv) is None:
        yield note(
            "program",
            f"{argv[0]} loads no MPI that can be seen: it is a script, a static program, or none of MPI",
            "`swapmeet run --stats - -- APP` reports whether its all-to-alls are served; link a static one with the "
            "library (docs/api.md)",
        )
    for problem in mpis.found()[1]:
        yield note("MPI", f"not usable: {problem}", "only if it is the one that you want")
    try:
        target = application.choose_mpi(argv, mpi)
    except SwapmeetError as problem:
        yield wrong("MPI", str(problem), "`swapmeet info` lists the MPIs that were found")
        return
    yield from with_mpi.findings(target, ranks, launcher)
