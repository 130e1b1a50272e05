"""The distinct exchanges of a run: which sizes met in one call, over all ranks of its communicator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from swapmeet.measure.profiling.recording import (
    CALL,
    COLLECTIVES,
    EXCHANGE,
    NS,
    OF_NEIGHBOURS,
    TIME,
    WEIGHT,
    Calls,
    Exchange,
    RankFile,
    Recording,
)

Matrix = NDArray[np.int64]  #: (P, P), bytes from rank i to rank j


@dataclass
class Distinct:
    """Calls in which the same bytes went from everyone to everyone. Communicators of one size are not told apart."""

    ranks: int
    collective: str
    bytes: int | Matrix  #: of every block, or one by one
    in_place: bool  #: on some rank
    derived: bool  #: on some rank, a datatype is
    calls: float  #: on all communicators; estimated where not every call was written down
    rank_seconds: float  #: in these calls, over all ranks, waiting included
    communicators: int = 1

    @property
    def total_bytes(self) -> int:
        """Of one call, over all ranks."""
        return self.bytes * self.ranks**2 if isinstance(self.bytes, int) else int(self.bytes.sum())

    @property
    def call_seconds(self) -> float:
        """Of one call on one rank, on average, waiting included."""
        return self.rank_seconds / self.ranks / self.calls if self.calls else 0.0


@dataclass
class Found:
    """What there is to replay, and what cannot be; over all ranks, in seconds spent by ranks."""

    distinct: list[Distinct]  #: the most expensive first
    total: float  #: in all all-to-alls
    lost: dict[str, float]  #: of these, what cannot be told one by one, by reason


def distinct(recording: Recording) -> Found:
    """Find the distinct exchanges."""
    found: dict[object, Distinct] = {}
    lost: dict[str, float] = {}
    total = sum(exchange.seconds for file in recording.files.values() for exchange in file.exchanges)
    for file in recording.files.values():
        _lose(lost, "beyond the recorder's limits", sum(e.seconds for e in file.exchanges if e.communicator is None))
    for places in recording.communicators().values():
        for one in of_communicator(places, lost):
            _merge(found, one)
    return Found(sorted(found.values(), key=lambda one: -one.rank_seconds), total, lost)


def of_communicator(places: Sequence[tuple[RankFile, int]], lost: dict[str, float]) -> list[Distinct]:
    """The distinct exchanges of a communicator; what cannot be found one by one is added to `lost`, by reason."""
    of_ranks = [[e for e in file.exchanges if e.communicator == index] for file, index in places]
    first = places[0][0].communicators[places[0][1]]
    among_neighbours = sum(e.seconds for own in of_ranks for e in own if e.collective in OF_NEIGHBOURS)
    _lose(lost, "exchanges of neighbours", among_neighbours)
    of_ranks = [[e for e in own if e.collective in COLLECTIVES] for own in of_ranks]
    if first.inter:
        _lose(lost, "intercommunicators", sum(e.seconds for own in of_ranks for e in own))
        return []
    found = _equal_blocks(of_ranks, first.blocks, lost)
    for collective in COLLECTIVES[1:]:
        unequal = sum(e.seconds for own in of_ranks for e in own if e.collective == collective)
        if not unequal:
            continue
        if len(places) < first.blocks or not first.shared:
            _lose(lost, f"{collective} of which not all ranks are known", unequal)
            continue
        found += _unequal_blocks(collective, places, of_ranks, unequal, lost)
    return found


def _lose(lost: dict[str, float], why: str, seconds: float) -> None:
    if seconds:
        lost[why] = lost.get(why, 0.0) + seconds


def _merge(found: dict[object, Distinct], one: Distinct) -> None:
    sizes = one.bytes if isinstance(one.bytes, int) else one.bytes.tobytes()
    key = (one.ranks, one.collective, one.in_place, one.derived, sizes)
    if key not in found:
        found[key] = one
        return
    same = found[key]
    same.calls += one.calls
    same.rank_seconds += one.rank_seconds
    same.communicators += one.communicators


def _equal_blocks(of_ranks: Sequence[Sequence[Exchange]], ranks: int, lost: dict[str, float]) -> list[Distinct]:
    """The Alltoalls of a communicator. Ranks that left no file count as the others do."""
    by_size: dict[int, list[list[Exchange]]] = {}
    for own in of_ranks:
        sizes: dict[int, list[Exchange]] = {}
        for exchange in own:
            if exchange.collective != "alltoall":
                continue
            if isinstance(exchange.bytes, int):
                sizes.setdefault(exchange.bytes, []).append(exchange)
            else:
                _lose(lost, "beyond the recorder's limits", exchange.seconds)
        for size, exchanges in sizes.items():
            by_size.setdefault(size, []).append(exchanges)
    return [
        Distinct(
            ranks,
            "alltoall",
            size,
            any(e.in_place for own in known for e in own),
            any(e.derived for own in known for e in own),
            max(sum(e.calls for e in own) for own in known),
            sum(e.seconds for own in known for e in own) * ranks / len(of_ranks),
        )
        for size, known in by_size.items()
    ]


def common_calls(calls: Sequence[Calls]) -> list[Calls]:
    """Of each rank, the rows of the calls that all have written down."""
    numbers = reduce(np.intersect1d, [rows[:, CALL] for rows in calls])
    return [rows[np.searchsorted(rows[:, CALL], numbers)] for rows in (c[np.argsort(c[:, CALL])] for c in calls)]


def _unequal_blocks(
    collective: str,
    places: Sequence[tuple[RankFile, int]],
    of_ranks: Sequence[Sequence[Exchange]],
    seconds: float,
    lost: dict[str, float],
) -> list[Distinct]:
    """The Alltoallvs (Alltoallws) of a communicator, by the calls all ranks wrote down; the others are alike."""
    ranks = len(places)
    rows = common_calls([file.calls.get(index, np.empty((0, 5), np.int64)) for file, index in places])
    vector = [[e.collective == collective for e in file.exchanges] for file, _ in places]
    kept = np.array([vector[0][exchange] for exchange in rows[0][:, EXCHANGE]], dtype=bool)
    rows = [own[kept] for own in rows]
    weights = rows[0][:, WEIGHT]
    if not len(weights):
        _lose(lost, "calls that were not written down one by one", seconds)
        return []
    calls = max(sum(e.calls for e in own if e.collective == collective) for own in of_ranks)
    times = np.sum([own[:, TIME] for own in rows], axis=0) * NS
    calls_each, seconds_each = calls / float(weights.sum()), seconds / max(float((times * weights).sum()), 1e-12)
    kinds, which = np.unique(np.stack([own[:, EXCHANGE] for own in rows]), axis=1, return_inverse=True)
    which = which.reshape(-1)
    found = []
    for kind in range(kinds.shape[1]):
        own = [file.exchanges[kinds[i, kind]] for i, (file, _) in enumerate(places)]
        mine = which == kind
        spent = float((times * weights)[mine].sum()) * seconds_each
        if any(e.bytes is None for e in own):
            _lose(lost, "beyond the recorder's limits", spent)
            continue
        matrix = np.array([np.broadcast_to(np.array(e.bytes, np.int64), ranks) for e in own])
        sizes = int(matrix[0, 0]) if (matrix == matrix[0, 0]).all() else matrix
        in_place, derived = any(e.in_place for e in own), any(e.derived for e in own)
        number = float(weights[mine].sum()) * calls_each
        found.append(Distinct(ranks, collective, sizes, in_place, derived, number, spent))
    return found
