"""What choices lose in cells that were measured, against the fastest of all there: `swapmeet regret`.

A choice's regret in a cell is the time of what it takes over that of the fastest spec, less one. The rules of `swapmeet
tune` are judged in cells that they were not made of. What is fastest was found by measuring, too: how far to believe it
is seen from finding it twice, by one half of the launches and by the other.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from swapmeet import _core, texts
from swapmeet.choose import file, fit
from swapmeet.choose.rule import Rule
from swapmeet.measure.bench.candidates import AUTO
from swapmeet.measure.bench.cells import NATIVE, Cell
from swapmeet.measure.bench.records import Results, Run
from swapmeet.measure.bench.statistics import Estimate, ratio

COLLECTIVES = {"alltoall": _core.Collective.alltoall, "alltoallv": _core.Collective.alltoallv}
PAPERS = {
    "tra: r = √P": "tra",
    "tra2: r1 = √Q, r2 = N": "tra2",
    "radix 2": "tra(r=2)",
    "slimfly: random order": "random-sendrecv",
    "fft: throttled": "multipair-waitany",
}
NEAR = 0.05  #: a choice that loses no more is as good as the fastest


@dataclass(frozen=True)
class Known:
    """What was measured of a cell."""

    place: fit.Place
    cell: Cell
    runs: Mapping[str, Sequence[Run]]  #: by the spec as it was typed

    def time(self, spec: str) -> Estimate:
        """Over the time of native; below 1, the spec is faster."""
        return ratio(self.runs[spec], self.runs[NATIVE])

    def named(self, spec: str) -> str | None:
        """How the spec was typed when it was measured here; None: it was not."""
        return {_canonical(typed): typed for typed in self.runs}.get(_canonical(spec))


Chooser: TypeAlias = Callable[[Known], str | None]  #: None: no choice that could be judged


@dataclass(frozen=True)
class Loss:
    """Of one choice in one cell."""

    choice: str  #: who chooses
    cell: Cell
    spec: str
    fastest: str
    regret: float
    surely: float  #: the lower end of its 95 % interval, 0 at least


def losses(results: Sequence[Results], mpi: str) -> list[Loss]:
    """Of all choices in all cells of an MPI that have native and at least another spec.

    Parameters
    ----------
    results
        Of `swapmeet bench` or `swapmeet simulate`.
    mpi
        As in "openmpi 5.0.11".
    """
    cells = list(_known(results, mpi))
    choices: dict[str, Chooser] = {
        "tune, this size left out": _tuned(results, mpi, cells, SIZES),
        "tune, these ranks left out": _tuned(results, mpi, cells, RANKS),
        "tune, nothing left out": _by_library(fit.rules(results, mpi), mpi),
        "Swapmeet without a file": _by_library([], mpi),
        "the same, as it ran": _always(AUTO),
        **{name: _always(spec) for name, spec in PAPERS.items()},
        **{name: _always(name) for name in _natives(cells)},
        "the fastest, by the other launches": _by_half,
    }
    found = []
    for name, choose in choices.items():
        for one in cells:
            chosen = choose(one)
            typed = None if chosen is None else one.named(chosen)
            if typed is not None:
                found.append(_loss(name, one, typed, _half(one, 1) if choose is _by_half else one))
    return found


def _known(results: Sequence[Results], mpi: str) -> Iterator[Known]:
    for place, cells in fit.samples(results, mpi).items():
        for cell, runs in cells.items():
            if place.collective == "alltoall" and cell.block_bytes and NATIVE in runs and len(runs) > 1:
                yield Known(place, cell, runs)


def _natives(cells: Sequence[Known]) -> list[str]:
    return sorted({spec for one in cells for spec in one.runs if spec.split(":")[0] == NATIVE})


def _canonical(spec: str) -> str:
    return spec if spec.split(":")[0] in (NATIVE, "auto") else str(_core.parse_spec(spec))


def _always(spec: str) -> Chooser:
    return lambda one: spec


def _by_half(one: Known) -> str | None:
    """The fastest by every other launch."""
    half = _half(one, 0)
    return _fastest(half) if len(half.runs) == len(one.runs) and len(_half(one, 1).runs) == len(one.runs) else None


def _half(one: Known, remainder: int) -> Known:
    """Every other launch of the cell, whatever their numbers: launches of several MPIs take turns."""
    launches = sorted({run.launch for some in one.runs.values() for run in some})[remainder::2]
    runs = {spec: [run for run in some if run.launch in launches] for spec, some in one.runs.items()}
    return replace(one, runs={spec: some for spec, some in runs.items() if some})


def _fastest(one: Known) -> str:
    return min((spec for spec in one.runs if spec != AUTO), key=lambda spec: (one.time(spec).value, spec))


def _loss(choice: str, one: Known, spec: str, truth: Known) -> Loss:
    fastest = _fastest(truth)
    slower = ratio(truth.runs[spec], truth.runs[fastest])
    if spec == fastest:
        return Loss(choice, one.cell, spec, fastest, 0.0, 0.0)
    low = slower.low if math.isfinite(slower.high) else 0.0
    return Loss(choice, one.cell, spec, fastest, max(0.0, slower.value - 1), max(0.0, low - 1))


# What the library chooses


@dataclass(frozen=True)
class _Axis:
    """Along which cells are left out: those that are alike in all else form a row."""

    value: Callable[[Known], int]
    row: Callable[[Known], object]


SIZES = _Axis(lambda one: one.cell.block_bytes or 0, lambda one: one.place)
RANKS = _Axis(lambda one: one.place.ranks, lambda one: one.cell.block_bytes)


def _tuned(results: Sequence[Results], mpi: str, cells: Sequence[Known], axis: _Axis) -> Chooser:
    """By rules made without a cell's column of cells; None where they would have to reach beyond what they know."""
    rows: dict[object, set[int]] = defaultdict(set)
    for one in cells:
        rows[axis.row(one)].add(axis.value(one))
    choosers = {}
    for value in sorted(set.union(set(), *(set(sorted(row)[1:-1]) for row in rows.values()))):
        column = {one.cell for one in cells if axis.value(one) == value}
        choosers[value] = _by_library(fit.rules([_without(one, column) for one in results], mpi), mpi)

    def choose(one: Known) -> str | None:
        value, row = axis.value(one), rows[axis.row(one)]
        return choosers[value](one) if min(row) < value < max(row) else None

    return choose


def _without(results: Results, cells: set[Cell]) -> Results:
    return replace(results, series={cell: some for cell, some in results.series.items() if cell not in cells})


def chooser(rules: Sequence[Rule], mpi: str) -> Callable[[_core.Collective, int, int, str], str]:
    """What the library chooses with a tuning file of these rules, by collective, ranks, bytes of a block and nodes."""
    with texts.temporary_folder("swapmeet-rules-") as folder:
        path = folder / "tuning"
        if rules:
            path.write_text(file.text(rules, mpi, _core.machine_signature(), ["measurements"], "today"))
        options = _core.read_options([f"SWAPMEET_TUNING_FILE={path if rules else 'none'}"], 1, mpi)

    def choose(collective: _core.Collective, ranks: int, block_bytes: int, nodes: str) -> str:
        return str(_core.choose(collective, ranks, block_bytes, options, nodes=nodes)[0])

    return choose


def _by_library(rules: Sequence[Rule], mpi: str) -> Chooser:
    choose = chooser(rules, mpi)

    def chosen(one: Known) -> str | None:
        place = one.place
        nodes = one.cell.nodes or (str(-(-place.ranks // place.nodes)) if place.nodes > 1 else "")
        return choose(COLLECTIVES[place.collective], place.ranks, one.cell.block_bytes or 0, nodes)

    return chosen
