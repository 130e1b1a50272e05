"""Speed-ups over the host MPI: medians over turns, with intervals.

In a turn the candidates run one after the other, so what disturbs the machine for longer disturbs them alike: times are
divided turn by turn. Few launches say little about tails, so the interval is that of order statistics, which supposes
nothing about the distribution: it holds the median with a chance of CONFIDENCE or more (of five turns: from the least
to the greatest, 94 %; of fewer all the same, and less).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from launches import RAW, Case, Cell, Launch

CONFIDENCE = 0.9

Turns = Mapping[int, float]  #: turn -> ratio
Key = tuple[str, "int | None"]  #: what a cell is of: collective or part of a program, and bytes


@dataclass(frozen=True)
class Speedup:
    """A median over turns and its interval; above 1, the candidate is faster than the host MPI."""

    median: float
    low: float
    high: float
    turns: int


def speedup(turns: Turns) -> Speedup:
    """The median of at least one ratio."""
    values = sorted(turns.values())
    out = max(0, outside(len(values)) - 1)
    return Speedup(median(values), values[out], values[-1 - out], len(values))


def outside(count: int, confidence: float = CONFIDENCE) -> int:
    """The greatest k whose k-th least and k-th greatest of `count` values hold the median that often; 0: none."""
    k = 0
    while 1 - 2 * sum(math.comb(count, i) for i in range(k + 1)) / 2**count >= confidence:
        k += 1
    return k


def ratios(launches: Sequence[Launch], case: Case, candidate: str) -> dict[Key, dict[int, float]]:
    """For each cell, the host MPI's time over that of the candidate, turn by turn."""
    raw, ours = (_cells(launches, case, name) for name in (RAW, candidate))
    found: dict[Key, dict[int, float]] = {}
    for turn in sorted(raw.keys() & ours.keys()):
        for key, cell in ours[turn].items():
            if key in raw[turn] and cell.mean_us > 0 and raw[turn][key].mean_us > 0:
                found.setdefault(key, {})[turn] = raw[turn][key].mean_us / cell.mean_us
    return found


def _cells(launches: Sequence[Launch], case: Case, candidate: str) -> dict[int, dict[Key, Cell]]:
    return {
        launch.turn: {(cell.what, cell.bytes): cell for cell in launch.cells}
        for launch in launches
        if launch.case == case and launch.candidate == candidate
    }


def geometric_mean(cells: Sequence[Turns]) -> dict[int, float]:
    """Of at least one cell's ratios, turn by turn: those of one launch err together."""
    common = set.intersection(*(set(cell) for cell in cells))
    return {turn: math.exp(sum(math.log(cell[turn]) for cell in cells) / len(cells)) for turn in sorted(common)}
