"""Orders compared by what they ask of the links of a network."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.table import Table

from swapmeet import _core
from swapmeet.errors import SwapmeetError

CONFLICT_FREE = "conflict-free"
ORDERS = ("shift", "xor", "random", "scatter")
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


def specs_of(placed: _core.PlacedNetwork) -> list[_core.Spec]:
    """The orders that can serve the ranks, a message at a time."""
    specs = [_core.parse_spec(f"direct(order={order},window=1)") for order in ORDERS]
    return [spec for spec in specs if not spec.unsuitable(len(placed.placement))]


def measure(placed: _core.PlacedNetwork, spec: _core.Spec, name: str) -> Row:
    """The load of any schedule.

    Raises
    ------
    SwapmeetError
        If it cannot serve the ranks.
    """
    try:
        largest, _ = placed.load(spec)
    except ValueError as problem:
        raise SwapmeetError(f'"{name}" cannot serve P = {len(placed.placement)}: {problem}') from None
    return Row(name, len(largest), max(largest, default=0), sum(largest), placed.bound()[0])


def conflict_free(slots: _core.Slots) -> Row:
    """The row of a conflict-free order."""
    return Row(CONFLICT_FREE, slots.slots, min(1, slots.slots), slots.slots, slots.bound)


def compute(placed: _core.PlacedNetwork, seed: int, moves: int, seconds: float) -> _core.Slots:
    """A conflict-free order; can be interrupted."""
    found: list[_core.Slots] = []
    worker = threading.Thread(target=lambda: found.append(placed.slots(seed, moves, seconds)), daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(LOOK_S)
    if not found:
        raise SwapmeetError(f"P = {len(placed.placement)}: not enough memory to compute an order")
    return found[0]


def table(rows: Iterable[Row]) -> Table:
    """One line for each order."""
    listing = Table("order")
    for column in ("rounds", "largest in a round", "slots", "bound", "ratio"):
        listing.add_column(column, justify="right")
    for row in rows:
        listing.add_row(row.name, str(row.rounds), str(row.largest), str(row.slots), str(row.bound), f"{row.ratio:.3f}")
    return listing


def csv_text(rows: Iterable[Row]) -> Iterator[str]:
    """The same for other programs."""
    yield "order,rounds,largest,slots,bound,ratio\n"
    for row in rows:
        name = f'"{row.name}"' if "," in row.name else row.name
        yield f"{name},{row.rounds},{row.largest},{row.slots},{row.bound},{row.ratio:.6f}\n"


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


def _ranks_of_hosts(placed: _core.PlacedNetwork) -> list[int]:
    counts: dict[int, int] = {}
    for host in placed.placement:
        counts[host] = counts.get(host, 0) + 1
    return list(counts.values())


def _range(values: Sequence[int]) -> str:
    low, high = min(values, default=0), max(values, default=0)
    return str(low) if low == high else f"{low} to {high}"
