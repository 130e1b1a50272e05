"""The command `swapmeet regret`: its options, and its table."""

from __future__ import annotations

import csv
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from swapmeet.arguments import tables_console
from swapmeet.errors import SwapmeetError

if TYPE_CHECKING:
    from swapmeet.tuning.held_out import Loss


def regret(
    files: Annotated[list[Path], typer.Argument(metavar="RESULTS...", help="Of `swapmeet bench` or `simulate`.")],
    mpi: Annotated[str | None, typer.Option(help='As the results say, as in "openmpi 5.0.11". Default: each.')] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Each choice in each cell.")] = False,
) -> None:
    """Show what choices lose against the fastest of all that was measured, those of `swapmeet tune` in cells held out.

    Beside them what the library does without a file, the papers' rules, and the MPIs' own choices (docs/tuning.md).
    """
    try:
        from swapmeet.bench.reading import read
        from swapmeet.tuning import held_out
    except ImportError as problem:
        raise SwapmeetError(f"swapmeet regret needs {problem.name}: `pip install 'swapmeet[bench]'`") from None
    results = [read(path) for path in dict.fromkeys(path.resolve() for path in files)]
    known = sorted({cell.mpi for one in results for cell in one.cells() if cell.collective == "alltoall"})
    if mpi is not None and mpi not in known:
        raise SwapmeetError(f'--mpi "{mpi}": measured are {", ".join(known) or "no all-to-alls"}')
    found = {name: held_out.losses(results, name) for name in ([mpi] if mpi else known)}
    if not any(found.values()):
        raise SwapmeetError("nothing to choose: no MPI_Alltoall was measured by native and by another spec")
    if as_csv:
        writer = csv.writer(sys.stdout)
        writer.writerow(["mpi", "choice", "ranks", "nodes", "bytes", "takes", "fastest", "regret", "surely"])
        for name, losses in found.items():
            for loss in losses:
                cell = loss.cell
                where = [cell.ranks, cell.nodes, cell.sizes]
                writer.writerow([name, loss.choice, *where, loss.spec, loss.fastest, loss.regret, loss.surely])
        return
    for name, losses in found.items():
        tables_console().print(table(name, losses))


def table(mpi: str, losses: Sequence[Loss]) -> Table:
    """A row for each choice."""
    from swapmeet.tuning.held_out import NEAR

    shown = Table(title=f"{mpi}: time lost against the fastest", title_justify="left")
    shown.add_column("choice")
    near = f"within {NEAR:.0%}"
    for column in ("cells", "mean", "median", "90 %", "99 %", "worst", near, f"surely not {near}"):
        shown.add_column(column, justify="right")
    for choice in dict.fromkeys(loss.choice for loss in losses):
        some = [loss for loss in losses if loss.choice == choice]
        regrets = sorted(loss.regret for loss in some)
        shares = [regrets[min(len(regrets) - 1, int(share * len(regrets)))] for share in (0.9, 0.99)]
        numbers = [statistics.fmean(regrets), statistics.median(regrets), *shares, regrets[-1]]
        share = sum(value <= NEAR for value in regrets) / len(regrets)
        surely = sum(loss.surely > NEAR for loss in some) / len(some)
        shown.add_row(choice, str(len(some)), *(f"{value:.1%}" for value in numbers), f"{share:.0%}", f"{surely:.0%}")
    return shown
