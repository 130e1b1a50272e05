"""What direct.md, bruck.md and varying.md show: speed-ups over a hand-written loop, or over the host MPI.

Each page's data are a results file of the form of `swapmeet bench` (docs/results.md) beside it. Of a hand-written loop
the spec is LOOP with its argument, as in "loop pairwise".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from swapmeet.measure.bench.cells import NATIVE
from swapmeet.measure.bench.reading import read
from swapmeet.measure.bench.records import Results
from swapmeet.measure.bench.statistics import Estimate, median, ratio

DOCS = Path(__file__).parents[2] / "docs" / "measurements"
PAGES = ("direct", "bruck", "varying")
LOOP = "loop "


@dataclass(frozen=True)
class Cell:
    """One spec on blocks of one size, beside its base."""

    mpi: str  #: kind and version
    ranks: int
    size: str  #: bytes of a block, or a workload
    spec: str
    speedup: Estimate  #: over the base
    base_s: float  #: median time of a call

    @property
    def bytes(self) -> int:
        """Of a block; 0 of a workload."""
        return int(self.size) if self.size.isdecimal() else 0


@dataclass(frozen=True)
class Page:
    """The data of a page."""

    cells: list[Cell]
    processor: str
    cores: int
    created: str  #: a date
    commit: str
    launches: str

    @property
    def mpis(self) -> list[str]:
        """Kind and version of each."""
        return list(dict.fromkeys(cell.mpi for cell in self.cells))

    @property
    def about(self) -> str:
        """Where the numbers come from."""
        mpis = " and ".join(map(mpi_name, self.mpis))
        return f"{self.processor}, {self.cores} cores; {self.created}, commit {self.commit}; {mpis}; {self.launches}."


def mpi_name(mpi: str) -> str:
    """As in Open MPI 5.0.11."""
    return mpi.replace("openmpi", "Open MPI").replace("mpich", "MPICH")


def load(page: str, folder: Path = DOCS) -> Page:
    """The data of a page: measured anew, or as they were kept.

    Raises
    ------
    SwapmeetError
        If the file cannot be read.
    """
    file = folder / f"{page}.jsonl"
    results = read(file)
    machine, blocks = results.header["machine"], len({launch.block for launch in results.launches})
    return Page(
        list(cells(results)),
        machine["processor"],
        machine["cores"],
        results.header["created"][:10],
        results.header["commit"],
        f"{len(results.launches)} launches in {blocks} turns",
    )


def cells(results: Results) -> Iterator[Cell]:
    """Each spec beside the loop of its launches, or beside the host MPI."""
    for cell in results.cells():
        specs = results.specs(cell)
        bases = {spec for spec in specs if spec == NATIVE or spec.startswith(LOOP)}
        theirs = [run for spec in bases for run in results.samples(cell, spec)]
        for spec in specs:
            ours = results.samples(cell, spec)
            beside = [run for run in theirs if run.launch in {other.launch for other in ours}]
            if spec not in bases and beside:
                base = median([run.longest for run in beside]).value
                yield Cell(cell.mpi, cell.ranks, cell.sizes, spec, ratio(beside, ours), base)
