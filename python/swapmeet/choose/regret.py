"""What a choice of the radix loses, by a model: `swapmeet model --regret`.

In every cell (machine, P, S) all radices from 2 to P are priced. The regret of a rule that offers some of them is the
time of the best that it offers over the time of the best of all, less one.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.table import Table

from swapmeet import _core
from swapmeet.machines import Machine
from swapmeet.model import costs as model
from swapmeet.model import prices
from swapmeet.quantiles import quantile
from swapmeet.tables import right

RANKS = tuple(2**k for k in range(6, 15))  #: 64 to 16384
SIZES = tuple(2**k for k in range(3, 15))  #: 8 B to 16 KiB
MACHINES = ("cscs-slimfly", "fat-tree", "lumi-c", "polaris", "theta")
MOST_RANKS = 1 << 17  #: whose radices are all priced
NEAR = 0.05

RULES: dict[str, Callable[[int, int | None], list[int]]] = {
    "candidates": prices.candidate_radices,
    "√P": lambda ranks, _: [model.root(ranks)],
    "2, P": lambda ranks, _: [2, max(2, ranks)],
    "2, √P, P": lambda ranks, _: [2, model.root(ranks), max(2, ranks)],
}


@dataclass(frozen=True)
class Cell:
    """Where a choice has to be made, and what each rule loses there."""

    machine: str
    ranks: int
    block_bytes: int
    best_radix: int
    best_us: float
    near: float  #: the share of all radices within 5 % of the best
    offered: dict[str, int]  #: radices, by rule
    regret: dict[str, float]  #: by rule


def cells(
    spec: _core.Spec, machines: Sequence[Machine], ranks: Sequence[int], sizes: Sequence[int], model_name: str
) -> Iterator[Cell]:
    """Price all radices in each cell.

    Parameters
    ----------
    spec : _core.Spec
        Of the family bruck, in one dimension; its radix does not matter.
    machines : sequence of Machine
    ranks : sequence of int
        P, each 2 or more.
    sizes : sequence of int
        S in bytes.
    model_name : str
        One of _core.models().
    """
    for machine in machines:
        for p in ranks:
            radices = range(2, p + 1)
            nodes = machine.nodes("")
            times = _core.price_radices(spec, p, nodes, radices, machine.costs, model_name, sizes)
            per_node = None if machine.ranks_per_node is None else min(p, machine.ranks_per_node)
            offers = {name: rule(p, per_node) for name, rule in RULES.items()}
            for column, size in enumerate(sizes):
                by_radix = [row[column] for row in times]
                least = min(by_radix)
                regret = {name: _loss(min(by_radix[r - 2] for r in some), least) for name, some in offers.items()}
                near = sum(time <= least * (1 + NEAR) for time in by_radix) / len(by_radix)
                offered = {name: len(some) for name, some in offers.items()}
                yield Cell(machine.name, p, size, radices[by_radix.index(least)], least, near, offered, regret)


def _loss(time: float, least: float) -> float:
    return time / least - 1 if least > 0 else 0.0


def table(found: Sequence[Cell]) -> Table:
    """One line for each rule: over all cells."""
    listing = Table("radices offered", *right("how many", "within 5 %", "median", "90 %", "99 %", "largest"))
    for name in RULES:
        losses = sorted(cell.regret[name] for cell in found)
        counts = sorted({cell.offered[name] for cell in found})
        share = sum(loss <= NEAR for loss in losses) / len(losses)
        spread = [statistics.median(losses), quantile(losses, 0.9), quantile(losses, 0.99), losses[-1]]
        many = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        listing.add_row(name, many, f"{share:.1%}", *(f"{loss:.1%}" for loss in spread))
    return listing


def tables(found: Sequence[Cell], spec: _core.Spec, model_name: str) -> Iterator[Table | str]:
    """What `swapmeet model --regret` prints."""
    machines = dict.fromkeys(cell.machine for cell in found)
    yield (
        f"Regret of radices of {spec} against the best of all from 2 to P, by the model {model_name}: "
        f"{len(found)} cells on {', '.join(machines)}"
    )
    yield table(found)
    near = statistics.mean(cell.near for cell in found)
    yield f"Of all radices {near:.1%} are within 5 % of the best, on average."


def records(found: Sequence[Cell]) -> Iterator[dict[str, object]]:
    """Cell by cell, for other programs."""
    for cell in found:
        yield {
            "machine": cell.machine,
            "P": cell.ranks,
            "block_bytes": cell.block_bytes,
            "best_radix": cell.best_radix,
            "best_us": cell.best_us,
            "near_share": cell.near,
            "regret": {name: cell.regret[name] for name in RULES},
        }
