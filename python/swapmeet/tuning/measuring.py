"""What `swapmeet tune` measures, and what it makes of that."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from swapmeet import _core
from swapmeet.bench import running
from swapmeet.bench.cells import NATIVE
from swapmeet.bench.request import Request, parse_duration
from swapmeet.bench.results import Results, read
from swapmeet.bench.statistics import median
from swapmeet.errors import SwapmeetError
from swapmeet.mpi import Mpi
from swapmeet.tuning import file, fit

#: What may be fastest somewhere.
ALLTOALL = (
    "shared-memory",
    "direct(order=scatter,window=all,intra=auto)",
    "pairwise",
    "spread-out",
    "random-sendrecv",
    "bruck-modified",
    "bruck-zero-copy",
    "tuna(r=root)",
)
ON_NODES = ("two-layer", "node-leaders")
ALLTOALLV = ("shared-memory", "pairwise", "spread-out", "two-phase-bruck", "padded-bruck", "hybrid")
WORKLOADS = ("uniform:max=256", "uniform:max=16KiB")
WORTH = 1.15  #: times as long as the fastest: no second look
FIRST_LOOK = 0.3  #: of the budget


@dataclass(frozen=True)
class Plan:
    """The options of `swapmeet tune`, as typed."""

    mpi: str | None
    specs: Sequence[str] | None
    ranks: str | None
    sizes: str
    nodes: str | None
    budget: str
    launches: int
    launcher: str | None

    def requests(self, alltoallv: bool, specs: Sequence[str] | None = None) -> Request:
        """All candidates once; or, of these `specs`, as many launches as wanted."""
        standard = ALLTOALLV if alltoallv else (*ALLTOALL, *(ON_NODES if self.nodes else ()))
        seconds = parse_duration(self.budget, "--budget") * budget_share(specs is None)
        return Request(
            specs=list(specs or self.specs or standard),
            mpi=self.mpi,
            ranks=self.ranks,
            collective="alltoallv" if alltoallv else "alltoall",
            sizes=None if alltoallv else self.sizes,
            workloads=list(WORKLOADS) if alltoallv else None,
            nodes=self.nodes,
            launches=1 if specs is None else self.launches,
            budget=f"{seconds:.3f}s",
            launcher=self.launcher,
        )


def budget_share(first_look: bool) -> float:
    """Of one of the two campaigns of one of the two collectives."""
    return (FIRST_LOOK if first_look else 1 - FIRST_LOOK) / 2


def measure(plan: Plan, files: Sequence[Path]) -> None:
    """Measure MPI_Alltoall into the first file, MPI_Alltoallv into the second, going on with what is there."""
    for alltoallv, path in enumerate(files):
        first = plan.requests(bool(alltoallv))
        running.campaign(first, path, path.exists(), budget_share(True))
        second = plan.requests(bool(alltoallv), worth_more(read(path)))
        running.campaign(second, path, True, budget_share(False))


def worth_more(results: Results) -> list[str]:
    """The specs that are among the fastest of some cell; native is always there."""
    found = {NATIVE: None}
    for cell in results.cells():
        times = {
            spec: median([run.longest for run in results.samples(cell, spec)]).value for spec in results.specs(cell)
        }
        found |= {spec: None for spec, time in times.items() if time <= WORTH * min(times.values())}
    return list(found)


def fitted(files: Sequence[Path], target: Mpi) -> tuple[str, Table]:
    """The text of the tuning file, and its rules for people.

    Raises
    ------
    SwapmeetError
        If the files hold nothing of this MPI.
    """
    mpi = f"{target.kind} {target.version}"
    results = [read(path) for path in {path.resolve(): path for path in files}.values()]
    rules = fit.rules(results, mpi)
    if not rules:
        raise SwapmeetError(
            f"{', '.join(map(str, files))}: nothing is measured there of {mpi}: choose another by --mpi"
        )
    page = file.text(rules, mpi, _core.machine_signature(), [path.name for path in files], f"{datetime.date.today()}")
    table = Table(
        "call", "ranks", "nodes", "block", "use", "because it is", title=f"{mpi}, {_core.machine_signature()}"
    )
    for rule in rules:
        table.add_row(
            rule.collective,
            file.range_text(*rule.ranks),
            "any" if rule.nodes is None else str(rule.nodes),
            "any" if rule.bytes is None else f"{file.range_text(*rule.bytes)} B",
            rule.spec,
            rule.evidence,
        )
    return page, table
