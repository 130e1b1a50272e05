"""Lower bounds of exchanges on platforms: the core's (tools/estimate/lower_bound.hpp), in tables and CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.table import Table

from swapmeet import _core
from swapmeet.simulate.expecting import costs_of
from swapmeet.simulate.platform import Platform
from swapmeet.tables import right
from swapmeet.units import bytes_text

LIMITS = ("call", "latency", "messages", "nic", "links", "memory")  #: in the core's order
MEANING = (
    "No exchange in which ranks receive at most P - 1 blocks in a round is estimated to be faster than the bound, "
    "whatever its schedule (docs/limits.md). It is what its parts make of that many rounds, messages of a rank, and "
    "blocks in them; alone: what a limit demands of every exchange. Unbalanced: the bound of others too, as by leaders."
)


@dataclass(frozen=True)
class Bounded:
    """A bound, and of what."""

    ranks: int
    block_bytes: int
    bound: _core.LowerBound  #: of exchanges in which no rank receives more than P - 1 blocks in a round
    unbalanced: _core.LowerBound  #: of all


class Bounds:
    """Of one platform; what its links are asked for is computed once."""

    def __init__(self, platform: Platform, costs: _core.NetworkCosts | None = None) -> None:
        self.platform, self.costs = platform, costs or costs_of(platform)
        self.links = _core.link_bound(platform.network, platform.ranks, platform.per_node)

    def of(self, block_bytes: int, ports: int = 0) -> Bounded:
        """For blocks of that many bytes; `ports`: messages of a rank in a round at most, each way, 0 for any number."""
        ranks, per_node = self.platform.ranks, self.platform.per_node
        found, unbalanced = (
            _core.lower_bound(ranks, per_node, self.links, self.costs, block_bytes, ports, balanced)
            for balanced in (True, False)
        )
        return Bounded(ranks, block_bytes, found, unbalanced)


def simulated_costs(platform: Platform) -> _core.NetworkCosts:
    """The costs without those that SimGrid is never told, or charges in steps, and without copies.

    Copies of MPIs cost nothing there; a handshake and a first fragment cost what their size class does.

    See docs/simulation.md.
    """
    costs = costs_of(platform)
    costs.copying.byte_ns = costs.copying.piece_us = 0
    costs.contention, costs.overlap, costs.call_us, costs.datatype_us = 1, 1, 0, 0
    between = costs.between
    between.handshake_trips = between.fragment_byte_ns = between.cold_us = 0
    return costs


def table(bounds: Iterable[Bounded]) -> Table:
    """A line for each."""
    listing = Table(
        "P",
        "block",
        *right(
            "bound (µs)",
            "unbalanced (µs)",
            "most",
            *LIMITS,
            "rounds",
            "messages",
            "blocks",
            *(f"{name} alone" for name in LIMITS),
        ),
    )
    for one in bounds:
        found = one.bound
        parts = [f"{found.parts_us[name]:,.2f}" for name in LIMITS]
        alone = [f"{found.alone_us[name]:,.2f}" for name in LIMITS]
        counts = [f"{found.rounds:,}", f"{found.messages:,.0f}", f"{found.blocks:,.0f}"]
        listing.add_row(
            f"{one.ranks:,}",
            bytes_text(one.block_bytes),
            f"{found.us:,.2f}",
            f"{one.unbalanced.us:,.2f}",
            found.binding,
            *parts,
            *counts,
            *alone,
        )
    return listing


def records(bounds: Iterable[Bounded]) -> Iterator[dict[str, object]]:
    """The same for other programs."""
    for one in bounds:
        found = one.bound
        yield {
            "P": one.ranks,
            "block_bytes": one.block_bytes,
            "bound_us": found.us,
            "unbalanced_us": one.unbalanced.us,
            "binding": found.binding,
            **{f"{name}_us": found.parts_us[name] for name in LIMITS},
            "rounds": found.rounds,
            "messages": found.messages,
            "blocks": found.blocks,
            **{f"{name}_alone_us": found.alone_us[name] for name in LIMITS},
        }
