"""Errors of predictions, what choices lose by them, and whether the targets of docs/validation.md are met."""

from __future__ import annotations

import random
import statistics
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from swapmeet import _core
from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.cells import NATIVE, Cell
from swapmeet.measure.bench.records import Launch, Results, Series
from swapmeet.validation import algorithms
from swapmeet.validation.measurements import Measured, by_place
from swapmeet.validation.predicting import Prediction, by_cell

NEAR_FACTOR = 1.6
MOST_ERROR, LEAST_NEAR = 0.20, 0.90
MOST_MEDIAN_LOSS, MOST_LOSS, LEAST_SHARE = 0.05, 0.25, 0.90
BY_MODEL = "the library, by its model of an unknown machine"
BY_MEMORY = "the library, every other size remembered"
EARLIER = 1_750_000_000  #: seconds since 1970: not in this run
MOST_SAMPLES = 30  #: of a cell, for `swapmeet tune`
RULES: Mapping[str, Callable[[int, int], str]] = {
    "Bruck's algorithm with datatypes, always": lambda ranks, size: "bruck-dt",
    "everything at once, always": lambda ranks, size: "spread-out",
    "pairwise, always": lambda ranks, size: "pairwise",
    "thakur2005: Bruck to 256 B, at once to 32 KiB, pairwise": lambda ranks, size: (
        "bruck-dt" if size <= 256 else "spread-out" if size <= 32768 else "pairwise"
    ),
}  #: of the papers and of MPICH, of what was measured by all


@dataclass(frozen=True)
class Errors:
    """Of some predictions."""

    cells: int
    median: float  #: of |predicted / measured - 1|
    near: float  #: share within NEAR_FACTOR
    low: float  #: the least and the largest of predicted over measured
    high: float


def errors(predictions: Iterable[Prediction]) -> Errors:
    """Of predictions, at least one."""
    ratios = [one.ratio for one in predictions]
    off = [abs(ratio - 1) for ratio in ratios]
    near = sum(1 / NEAR_FACTOR <= ratio <= NEAR_FACTOR for ratio in ratios) / len(ratios)
    return Errors(len(ratios), statistics.median(off), near, min(ratios), max(ratios))


@dataclass(frozen=True)
class Loss:
    """What a choice costs in one cell."""

    choice: str
    cell: tuple[str, str, int, int]
    takes: str  #: an algorithm that was measured
    fastest: str
    regret: float  #: time over that of the fastest, less 1
    low: float = 0  #: the same of their quartiles, if these fall so that it is least, and largest
    high: float = 0
    surely: bool | None = None  #: their quartiles do not overlap; None: what was chosen was not measured
    one_spec: bool = False  #: two names for the same messages: no choice could have told them apart


def by_default(some: Mapping[str, Measured]) -> Measured | None:
    """What the MPI chose itself in a cell; None: that was not measured.

    Raises
    ------
    SwapmeetError
        If two names stand for it.
    """
    found = [one for name, one in some.items() if (known := algorithms.find(name)) and known.default]
    if len(found) > 1:
        names = ", ".join(one.algorithm for one in found)
        system, nodes, _, size = found[0].cell
        where = f"{system}, {nodes} nodes, {size} B"
        raise SwapmeetError(f"{where}: {names} each stand for what the MPI chose: leave all but one out")
    return found[0] if found else None


def fastest(some: Mapping[str, Measured]) -> Measured:
    """What took the least time of what was measured in a cell."""
    return min(some.values(), key=lambda one: one.us)


def loss(choice: str, some: Mapping[str, Measured], takes: Measured) -> Loss:
    """Of taking one algorithm in a cell, against the fastest of `some`."""
    best = fastest(some)
    if takes.us <= best.us:
        return Loss(choice, takes.cell, takes.algorithm, best.algorithm, 0.0, surely=False)
    taken, known = algorithms.find(takes.algorithm), algorithms.find(best.algorithm)
    return Loss(
        choice,
        takes.cell,
        takes.algorithm,
        best.algorithm,
        takes.us / best.us - 1,
        max(0.0, takes.low_us / best.high_us - 1),
        takes.high_us / best.low_us - 1,
        takes.low_us > best.high_us,
        bool(taken and known and taken.spec and known.spec and _canonical(taken.spec) == _canonical(known.spec)),
    )


def estimated_loss(choice: str, some: Mapping[str, Measured], spec: str, us: float) -> Loss:
    """Of a spec that was not measured in a cell, by its estimated time."""
    best = fastest(some)
    low, high = (max(0.0, us / bound - 1) for bound in (best.high_us, best.low_us))
    return Loss(choice, best.cell, spec, best.algorithm, max(0.0, us / best.us - 1), low, high)


def in_common(losses: Sequence[Loss]) -> list[Loss]:
    """Those in cells in which every choice of the system was judged, so that choices can be compared."""
    cells: dict[str, dict[str, set[tuple[str, str, int, int]]]] = {}
    for one in losses:
        cells.setdefault(one.cell[0], {}).setdefault(one.choice, set()).add(one.cell)
    common = {system: set.intersection(*by_choice.values()) for system, by_choice in cells.items()}
    return [one for one in losses if one.cell in common[one.cell[0]]]


def of_spec(some: Mapping[str, Measured], spec: str) -> Measured | None:
    """What was measured of a spec in a cell: the slowest, where several algorithms send the same messages."""
    wanted = _canonical(spec)
    found = [one for name, one in some.items() if (known := algorithms.find(name)) and _canonical(known.spec) == wanted]
    return max(found, key=lambda one: one.us) if found else None


def _canonical(spec: str | None) -> str:
    return "" if spec is None else str(_core.parse_spec(spec))


def predicted_choices(predictions: Sequence[Prediction], name: str) -> list[Loss]:
    """What the spec loses that is predicted to be the fastest, in each cell, against all that could be predicted."""
    found = []
    cells = by_cell(one.measured for one in predictions)
    times: dict[tuple[str, str, int, int], dict[str, float]] = {}
    for one in predictions:
        times.setdefault(one.measured.cell, {})[one.spec] = one.us
    for cell, some in cells.items():
        if len(times[cell]) > 1:
            takes = of_spec(some, min(times[cell], key=lambda spec: times[cell][spec]))
            assert takes is not None
            found.append(loss(name, some, takes))
    return found


def data_losses(cells: Sequence[Measured], predicted: Mapping[str, Sequence[Prediction]]) -> list[Loss]:
    """What all choices lose against the fastest of all that was measured: the table of `swapmeet regret --data`.

    Parameters
    ----------
    predicted
        By the name of a choice: predictions, of which the least time is taken.
    """
    found = []
    whole = by_cell(cells)
    for cell, some in whole.items():
        if (one := by_default(some)) is not None:
            found.append(loss(algorithms.OWN_CHOICE, some, one))
        ours = {name: one for name, one in some.items() if (known := algorithms.find(name)) and known.spec}
        if ours:
            found.append(loss("the fastest point of our family that was measured", some, fastest(ours)))
        for name, rule in RULES.items():
            takes = of_spec(some, rule(cell[2], cell[3]))
            if takes is not None:
                found.append(loss(name, some, takes))
    for name, predictions in predicted.items():
        found += [
            loss(name, whole[one.cell], whole[one.cell][one.takes]) for one in predicted_choices(predictions, name)
        ]
    return found + tuned(cells) + engine_choices(cells)


def engine_choices(cells: Sequence[Measured]) -> list[Loss]:
    """What the library would choose of what was measured, where the machine is not described (src/choose).

    By its model alone, and with every other size of the place as what earlier runs have measured.
    """
    found = []
    for place in by_place(cells).values():
        sizes = sorted(place)
        halves = [sizes[0::2], sizes[1::2]]
        for number, half in enumerate(halves):
            remembered = [one for size in halves[1 - number] for one in _evidence(place[size])]
            for size in half:
                for choice, evidence in ((BY_MODEL, []), (BY_MEMORY, remembered)):
                    takes = _engine_choice(place[size], evidence)
                    if takes is not None:
                        found.append(loss(choice, place[size], takes))
    return found


def _chosen_from(some: Mapping[str, Measured]) -> dict[str, Measured]:
    """Of a cell, by spec: what the MPI chose, and what sends the messages of a spec of ours."""
    specs = dict.fromkeys(known.spec for name in some if (known := algorithms.find(name)) and known.spec)
    ours = {_canonical(spec): one for spec in specs if (one := of_spec(some, spec)) is not None}
    default = by_default(some)
    return ({NATIVE: default} if default else {}) | ours


def _kind(one: Measured) -> tuple[_core.Collective, int, int]:
    return _core.Collective.alltoall, one.ranks, one.block_bytes


def _evidence(some: Mapping[str, Measured]) -> list[_core.Evidence]:
    """As a run of the library would leave it to the next."""
    found = []
    for spec, one in _chosen_from(some).items():
        spread_us = (one.high_us - one.low_us) / 1.35 / one.samples**0.5
        kind = _core.CallKind(*_kind(one), str(one.per_node))
        numbers = 1e-6 * one.us, 1e-6 * spread_us
        found.append(_core.Evidence(kind, _core.parse_spec(spec), one.samples, *numbers, date=EARLIER))
    return found


def _engine_choice(some: Mapping[str, Measured], evidence: list[_core.Evidence]) -> Measured | None:
    """The least expected time, but the MPI's own choice where that is expected to take 5 % more at most."""
    known = _core.Knowledge(evidence=evidence)
    expected = {}
    measured = _chosen_from(some)
    for spec, one in measured.items():
        also = _core.parse_spec(spec)
        priced = _core.candidates(*_kind(one), nodes=str(one.per_node), knowledge=known, also=also)
        expected[spec] = next(of.seconds for of in priced if of.spec == also)
    if NATIVE not in expected or len(expected) < 2:
        return None
    best = min(expected, key=lambda spec: expected[spec])
    return measured[best if expected[best] < 0.95 * expected[NATIVE] else NATIVE]


def tuned(cells: Sequence[Measured]) -> list[Loss]:
    """What `swapmeet tune` would choose from the other sizes: each but the first and last of a place left out once.

    The host MPI is what the MPI chooses itself, so only places where that was measured count.
    """
    found = []
    places: dict[tuple[str, str, int], list[Measured]] = {}
    for one in cells:
        places.setdefault(one.place, []).append(one)
    for some in places.values():
        sizes = sorted({one.block_bytes for one in some})
        whole = by_cell(some)
        for size in sizes[1:-1]:
            choice = _tuned_choice([one for one in some if one.block_bytes != size], some[0], size)
            cell = whole[some[0].system, some[0].nodes, some[0].ranks, size]
            takes = by_default(cell) if choice.partition("(")[0] == NATIVE else of_spec(cell, choice)
            if takes is not None:
                found.append(loss("swapmeet tune --from, this size left out", cell, takes))
    return found


def _tuned_choice(known: Sequence[Measured], where: Measured, size: int) -> str:
    """What the library does with rules made of some measurements."""
    from swapmeet.choose import fit, held_out

    label = f"{where.system} {where.nodes}"
    results = as_results(known, label)
    nodes = str(where.per_node) if where.ranks > where.per_node else ""
    choose = held_out.chooser(fit.rules([results], label), label)
    return choose(_core.Collective.alltoall, where.ranks, size, nodes)


def as_results(cells: Sequence[Measured], label: str) -> Results:
    """The same as results of `swapmeet bench`, in one launch: as many samples as there were, 30 at most.

    They are spread by median and quartiles, and in another order for each spec.
    """
    first = cells[0]
    nodes = str(first.per_node) if first.ranks > first.per_node else ""
    launch = Launch(0, 0, label, first.ranks, nodes=nodes)
    results = Results(Path(label), [{}], [launch])
    for (_, _, ranks, size), some in by_cell(cells).items():
        by_spec = results.series.setdefault(Cell(label, ranks, "alltoall", str(size), nodes=nodes), {})
        for name, one in some.items():
            algorithm = algorithms.find(name)
            spec = None if algorithm is None else NATIVE if algorithm.default else algorithm.spec
            if spec is None or spec in by_spec:  # of two names for one spec, the first
                continue
            samples = array("d", _spread(one, len(by_spec)))
            rounds, calls = array("q", range(len(samples))), array("q", [1] * len(samples))
            by_spec[spec] = {0: Series(rounds, calls, samples, samples[:], samples[:])}
    return results


def _spread(one: Measured, order: int) -> list[float]:
    """Seconds whose median and quartiles are about those of a cell, shuffled."""
    many = min(one.samples, MOST_SAMPLES)
    shares = [(i + 0.5) / many for i in range(many)]
    us = [
        one.us + (share - 0.5) * 4 * ((one.us - one.low_us) if share < 0.5 else (one.high_us - one.us))
        for share in shares
    ]
    random.Random(order).shuffle(us)
    return [1e-6 * max(value, 0.1 * one.us) for value in us]
