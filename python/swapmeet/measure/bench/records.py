"""What a results file of `swapmeet bench` holds, as objects; structs are lines of it as they are (docs/results.md)."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from swapmeet.measure.bench.cells import NATIVE, Cell
from swapmeet.structs import Count, Positive


class Launch(msgspec.Struct, frozen=True, tag="launch"):
    """One start of the measuring program."""

    launch: Count
    block: Count
    mpi: str
    ranks: Positive
    library: str = ""  #: path of the MPI library
    nodes: str = ""
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    started: str = ""
    load: float | None = None  #: of the machine at the start, as in `uptime`
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """The samples of one spec in one launch, in the order taken; all arrays have shape (samples,)."""

    launch: int
    rounds: NDArray[np.int64]  #: ascending; equal rounds of two specs were taken side by side
    longest: NDArray[np.float64]  #: over ranks, seconds per call
    shortest: NDArray[np.float64]
    mean: NDArray[np.float64]
    calls: NDArray[np.int64]  #: that each sample is the mean of


@dataclass(frozen=True)
class Phases:
    """Where the time of one spec went in one launch."""

    launch: int
    cell: Cell
    spec: str
    calls: int
    seconds: Mapping[str, NDArray[np.float64]]  #: phase -> (ranks,) array, seconds per call


class Limits(msgspec.Struct, frozen=True, tag="limits"):
    """What the machine allows for a cell, by name."""

    launch: Count
    cell: Cell
    seconds: Mapping[str, float]


class Overlap(msgspec.Struct, frozen=True, tag="overlap"):
    """Non-blocking exchanges of one spec in one launch, alone and with as much computing in them."""

    launch: Count
    cell: Cell
    spec: str
    calls: Positive
    tests: Count  #: calls of MPI_Test in the computing of one exchange
    seconds: Mapping[str, float]  #: per call, by the names of OVERLAP

    @property
    def lost(self) -> float:
        """Seconds that an exchange takes from a program that computes meanwhile: the start, the tests and the wait."""
        return self.seconds["start"] + self.seconds["tests"] + self.seconds["wait"]

    @property
    def osu(self) -> float:
        """Overlap as the OSU micro-benchmarks define it: 1 if the program loses nothing, 0 if all of the pure time."""
        return max(0.0, 1 - (self.seconds["overlapped"] - self.seconds["computing"]) / self.seconds["pure"])

    @property
    def imb(self) -> float:
        """Overlap as the Intel MPI benchmarks define it."""
        pure, computing, both = (self.seconds[name] for name in ("pure", "computing", "overlapped"))
        return max(0.0, min(1.0, (pure + computing - both) / min(pure, computing)))


class Problem(msgspec.Struct, frozen=True, tag="problem"):
    """What could not be measured. Where `cell` or `spec` is None, it concerns all of them."""

    launch: Count | None = None
    cell: Cell | None = None
    spec: str | None = None
    message: str = ""


@dataclass
class Series:
    """What is read of one spec in one launch."""

    rounds: array[int] = field(default_factory=lambda: array("q"))
    calls: array[int] = field(default_factory=lambda: array("q"))
    longest: array[float] = field(default_factory=lambda: array("d"))
    shortest: array[float] = field(default_factory=lambda: array("d"))
    mean: array[float] = field(default_factory=lambda: array("d"))


@dataclass
class Results:
    """All that a results file holds."""

    path: Path
    campaigns: list[dict[str, Any]] = field(default_factory=list)  #: the first start and each resumption
    launches: list[Launch] = field(default_factory=list)
    phases: list[Phases] = field(default_factory=list)
    overlaps: list[Overlap] = field(default_factory=list)
    limits: list[Limits] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    finished: dict[Cell, str] = field(default_factory=dict)  #: why nothing more is to be measured
    torn: bool = False  #: the last line was cut off, as by an interruption, and is left out
    series: dict[Cell, dict[str, dict[int, Series]]] = field(default_factory=dict, repr=False)  #: what `samples` reads

    @property
    def header(self) -> dict[str, Any]:
        """The campaign line that the file begins with."""
        return self.campaigns[0]

    @property
    def measured(self) -> bool:
        """Whether they are times of a real machine: not simulated, nor estimated."""
        return not self.header.get("options", {}).keys() & {"simulated", "estimated"}

    def cells(self) -> list[Cell]:
        """The cells with samples, small sizes first."""
        return sorted(self.series, key=_cell_order)

    def specs(self, cell: Cell) -> list[str]:
        """The specs with samples of this cell: native first, then by name, numbers in their order."""
        return sorted(self.series.get(cell, {}), key=_spec_order)

    def samples(self, cell: Cell, spec: str) -> list[Run]:
        """The samples of a spec, one run for each launch that has any, ascending."""
        found = self.series.get(cell, {}).get(spec, {})
        return [_run(launch, found[launch]) for launch in sorted(found)]

    def next_round(self, launch: int, cell: Cell, spec: str) -> int:
        """The first round of this launch in which the spec has not been sampled."""
        series = self.series.get(cell, {}).get(spec, {}).get(launch)
        return series.rounds[-1] + 1 if series else 0


def _run(launch: int, series: Series) -> Run:
    rounds, calls = (np.array(numbers, dtype=np.int64) for numbers in (series.rounds, series.calls))
    longest, shortest, mean = (
        np.array(seconds, dtype=np.float64) for seconds in (series.longest, series.shortest, series.mean)
    )
    return Run(launch, rounds, longest, shortest, mean, calls)


def _cell_order(cell: Cell) -> tuple[object, ...]:
    size = -1 if cell.block_bytes is None else cell.block_bytes
    return (cell.mpi, cell.ranks, cell.nodes, cell.collective, size, cell.sizes, cell.seed, cell.datatype)


def _spec_order(spec: str) -> tuple[object, ...]:
    words = re.split(r"([0-9]+)", spec)  # texts and numbers take turns, so that like meets like
    return (spec != NATIVE, [int(word) if i % 2 else word for i, word in enumerate(words)])
