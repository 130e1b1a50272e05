"""What `swapmeet tune` measures, and what it makes of that."""

from __future__ import annotations

import datetime
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.table import Table

from swapmeet import _core
from swapmeet.choose import active, file, fit, pruning
from swapmeet.choose.rule import Rule
from swapmeet.errors import SwapmeetError
from swapmeet.machines import Machine
from swapmeet.measure.bench import running
from swapmeet.measure.bench.request import Request
from swapmeet.measure.bench.results import read
from swapmeet.mpi import mpis
from swapmeet.mpi.mpis import Mpi
from swapmeet.units import parse_duration

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
#: Of unequal blocks: even and uneven, small and large, few and many. One spec must do for all of them.
WORKLOADS = (
    "uniform:max=256",
    "uniform:max=16KiB",
    "power-law:exponent=0.99,max=64KiB",
    "sparse:density=0.1,bytes=4KiB",
)
FIRST_LOOK = 0.4  #: of the budget
STEP = 0.5  #: of the time that is left, for the next launch


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
    machine: Machine | None = None  #: whose models say what need not be measured

    @property
    def seconds(self) -> float:
        """For one of the two collectives."""
        return parse_duration(self.budget, "--budget") / 2

    def first_look(self, collective: str) -> Request:
        """One launch of all candidates."""
        equal = collective == "alltoall"
        standard = (*ALLTOALL, *(ON_NODES if self.nodes or self.launcher else ())) if equal else ALLTOALLV
        request = Request(
            specs=list(self.specs or standard),
            mpi=self.mpi,
            ranks=self.ranks,
            collective=collective,
            sizes=self.sizes if equal else None,
            workloads=None if equal else list(WORKLOADS),
            nodes=self.nodes,
            launches=1,
            budget=f"{FIRST_LOOK * self.seconds:.3f}s",
            launcher=self.launcher,
        )
        if not equal or self.machine is None or self.specs:
            return request
        settings = request.settings()
        sizes = [int(size) for _, size, _, _ in settings.exchanges]
        near = pruning.pruned(standard, settings.ranks, sizes, self.nodes or "", self.machine)
        return replace(request, specs=near)

    def more(self, first: Request, step: active.Step, seconds: float) -> Request:
        """What is worth measuring next."""
        equal = first.workloads is None
        return replace(
            first,
            specs=list(step.specs),
            ranks=str(step.ranks),
            sizes=",".join(step.sizes) if equal else None,
            workloads=None if equal else list(step.sizes),
            launches=step.launches,
            budget=f"{seconds:.3f}s",
        )


def measure(plan: Plan, files: Sequence[Path]) -> None:
    """Measure MPI_Alltoall into the first file, MPI_Alltoallv into the second, continuing files that are there."""
    for collective, path in zip(("alltoall", "alltoallv"), files, strict=True):
        until = time.monotonic() + plan.seconds
        first = plan.first_look(collective)
        settings = first.settings()
        running.campaign(first, path, path.exists(), FIRST_LOOK / 2)
        cells = [cell for target in settings.targets for p in settings.ranks for cell in settings.cells(target, p)]
        before: active.Step | None = None
        while (left := until - time.monotonic()) > 0:
            step = active.next_step(read(path), cells, plan.launches)
            if step is None or step == before:  # nothing is worth it, or it cannot be measured
                break
            running.campaign(plan.more(first, step, STEP * left), path, True, 0)
            before = step


def measured_with(files: Sequence[Path]) -> Mpi | None:
    """Return the MPI of this machine that all these results are of; None: several, or none here, or no results."""
    try:
        names = {cell.mpi for path in files for cell in read(path).cells()}
    except SwapmeetError:  # a tuning file to export, say; what cannot be read is refused later
        return None
    return next((one for one in mpis.found()[0] if {f"{one.kind} {one.version}"} == names), None)


@dataclass(frozen=True)
class Fitted:
    """What results make."""

    mpi: str  #: as in "openmpi 5.0.11"
    machine: str  #: as _core.machine_signature() returns it
    rules: Sequence[Rule]
    page: str  #: the text of the tuning file


def fitted(files: Sequence[Path], target: Mpi) -> Fitted:
    """The rules of results.

    Raises
    ------
    SwapmeetError
        If the files hold nothing of this MPI.
    """
    mpi = f"{target.kind} {target.version}"
    results = [read(path) for path in {path.resolve(): path for path in files}.values()]
    simulated = {cell.mpi for one in results if not one.measured for cell in one.cells()}
    wanted = simulated.pop() if len(simulated) == 1 else mpi
    rules = fit.rules(results, wanted)
    once = fit.launched_once(results, wanted)
    if once:
        print(
            f"swapmeet: warning: {', '.join(once)}: launched once only, and launches differ more than calls do: "
            "measure longer, with --into and more --budget",
            file=sys.stderr,
        )
    if not rules:
        held = ", ".join(sorted({cell.mpi for one in results for cell in one.cells()})) or "nothing"
        raise SwapmeetError(
            f"{', '.join(map(str, files))}: nothing is measured there of {mpi}, but of {held}: choose another by "
            "--mpi, or results of a single simulated machine"
        )
    machine = _core.machine_signature()
    page = file.text(rules, mpi, machine, [path.name for path in files], f"{datetime.date.today()}")
    return Fitted(mpi, machine, rules, page)


def table(found: Fitted) -> Table:
    """The rules for people."""
    listing = Table("call", "ranks", "nodes", "block", "use", "because it is", title=f"{found.mpi}, {found.machine}")
    for rule in found.rules:
        listing.add_row(
            rule.collective,
            file.range_text(*rule.ranks),
            "any" if rule.nodes is None else file.range_text(*rule.nodes),
            "any" if rule.bytes is None else f"{file.range_text(*rule.bytes)} B",
            rule.spec,
            rule.evidence,
        )
    return listing
