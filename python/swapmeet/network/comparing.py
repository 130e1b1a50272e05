"""Orders compared by what they ask of the links of a network."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.table import Table

from swapmeet import _core
from swapmeet.errors import SwapmeetError

CONFLICT_FREE = "conflict-free"
BY_BYTES = "conflict-free, by bytes"
ORDERS = ("shift", "xor", "random", "scatter")
Sizes = Sequence[Sequence[int]]  #: (P, P), bytes from each rank to each; or none
MOST_RANKS = 8192  #: of orders: a table of all pairs takes a gigabyte
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
    listing = Table("order")
    units = ("bytes in a round", "bytes in turn") if in_bytes else ("in a round", "slots")
    for column in ("rounds", f"largest {units[0]}", units[1], "bound", "ratio"):
        listing.add_column(column, justify="right")
    for row in rows:
        numbers = (row.rounds, row.largest, row.slots, row.bound)
        listing.add_row(
            row.name, *(f"{number:,}" if in_bytes else str(number) for number in numbers), f"{row.ratio:.3f}"
        )
    return listing


def csv_text(rows: Iterable[Row], in_bytes: bool = False) -> Iterator[str]:
    """The same for other programs."""
    yield f"order,rounds,largest,{'bytes' if in_bytes else 'slots'},bound,ratio\n"
    for row in rows:
        name = f'"{row.name}"' if "," in row.name else row.name
        yield f"{name},{row.rounds},{row.largest},{row.slots},{row.bound},{row.ratio:.6f}\n"


def bound_description(placed: _core.PlacedNetwork) -> list[str]:
    """What links between switches carry at least: sent directly, and whoever passes blocks on."""
    direct, found, ranks = placed.bound()[1], placed.link_bound(), len(placed.placement)
    lines = [
        f"busiest link between switches, blocks over capacity: {direct:,} if all are sent directly; "
        f"{found.blocks:,.1f} at least if ranks may pass blocks on",
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


def description(placed: _core.PlacedNetwork) -> list[str]:
    """What there is to know of a network without any order."""
    network = placed.network
    names, links = network.names, network.links
    between = [(a, b, capacity) for a, b, capacity in links if min(a, b) >= network.hosts]
    slots, link, injection, ejection, busiest = placed.bound()
    ranks_of = _ranks_of_hosts(placed)
    lines = [
        f"hosts {network.hosts}, switches {len(names) - network.hosts}, "
        f"links between switches {len(between)} (directed), of capacity {_range([c for *_, c in between])}",
        f"diameter {network.diameter()} (links between switches)",
        f"ranks {len(placed.placement)} on {len(ranks_of)} hosts, {_range(ranks_of)} a host",
    ]
    if network.routes:
        lines.append(f"routes given {network.routes}")
    lines.append(f"all-to-all: at least {slots} slots (links {link}, injection {injection}, ejection {ejection})")
    if busiest >= 0:
        lines.append(f"busiest link: {names[links[busiest][0]]} to {names[links[busiest][1]]}")
    lines.append(f"key {placed.key:016x}")
    return lines


def weights_description(placed: _core.PlacedNetwork, sizes: Sizes) -> list[str]:
    """What there is to know of messages of these sizes on it."""
    network = placed.network
    most, link, injection, ejection, busiest = placed.bound(sizes)
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
    low, high = min(values, default=0), max(values, default=0)
    return str(low) if low == high else f"{low} to {high}"
