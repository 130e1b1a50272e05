"""How far estimates are off what was simulated: `swapmeet simulate --against FILE`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from rich.table import Table

from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.candidates import AUTO
from swapmeet.measure.bench.cells import Cell, place, size
from swapmeet.measure.bench.results import read
from swapmeet.simulate import peers
from swapmeet.simulate.expecting import Estimator
from swapmeet.simulate.job import Job
from swapmeet.simulate.platform import Platform, platform
from swapmeet.tables import right

LABEL = re.compile(r"(?P<machine>\S+)(?: (?P<topology>.+))? \(SimGrid [^()]*\)")


@dataclass(frozen=True)
class Deviation:
    """Of one spec in one cell. Times in seconds."""

    cell: Cell
    spec: str
    simulated: float
    estimated: float

    @property
    def family(self) -> str:
        """The name that the spec begins with."""
        return self.spec.partition("(")[0]

    @property
    def machine(self) -> str:
        """The name of the platform, without its network."""
        return self.cell.mpi.split()[0]

    @property
    def percent(self) -> float:
        """How much longer the estimate is."""
        return 100 * (self.estimated / self.simulated - 1)


def deviations(files: Sequence[Path]) -> list[Deviation]:
    """Of all that `swapmeet simulate` wrote into some files and that can be estimated, each once.

    What took no time (blocks of 0 B) is left out: no error is relative to it.

    Raises
    ------
    SwapmeetError
        If there is nothing.
    """
    simulated: dict[tuple[Cell, str], float] = {}
    for results in map(read, files):
        for cell in results.cells():
            for spec in results.specs(cell):
                simulated[cell, spec] = float(min(run.longest.min() for run in results.samples(cell, spec)))
    estimator, found = Estimator(), []
    platforms: dict[tuple[str, int, str], Platform] = {}
    for (cell, spec), seconds in simulated.items():
        label = LABEL.fullmatch(cell.mpi)
        if not seconds or label is None or not cell.nodes.isdecimal() or peers.is_peer(spec) or spec == AUTO:
            continue
        key = cell.mpi, cell.ranks, cell.nodes
        if key not in platforms:
            platforms[key] = platform(label["machine"], cell.ranks, label["topology"], int(cell.nodes))
        outcome = estimator.run(Job(platforms[key], cell, spec, ""))
        if not outcome.problem:
            found.append(Deviation(cell, spec, seconds, outcome.longest))
    if not found:
        raise SwapmeetError(f"--against {files[0]}: there is nothing simulated in it that can be estimated")
    return found


def records(found: Sequence[Deviation]) -> Iterator[dict[str, object]]:
    """A record for each, for other programs."""
    for one in found:
        times = {"simulated_seconds": one.simulated, "estimated_seconds": one.estimated}
        yield asdict(one.cell) | {"spec": one.spec} | times | {"error_percent": one.percent}


def tables(found: Sequence[Deviation]) -> Iterator[Table]:
    """A row for each, and one for each family and platform."""
    listing = Table("where", "block", "spec", *right("µs, simulated", "µs, estimated", "off by"))
    for one in found:
        times = [f"{1e6 * time:,.4g}" for time in (one.simulated, one.estimated)]
        listing.add_row(place(one.cell), size(one.cell), one.spec, *times, f"{one.percent:+.0f} %")
    yield listing
    summary = Table("", *right("cells", "median error", "worst"))
    for title, group in _groups(found):
        percents = [one.percent for one in group]
        worst = max(percents, key=abs)
        summary.add_row(title, str(len(group)), f"{median(map(abs, percents)):.0f} %", f"{worst:+.0f} %")
    yield summary


def _groups(found: Sequence[Deviation]) -> Iterator[tuple[str, Sequence[Deviation]]]:
    yield "all", found
    for key in ("family", "machine"):
        for name in sorted({getattr(one, key) for one in found}):
            yield name, [one for one in found if getattr(one, key) == name]
