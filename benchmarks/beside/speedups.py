"""Tables of speed-ups, in Markdown, for direct.md, bruck.md and varying.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

import measured
from measured import Cell, Page

from swapmeet.measure.bench.statistics import Estimate
from swapmeet.tables import between, markdown
from swapmeet.units import bytes_text, short_microseconds

BEGIN, END = "<!-- made by `python benchmarks/beside page`: begin -->\n", "<!-- end -->\n"
SMALL, LARGE = 512, 32768  #: bytes: blocks up to the one, from the other on
AHEAD, COMBINED = "two-phase-bruck", "two-phase-bruck(sizes=combined)"


def number(value: float) -> str:
    """Two decimals, or two digits of what is small."""
    return f"{value:.2f}" if value >= 0.095 else f"{value:.2g}"


def interval(of: Estimate) -> str:
    """As in 1.02 (0.98-1.06)."""
    return f"{number(of.value)} ({number(of.low)}-{number(of.high)})"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(markdown(heads, rows)) + "\n"


def by_size(cells: Sequence[Cell]) -> str:
    """A row for each MPI, number of ranks and spec; a column for each size."""
    sizes = sorted({cell.bytes for cell in cells})
    rows: dict[tuple[str, int, str], dict[int, str]] = {}
    for cell in sorted(cells, key=lambda cell: (cell.mpi, cell.ranks)):
        rows.setdefault((cell.mpi, cell.ranks, cell.spec), {})[cell.bytes] = interval(cell.speedup)
    body = [
        [name, str(ranks), spec, *(row.get(size, "") for size in sizes)] for (name, ranks, spec), row in rows.items()
    ]
    return _table(["MPI", "P", "algorithm", *map(bytes_text, sizes)], body)


def medians(cells: Sequence[Cell], groups: Mapping[str, Callable[[Cell], bool]]) -> str:
    """The median speed-up of each group of cells, for each number of ranks."""
    ranks = sorted({cell.ranks for cell in cells})
    rows = []
    for name, wanted in groups.items():
        found = {p: [cell.speedup.value for cell in cells if cell.ranks == p and wanted(cell)] for p in ranks}
        rows.append([name, *(number(median(some)) if some else "" for some in found.values())])
    least = min(cells, key=lambda cell: cell.speedup.value)
    where = f"{least.mpi}, P = {least.ranks}, `{least.spec}`, {bytes_text(least.bytes)}"
    text = _table(["median speed-up", *(f"P = {p}" for p in ranks)], rows)
    middle = number(median(cell.speedup.value for cell in cells))
    return f"{text}\nOf all {len(cells)} cells: {middle}; the least is {number(least.speedup.value)} ({where}).\n"


def by_workload(cells: Sequence[Cell]) -> Iterator[str]:
    """For each MPI and number of ranks a row for each workload and a column for each spec."""
    for mpi, ranks in sorted({(cell.mpi, cell.ranks) for cell in cells}):
        here = [cell for cell in cells if (cell.mpi, cell.ranks) == (mpi, ranks)]
        specs = list(dict.fromkeys(cell.spec for cell in here))
        rows: dict[str, dict[str, Cell]] = {}
        for cell in here:
            rows.setdefault(cell.size, {})[cell.spec] = cell
        body = []
        for workload, row in rows.items():
            base_s = next(iter(row.values())).base_s
            speedups = (interval(row[spec].speedup) if spec in row else "" for spec in specs)
            body.append([workload, short_microseconds(1e6 * base_s), *speedups])
        heads = ["workload", "`native`, µs", *(f"`{spec}`" for spec in specs)]
        yield f"## P = {ranks}, {measured.mpi_name(mpi)}\n\n{_table(heads, body)}"


def sizes_combined(cells: Sequence[Cell]) -> str:
    """How often sizes that travel with the data are faster than those ahead of them."""
    by: dict[tuple[str, int, str], dict[str, float]] = {}
    for cell in cells:
        by.setdefault((cell.mpi, cell.ranks, cell.size), {})[cell.spec] = cell.speedup.value
    rows = [of for of in by.values() if {AHEAD, COMBINED} <= of.keys()]
    won = sum(of[COMBINED] > of[AHEAD] for of in rows)
    return f"`{COMBINED}` is faster than `{AHEAD}`, whose sizes travel ahead, in {won} of {len(rows)} cells.\n"


DIRECT: dict[str, Callable[[Cell], bool]] = {
    "all sizes": lambda cell: True,
    "up to 512 B": lambda cell: cell.bytes <= SMALL,
}
BRUCK: dict[str, Callable[[Cell], bool]] = {
    "one message at a time, as in the loop": lambda cell: "window" not in cell.spec and "layout" not in cell.spec,
    "the same, up to 512 B": lambda cell: BRUCK["one message at a time, as in the loop"](cell) and cell.bytes <= SMALL,
    "all messages of a digit in flight (`window=all`)": lambda cell: (
        "r=2" not in cell.spec and "window=all" in cell.spec and "layout" not in cell.spec
    ),
    "the same, radix P": lambda cell: (
        "r=2" not in cell.spec and f"r={cell.ranks},window=all" in cell.spec and "layout" not in cell.spec
    ),
    "`layout=zero-rotation`, from 32 KiB on": lambda cell: "layout" in cell.spec and cell.bytes >= LARGE,
}


def contents(name: str, page: Page) -> str:
    """Where the numbers come from, and the tables."""
    if name == "varying":
        tables = [*by_workload(page.cells), sizes_combined(page.cells)]
    else:
        tables = [medians(page.cells, {"direct": DIRECT, "bruck": BRUCK}[name]), by_size(page.cells)]
    return "\n".join([f"{page.about}\n", *tables])


def documents(folder: Path = measured.DOCS) -> Iterator[tuple[Path, str]]:
    """Each page, with its tables made anew.

    Raises
    ------
    SwapmeetError
        If one has no place for tables, or its data cannot be read.
    """
    for name in measured.PAGES:
        path = folder / f"{name}.md"
        yield path, between(path.read_text(), BEGIN, END, contents(name, measured.load(name, folder)))


def write() -> None:
    """Write the pages."""
    for path, text in list(documents()):
        path.write_text(text)
