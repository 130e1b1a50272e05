"""Orders compared by what they ask of the links of a network."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from swapmeet import _core
from swapmeet.errors import SwapmeetError
from swapmeet.tables import right

CONFLICT_FREE = "conflict-free"
BY_BYTES = "conflict-free, by bytes"
ORDERS = ("shift", "xor", "random", "scatter")
Sizes = Sequence[Sequence[int]]  #: (P, P), bytes from each rank to each; or none
MOST_RANKS = 8192  #: of orders: a table of all pairs takes a gigabyte
ROUNDING = 1e-8  #: of the core's arithmetic, relative
LOOK_S = 0.2  #: how often Ctrl-C is looked for while the core computes


@dataclass(frozen=True)
class Row:
    """What one order asks of the network."""

    name: str
    rounds: int
    largest: int  #: load of the busiest link or rank in any round
    slots: int  #: sum of the largest loads of all rounds
    bound: int

    @property
    def ratio(self) -> float:
        """Slots over the bound; 1 where there is nothing to send."""
        return self.slots / self.bound if self.bound else 1.0


def require_orders(placed: _core.PlacedNetwork) -> None:
    """Refuse more ranks than orders are compared or computed for.

    Raises
    ------
    SwapmeetError
        With both numbers.
    """
    if len(placed.placement) > MOST_RANKS:
        raise SwapmeetError(f"{len(placed.placement)} ranks: orders are compared and computed for up to {MOST_RANKS}")


def specs_of(placed: _core.PlacedNetwork) -> list[_core.Spec]:
    """The orders that can serve the ranks, a message at a time."""
    specs = [_core.parse_spec(f"direct(order={order},window=1)") for order in ORDERS]
    return [spec for spec in specs if not spec.unsuitable(len(placed.placement))]


def measure(placed: _core.PlacedNetwork, spec: _core.Spec, name: str, sizes: Sizes = ()) -> Row:
    """The load of any schedule; with sizes of messages (P, P) that of a direct exchange, in bytes.

    Raises
    ------
    SwapmeetError
        If it cannot serve the ranks.
    """
    try:
        largest, _ = placed.load(spec, sizes)
    except ValueError as problem:
        raise SwapmeetError(f'"{name}" cannot serve P = {len(placed.placement)}: {problem}') from None
    return Row(name, len(largest), max(largest, default=0), sum(largest), placed.bound(sizes)[0])


def conflict_free(slots: _core.Slots) -> Row:
    """The row of a conflict-free order."""
    return Row(CONFLICT_FREE, slots.slots, min(1, slots.slots), slots.slots, slots.bound)


def weighted(placed: _core.PlacedNetwork, slots: _core.Slots, sizes: Sizes, name: str) -> Row:
    """The row of a conflict-free order of messages of these sizes, in bytes."""
    largest = max((size for a, row in enumerate(sizes) for b, size in enumerate(row) if a != b), default=0)
    return Row(name, slots.slots, largest, placed.bytes_in_turn(slots, sizes), placed.bound(sizes)[0])


def compute(placed: _core.PlacedNetwork, seed: int, moves: int, seconds: float, sizes: Sizes = ()) -> _core.Slots:
    """A conflict-free order, of messages of these sizes if there are any; can be interrupted."""
    found: list[_core.Slots] = []
    worker = threading.Thread(target=lambda: found.append(placed.slots(seed, moves, seconds, sizes)), daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(LOOK_S)
    if not found:
        raise SwapmeetError(f"P = {len(placed.placement)}: not enough memory to compute an order")
    return found[0]


def table(rows: Iterable[Row], in_bytes: bool = False) -> Table:
    """One line for each order."""
    units = ("bytes in a round", "bytes in turn") if in_bytes else ("in a round", "slots")
    listing = Table("order", *right("rounds", f"largest {units[0]}", units[1], "bound", "ratio"))
    for row in rows:
        numbers = (row.rounds, row.largest, row.slots, row.bound)
        listing.add_row(
            row.name, *(f"{number:,}" if in_bytes else str(number) for number in numbers), f"{row.ratio:.3f}"
        )
    return listing


def records(rows: Iterable[Row], in_bytes: bool = False) -> Iterator[dict[str, object]]:
    """The same for other programs."""
    for row in rows:
        numbers = {"largest": row.largest, "bytes" if in_bytes else "slots": row.slots, "bound": row.bound}
        yield {"order": row.name, "rounds": row.rounds, **numbers, "ratio": round(row.ratio, 6)}


def bound_description(placed: _core.PlacedNetwork) -> list[str]:
    """What links between switches carry at least: sent directly, and with blocks passed on by any rank."""
    direct, found, ranks = placed.bound()[5], placed.link_bound(), len(placed.placement)
    lines = [
        f"busiest link between switches, blocks over capacity: {_at_least(direct)} if all are sent directly; "
        f"{_at_least(found.blocks)} at least if ranks may pass blocks on",
    ]
    if found.cut:
        names = placed.network.names
        few = ", ".join(names[host] for host in found.cut[:4]) + (", ..." if len(found.cut) > 4 else "")
        hosts = f"{len(found.cut)} host{'s' if len(found.cut) > 1 else ''} ({few})"
        lines.append(f"that is what crosses the cut between {hosts} and the others")
    elif found.blocks > 0:
        lines.append("that is the sum of all distances over the sum of all lengths of links, at the best lengths found")
    lines.append(f"a rank: {ranks - 1:,} blocks at least")
    return lines


def _at_least(blocks: float) -> str:
    """To a tenth below, as a bound is."""
    return f"{math.floor(10 * blocks * (1 + ROUNDING)) / 10:,}"


def link_bound_facts(placed: _core.PlacedNetwork) -> dict[str, float]:
    """What links between switches carry at least: if all blocks are sent directly, and if ranks may pass them on."""
    return {"direct_blocks": placed.bound()[5], "forwarded_blocks": placed.link_bound().blocks}


def facts(placed: _core.PlacedNetwork) -> dict[str, Any]:
    """What there is to know of a network without any order, for other programs."""
    network, (slots, link, injection, ejection, busiest, _) = placed.network, placed.bound()
    between = [capacity for a, b, capacity in network.links if min(a, b) >= network.hosts]
    ranks_of = _ranks_of_hosts(placed)
    return {
        "hosts": network.hosts,
        "switches": len(network.names) - network.hosts,
        "links": len(between),
        "link_capacities": [min(between, default=0), max(between, default=0)],
        "diameter_links": network.diameter(),
        "ranks": len(placed.placement),
        "hosts_with_ranks": len(ranks_of),
        "ranks_per_host": [min(ranks_of, default=0), max(ranks_of, default=0)],
        "routes_given": network.routes,
        "bound_slots": slots,
        "bound_slots_by": {"links": link, "injection": injection, "ejection": ejection},
        "busiest_link": [network.names[end] for end in network.links[busiest][:2]] if busiest >= 0 else None,
        "key": f"{placed.key:016x}",
    }


def description(placed: _core.PlacedNetwork) -> list[str]:
    """The same for people."""
    known = facts(placed)
    lines = [
        f"hosts {known['hosts']}, switches {known['switches']}, "
        f"links between switches {known['links']} (directed), of capacity {_range(known['link_capacities'])}",
        f"diameter {known['diameter_links']} (links between switches)",
        f"ranks {known['ranks']} on {known['hosts_with_ranks']} hosts, {_range(known['ranks_per_host'])} a host",
    ]
    if known["routes_given"]:
        lines.append(f"routes given {known['routes_given']}")
    parts = ", ".join(f"{name} {number}" for name, number in known["bound_slots_by"].items())
    lines.append(f"all-to-all: at least {known['bound_slots']} slots ({parts})")
    if ends := known["busiest_link"]:
        lines.append(f"busiest link: {' to '.join(ends)}")
    lines.append(f"key {known['key']}")
    return lines


def weights_description(placed: _core.PlacedNetwork, sizes: Sizes) -> list[str]:
    """What there is to know of messages of these sizes on it."""
    network = placed.network
    most, link, injection, ejection, busiest, _ = placed.bound(sizes)
    total = sum(size for a, row in enumerate(sizes) for b, size in enumerate(row) if a != b)
    lines = [
        f"messages {total:,} bytes in all: at least {most:,} bytes one after the other "
        f"(links {link:,}, injection {injection:,}, ejection {ejection:,})"
    ]
    if busiest >= 0:
        from_, to, _ = network.links[busiest]
        lines.append(f"busiest link of these: {network.names[from_]} to {network.names[to]}")
    return lines


def _ranks_of_hosts(placed: _core.PlacedNetwork) -> list[int]:
    counts: dict[int, int] = {}
    for host in placed.placement:
        counts[host] = counts.get(host, 0) + 1
    return list(counts.values())


def _range(values: Sequence[int]) -> str:
    low, high = values
    return str(low) if low == high else f"{low} to {high}"
