"""Results as text, in the form of the OSU micro-benchmarks, which many scripts read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from swapmeet.measure.bench.campaign import WRONG
from swapmeet.measure.bench.cells import Cell, mean_block
from swapmeet.measure.bench.results import Results, Run
from swapmeet.quantiles import interpolated

TITLES = {
    "alltoall": "MPI All-to-All Personalized Exchange Latency Test",
    "alltoallv": "MPI All-to-Allv Personalized Exchange Latency Test",
}
PERCENTILES = (50.0, 90.0, 99.0)
SIZE, NUMBER = 10, 20  #: widths of columns


@dataclass(frozen=True)
class Columns:
    """What is printed beside the average."""

    full: bool = False  #: -f: least and most over ranks, calls
    validation: bool = False  #: -c
    percentiles: tuple[float, ...] = ()  #: -z


def text(results: Results, columns: Columns) -> Iterator[str]:
    """Lines: a table for each MPI, number of ranks, collective and spec; sizes are bytes for each destination.

    Average, Min and Max Latency are means over the calls of the mean, the shortest and the longest time of the ranks,
    in microseconds; percentiles are of the longest times, over samples.
    """
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in results.cells():
        for spec in results.specs(cell):
            key = (cell.mpi, str(cell.ranks), cell.collective, cell.datatype, cell.nodes, spec)
            groups.setdefault(key, []).append(cell)
    yield "# Means of all calls, as OSU's; for medians with intervals leave --osu out."
    for (mpi, ranks, collective, datatype, nodes, spec), cells in groups.items():
        yield f"# OSU-compatible: {TITLES[collective]}"
        placed = f", nodes {nodes}" if nodes else ""
        yield f"# Swapmeet {results.header.get('swapmeet', '')}: {spec}; {mpi}, {ranks} ranks{placed}"
        yield f"# Datatype: {'MPI_CHAR' if datatype == 'byte' else datatype}."
        if any(cell.block_bytes is None for cell in cells):
            yield "# Size is the mean block of a workload."
        yield _head(columns)
        for cell in cells:
            yield _row(cell, results.samples(cell, spec), columns, _wrong(results, cell, spec))
        yield ""


def _head(columns: Columns) -> str:
    words = ["Avg Latency(us)"]
    if columns.full:
        words += ["Min Latency(us)", "Max Latency(us)", "Iterations"]
    if columns.validation:
        words += ["Validation"]
    words += [f"P{share:g} Tail Lat(us)" for share in columns.percentiles]
    return "# Size".ljust(SIZE) + "".join(word.rjust(NUMBER) for word in words)


def _row(cell: Cell, runs: Sequence[Run], columns: Columns, wrong: bool) -> str:
    calls = np.concatenate([run.calls for run in runs])
    times = {name: np.concatenate([getattr(run, name) for run in runs]) for name in ("mean", "shortest", "longest")}
    average, least, most = (1e6 * np.average(times[name], weights=calls) for name in ("mean", "shortest", "longest"))
    words = [f"{average:.2f}"]
    if columns.full:
        words += [f"{least:.2f}", f"{most:.2f}", str(calls.sum())]
    if columns.validation:
        words += ["Fail" if wrong else "Pass"]
    words += [f"{1e6 * interpolated(times['longest'], share / 100)[0]:.2f}" for share in columns.percentiles]
    return str(round(mean_block(cell))).ljust(SIZE) + "".join(word.rjust(NUMBER) for word in words)


def _wrong(results: Results, cell: Cell, spec: str) -> bool:
    return any(p.cell == cell and p.spec == spec and p.message.startswith(WRONG) for p in results.problems)
