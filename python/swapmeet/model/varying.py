"""What an Alltoallv of given sizes costs: `swapmeet model --workload`. The core counts; here the counts get prices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.table import Table

from swapmeet import _core
from swapmeet.errors import SwapmeetError
from swapmeet.model import hockney, memory
from swapmeet.model.hockney import AlphaBeta
from swapmeet.tables import right

UNKNOWN = "?"
LARGEST_MEAN = 1 << 16  #: bytes; curves go from a mean block of 1 byte to this, or 4 times the workload's own
MOST_BLOCK = 1 << 40  #: bytes, as of workloads

#: Fields of what `Point.cells()` gives.
COLUMNS = ("messages", "bytes_sent", "size_bytes", "working_bytes", "bound_bytes", "agreement_bytes", "time_us")


def parse_workload(text: str, option: str = "--workload") -> _core.Workload:
    """The workload that `text` names.

    Raises
    ------
    SwapmeetError
        With the core's message: what was expected, and the column.
    """
    try:
        return _core.parse_workload(text)
    except ValueError as problem:
        raise SwapmeetError(f'{option} "{text}": {problem}') from None


def require_memory(spec: _core.Spec, ranks: int, nodes: str = "") -> None:
    """Refuse a count that would not fit into memory: there are P * P sizes, and the ways of all blocks.

    Raises
    ------
    SwapmeetError
        With the largest number of ranks that fits.
    """
    memory.require(
        f'counting "{spec}" for P = {ranks}, which looks at P x P blocks,',
        _core.varying_memory_bytes(spec, ranks, nodes),
        ranks,
        2,
        ", or one size for all blocks (-S)",
    )


@dataclass(frozen=True)
class Point:
    """A spec at a number of ranks, counted for the sizes of one call. Numbers are the most of any rank."""

    spec: _core.Spec
    ranks: int
    counts: _core.VaryingCounts
    machine: AlphaBeta
    nodes: str = ""

    @property
    def known(self) -> bool:
        """Whether it is ours to count: the host MPI may have to serve it, or the padded blocks of it."""
        return self.counts.plan_known and not self.counts.declined

    @property
    def messages(self) -> int:
        """Sent by a rank; those of a padded plan included."""
        return max(rank.messages + rank.plan_messages for rank in self.counts.ranks)

    @property
    def sent_bytes(self) -> int:
        """In these messages, sizes included."""
        return max(rank.message_bytes + rank.plan_bytes for rank in self.counts.ranks)

    @property
    def size_bytes(self) -> int:
        """Sent by a rank to announce sizes."""
        return max(rank.size_bytes for rank in self.counts.ranks)

    @property
    def working_bytes(self) -> int:
        """Working memory of a rank; that of a padded plan included."""
        return max(rank.working_bytes + rank.plan_scratch_bytes for rank in self.counts.ranks)

    @property
    def bound_bytes(self) -> int:
        """What working memory cannot exceed, whatever the sizes below the largest are."""
        return self.counts.bound_bytes + max(rank.plan_scratch_bytes for rank in self.counts.ranks)

    @property
    def time_us(self) -> float:
        """The most alpha * messages + beta * bytes of any rank, by what it sends; without the agreement."""
        return max(
            self.machine.time_us(rank.messages + rank.plan_messages, rank.message_bytes + rank.plan_bytes)
            for rank in self.counts.ranks
        )

    def cells(self) -> list[object]:
        """The numbers of its line; UNKNOWN where the host MPI sends."""
        counts = self.counts
        if counts.declined:
            return [*[UNKNOWN] * 5, counts.agreement_bytes, UNKNOWN]
        if not counts.plan_known:
            return [*[UNKNOWN] * 3, self.working_bytes, self.bound_bytes, counts.agreement_bytes, UNKNOWN]
        numbers = [self.messages, self.sent_bytes, self.size_bytes, self.working_bytes, self.bound_bytes]
        return [*numbers, counts.agreement_bytes, self.time_us]


@dataclass(frozen=True)
class Prices:
    """Equations 1 and 2 of `nonuniform` for the largest and the mean block of a workload (see hockney)."""

    padded_us: float
    two_phase_us: float

    @property
    def faster(self) -> str:
        """The side of equation 3; of its generalisation, where the mean is not half the largest."""
        return "padded" if self.padded_us < self.two_phase_us else "two-phase"


def papers_prices(point: Point) -> Prices:
    """Radix 2, as printed: log P steps of (P + 1) / 2 blocks."""
    counts = point.counts
    return Prices(
        hockney.padded_bruck_us(point.machine, point.ranks, counts.largest_bytes),
        hockney.two_phase_bruck_us(point.machine, point.ranks, counts.mean_bytes),
    )


def general_prices(point: Point, uniform: _core.Counts) -> Prices:
    """With K and D of the point's own schedule."""
    machine, k, d = point.machine, uniform.messages, uniform.blocks
    return Prices(
        hockney.padded_us(machine, k, d, point.counts.largest_bytes),
        hockney.two_phase_us(machine, k, d, point.counts.mean_bytes),
    )


def count(
    served: Iterable[tuple[_core.Spec, int]], workload: _core.Workload, seed: int, machine: AlphaBeta, nodes: str = ""
) -> Iterator[Point]:
    """Count each spec at its number of ranks. Requires _core.varying_problem() of each to be empty."""
    for spec, ranks in served:
        require_memory(spec, ranks, nodes)
        counts = _core.VaryingCounter(spec, ranks, nodes).count_workload(workload, seed)
        yield Point(spec, ranks, counts, machine, nodes)


def _number(cell: object) -> str:
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.2f}" if isinstance(cell, float) else str(cell)


def table(points: Iterable[Point]) -> Table:
    """One line for each point."""
    listing = Table()
    listing.add_column("spec", overflow="fold")
    for column in ("P", "sizes", "direct"):
        listing.add_column(column)
    for column in ("messages", "bytes", "for sizes", "working memory", "its bound", "agreement", "time (µs)"):
        listing.add_column(column, justify="right", no_wrap=True)
    for point in points:
        counts = point.counts
        threshold = (
            "none" if counts.direct_bytes is None else f"> {counts.direct_bytes:,}" if counts.direct_bytes else "all"
        )
        treatment = "native" if counts.declined else "known" if counts.sizes == "auto" else counts.sizes
        listing.add_row(str(point.spec), f"{point.ranks}", treatment, threshold, *map(_number, point.cells()))
    return listing


def papers_table(points: Sequence[Point]) -> Table:
    """The paper's prices for each number of ranks, and with the K and D of each schedule that passes blocks on."""
    listing = Table("schedule", *right("P", "K", "D", "largest N", "mean", "padded (µs)", "two-phase (µs)"))
    listing.add_column("faster")
    seen = set()
    for point in points:
        rows = [("paper (radix 2)", hockney.steps(point.ranks), hockney.blocks(point.ranks), papers_prices(point))]
        if point.spec.family in ("bruck", "leaders"):
            uniform = _core.count(point.spec, point.ranks, point.nodes)
            name = "radix " + "/".join("-".join(map(str, row)) or "-" for row in uniform.radices)
            if point.spec.family == "leaders":
                name = f"leaders, {dict(point.spec.parameters)['per-node']} per node"
            rows.append((name, uniform.messages, uniform.blocks, general_prices(point, uniform)))
        for name, k, d, prices in rows:
            if (name, point.ranks) in seen:
                continue
            seen.add((name, point.ranks))
            sizes = (f"{point.counts.largest_bytes:,}", f"{point.counts.mean_bytes:,.1f}")
            times = (f"{prices.padded_us:,.2f}", f"{prices.two_phase_us:,.2f}", prices.faster)
            listing.add_row(name, str(point.ranks), f"{k:,}", f"{d:,.10g}", *sizes, *times)
    return listing


def tables(points: Sequence[Point], workload: _core.Workload, seed: int) -> Iterator[Table | str]:
    """What `swapmeet model --workload` prints."""
    machine = points[0].machine
    yield f"One Alltoallv of {workload}, seed {seed}: the most of any rank; memory and agreement in bytes"
    yield table(points)
    yield (
        f"time = alpha * messages + beta * bytes sent by the rank with the most, alpha = {machine.alpha_us:g} µs, "
        f"beta = {machine.beta_ns:g} ns/B; without the agreement (bytes of an allreduce)."
    )
    if any(point.counts.declined for point in points):
        yield "native: beyond the standard SWAPMEET_SCRATCH_LIMIT, so the host MPI serves the call."
    if any(not point.counts.plan_known for point in points):
        yield "?: the host MPI exchanges the padded blocks."
    yield "\nThe model of `nonuniform`: equations 1 (padded: blocks of N bytes), 2 (two-phase: of the mean), 3 (faster)"
    yield papers_table(points)


def records(points: Iterable[Point]) -> Iterator[dict[str, object]]:
    """The first table for other programs, the paper's prices beside it; None where it is not known."""
    for point in points:
        counts, prices = point.counts, papers_prices(point)
        cells = [None if cell == UNKNOWN else cell for cell in point.cells()]
        yield {
            "spec": str(point.spec),
            "P": point.ranks,
            "sizes": counts.sizes,
            "direct_above": counts.direct_bytes,
            **dict(zip(COLUMNS, cells, strict=True)),
            "largest_bytes": counts.largest_bytes,
            "mean_bytes": counts.mean_bytes,
            "paper_padded_us": prices.padded_us,
            "paper_two_phase_us": prices.two_phase_us,
            "paper_faster": prices.faster,
        }


@dataclass(frozen=True)
class Curves:
    """Times over the mean block, for one workload whose blocks all grow in the same ratio."""

    lines: dict[str, list[tuple[float, float]]]  #: by name: (mean block in bytes, microseconds)
    paper: dict[str, list[tuple[float, float]]]  #: equations 1 and 2; none if there are several numbers of ranks
    own_mean: float  #: of the workload as it was given


def curves(
    served: Sequence[tuple[str, _core.Spec, int]],
    workload: _core.Workload,
    seed: int,
    machine: AlphaBeta,
    nodes: str = "",
) -> Curves:
    """A line for each (name, spec, number of ranks), as long as the count is ours to know.

    Raises
    ------
    SwapmeetError
        If all blocks are empty, or a count does not fit into memory.
    """
    several = len({ranks for _, _, ranks in served}) > 1
    lines: dict[str, list[tuple[float, float]]] = {}
    paper: dict[str, list[tuple[float, float]]] = {}
    own_mean = 0.0
    for name, spec, ranks in served:
        require_memory(spec, ranks, nodes)
        counter = _core.VaryingCounter(spec, ranks, nodes)
        own_mean = counter.count_workload(workload, seed).mean_bytes
        if own_mean == 0:
            raise SwapmeetError(
                f'--plot: all blocks of "{workload}" are empty on {ranks} ranks: there is nothing to draw'
            )
        scales = _scales(workload, own_mean)
        points = [Point(spec, ranks, counter.count_workload(workload, seed, scale), machine) for scale in scales]
        lines[f"{name}, P = {ranks:,}" if several else name] = [
            (point.counts.mean_bytes, point.time_us) for point in points if point.known
        ]
        if not several:
            prices = [(point.counts.mean_bytes, papers_prices(point)) for point in points]
            paper = {
                "padded Bruck, equation 1": [(mean, price.padded_us) for mean, price in prices],
                "two-phase Bruck, equation 2": [(mean, price.two_phase_us) for mean, price in prices],
            }
    return Curves(lines, paper, own_mean)


def _scales(workload: _core.Workload, mean: float) -> list[float]:
    """So that the mean block has 1, 2, 4, ... bytes."""
    most = max(LARGEST_MEAN, 4 * mean)
    scales = [(1 << exponent) / mean for exponent in range(int(most).bit_length())]
    return [scale for scale in scales if scale * workload.most_bytes <= MOST_BLOCK]
