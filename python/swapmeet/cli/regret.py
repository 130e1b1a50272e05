"""The command `swapmeet regret`: its options, and its table."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from swapmeet import output
from swapmeet.cli.arguments import AsJson
from swapmeet.errors import SwapmeetError
from swapmeet.output import TABLE, tables_console
from swapmeet.quantiles import quantile
from swapmeet.tables import right
from swapmeet.units import bytes_text

if TYPE_CHECKING:
    from swapmeet.choose.held_out import Loss
    from swapmeet.validation import judging


def regret(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[RESULTS]...", help="Files of `swapmeet bench` or `simulate`.")
    ] = None,
    mpi: Annotated[str | None, typer.Option(help='As named in the results: "openmpi 5.0.11". Default: each.')] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print each choice in each cell as CSV.")] = False,
    data: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Instead of RESULTS: published measurements, as `swapmeet validate` reads them; `published` for those "
            "that come with it. May be repeated.",
        ),
    ] = None,
    machine: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="With --data: the description of the systems in it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what choices lose against the fastest measured.

    Those of `swapmeet tune` in cells held out. Beside them what the library does without a file, the papers' rules,
    and the MPIs' own choices (docs/tuning.md).
    """
    form = output.form(as_json, as_csv)
    if bool(files) == bool(data):
        raise SwapmeetError("give either RESULTS or --data FILE")
    if machine and not data:
        raise SwapmeetError("--machine is for --data: RESULTS need no description")
    try:
        from swapmeet.choose import held_out
        from swapmeet.measure.bench.reading import read
    except ImportError as problem:
        raise SwapmeetError(f"swapmeet regret needs {problem.name}: `pip install 'swapmeet[bench]'`") from None
    if data:
        if mpi is not None:
            raise SwapmeetError("--mpi is for RESULTS: published measurements do not name their MPI")
        _regret_of_data(data, machine, form)
        return
    results = [read(path) for path in dict.fromkeys(path.resolve() for path in files or ())]
    known = sorted({cell.mpi for one in results for cell in one.cells() if cell.collective == "alltoall"})
    if mpi is not None and mpi not in known:
        raise SwapmeetError(f'--mpi "{mpi}": measured are {", ".join(known) or "no all-to-alls"}')
    found = {name: held_out.losses(results, name) for name in ([mpi] if mpi else known)}
    if not any(found.values()):
        raise SwapmeetError("nothing to choose: no MPI_Alltoall was measured by native and by another spec")
    if form != TABLE:
        rows = ({"mpi": name} | _record(loss) for name, losses in found.items() for loss in losses)
        output.print_records("regret", rows, form)
        return
    for name, losses in found.items():
        tables_console().print(table(name, losses))


def _record(loss: Loss) -> dict[str, object]:
    """For other programs; the regret is a share of the time of the fastest."""
    cell = loss.cell
    return {
        "choice": loss.choice,
        "ranks": cell.ranks,
        "nodes": cell.nodes,
        "bytes": cell.block_bytes,
        "takes": loss.spec,
        "fastest": loss.fastest,
        "regret": loss.regret,
        "surely": loss.surely,
    }


def _regret_of_data(data: Sequence[Path], machine: str | None, form: str) -> None:
    from swapmeet import machines
    from swapmeet.validation import algorithms, computing, judging, measurements

    cells = measurements.read(data)
    unknown = algorithms.unknown({one.algorithm for one in cells})
    if unknown:
        print(f"swapmeet: not known, so never chosen: {', '.join(unknown)}", file=sys.stderr)
    given = machines.load(machine) if machine else None
    systems = dict.fromkeys(one.system for one in cells)
    known = computing.predictors(cells, given)
    for system in systems:
        if system not in known:
            print(f"swapmeet: {computing.undescribed(system)}", file=sys.stderr)
    losses = computing.choices(cells, known)
    for line in [line for predictor in known.values() for line in predictor.told()]:
        print(f"swapmeet: {line}", file=sys.stderr)
    if not losses:
        raise SwapmeetError("nothing to choose: no cell has an algorithm that any choice takes")
    if form != TABLE:
        output.print_records("regret", map(_record_of_data, losses), form)
        return
    common = judging.in_common(losses)
    for system in systems:
        some = [loss for loss in losses if loss.cell[0] == system]
        same = [loss for loss in common if loss.cell[0] == system]
        many = len({loss.cell for loss in same})
        print(f"{system}: every choice was judged in {many} cells; by quartiles: at best and at worst")
        if same:
            tables_console().print(_table_of_data(f"{system}: time lost in the same {many} cells", same))
        tables_console().print(_table_of_data(f"{system}: time lost in all cells of each", some))


def _record_of_data(loss: judging.Loss) -> dict[str, object]:
    system, nodes, ranks, size = loss.cell
    where = {"choice": loss.choice, "system": system, "nodes": nodes, "ranks": ranks, "bytes": size}
    regrets = {"regret": loss.regret, "low": loss.low, "high": loss.high, "surely": loss.surely}
    return where | {"takes": loss.takes, "fastest": loss.fastest} | regrets


def _table_of_data(title: str, losses: Sequence[judging.Loss]) -> Table:
    """A row for each choice, over its cells."""
    title += ", against the fastest that was measured"
    columns = ("cells", "mean", "by quartiles", "median", "90 %", "surely", "worst", "where")
    shown = Table("choice", *right(*columns), title=title, title_justify="left")
    for choice in dict.fromkeys(loss.choice for loss in losses):
        found = sorted((loss for loss in losses if loss.choice == choice), key=lambda loss: loss.regret)
        regrets = [loss.regret for loss in found]
        bounds = [statistics.fmean(getattr(loss, key) for loss in found) for key in ("low", "high")]
        surely = "" if found[0].surely is None else str(sum(bool(loss.surely) for loss in found))
        _, nodes, _, size = found[-1].cell
        shown.add_row(
            choice,
            str(len(found)),
            f"{statistics.fmean(regrets):.1%}",
            f"{bounds[0]:.1%} to {bounds[1]:.1%}",
            f"{statistics.median(regrets):.1%}",
            f"{quantile(regrets, 0.9):.1%}",
            surely,
            f"{regrets[-1]:.1%}",
            f"{nodes} nodes, {bytes_text(size)}",
        )
    return shown


def table(mpi: str, losses: Sequence[Loss]) -> Table:
    """A row for each choice."""
    from swapmeet.choose.held_out import NEAR

    near = f"within {NEAR:.0%}"
    columns = ("cells", "mean", "median", "90 %", "99 %", "worst", near, f"surely not {near}")
    shown = Table("choice", *right(*columns), title=f"{mpi}: time lost against the fastest", title_justify="left")
    for choice in dict.fromkeys(loss.choice for loss in losses):
        some = [loss for loss in losses if loss.choice == choice]
        regrets = sorted(loss.regret for loss in some)
        shares = [quantile(regrets, share) for share in (0.9, 0.99)]
        numbers = [statistics.fmean(regrets), statistics.median(regrets), *shares, regrets[-1]]
        share = sum(value <= NEAR for value in regrets) / len(regrets)
        surely = sum(loss.surely > NEAR for loss in some) / len(some)
        shown.add_row(choice, str(len(some)), *(f"{value:.1%}" for value in numbers), f"{share:.0%}", f"{surely:.0%}")
    return shown
