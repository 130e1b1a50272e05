"""Tables of speed-ups, in Markdown, for direct.md, bruck.md and varying.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from swapmeet.structs import read_lines
from swapmeet.tables import between, markdown

DOCS = Path(__file__).parents[2] / "docs" / "measurements"
FILE = DOCS / "beside.jsonl"
BEGIN, END = "<!-- made by `python benchmarks/beside page`: begin -->\n", "<!-- end -->\n"
SMALL, LARGE = 512, 32768  #: bytes: blocks up to the one, from the other on
RESAMPLES = 10000
Interval = tuple[float, float, float]  #: value, low and high


@dataclass(frozen=True)
class Cell:
    """One spec on blocks of one size, beside a base: a loop, or the host MPI."""

    page: str
    mpi: str  #: kind and version
    ranks: int
    spec: str
    size: str  #: bytes of a block, or a workload
    speedup: Interval  #: the base's time over that of the spec, with a 95 % interval
    base_us: float | None  #: median; None: not kept

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Cell:
        """A line of the file: with all samples, or with the speed-up where these were not kept."""
        base, where = line["base_us"], (line["page"], line["mpi"], line["ranks"], line["spec"], line["size"])
        low = line["speedup"] if "speedup" in line else ratio_of_medians(base, line["ours_us"])
        return cls(*where, tuple(low), float(np.median(base)) if base else None)

    @property
    def bytes(self) -> int:
        """Of a block; 0 of a workload."""
        return int(self.size) if self.size.isdecimal() else 0


def ratio_of_medians(above: Sequence[float], below: Sequence[float]) -> Interval:
    """The ratio and its 95 % bootstrap interval (percentiles), of samples of one launch."""
    random = np.random.default_rng(1)
    both = [np.array(samples) for samples in (above, below)]
    medians = [np.median(random.choice(samples, (RESAMPLES, samples.size)), axis=1) for samples in both]
    low, high = np.percentile(medians[0] / medians[1], [2.5, 97.5])
    return float(np.median(both[0]) / np.median(both[1])), float(low), float(high)


def read(file: Path) -> list[Cell]:
    """All cells, each once: as the last line of it says."""
    cells = [Cell.of(line) for line in read_lines(file)]
    return list({(cell.page, cell.mpi, cell.ranks, cell.spec, cell.size): cell for cell in cells}.values())


def number(value: float) -> str:
    """Two decimals, or two digits of what is small."""
    return f"{value:.2f}" if value >= 0.095 else f"{value:.2g}"


def interval(of: Interval) -> str:
    """As in 1.02 (0.98-1.06)."""
    value, low, high = map(number, of)
    return f"{value} ({low}-{high})"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(markdown(heads, rows)) + "\n"


def by_size(cells: Sequence[Cell]) -> str:
    """A row for each MPI, number of ranks and spec; a column for each size."""
    sizes = sorted({cell.bytes for cell in cells})
    rows: dict[tuple[str, int, str], dict[int, str]] = {}
    for cell in cells:
        rows.setdefault((cell.mpi, cell.ranks, cell.spec), {})[cell.bytes] = interval(cell.speedup)
    body = [
        [name, str(ranks), spec, *(row.get(size, "") for size in sizes)] for (name, ranks, spec), row in rows.items()
    ]
    return _table(["MPI", "P", "algorithm", *(f"{size} B" for size in sizes)], body)


def medians(cells: Sequence[Cell], groups: Mapping[str, Callable[[Cell], bool]]) -> str:
    """The median speed-up of each group of cells, for each number of ranks."""
    ranks = sorted({cell.ranks for cell in cells})
    rows = []
    for name, wanted in groups.items():
        found = {p: [cell.speedup[0] for cell in cells if cell.ranks == p and wanted(cell)] for p in ranks}
        rows.append([name, *(number(median(some)) if some else "" for some in found.values())])
    least = min(cells, key=lambda cell: cell.speedup[0])
    where = f"{least.mpi}, P = {least.ranks}, `{least.spec}`, {least.size} B"
    text = _table(["median speed-up", *(f"P = {p}" for p in ranks)], rows)
    return f"{text}\nOf all {len(cells)} cells: {number(median(cell.speedup[0] for cell in cells))}; the least is " + (
        f"{number(least.speedup[0])} ({where}).\n"
    )


def by_workload(cells: Sequence[Cell]) -> str:
    """For each number of ranks a row for each workload and a column for each spec."""
    parts = []
    for ranks in sorted({cell.ranks for cell in cells}):
        here = [cell for cell in cells if cell.ranks == ranks]
        specs = list(dict.fromkeys(cell.spec for cell in here))
        rows: dict[str, dict[str, Cell]] = {}
        for cell in here:
            rows.setdefault(cell.size, {})[cell.spec] = cell
        body = []
        for workload, row in rows.items():
            base = next((f"{cell.base_us:.0f}" for cell in row.values() if cell.base_us is not None), "")
            body.append([workload, base, *(interval(row[spec].speedup) if spec in row else "" for spec in specs)])
        heads = ["workload", "`native`, µs", *(f"`{spec}`" for spec in specs)]
        parts.append(f"## P = {ranks}\n\n{_table(heads, body)}")
    return "\n".join(parts)


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


def contents(page: str, cells: Sequence[Cell]) -> str:
    """The tables of a page."""
    if page == "varying":
        return by_workload(cells)
    return medians(cells, {"direct": DIRECT, "bruck": BRUCK}[page]) + "\n" + by_size(cells)


def documents(file: Path) -> Iterator[tuple[Path, str]]:
    """Each page, with its tables made anew.

    Raises
    ------
    SwapmeetError
        If one has no place for tables.
    """
    cells = read(file)
    for page in dict.fromkeys(cell.page for cell in cells):
        path = DOCS / f"{page}.md"
        yield path, between(path.read_text(), BEGIN, END, contents(page, [cell for cell in cells if cell.page == page]))


def write(file: Path) -> None:
    """Write the pages."""
    for path, text in list(documents(file)):
        path.write_text(text)
