"""Exchanges within a node beside the host MPI, and beside what memory and a flag allow: docs/measurements/node.md.

python benchmarks/node.py [FILE]    the page's tables out of results of `swapmeet bench`; the page has its command
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from pathlib import Path

from swapmeet.measure.bench.cells import NATIVE, Cell, size
from swapmeet.measure.bench.machine import measured_on
from swapmeet.measure.bench.reading import read
from swapmeet.measure.bench.records import Results
from swapmeet.measure.bench.statistics import Estimate, geometric_mean, median, ratio
from swapmeet.measure.bench.table import LIMITS, factor
from swapmeet.tables import between, markdown
from swapmeet.units import short_microseconds

FILE = Path(__file__).parents[1] / "docs" / "measurements" / "node.jsonl"
BEGIN, END = (f"<!-- made by `python benchmarks/node.py`: {which} -->" for which in ("begin", "end"))
ROWS, CELLS = "shared-memory", "direct(intra=auto)"
SMALL = 4096  #: bytes of a block that goes through shared memory
COLUMNS = ["MPI", "P", "block", "MPI, µs", "rows, µs", "speed-up (95 %)", "cells, µs"]
COLUMNS += [*(f"{limit}, µs" for limit in LIMITS), "rows over limit"]


def rows(results: Results) -> Iterator[list[str]]:
    """A row for each cell."""
    for cell in results.cells():
        host, ours, other = (results.samples(cell, spec) for spec in (NATIVE, ROWS, CELLS))
        host_s, ours_s, other_s = (median([run.longest for run in runs]).value for runs in (host, ours, other))
        limits = [one.seconds for one in results.limits if one.cell == cell]
        allowed_s = [statistics.median(one[name] for one in limits) for name in LIMITS]
        times = [short_microseconds(1e6 * time_s) for time_s in (host_s, ours_s, other_s, *allowed_s)]
        over = f"{ours_s / max(allowed_s[0], allowed_s[2]):.2f}"  # no exchange can beat memcpy, nor a flag
        yield [cell.mpi, str(cell.ranks), size(cell), *times[:2], factor(ratio(host, ours)), *times[2:], over]


def means(results: Results) -> Iterator[list[str]]:
    """For each MPI and number of ranks: of all blocks, of the small ones, of the others."""
    places: dict[tuple[str, int], list[Cell]] = {}
    for cell in results.cells():
        places.setdefault((cell.mpi, cell.ranks), []).append(cell)
    for (mpi, ranks), cells in places.items():
        groups: tuple[list[Estimate], ...] = ([], [], [])
        for cell in cells:
            faster = ratio(results.samples(cell, NATIVE), results.samples(cell, ROWS))
            for group in (0, 1 if int(cell.sizes) <= SMALL else 2):
                groups[group].append(faster)
        yield [mpi, str(ranks), *(factor(geometric_mean(group)) if group else "" for group in groups)]


def contents(results: Results) -> str:
    """Both tables, and where the numbers come from."""
    head = f"{measured_on(results.header)}. Geometric means of the speed-up of rows over the host MPI:"
    summary = markdown(["MPI", "P", "all blocks", f"up to {SMALL >> 10} KiB", "larger"], means(results))
    return "\n\n".join([head, "\n".join(summary), "\n".join(markdown(COLUMNS, rows(results)))])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=FILE, metavar="FILE")
    path = parser.parse_args().file
    page = path.with_suffix(".md")
    page.write_text(between(page.read_text(), BEGIN, END, f"\n\n{contents(read(path))}\n\n"))


if __name__ == "__main__":
    main()
