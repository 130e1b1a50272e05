"""The command `swapmeet validate`: its options, and what it prints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from swapmeet.cli import reproduce as reproduce_command
from swapmeet.cli.arguments import AsJson
from swapmeet.errors import SwapmeetError
from swapmeet.output import print_json, tables_console
from swapmeet.tables import right

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from swapmeet.validation.measurements import Measured
    from swapmeet.validation.predicting import Prediction


def validate(
    data: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[DATA]...",
            help="CSV of ours or PICO, text of osu_alltoall, lines of swapmeet bench; or `published`, the default.",
        ),
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="The description of all systems. Default: the one that names each."),
    ] = None,
    fit: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Fit a description to the cells that FILE names, and print it."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FOLDER", help="Write all results and pictures there.")
    ] = None,
    simulated: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="With -o: results of `swapmeet simulate` too; may be repeated."),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="With -o: compute nothing, print the page of the results there.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare models with published measurements.

    Prints for each cell the measured time and those of `swapmeet model` and `--estimate`. Names of algorithms that are
    not known are listed (docs/validation.md).
    """
    try:
        from swapmeet.validation import algorithms, computing, fitting, measurements
        from swapmeet.validation.predicting import ESTIMATE, MODEL
    except ImportError as problem:
        raise SwapmeetError(f"swapmeet validate needs {problem.name}: `pip install 'swapmeet[bench,plot]'`") from None
    if as_json and (output is not None or fit is not None):
        raise SwapmeetError(f"{'-o' if output is not None else '--fit'} has no JSON: leave --json out")
    if output is not None and (data or machine or fit):
        raise SwapmeetError("-o is for what was published: leave DATA, --machine and --fit out")
    if output is None and (markdown or simulated):
        raise SwapmeetError(f"{'--markdown' if markdown else '--simulated'} needs -o FOLDER")
    if markdown and output is not None:
        from swapmeet.validation import page

        print("\n\n".join(page.whole(output, output.name)))
        return
    cells = measurements.read(data) if data else measurements.published()
    for name in algorithms.unknown({one.algorithm for one in cells}):
        print(f'swapmeet: "{name}" is no algorithm that is known, and is not predicted', file=sys.stderr)
    if fit is not None:
        from swapmeet.measure.calibration.description import text

        sys.stdout.write(text(fitting.fit(fit, cells)))
    elif output is not None:
        _write(output, cells, computing.simulated(simulated or (), cells))
    else:
        from swapmeet import machines

        known = computing.predictors(cells, machines.load(machine) if machine else None)
        for system in dict.fromkeys(one.system for one in cells):
            if system not in known:
                print(f"swapmeet: {computing.undescribed(system)}", file=sys.stderr)
        if not known:
            raise SwapmeetError("nothing to predict: no system of the data is described")
        found = [computing.predictions(by, cells, known) for by in (MODEL, ESTIMATE)]
        for line in [line for predictor in known.values() for line in predictor.told()]:
            print(f"swapmeet: {line}", file=sys.stderr)
        if not any(found):
            raise SwapmeetError("nothing to predict: no algorithm that was measured is a point of our family")
        if as_json:
            print_json("validate", predictions=[_record(one) for some in found for one in some], errors=_errors(found))
        else:
            _print(found)


def _record(one: Prediction) -> dict[str, object]:
    cell = one.measured
    where = {"system": cell.system, "nodes": cell.nodes, "ranks": cell.ranks, "algorithm": cell.algorithm}
    times = {"block_bytes": cell.block_bytes, "measured_us": cell.us, "by": one.by, "predicted_us": one.us}
    return where | {"spec": one.spec} | times | {"fitted": one.fitted, "twin": one.twin}


def _errors(found: Sequence[Sequence[Prediction]]) -> list[dict[str, object]]:
    """For each system and way to predict, of cells that are neither fitted nor twins."""
    from swapmeet.validation.judging import errors

    return [{"system": system, "by": held[0].by, **vars(errors(held))} for system, held in _held_out(found)]


def _held_out(found: Sequence[Sequence[Prediction]]) -> Iterator[tuple[str, list[Prediction]]]:
    for some in found:
        for system in dict.fromkeys(one.measured.system for one in some):
            if held := [one for one in some if one.measured.system == system and one.held_out]:
                yield system, held


def _write(folder: Path, cells: Sequence[Measured], simulated: Sequence[Prediction]) -> None:
    reproduce_command.require_source("swapmeet validate -o")
    from swapmeet.draw.plots.style import save
    from swapmeet.validation import computing, drawing, page, rejudging, store

    reproduction = folder.parent / "reproduction"
    if not rejudging.has_results(reproduction):
        raise SwapmeetError(f"{reproduction} has no results: `swapmeet reproduce` makes them")
    rows = computing.everything(cells, reproduction, simulated)
    rows[store.REFITS] = list(computing.refits(cells))
    for kind in store.KINDS:
        store.write(folder, kind, rows[kind])
    for system in dict.fromkeys(row["system"] for row in rows[store.CELLS]):
        some = [row for row in rows[store.CELLS] if row["system"] == system]
        file = folder / page.picture_name(system)
        save(drawing.against(some, f"{page.TITLES.get(system, system)}: predicted over measured"), file, "-o")
    picture = drawing.against(rows[store.SCALE], "512 nodes of Fugaku, described from 8")
    save(picture, folder / page.picture_name("scale"), "-o")
    print(f"{folder}: {sum(map(len, rows.values()))} results; swapmeet validate -o {folder} --markdown makes the page")


def _print(found: Sequence[Sequence[Prediction]]) -> None:
    from swapmeet.units import bytes_text
    from swapmeet.validation.judging import NEAR_FACTOR, errors
    from swapmeet.validation.predicting import ESTIMATE, MODEL

    times = {(*one.measured.cell, one.measured.algorithm, one.by): one for some in found for one in some}
    table = Table(
        "system",
        "nodes",
        "algorithm",
        "spec",
        "block",
        *right("measured (µs)", "model", "x", "estimate", "x", "fitted"),
    )
    for key in dict.fromkeys(key[:-1] for key in times):
        both = [times.get((*key, by)) for by in (MODEL, ESTIMATE)]
        one = next(one for one in both if one)
        cell = one.measured
        where = [cell.system, cell.nodes, cell.algorithm, one.spec, bytes_text(cell.block_bytes), f"{cell.us:,.1f}"]
        numbers = [text for some in both for text in ((f"{some.us:,.1f}", f"{some.ratio:.2f}") if some else ("", ""))]
        table.add_row(*where, *numbers, "yes" if one.fitted else "twin" if one.twin else "")
    tables_console().print(table)
    for system, held in _held_out(found):
        of = errors(held)
        error = f"median error {of.median:.1%}, {of.near:.0%} within a factor of {NEAR_FACTOR}"
        print(
            f"{system}, {held[0].by}: {of.cells} cells neither fitted nor twins, {error}, "
            f"x {of.low:.2f} to {of.high:.2f}"
        )
