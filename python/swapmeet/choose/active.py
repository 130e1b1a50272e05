"""What is worth measuring next: where it is not clear what is fastest, and much is lost if the guess is wrong.

Each spec's gain over native, the logarithm of how many times as fast it is, is known up to an error. The stake of a
spec in a cell is what is expected to be won if the truth about it were known: the mean of (its gain - that of the
present choice), where that is positive, of a normal distribution. (Expected improvement: Jones, Schonlau, Welch 1998.)
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from swapmeet.measure.bench.candidates import AUTO
from swapmeet.measure.bench.cells import NATIVE, Cell
from swapmeet.measure.bench.records import Results
from swapmeet.measure.bench.statistics import NORMAL, Estimate, ratio

WORTH = 0.005  #: of a cell's time: stakes below are not worth a launch
UNSEEN = 0.05  #: how much two launches differ, as a standard error, until there are several


@dataclass(frozen=True)
class Step:
    """One more launch."""

    ranks: int
    sizes: tuple[str, ...]  #: of blocks, or workloads
    specs: tuple[str, ...]
    launches: int  #: that these cells will have then
    stake: float  #: sum over all cells and specs


def next_step(results: Results, cells: Collection[Cell], most_launches: int) -> Step | None:
    """The launch with the largest possible gain; None if nothing is worth one.

    Parameters
    ----------
    results
        So far.
    cells
        That may be measured.
    most_launches
        Of a cell.
    """
    groups: dict[tuple[int, int], dict[Cell, dict[str, float]]] = defaultdict(dict)
    block_of = {launch.launch: launch.block for launch in results.launches}
    for cell in cells:
        have = len({block_of[run.launch] for run in results.samples(cell, NATIVE)})
        found = stakes(speedups(results, cell))
        if 0 < have < most_launches and max(found.values(), default=0) >= WORTH:
            groups[cell.ranks, have][cell] = found
    if not groups:
        return None
    (ranks, have), open_cells = max(groups.items(), key=lambda item: _sum(item[1]))
    specs = {spec for found in open_cells.values() for spec, stake in found.items() if stake >= WORTH}
    specs |= {_choice(speedups(results, cell)) for cell in open_cells}
    sizes = tuple(dict.fromkeys(cell.sizes for cell in open_cells))
    return Step(ranks, sizes, tuple(sorted(specs)), have + 1, _sum(open_cells))


def _sum(cells: Mapping[Cell, Mapping[str, float]]) -> float:
    return sum(sum(found.values()) for found in cells.values())


def speedups(results: Results, cell: Cell) -> dict[str, Estimate]:
    """How many times as fast as native each spec is."""
    native = results.samples(cell, NATIVE)
    specs = [spec for spec in results.specs(cell) if spec not in (NATIVE, AUTO)]
    return {spec: ratio(native, results.samples(cell, spec)) for spec in specs if native}


def _choice(known: Mapping[str, Estimate]) -> str:
    """What a rule would use now."""
    best = max(known, key=lambda spec: known[spec].low, default=NATIVE)
    return best if best in known and known[best].low > 1 else NATIVE


def _error(estimate: Estimate) -> float:
    """The standard error of a gain: what was seen, and of a few launches what they may not have shown."""
    width = math.log(estimate.high / estimate.low) if 0 < estimate.low < estimate.high < math.inf else 2 * NORMAL
    return math.hypot(width / 2 / NORMAL, UNSEEN / estimate.launches)


def stakes(known: Mapping[str, Estimate]) -> dict[str, float]:
    """What may be won by knowing more of each spec, native included: a share of the time, about."""
    chosen = _choice(known)
    gains = {NATIVE: (0.0, 0.0)} | {spec: (math.log(e.value), _error(e)) for spec, e in known.items()}
    mean, error = gains.pop(chosen)
    found = {}
    for spec, (own, own_error) in gains.items():
        spread = math.hypot(error, own_error)
        score = (own - mean) / spread if spread > 0 else 0.0
        density = math.exp(-score * score / 2) / math.sqrt(2 * math.pi)
        found[spec] = spread * (density + score * math.erfc(-score / math.sqrt(2)) / 2)
    return found
