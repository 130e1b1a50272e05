"""How near the family could get to the bound on the torus of 8x8x8 nodes of Fugaku, and what is in the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from swapmeet import _core, progress
from swapmeet.limits import computing
from swapmeet.limits.bounding import Bounds
from swapmeet.simulate.expecting import estimate
from swapmeet.simulate.platform import platform
from swapmeet.specs import parse_spec
from swapmeet.validation.computing import orders_at_once

FLOOR = "floor"  #: how such a row comes about
MACHINE, RANKS = "fugaku", 512
SIZES = tuple(8**i for i in range(1, 4)) + tuple(2**i for i in (11, 12, 13, 14, 15, 16, 18, 20))


def cells(known: Iterable[str] = (), sizes: Sequence[int] = SIZES) -> Iterator[computing.Row]:
    """A row for each size: the best spec known, and the least that any could take in better layouts and orders.

    That least, of a spec: its messages and latencies as they are; the bytes of its blocks on the link of a node, or the
    bound's on links between switches, whichever takes longer; and one copy of each forwarded block. It is added up,
    since on this machine nothing overlaps. `known`: other specs than all those of the map.
    """
    where = platform(MACHINE, RANKS)
    progress.note(f"{where.name}, P = {RANKS}: floors")
    bounds = Bounds(where)
    costs = bounds.costs
    if costs.overlap != 0:
        raise ValueError(f"{MACHINE}: floors are sums, but cores and links work at the same time")
    free, bare = computing.without_copies(where), computing.without_copies(where)
    bare.link_byte_ns = bare.node_byte_ns = bare.between.byte_ns = 0
    with orders_at_once():
        loads = {spec: estimate(where, spec) for spec in known or computing.specs(where)}
    sent = {spec: _core.count(parse_spec(spec), RANKS, "").blocks for spec in loads}
    for size in sizes:
        found = {spec: load.time_us(size) for spec, load in loads.items()}
        mpi = min((found[name], name) for name in computing.of_mpis(found))
        floor, of = min(
            (load.time_us(size, bare) + _bytes_us(sent[spec], size, bounds, costs), spec)
            for spec, load in loads.items()
        )
        cell = computing.row(MACHINE, FLOOR, bounds, size, found, mpi)
        best = loads[cell["best"]]
        uncopied = best.time_us(size, free)
        parts = {"copies_us": cell["best_us"] - uncopied, "bytes_us": uncopied - best.time_us(size, bare)}
        yield cell | {key: round(us, 4) for key, us in parts.items()} | {"floor": of, "floor_us": round(floor, 4)}


def _bytes_us(blocks: int, size: int, bounds: Bounds, costs: _core.NetworkCosts) -> float:
    """What bytes take at least if a rank sends that many blocks."""
    node = blocks * costs.node_byte_ns / bounds.links.host_links
    links = bounds.links.blocks * costs.link_byte_ns
    copies = (blocks - (RANKS - 1)) * costs.copying.byte_ns
    return 1e-3 * size * (max(node, links) + copies)
