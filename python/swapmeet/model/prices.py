"""Expected times: what `swapmeet model --machine` adds to counts, and --best, which compares candidates.

The core prices (src/model/price.hpp); here prices are asked for, ordered and listed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.table import Table

from swapmeet import _core
from swapmeet.machines import Machine
from swapmeet.specs import parse_spec
from swapmeet.tables import right
from swapmeet.units import microseconds

PARTS = ("latency", "overhead", "gap", "bandwidth", "pack", "call")
RUNNERS_UP = 7
STANDARD_MODEL = "max-rate"
MOST_UNEQUAL = 1 << 22  #: ranks times rounds of candidates whose nodes are unequal: others are left out
MOST_LED_UNEQUAL = 1 << 18  #: ranks, of candidates with leaders of unequal nodes


@dataclass(frozen=True)
class Pricing:
    """By which model, on which machine."""

    machine: Machine
    model: str = STANDARD_MODEL

    def price(self, spec: _core.Spec, ranks: int, block_bytes: int, nodes: str = "") -> _core.Price:
        """The expected time of one exchange. Requires spec.unsuitable() to be empty."""
        return self.of(_core.Work(spec, ranks, self.machine.nodes(nodes)), block_bytes)

    def of(self, work: _core.Work, block_bytes: int) -> _core.Price:
        """The same of work that is counted already."""
        return work.price(self.machine.costs, self.model, block_bytes)

    def sentence(self) -> str:
        """What the times are."""
        place = self.machine.ranks_per_node
        nodes = "" if place is None else f", {place} ranks a node unless --nodes is given"
        return f"Times in microseconds, by the model {self.model} for the machine {self.machine.name}{nodes}."


def parts(price: _core.Price) -> list[float]:
    """The total, and what it is made of."""
    return [price.total, *(getattr(price, part) for part in PARTS)]


def roots(ranks: int) -> list[int]:
    """The w-th roots of P, rounded up, for every w that makes a difference."""
    found = []
    for w in range(1, max(2, ranks.bit_length() + 1)):
        root = max(1, round(ranks ** (1 / w)) - 1)
        while root**w < ranks:
            root += 1
        found.append(max(2, root))
    return sorted(set(found))


def candidate_radices(ranks: int, per_node: int | None) -> list[int]:
    """{2, 3, 4}, the roots of P, Q/2, Q, 2Q and P: nearly always one of them is about the best (docs/models.md).

    Parameters
    ----------
    ranks : int
        P.
    per_node : int or None
        Q.
    """
    wanted = {2, 3, 4, *roots(ranks), max(2, ranks)}
    if per_node is not None:
        wanted |= {per_node // 2, per_node, 2 * per_node}
    return sorted(radix for radix in wanted if 2 <= radix <= max(2, ranks))


def candidates(ranks: int, nodes: str, per_node: int | None) -> list[_core.Spec]:
    """What --best looks at: direct exchanges, radices, grids, and those that know nodes."""
    texts = [
        "direct(order=shift,window=1)",
        "direct(order=shift,window=32,complete=any)",
        "direct(order=shift,window=all)",
    ]
    for radix in candidate_radices(ranks, per_node)[:-1]:  # P is direct
        texts += [f"bruck(radix={radix},layout=zero-rotation,window={window})" for window in ("1", "all")]
    texts.append("grid")
    if nodes:
        texts.append("shared-memory")
        for radices in ("root/all", "all/all", "root/root", "2/2"):
            texts += [f"two-layer(radix={radices}{intra})" for intra in ("", ",intra=auto")]
        texts += [f"leaders(per-node={leaders},intra=auto)" for leaders in ("1", "4", "all")]
    specs = []
    for candidate in texts:
        spec = parse_spec(candidate)
        if not spec.unsuitable(ranks, nodes) and _quick(spec, ranks, nodes):
            specs.append(spec)
    return specs


def _quick(spec: _core.Spec, ranks: int, nodes: str) -> bool:
    """Whether its work is counted at once: where nodes are unequal, ranks are looked at one by one."""
    two_layers = spec.family == "bruck" and dict(spec.parameters)["dims"] == "nodes"
    if not nodes or not (two_layers or spec.family == "leaders"):
        return True
    sizes = _core.grid_sizes(nodes, ranks)
    if math.prod(sizes) == ranks:
        return True
    return ranks <= MOST_LED_UNEQUAL if spec.family == "leaders" else math.prod(sizes) * sum(sizes) <= MOST_UNEQUAL


@dataclass(frozen=True)
class Ranked:
    """A candidate at a number of ranks and a size of a block."""

    spec: _core.Spec
    ranks: int
    block_bytes: int
    price: _core.Price


def best(
    given: Iterable[_core.Spec], ranks: int, sizes: Sequence[int], pricing: Pricing, nodes: str = ""
) -> list[list[Ranked]]:
    """All candidates, and what is given beside them, the fastest first: for each size of a block."""
    where = pricing.machine.nodes(nodes)
    per_node = max(_core.Work.largest_node(ranks, where), 1) if where else None
    specs = {str(spec): spec for spec in given if not spec.unsuitable(ranks, where)}
    specs |= {str(spec): spec for spec in candidates(ranks, where, per_node)}
    works = [(spec, _core.Work(spec, ranks, where)) for spec in specs.values()]
    return [
        sorted(
            (Ranked(spec, ranks, size, pricing.of(work, size)) for spec, work in works),
            key=lambda ranked: ranked.price.total,
        )
        for size in sizes
    ]


def best_tables(lists: Iterable[Sequence[Ranked]], pricing: Pricing) -> Iterator[Table | str]:
    """What `swapmeet model --best` prints."""
    for ranked in lists:
        first = ranked[0]
        yield f"P = {first.ranks:,}, S = {first.block_bytes:,} B: the best of {len(ranked)} candidates"
        listing = Table("spec", *right("time (µs)", "x best", *PARTS))
        for one in ranked[: RUNNERS_UP + 1]:
            total, *split = parts(one.price)
            ratio = total / first.price.total if first.price.total > 0 else 1.0
            listing.add_row(str(one.spec), microseconds(total), f"{ratio:.2f}", *map(microseconds, split))
        yield listing
    yield pricing.sentence()


def time_fields(price: _core.Price) -> dict[str, float]:
    """The total and its parts, for records."""
    return dict(zip(("time_us", *(f"{part}_us" for part in PARTS)), parts(price), strict=True))


def records(lists: Iterable[Sequence[Ranked]]) -> Iterator[dict[str, object]]:
    """The same for other programs, with all candidates."""
    for ranked in lists:
        for place, one in enumerate(ranked, 1):
            where = {"P": one.ranks, "block_bytes": one.block_bytes, "place": place, "spec": one.spec}
            yield where | time_fields(one.price)
