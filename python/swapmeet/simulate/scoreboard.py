"""The automatic choice against the best of what production MPIs would choose, cell by cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from rich.table import Table

from swapmeet.measure.bench.candidates import AUTO
from swapmeet.measure.bench.cells import Cell, place, size
from swapmeet.measure.bench.records import Results
from swapmeet.simulate.peers import PREFIX, SELECTORS
from swapmeet.tables import right

SLOWER = 0.97  #: times as fast as the best peer, below which we call ourselves slower


@dataclass(frozen=True)
class Score:
    """Of one cell. Times in seconds."""

    cell: Cell
    ours: float
    best: float
    peer: str  #: which is the best

    @property
    def speedup(self) -> float:
        """Above 1, ours is faster."""
        return self.best / self.ours


def scores(results: Results) -> list[Score]:
    """Of all cells in which there are times of ours and of a peer."""
    found = []
    for cell in results.cells():
        times = {spec: min(run.longest.min() for run in results.samples(cell, spec)) for spec in results.specs(cell)}
        peers = {spec: time for spec, time in times.items() if spec.removeprefix(PREFIX) in SELECTORS}
        if AUTO in times and peers:
            peer = min(peers, key=lambda spec: peers[spec])
            found.append(Score(cell, float(times[AUTO]), float(peers[peer]), peer.removeprefix(PREFIX)))
    return found


def record(score: Score) -> dict[str, object]:
    """For other programs."""
    times = {"auto_seconds": score.ours, "best_seconds": score.best}
    return asdict(score.cell) | times | {"best": score.peer, "speedup": score.speedup}


def mean(found: Sequence[Score]) -> float:
    """Of the speed-ups, geometric; nan if there are none."""
    return math.exp(sum(math.log(score.speedup) for score in found) / len(found)) if found else math.nan


def table(found: Sequence[Score]) -> Table:
    """A row for each cell, and what they come to."""
    slower = sum(score.speedup < SLOWER for score in found)
    summary = (
        f"geometric mean {mean(found):.2f}; slower in {slower} of {len(found)} cells, at worst {_worst(found):.2f}"
    )
    times = right("block", "µs, auto", "µs, best")
    title = "auto against the best of " + ", ".join(SELECTORS)
    shown = Table("where", *times, "best", *right("speed-up"), title=title, caption=summary, title_justify="left")
    for score in found:
        colour = "red" if score.speedup < SLOWER else "green" if score.speedup > 1 / SLOWER else "white"
        numbers = [f"{1e6 * score.ours:.4g}", f"{1e6 * score.best:.4g}", score.peer]
        shown.add_row(place(score.cell), size(score.cell), *numbers, f"[{colour}]{score.speedup:.2f}[/{colour}]")
    return shown


def _worst(found: Iterable[Score]) -> float:
    return min((score.speedup for score in found), default=math.nan)
