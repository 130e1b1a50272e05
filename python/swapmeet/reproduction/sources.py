"""Where numbers come from: schedules that are counted, times that models expect, and simulations."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from swapmeet import _core, machines
from swapmeet.model.costs import root
from swapmeet.model.prices import STANDARD_MODEL, Pricing
from swapmeet.reproduction.figure import COUNTS, MODEL, SIMULATION, Row
from swapmeet.specs import parse_spec
from swapmeet.units import bytes_text

Chooser = Callable[[int, int], str]  #: (P, bytes of a block) -> spec; "": none there
CURVE_POINTS = 32  #: of a sweep over all radices, that are written down


@dataclass(frozen=True)
class Counted:
    """Numbers of schedules, exact for any P.

    Parameters
    ----------
    words : str
        What is counted.
    count : callable
        Gives the rows.
    """

    words: str
    count: Callable[[], Iterable[Row]]
    by: str = COUNTS

    def rows(self) -> Iterable[Row]:
        """Count them."""
        return [{"by": self.by, **row} for row in self.count()]


@dataclass(frozen=True)
class Grid:
    """Candidates by the parts that they play, on numbers of ranks and sizes of blocks.

    Parameters
    ----------
    machine : str
        As machines.load() takes it.
    roles : mapping
        The spec of each part, which may depend on P and the size.
    ranks : sequence of int
    sizes : sequence of str
        Bytes of a block, or workloads.
    per_node : int, optional
        Ranks on a node; None: as the machine has.
    collective : str
    wanted : callable, optional
        (P, bytes) -> whether this cell is wanted, as what is too long to simulate is not.
    """

    machine: str
    roles: Mapping[str, Chooser | str]
    ranks: Sequence[int]
    sizes: Sequence[str]
    per_node: int | None = None
    collective: str = "alltoall"
    wanted: Callable[[int, int], bool] = lambda ranks, size: True

    def cells(self) -> Iterator[tuple[int, str, str, str]]:
        """(P, sizes, part, spec) of all that there is to do."""
        for ranks in self.ranks:
            for sizes in self.sizes:
                size = block_bytes(sizes)
                for role, chosen in self.roles.items() if self.wanted(ranks, size) else ():
                    if spec := chosen if isinstance(chosen, str) else chosen(ranks, size):
                        yield ranks, sizes, role, spec

    def row(self, by: str, ranks: int, sizes: str, role: str, spec: str) -> dict[str, object]:
        """A row, but for its numbers."""
        size = bytes_text(int(sizes)) if sizes.isdecimal() else sizes
        place = {"machine": self.machine, "P": ranks, "per_node": self.nodes or None}
        return {"by": by, **place, "sizes": size, "bytes": block_bytes(sizes), "role": role, "spec": spec}

    @property
    def nodes(self) -> int:
        """Ranks on each node; 0: all on one."""
        return self.per_node or machines.load(self.machine).ranks_per_node or 0

    def place(self) -> str:
        """The configuration, for people."""
        named = all(size.isdecimal() for size in self.sizes)
        sizes = listed([int(size) for size in self.sizes], bytes_text) if named else ", ".join(self.sizes)
        per_node = f", {self.nodes} ranks a node" if self.nodes else ""
        return f"`{self.machine}`{per_node}, P = {listed(self.ranks)}; {sizes}"


@dataclass(frozen=True)
class Priced:
    """Expected times (docs/models.md), at any P."""

    grid: Grid
    by: str = MODEL

    @property
    def words(self) -> str:
        """The configuration, for people."""
        return f"model {STANDARD_MODEL}, {self.grid.place()}"

    def rows(self) -> Iterable[Row]:
        """Price them."""
        pricing = Pricing(machines.load(self.grid.machine))
        nodes = str(self.grid.nodes) if self.grid.nodes else ""
        for ranks, sizes, role, spec in self.grid.cells():
            price = pricing.of(_work(spec, ranks, nodes), block_bytes(sizes))
            row = self.grid.row(self.by, ranks, sizes, role, spec)
            yield {**row, "us": rounded(price.total), "pack_us": rounded(price.pack)}


@dataclass(frozen=True)
class Simulated:
    """The library, and production MPIs' algorithms, on a simulated machine (docs/simulation.md).

    Parameters
    ----------
    grid : Grid
    topology : str, optional
        Another network than the machine's.
    """

    grid: Grid
    topology: str | None = None
    by: str = SIMULATION

    @property
    def words(self) -> str:
        """The configuration, for people."""
        return f"simulated, {self.grid.place()}"


@dataclass(frozen=True)
class RadixSweep:
    """Expected times of a spec over all radices from 2 to P: a curve, and which rank the square root of P has."""

    machine: str
    spec: str
    ranks: Sequence[int]
    sizes: Sequence[int]
    drawn: Sequence[int] = ()  #: P whose curves are written down
    by: str = MODEL

    @property
    def words(self) -> str:
        """The configuration, for people."""
        where = f"P = {listed(self.ranks)}; {listed(self.sizes, bytes_text)}"
        return f"model {STANDARD_MODEL}, `{self.machine}`, all radices of `{self.spec}`, {where}"

    def rows(self) -> Iterable[Row]:
        """Price them."""
        machine = machines.load(self.machine)
        spec = parse_spec(self.spec)
        for ranks in self.ranks:
            radices = range(2, ranks + 1)
            nodes = machine.nodes("")
            times = _core.price_radices(spec, ranks, nodes, radices, machine.costs, STANDARD_MODEL, self.sizes)
            for column, size in enumerate(self.sizes):
                by_radix = {r: row[column] for r, row in zip(radices, times, strict=True)}
                place = {"by": self.by, "machine": self.machine, "P": ranks, "bytes": size, "sizes": bytes_text(size)}
                yield {**place, **standing(by_radix, ranks)}
                for radix in kept_radices(ranks) if ranks in self.drawn else ():
                    yield {**place, "r": radix, "us": rounded(by_radix[radix])}


def listed(numbers: Sequence[int], text: Callable[[int], str] = "{:,}".format) -> str:
    """The numbers; of those that double from one to the next the first two and the last."""
    if len(numbers) > 4 and all(2 * one == other for one, other in itertools.pairwise(numbers)):
        return f"{text(numbers[0])}, {text(numbers[1])}, ..., {text(numbers[-1])}"
    return ", ".join(map(text, numbers))


def best_of(times: Mapping[int, float]) -> int:
    """The radix of the least time; of several within rounding the largest."""
    least = rounded(min(times.values()))
    return max(radix for radix, time in times.items() if rounded(time) == least)


def standing(times: Mapping[int, float], ranks: int) -> dict[str, object]:
    """The best radix, and how the square root of P compares with it and with all others."""
    best, at_root = best_of(times), times[root(ranks)]
    return {
        "best_r": best,
        "root_r": root(ranks),
        "root_rank": 1 + sum(rounded(time) < rounded(at_root) for time in times.values()),
        "radices": len(times),
        "root_over_best": rounded(at_root / times[best]),
        "two_over_best": rounded(times[2] / times[best]),
    }


def kept_radices(ranks: int) -> list[int]:
    """Radices in nearly equal ratios, with those that the papers single out."""
    chosen = {round(2 * (ranks / 2) ** (i / CURVE_POINTS)) for i in range(CURVE_POINTS + 1)}
    return sorted(chosen | {2, root(ranks), ranks})


def rounded(value: float) -> float:
    """Six digits are enough."""
    return float(f"{value:.6g}")


@functools.lru_cache(maxsize=4096)
def _work(spec: str, ranks: int, nodes: str) -> _core.Work:
    return _core.Work(parse_spec(spec), ranks, nodes)


@functools.cache
def block_bytes(sizes: str) -> int:
    """Bytes of a block, or what no block of a workload exceeds."""
    return int(sizes) if sizes.isdecimal() else _core.parse_workload(sizes).most_bytes
