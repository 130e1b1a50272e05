"""From measurements to the rules of a tuning file."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from swapmeet import _core
from swapmeet.bench.candidates import AUTO
from swapmeet.bench.cells import NATIVE, Cell
from swapmeet.bench.records import Results
from swapmeet.bench.statistics import Estimate, geometric_mean, ratio

CHANGE = math.log(1.02)  #: another spec at the next size must be worth so much
REACH = 2  #: times the largest size measured that a rule holds for


@dataclass(frozen=True)
class Rule:
    """One line of a tuning file. Ranges are (least, most), both included; None: no end."""

    collective: str
    ranks: tuple[int, int]
    nodes: int | None  #: None: whatever they are
    bytes: tuple[int, int | None] | None  #: None: whatever they are
    spec: str
    evidence: str


@dataclass(frozen=True)
class Place:
    """Where cells differ in the sizes of blocks only."""

    mpi: str
    collective: str
    nodes: str  #: SWAPMEET_NODES
    ranks: int


def rules(results: Iterable[Results], mpi: str) -> list[Rule]:
    """What was fastest, as rules that do not overlap.

    Between two sizes, or two numbers of ranks, that were measured, the nearer one counts, by their logarithms; ranks
    below or above all are left to the library's own rules. A spec other than native must be faster than native with
    all of its interval.

    Parameters
    ----------
    results
        Of `swapmeet bench`.
    mpi
        Of which cells are used, as in "openmpi 5.0.11".
    """
    speedups: dict[Place, dict[Cell, dict[str, Estimate]]] = defaultdict(dict)
    for one in results:
        for cell in one.cells():
            if cell.mpi == mpi and cell.datatype == "byte":
                place = Place(cell.mpi, cell.collective, cell.nodes, cell.ranks)
                speedups[place][cell] = _speedups(one, cell)
    found = []
    for collective, nodes in sorted({(place.collective, place.nodes) for place in speedups}):
        places = sorted((p for p in speedups if (p.collective, p.nodes) == (collective, nodes)), key=lambda p: p.ranks)
        for place, ranks in zip(places, _shares([place.ranks for place in places]), strict=True):
            found += _rules_of(place, ranks, speedups[place])
    return found


def _speedups(results: Results, cell: Cell) -> dict[str, Estimate]:
    """How many times as fast as native each spec is; only those of which an interval is known."""
    native = results.samples(cell, NATIVE)
    estimates = {
        spec: ratio(native, results.samples(cell, spec)) for spec in results.specs(cell) if spec not in (NATIVE, AUTO)
    }
    return {spec: estimate for spec, estimate in estimates.items() if native and math.isfinite(estimate.high)}


def _shares(values: Sequence[int]) -> list[tuple[int, int]]:
    """The whole numbers that are nearest to each value (ascending), by their logarithms, from the first to the last."""
    middles = [math.isqrt(a * b) for a, b in itertools.pairwise(values)]
    return list(zip([values[0], *(middle + 1 for middle in middles)], [*middles, values[-1]], strict=True))


def _rules_of(place: Place, ranks: tuple[int, int], cells: Mapping[Cell, Mapping[str, Estimate]]) -> list[Rule]:
    nodes = len(set(_core.parse_node_map(place.nodes, place.ranks)[0])) if place.nodes else 1
    if place.collective != "alltoall":
        return [_for_all_sizes(place, ranks, nodes, cells)]
    sized = sorted((cell.block_bytes, found) for cell, found in cells.items() if cell.block_bytes)
    chosen = _chosen([found for _, found in sized])
    starts = [i for i in range(len(sized)) if i == 0 or chosen[i] != chosen[i - 1]]
    found = []
    for start, after in zip(starts, [*starts[1:], len(sized)], strict=True):
        sizes = [size for size, _ in sized]
        least = 0 if start == 0 else math.isqrt(sizes[start - 1] * sizes[start]) + 1
        most = REACH * sizes[-1] if after == len(sized) else math.isqrt(sizes[after - 1] * sizes[after])
        gains = [sized[i][1].get(chosen[start]) for i in range(start, after)]
        measured = f"{sizes[start]} B" if after == start + 1 else f"{sizes[start]} B to {sizes[after - 1]} B"
        evidence = f"{_gain(chosen[start], gains)} at P = {place.ranks}, {measured}"
        found.append(Rule(place.collective, ranks, nodes, (least, most), chosen[start], evidence))
    return found


def _chosen(speedups: Sequence[Mapping[str, Estimate]]) -> list[str]:
    """A spec for each size: of all sequences the one that loses least, where a change counts as a loss of CHANGE.

    A spec is as fast as the lower end of its interval. Viterbi's algorithm.
    """
    specs = sorted({NATIVE, *(spec for found in speedups for spec in found)}, key=lambda spec: (spec != NATIVE, spec))
    losses: list[dict[str, float]] = []
    before: list[dict[str, str]] = []
    for found in speedups:
        gains = {spec: math.log(found[spec].low) for spec in specs if spec in found and found[spec].low > 1}
        best = max(gains.values(), default=0.0)
        own = {spec: best - (0.0 if spec == NATIVE else gains.get(spec, -math.inf)) for spec in specs}
        if not losses:
            losses.append(own)
            continue
        last = losses[-1]
        cheapest = min(specs, key=lambda spec: last[spec])
        stays = {spec: spec if last[spec] <= last[cheapest] + CHANGE else cheapest for spec in specs}
        before.append(stays)
        losses.append({spec: own[spec] + min(last[spec], last[cheapest] + CHANGE) for spec in specs})
    sequence = [min(specs, key=lambda spec: losses[-1][spec])]
    for stays in reversed(before):
        sequence.append(stays[sequence[-1]])
    return sequence[::-1]


def _for_all_sizes(
    place: Place, ranks: tuple[int, int], nodes: int, cells: Mapping[Cell, Mapping[str, Estimate]]
) -> Rule:
    """Ranks do not know each other's sizes: one spec serves all, the best in the mean that is nowhere slower."""
    best, gain = NATIVE, 1.0
    everywhere = set.intersection(*(set(found) for found in cells.values()))
    for spec in sorted(everywhere):
        estimates = [found[spec] for found in cells.values()]
        low = geometric_mean(estimates).low
        if low > gain and all(estimate.high >= 1 for estimate in estimates):
            best, gain = spec, low
    evidence = (
        f"{_gain(best, [found.get(best) for found in cells.values()])} at P = {place.ranks}, {len(cells)} workloads"
    )
    return Rule(place.collective, ranks, nodes, None, best, evidence)


def _gain(spec: str, estimates: Sequence[Estimate | None]) -> str:
    known = [estimate for estimate in estimates if estimate is not None]
    if spec == NATIVE or not known:
        return "nothing is known to be faster"
    least, most = min(e.value for e in known), max(e.value for e in known)
    times = f"{least:.2f}" if f"{least:.2f}" == f"{most:.2f}" else f"{least:.2f} to {most:.2f}"
    launches = max(e.launches for e in known)
    return f"{times} times as fast as native (intervals from {min(e.low for e in known):.2f} on, {launches} launches)"
