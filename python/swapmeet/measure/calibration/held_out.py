"""How well a description predicts: all-to-alls that it was not made of, measured in the same launches."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from rich.table import Table

from swapmeet.machines import RATIO
from swapmeet.measure.bench.cells import NATIVE, Cell
from swapmeet.measure.bench.session import Refused, Session
from swapmeet.measure.calibration.parts import QUIET
from swapmeet.model.prices import Pricing
from swapmeet.quantiles import interpolated
from swapmeet.specs import parse_spec
from swapmeet.tables import right
from swapmeet.units import bytes_text, microseconds

SPECS = (
    "pairwise",
    "random-sendrecv",
    "tra(r=2)",
    "bruck-zero-copy",
    "grid",
    "shared-memory",
    "two-layer",
    "node-leaders",
)
SIZES = (48, 768, 12 << 10, 192 << 10)  #: between those that the description is made of
NEAR = (0.1, 0.25, 0.5)
DOUBTFUL = 0.5  #: a median error above this


@dataclass(frozen=True)
class Exchange:
    """One all-to-all."""

    spec: str
    bytes: int


@dataclass(frozen=True)
class Prediction:
    """Seconds."""

    exchange: Exchange
    measured: float
    expected: float

    @property
    def error(self) -> float:
        """Relative; negative: it takes longer than expected."""
        return self.expected / self.measured - 1


def exchanges(ranks: int, nodes: str) -> Iterator[Exchange]:
    """What is measured."""
    for size in SIZES:
        for spec in SPECS:
            point = parse_spec(spec)
            if not point.unsuitable(ranks, nodes) and (nodes or point.family != "leaders" and spec != "two-layer"):
                yield Exchange(spec, size)


@dataclass
class Visits:
    """What one launch has measured: a batch of calls of each exchange in each round."""

    session: Session
    seconds: dict[Exchange, list[float]] = field(default_factory=dict)
    _calls: dict[Exchange, int] = field(default_factory=dict)

    def take(self, nodes: str, seconds: float) -> dict[Exchange, list[float]]:
        """Rounds until that many seconds are over, one at least."""
        until = time.monotonic() + seconds
        left = list(exchanges(self.session.ranks, nodes))
        while left and (not self._calls or time.monotonic() < until):
            for exchange in list(left):
                try:
                    self._visit(exchange)
                except Refused:  # the machine may have too little memory, say
                    left.remove(exchange)
        return self.seconds

    def _visit(self, exchange: Exchange) -> None:
        target = self.session.target
        mpi = f"{target.kind} {target.version}"
        self.session.call(Cell(mpi, self.session.ranks, "alltoall", str(exchange.bytes)))
        number = self.session.candidate(exchange.spec)
        if exchange not in self._calls:
            self.session.check(number)
            if self.session.ran(number).spec == NATIVE:
                raise Refused("left to the host MPI")
            self._calls[exchange] = self.session.batch(self.session.seconds(number))
        (sample,) = self.session.measure([(number, self._calls[exchange])])
        self.seconds.setdefault(exchange, []).append(sample.longest)


def predictions(
    launches: Sequence[dict[Exchange, list[float]]], ranks: int, nodes: str, pricing: Pricing
) -> list[Prediction]:
    """What was measured, over launches, and what the description predicts."""
    some = dict.fromkeys(exchange for taken in launches for exchange in taken)
    return [
        Prediction(
            exchange,
            interpolated((time for taken in launches for time in taken.get(exchange, [])), QUIET)[0],
            1e-6 * pricing.price(parse_spec(exchange.spec), ranks, exchange.bytes, nodes).total,
        )
        for exchange in some
    ]


def summary(found: Sequence[Prediction]) -> dict[str, float]:
    """The median and the worst relative error, and shares that are near."""
    errors = np.abs([prediction.error for prediction in found])
    near = {f"within {share:.0%}": float(np.mean(errors <= share)) for share in NEAR}
    return {"exchanges": len(found), "median": float(np.median(errors)), "worst": float(errors.max()), **near}


def predicts_little(found: Mapping[str, float]) -> bool:
    """Whether by a summary half of all are off by more than half."""
    return found["median"] > DOUBTFUL


def order(found: Sequence[Prediction]) -> dict[str, float]:
    """How well specs are compared: over all pairs at one size.

    Returns
    -------
    dict
        "pairs in order": the share that is ordered as it was measured; RATIO: the factor by which the ratio of two
        times is off, exceeded by one pair in twenty.
    """
    pairs = [
        (a, b)
        for a, b in itertools.combinations(found, 2)
        if a.exchange.bytes == b.exchange.bytes and a.exchange.spec != b.exchange.spec
    ]
    if not pairs:
        return {}
    agree = [(a.measured < b.measured) == (a.expected < b.expected) for a, b in pairs]
    off = [abs(math.log((1 + a.error) / (1 + b.error))) for a, b in pairs]
    return {"pairs in order": float(np.mean(agree)), RATIO: math.exp(interpolated(off, 0.95)[0])}


def table(found: Sequence[Prediction]) -> Table:
    """One line for each exchange."""
    listing = Table("held out", "block", *right("measured (µs)", "expected (µs)", "error"))
    for one in found:
        times = (microseconds(1e6 * one.measured), microseconds(1e6 * one.expected))
        listing.add_row(one.exchange.spec, bytes_text(one.exchange.bytes), *times, f"{one.error:+.0%}")
    return listing
