"""The cells of the map of distances: what is known to be the fastest in each, and its lower bound."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from swapmeet import _core, machines, progress
from swapmeet.errors import SwapmeetError
from swapmeet.limits.bounding import Bounds, simulated_costs
from swapmeet.model import prices
from swapmeet.simulate import peers
from swapmeet.simulate.deviation import LABEL
from swapmeet.simulate.expecting import costs_of, estimate
from swapmeet.simulate.platform import Platform, platform
from swapmeet.specs import parse_spec
from swapmeet.validation.computing import orders_at_once
from swapmeet.validation.predicting import topology_of

Row: TypeAlias = Mapping[str, Any]
ESTIMATED, SIMULATED = "estimate", "simulate"
SIZES = tuple(8**i for i in range(1, 7)) + (1 << 20,)  #: bytes of a block: 8 B to 256 KiB by eights, and 1 MiB
RANKS = tuple(4**i for i in range(2, 9))  #: 16 to 65,536
#: What MPICH, Open MPI, MVAPICH2 and Intel MPI choose from: Bruck's algorithm, all messages at once, 32 of them, one.
MPIS = ("bruck-dt", "tra(r=2)", "spread-out", "direct(window=32)", "pairwise")
TORI = {16: "2x2x4", 64: "4x4x4", 256: "4x8x8", 1024: "8x8x16"}  #: that a job of so many nodes gets
MOST_LOOKS = 1_200_000_000  #: messages, times the links of their way, of a direct exchange that is estimated
MOST_OF_ALL = 5_000_000_000  #: the same of one that has all messages in flight
MOST_ORDERED = 1024  #: ranks of orders of which each slot is another: conflict-free ones, and by groups


def platforms(names: Sequence[str] = (), ranks: Sequence[int] = RANKS) -> Iterator[Platform]:
    """Those with networks, as far as their nodes reach."""
    for name in names or machines.names():
        machine = machines.load(name, "--machine")
        if machine.network is None and name in names:
            raise machines.without_network(name)
        if machine.network is None:
            continue
        torus = "x" in machine.network.topology
        for p in ranks:
            if torus and p not in TORI:
                continue
            try:
                yield platform(name, p, topology_of(machine, TORI[p]) if torus else None)
            except SwapmeetError:  # too few nodes
                break


def specs(where: Platform) -> Iterator[str]:
    """Of the family: those that `swapmeet model --best` looks at, windows, grids of a torus, conflict-free orders."""
    ranks, nodes = where.ranks, str(where.per_node)
    several = 1 < where.per_node < ranks
    texts = [
        str(one) for one in prices.candidates(ranks, nodes if several else "", where.per_node if several else None)
    ]
    texts += [f"direct(order={order},window={window})" for order in ("shift", "xor") for window in (1, 8)]
    texts += [f"direct(window={window},complete=any)" for window in (8, 32)]
    texts += [f"bruck(radix={radix},layout=zero-rotation,window=all)" for radix in (6, 8, 12, 16, 24, 32)]
    texts += ["grid", *MPIS]
    texts += [f"bruck(radix={r},digits=balanced,layout=zero-rotation,window=all)" for r in (3, 5, 7, 11, 16, 32)]
    texts += ["grid(paths=rotated)", "torus", "torus(paths=rotated)"]
    if several:
        texts += [f"two-layer(radix={r}/all,paths={paths})" for r in ("4", "all") for paths in ("ordered", "rotated")]
    if several and ranks <= MOST_ORDERED:
        texts += [f"direct(order=groups:nodes,window={window},complete=any)" for window in (8, 32)]
    if (switch := ranks_of_a_switch(where)) > where.per_node and ranks % switch == 0:
        groups = f"{where.per_node}/{switch}" if several else str(switch)
        texts += [f"bruck(dims=groups:{groups},radix={r},layout=zero-rotation,window=all)" for r in ("root/all", "all")]
        texts += [f"direct(order=groups:{switch},window=8,complete=any)"] if ranks <= MOST_ORDERED else []
    if "x" in where.topology:
        texts += _of_a_torus(where.topology.removeprefix("torus(dims=").partition(",")[0])
    if len(where.hosts) > 1 and ranks <= MOST_ORDERED:
        order = f"topology({where.topology},place=block:{where.per_node})"
        texts += [f"direct(order={order},window={window})" for window in (1, 8)]
    for text in dict.fromkeys(str(parse_spec(text)) for text in texts):
        spec = parse_spec(text)
        if dict(spec.parameters).get("intra", "mpi") == "mpi" and not spec.unsuitable(ranks, nodes):
            yield text


def _of_a_torus(dims: str) -> Iterator[str]:
    """Its dimensions, in which messages go both ways; and all grids of two or three dimensions."""
    for radix in ("2", "4"):
        yield f"bruck(dims={dims},radix={radix},layout=zero-rotation,window=all)"
    ranks = math.prod(int(size) for size in dims.split("x"))
    for grid in grids(ranks, 2) + grids(ranks, 3):
        for paths in ("ordered", "rotated"):
            text = "x".join(map(str, grid))
            yield f"bruck(dims={text},radix=all,paths={paths},layout=zero-rotation,window=all)"
    for paths in ("ordered", "rotated"):
        yield f"bruck(dims={dims},radix=3,digits=balanced,paths={paths},layout=zero-rotation,window=all)"


def grids(ranks: int, dimensions: int) -> list[tuple[int, ...]]:
    """All ways to write a number as a product of that many, each 2 or more; their order counts."""
    if dimensions == 1:
        return [(ranks,)] if ranks > 1 else []
    return [
        (size, *rest) for size in range(2, ranks) if ranks % size == 0 for rest in grids(ranks // size, dimensions - 1)
    ]


def ranks_of_a_switch(where: Platform) -> int:
    """Of the first switch, if all its hosts are full."""
    network = where.network
    switches = Counter(to for source, to, _ in network.links if source < network.hosts)
    return where.per_node * max(switches.values())


def looks(spec: str, where: Platform) -> float:
    """How long an estimate takes, in messages times links."""
    messages = where.ranks**2 if spec.startswith("direct") else 0
    return messages * (sum(map(int, where.topology[11:].split(",")[0].split("x"))) / 4 if "x" in where.topology else 1)


def without_copies(where: Platform) -> _core.NetworkCosts:
    """The costs, but copies are free."""
    costs = costs_of(where)
    for copying in (costs.copying, costs.datatype):
        copying.byte_ns = copying.piece_us = copying.uncached_byte_ns = 0
    return costs


def of_mpis(known: Iterable[str]) -> list[str]:
    """Those of the specs that MPIs have."""
    theirs = {str(parse_spec(name)) for name in MPIS}
    return [spec for spec in known if spec in theirs]


def estimated(wanted: Iterable[Platform], sizes: Sequence[int] = SIZES) -> Iterator[Row]:
    """A row for each cell of each platform."""
    for where in wanted:
        progress.note(f"{where.name}, P = {where.ranks}")
        bounds, times, copies = Bounds(where), {}, {}
        free = without_copies(where)
        left_out = False
        with orders_at_once():
            for spec in specs(where):
                if looks(spec, where) > (MOST_OF_ALL if "window=all" in spec else MOST_LOOKS):
                    left_out = True
                    continue
                try:
                    load = estimate(where, spec)
                except ValueError:  # too long: ranks are not alike
                    continue
                times[spec] = {size: load.time_us(size, bounds.costs) for size in sizes}
                copies[spec] = {size: times[spec][size] - load.time_us(size, free) for size in sizes}
        for size in sizes:
            found = {spec: of[size] for spec, of in times.items()}
            mpi = min((found[name], name) for name in of_mpis(times))
            cell = row(where.machine.name, ESTIMATED, bounds, size, found, mpi)
            cell["copies_us"] = round(copies[cell["best"]][size], 4)
            yield cell | ({"left_out": True} if left_out else {})


def simulated(files: Iterable[Path]) -> Iterator[Row]:
    """A row for each cell of results of `swapmeet simulate`.

    Raises
    ------
    SwapmeetError
        If a file cannot be read, or is of no platform that is built in.
    """
    from swapmeet.measure.bench.reading import read

    for path in files:
        results = read(path)
        known: dict[tuple[str, int], Bounds] = {}
        for cell in results.cells():
            label = LABEL.fullmatch(cell.mpi)
            if label is None or cell.block_bytes is None:
                raise SwapmeetError(
                    f"{path}: {cell.mpi}: expected results of `swapmeet simulate` with blocks of one size"
                )
            key = (cell.mpi, cell.ranks)
            if key not in known:
                where = platform(label["machine"], cell.ranks, label["topology"])
                known[key] = Bounds(where, simulated_costs(where))
            times = {
                spec: 1e6 * float(min(run.longest.min() for run in results.samples(cell, spec)))
                for spec in results.specs(cell)
            }
            mpis = {spec: us for spec, us in times.items() if peers.is_peer(spec)}
            ours = {spec: us for spec, us in times.items() if not peers.is_peer(spec)}
            if mpis and ours:
                best = min((us, spec) for spec, us in mpis.items())
                yield row(label["machine"], SIMULATED, known[key], cell.block_bytes, ours, best)


def row(
    name: str, how: str, bounds: Bounds, size: int, times: Mapping[str, float], mpi: tuple[float, str]
) -> dict[str, Any]:
    """A cell; `mpi` is the fastest of what MPIs have, in microseconds, and which that is."""
    bounded = bounds.of(size)
    found = bounded.bound
    spec, us = min(times.items(), key=lambda one: round(one[1], 4))  # of equal ones the first
    return {
        "platform": name,
        "how": how,
        "ranks": bounds.platform.ranks,
        "bytes": size,
        "bound_us": round(found.us, 4),
        "unbalanced_us": round(bounded.unbalanced.us, 4),
        "binding": found.binding,
        "best": spec,
        "best_us": round(us, 4),
        "mpi": mpi[1],
        "mpi_us": round(mpi[0], 4),
    }
