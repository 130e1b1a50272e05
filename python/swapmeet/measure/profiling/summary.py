"""What the application did: its all-to-alls by kind of communicator, in numbers. No output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from swapmeet.measure.profiling.exchanges import Distinct, Found, common_calls
from swapmeet.measure.profiling.recording import (
    COLLECTIVES,
    EXCHANGE,
    OF_NEIGHBOURS,
    START,
    TIME,
    WEIGHT,
    Calls,
    Exchange,
    RankFile,
    Recording,
)
from swapmeet.quantiles import quantile

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Kind:
    """Communicators that are shown in one row."""

    ranks: int  #: of an exchange: its blocks
    inter: bool
    name: str  #: that MPI knows; "" mostly
    collective: str

    def __str__(self) -> str:
        if self.inter:
            return f"intercommunicator, {self.ranks} remote ranks"
        ranks = "one rank" if self.ranks == 1 else f"{self.ranks} ranks"
        return f"{self.name}, {ranks}" if self.name else f"of {ranks}"


@dataclass
class Waiting:
    """How far apart ranks arrive, from the calls that all ranks of their communicator wrote down."""

    spread: float  #: median of latest arrival minus earliest, in seconds
    share: float  #: of the time in these calls, the part before the last rank was there
    clocks: bool  #: False: the ranks have no common clock, and the spread is taken from how long they stayed


@dataclass
class Row:
    """What one collective did on one kind of communicators."""

    kind: Kind
    communicators: int = 0
    calls: int = 0  #: each counts once, however many ranks it has
    bytes: float = 0  #: sent by all ranks, their own blocks included
    rank_seconds: float = 0  #: over all ranks
    sizes: dict[int, float] = field(default_factory=dict)  #: bytes of a block -> blocks sent
    undescribed: int = 0  #: calls of ranks whose sizes are not known
    waiting: Waiting | None = None
    rank_imbalance: float | None = None  #: most bytes sent by a rank over the mean of ranks; mean over calls
    block_imbalance: float | None = None  #: largest block over the mean block; mean over calls

    def quantile(self, share: float) -> int:
        """The size that this share of the blocks does not exceed: 0.5 gives the median."""
        return int(quantile(self.sizes, share, self.sizes.values())) if self.sizes else 0

    def histogram(self) -> dict[int, float]:
        """Share of the blocks in each class: 0, 1, 2-3, 4-7, ... bytes, by its least size."""
        total = sum(self.sizes.values())
        classes: dict[int, float] = {}
        for size in sorted(self.sizes):
            least = 1 << (size.bit_length() - 1) if size else 0
            classes[least] = classes.get(least, 0.0) + self.sizes[size] / total
        return classes


def rows(recording: Recording, found: Found) -> list[Row]:
    """Sum up a recording; the most expensive first."""
    known: dict[Kind, Row] = {}
    waits: dict[Kind, list[tuple[Numbers, Numbers, Numbers, Numbers, bool]]] = {}
    for places in recording.communicators().values():
        first = places[0][0].communicators[places[0][1]]
        for collective in (*COLLECTIVES, *OF_NEIGHBOURS):
            of_ranks = [
                [e for e in file.exchanges if e.communicator == index and e.collective == collective]
                for file, index in places
            ]
            calls = max(sum(exchange.calls for exchange in own) for own in of_ranks)
            if not calls:
                continue
            kind = Kind(first.blocks, first.inter, first.name, collective)
            row = known.setdefault(kind, Row(kind))
            row.communicators += 1
            row.calls += calls
            for own in of_ranks:
                _add(row, own)
            if first.shared and len(places) == first.blocks > 1:
                waits.setdefault(kind, []).append(_waits(places, collective))
    for kind, parts in waits.items():
        known[kind].waiting = _waiting(parts)
    for row in known.values():
        _imbalance(row, [one for one in found.distinct if _is_of(one, row.kind)])
    return sorted(known.values(), key=lambda row: -row.rank_seconds)


def _add(row: Row, exchanges: Sequence[Exchange]) -> None:
    ranks = row.kind.ranks
    for exchange in exchanges:
        row.rank_seconds += exchange.seconds
        if exchange.bytes is None:
            row.undescribed += exchange.calls
        elif isinstance(exchange.bytes, int):
            row.sizes[exchange.bytes] = row.sizes.get(exchange.bytes, 0) + exchange.calls * ranks
            row.bytes += exchange.bytes * ranks * exchange.calls
        else:
            row.bytes += sum(exchange.bytes) * exchange.calls
            values, counts = np.unique(np.array(exchange.bytes, np.int64), return_counts=True)
            for size, count in zip(values.tolist(), counts.tolist(), strict=True):
                row.sizes[size] = row.sizes.get(size, 0) + count * exchange.calls


def _waits(places: Sequence[tuple[RankFile, int]], collective: str) -> tuple[Numbers, Numbers, Numbers, Numbers, bool]:
    """Of each call that all ranks wrote down: weight, spread of arrivals, and over ranks time waited and time spent."""
    empty: Calls = np.empty((0, 5), np.int64)
    own = common_calls([file.calls.get(index, empty) for file, index in places])
    wanted = [e.collective == collective for e in places[0][0].exchanges]
    kept = np.array([wanted[exchange] for exchange in own[0][:, EXCHANGE]], dtype=bool)
    times = np.array([rows[kept, TIME] for rows in own], dtype=np.float64)
    weights = own[0][kept, WEIGHT].astype(np.float64)
    clocks = len({file.clock[0] for file, _ in places}) == 1
    if not kept.any():
        return weights, weights, weights, weights, clocks
    if clocks:
        origin = min(file.clock[1] for file, _ in places)
        starts = np.array(
            [rows[kept, START] + (file.clock[1] - origin) for rows, (file, _) in zip(own, places, strict=True)],
            dtype=np.float64,
        )
        spread = starts.max(axis=0) - starts.min(axis=0)
        waited = np.minimum(starts.max(axis=0) - starts, times)
    else:  # whoever stays shortest came last, if all leave together
        spread = times.max(axis=0) - times.min(axis=0)
        waited = times - times.min(axis=0)
    return weights, spread, waited.sum(axis=0), times.sum(axis=0), clocks


def _waiting(parts: Sequence[tuple[Numbers, Numbers, Numbers, Numbers, bool]]) -> Waiting | None:
    weights, spread, waited, times = (np.concatenate([part[k] for part in parts]) for k in range(4))
    if not len(weights) or not times.any():
        return None
    median = quantile(spread, 0.5, weights)
    share = float((weights * waited).sum() / (weights * times).sum())
    return Waiting(float(median) * 1e-9, share, all(part[4] for part in parts))


def _is_of(one: Distinct, kind: Kind) -> bool:
    return not kind.inter and one.ranks == kind.ranks and one.collective == kind.collective


def _imbalance(row: Row, exchanges: Sequence[Distinct]) -> None:
    """Over all communicators of the same number of ranks. Empty exchanges have none."""
    weighed = [(one.calls, *_ratios(one)) for one in exchanges if one.total_bytes]
    if weighed:
        calls, ranks, blocks = np.array(weighed).T
        row.rank_imbalance = float(np.average(ranks, weights=calls))
        row.block_imbalance = float(np.average(blocks, weights=calls))


def _ratios(one: Distinct) -> tuple[float, float]:
    if isinstance(one.bytes, int):
        return 1.0, 1.0
    sent = one.bytes.sum(axis=1)
    return float(sent.max() / sent.mean()), float(one.bytes.max() / one.bytes.mean())
