"""From measurements to the rules of a tuning file."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from swapmeet import _core
from swapmeet.choose.rule import Rule
from swapmeet.choose.surface import Fit, Sized, fitted
from swapmeet.measure.bench.candidates import AUTO
from swapmeet.measure.bench.cells import NATIVE, Cell
from swapmeet.measure.bench.records import Launch, Results, Run
from swapmeet.measure.bench.statistics import Estimate, geometric_mean, ratio

CHANGE = math.log(1.02)  #: another spec at the next size must be worth so much
NODES_NOTE = "nodes: "  #: begins the note of a launch that says how many nodes the MPI sees
TIE = 0.97  #: what is no slower than that may be the noise of as fast
MOST_LAUNCHES = 1 << 40  #: in one file, so that launches of several have numbers of their own
REACH = 2  #: times the largest size measured that a rule holds for


@dataclass(frozen=True, order=True)
class Place:
    """Where cells differ in the sizes of blocks only; for one MPI."""

    collective: str
    nodes: int
    ranks: int


def rules(
    results: Iterable[Results], mpi: str, wanted: Callable[[str, str], bool] = lambda spec, collective: True
) -> list[Rule]:
    """What was fastest, as rules that do not overlap.

    Between two sizes, or two numbers of ranks, that were measured, a fit counts, or else the nearer one, by their
    logarithms; ranks below or above all are left to the library's own rules. A spec other than native must be faster
    than native with all of its interval. Between two numbers of nodes, above one, the nearer one counts for as many
    ranks on each.

    Parameters
    ----------
    results
        Of `swapmeet bench`. What several have of one cell counts as launches of one.
    mpi
        Of which cells are used, as in "openmpi 5.0.11".
    wanted
        Which specs may win, of a collective; native always may.
    """
    speedups = {
        place: {
            cell: {spec: estimate for spec, estimate in found.items() if wanted(spec, place.collective)}
            for cell, found in cells.items()
        }
        for place, cells in measured(results, mpi).items()
    }
    found = []
    for collective in sorted({place.collective for place in speedups}):
        for nodes, within in _shares_of_nodes(sorted({p.nodes for p in speedups if p.collective == collective})):
            places = sorted(place for place in speedups if (place.collective, place.nodes) == (collective, nodes))
            if collective == "alltoall":
                rows = {place.ranks: sized for place in places if (sized := _by_size(speedups[place]))}
                lines = rules_between(rows, fitted(rows))
            else:
                shares = _shares([place.ranks for place in places])
                lines = [_for_all_sizes(p, share, speedups[p]) for p, share in zip(places, shares, strict=True)]
            found += _on_nodes(lines, nodes, within)
    return found


def _shares_of_nodes(nodes: Sequence[int]) -> list[tuple[int, tuple[int, int]]]:
    """Each number of nodes with those that it stands for: one node is like no other."""
    several = [number for number in nodes if number > 1]
    shares = list(zip(several, _shares(several), strict=True)) if several else []
    return [(number, (1, 1)) for number in nodes if number == 1] + shares


def _on_nodes(rules: Sequence[Rule], measured: int, nodes: tuple[int, int]) -> list[Rule]:
    """These rules for more and fewer nodes, too, with as many ranks on each as were measured."""
    fewest = min((rule.ranks[0] for rule in rules), default=0)
    most = max((rule.ranks[1] or 0 for rule in rules), default=0)

    def widened(least: int, last: int) -> tuple[int, int]:
        return (
            max(2, least * nodes[0] // measured) if least == fewest else least,
            -(-last * nodes[1] // measured) if last == most else last,
        )

    return [replace(rule, nodes=nodes, ranks=widened(rule.ranks[0], rule.ranks[1] or 0)) for rule in rules]


def rules_between(rows: Mapping[int, Sized], fit: Fit | None) -> list[Rule]:
    """Rules of MPI_Alltoall, for any nodes, from what is known by ranks and sizes; by the nearest without a fit."""
    if fit is None:
        return [rule for ranks, share in _shares_of(rows) for rule in _rules_of(ranks, share, rows[ranks])]
    found = []
    for ranks, share in _shares_of(fit.rows):
        lines = _rules_of(ranks, share, fit.rows[ranks], CHANGE * fit.fineness)
        by_fit = f"by a fit, which loses {fit.lost:.1%} where it must guess, the nearest {fit.lost_by_nearest:.1%}"
        found += [replace(rule, evidence=f"{rule.evidence}, {by_fit}") for rule in lines]
    return found


def _shares_of(rows: Mapping[int, Sized]) -> list[tuple[int, tuple[int, int]]]:
    """Each number of ranks with those that it stands for."""
    return list(zip(rows, _shares(list(rows)), strict=True)) if rows else []


def measured(results: Iterable[Results], mpi: str) -> dict[Place, dict[Cell, dict[str, Estimate]]]:
    """How many times as fast as native each spec is, by cell; only those of which an interval is known."""
    return {
        place: {cell: _speedups(by_spec) for cell, by_spec in cells.items()}
        for place, cells in samples(results, mpi).items()
    }


def launched_once(results: Iterable[Results], mpi: str) -> list[str]:
    """Of what nothing was launched twice, in words: the rules that it makes may be noise."""
    return [
        f"{place.collective} at P = {place.ranks}"
        for place, cells in sorted(measured(results, mpi).items())
        if not any(estimate.launches > 1 for found in cells.values() for estimate in found.values())
    ]


def samples(results: Iterable[Results], mpi: str) -> dict[Place, dict[Cell, dict[str, list[Run]]]]:
    """All that was measured of bytes by this MPI; launches of several files are numbered apart."""
    runs: dict[Place, dict[Cell, dict[str, list[Run]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for one, apart in zip(results, itertools.count(step=MOST_LAUNCHES), strict=False):
        nodes = {launch.launch: nodes_of(launch) for launch in one.launches}
        for cell in one.cells():
            if cell.mpi != mpi or cell.datatype != "byte":
                continue
            for spec in one.specs(cell):
                for run in one.samples(cell, spec):
                    place = Place(cell.collective, nodes[run.launch], cell.ranks)
                    runs[place][cell][spec].append(replace(run, launch=run.launch + apart))
    return {place: {cell: dict(by_spec) for cell, by_spec in cells.items()} for place, cells in runs.items()}


def nodes_of(launch: Launch) -> int:
    """How many nodes the ranks of a launch were on, for the library: by SWAPMEET_NODES, or else by the MPI."""
    if launch.nodes:
        return len(set(_core.parse_node_map(launch.nodes, launch.ranks)[0]))
    said = [note.removeprefix(NODES_NOTE) for note in launch.notes if note.startswith(NODES_NOTE)]
    return int(said[0]) if said and said[0].isdecimal() else 1


def _speedups(runs: Mapping[str, Sequence[Run]]) -> dict[str, Estimate]:
    native = runs.get(NATIVE, [])
    ours = [spec for spec in runs if spec not in (NATIVE, AUTO) and not spec.startswith(f"{NATIVE}:")]
    estimates = {spec: ratio(native, runs[spec]) for spec in ours if native}
    return {spec: estimate for spec, estimate in estimates.items() if math.isfinite(estimate.high)}


def _shares(values: Sequence[int]) -> list[tuple[int, int]]:
    """The whole numbers that are nearest to each value (ascending), by their logarithms, from the first to the last."""
    middles = [math.isqrt(a * b) for a, b in itertools.pairwise(values)]
    return list(zip([values[0], *(middle + 1 for middle in middles)], [*middles, values[-1]], strict=True))


def _by_size(cells: Mapping[Cell, Mapping[str, Estimate]]) -> Sized:
    """What is known for each size, ascending. Of several maps of as many nodes, the worst counts for each spec."""
    sized: dict[int, list[Mapping[str, Estimate]]] = defaultdict(list)
    for cell, found in cells.items():
        if cell.block_bytes:
            sized[cell.block_bytes].append(found)
    return [
        (
            size,
            {spec: min((one[spec] for one in some), key=lambda e: e.low) for spec in set.intersection(*map(set, some))},
        )
        for size, some in sorted(sized.items())
    ]


def _rules_of(ranks: int, share: tuple[int, int], sized: Sized, change: float = CHANGE) -> list[Rule]:
    """The rules of MPI_Alltoall for `share` ranks, by what is known on `ranks`."""
    chosen = _chosen([found for _, found in sized], change)
    starts = [i for i in range(len(sized)) if i == 0 or chosen[i] != chosen[i - 1]]
    found = []
    for start, after in zip(starts, [*starts[1:], len(sized)], strict=True):
        sizes = [size for size, _ in sized]
        least = 0 if start == 0 else math.isqrt(sizes[start - 1] * sizes[start]) + 1
        most = REACH * sizes[-1] if after == len(sized) else math.isqrt(sizes[after - 1] * sizes[after])
        gains = [sized[i][1].get(chosen[start]) for i in range(start, after)]
        measured = f"{sizes[start]} B" if after == start + 1 else f"{sizes[start]} B to {sizes[after - 1]} B"
        evidence = f"{_gain(chosen[start], gains)} at P = {ranks}, {measured}"
        found.append(Rule("alltoall", share, None, (least, most), chosen[start], evidence))
    return found


def _chosen(speedups: Sequence[Mapping[str, Estimate]], change: float) -> list[str]:
    """A spec for each size: of all sequences the one that loses least, where a change counts as a loss, too.

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
        stays = {spec: spec if last[spec] <= last[cheapest] + change else cheapest for spec in specs}
        before.append(stays)
        losses.append({spec: own[spec] + min(last[spec], last[cheapest] + change) for spec in specs})
    sequence = [min(specs, key=lambda spec: losses[-1][spec])]
    for stays in reversed(before):
        sequence.append(stays[sequence[-1]])
    return sequence[::-1]


def _for_all_sizes(place: Place, ranks: tuple[int, int], cells: Mapping[Cell, Mapping[str, Estimate]]) -> Rule:
    """Ranks do not know each other's sizes: one spec serves all, the best in the mean that is nowhere slower.

    Few launches leave wide intervals, in which much lies that is slower: so it must not look slower, either.
    """
    best, gain = NATIVE, 1.0
    everywhere = set.intersection(*(set(found) for found in cells.values()))
    for spec in sorted(everywhere):
        estimates = [found[spec] for found in cells.values()]
        low = geometric_mean(estimates).low
        if low > gain and all(estimate.high >= 1 and estimate.value >= TIE for estimate in estimates):
            best, gain = spec, low
    evidence = (
        f"{_gain(best, [found.get(best) for found in cells.values()])} at P = {place.ranks}, {len(cells)} workloads"
    )
    return Rule(place.collective, ranks, None, None, best, evidence)


def _gain(spec: str, estimates: Sequence[Estimate | None]) -> str:
    known = [estimate for estimate in estimates if estimate is not None]
    if spec == NATIVE or not known:
        return "nothing is known to be faster"
    least, most = min(e.value for e in known), max(e.value for e in known)
    times = f"{least:.2f}" if f"{least:.2f}" == f"{most:.2f}" else f"{least:.2f} to {most:.2f}"
    launches = max(e.launches for e in known)
    of = f", {launches} launch{'es' * (launches > 1)}" if launches else ""
    return f"{times} times as fast as native (intervals from {min(e.low for e in known):.2f} on{of})"
