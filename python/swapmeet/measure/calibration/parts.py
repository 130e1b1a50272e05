"""What single messages and copies take here, round after round: benchmarks/measure/parts.h does it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from swapmeet.measure.bench.cells import Cell
from swapmeet.measure.bench.session import Refused, Session

SIZES = (
    1,
    64,
    256,
    *(1 << k for k in range(10, 19)),
    1 << 20,
)  #: bytes of a message; the switch is looked for among them
WINDOWS = (1, 8)  #: messages in flight
CROWDED = ((1, 8), (1 << 18, 1))  #: bytes and number of messages of several pairs: for message rate, and for bandwidth
COPIES = ((1, 1 << 12), (64, 8), (64, 64), (64, 1 << 10), (1024, 8), (16, 1 << 14))  #: (pieces, bytes of each)
WAYS = ("within", "between")
MEANS = ("memcpy", "datatype")
#: by channels, message by message: rows, which `shared-memory` uses, raise one flag for all
CELLS = "direct(order=shift,window=all,complete=all,intra=auto)"
LIBRARY = (CELLS, "spread-out")
LIBRARY_SIZES = (1, 64, *(1 << k for k in range(10, 17)), 1 << 18)
LEAST_S = 2e-3  #: that one time is taken over
MOST_CALLS = 20_000
LEAST_ROUNDS = 3
QUIET = 0.25  #: quantile of the rounds that counts: what disturbs makes times longer, never shorter


@dataclass(frozen=True)
class Part:
    """What is timed; seconds are of one exchange, or one copy of all pieces."""

    what: str  #: one of WAYS, "posting" (of a message within or between), one of MEANS, one of LIBRARY, or "flag"
    bytes: int = 0  #: of a message, a piece or a block
    many: int = 1  #: messages in flight, or pieces
    pairs: int = 1  #: of ranks, on each node


@dataclass
class Taken:
    """The times of all rounds of one launch; lists of equal length, seconds."""

    seconds: dict[Part, list[float]] = field(default_factory=dict)
    rounds: int = 0
    refused: dict[str, str] = field(default_factory=dict)  #: why there is nothing of "between", say
    calls: dict[Part, int] = field(default_factory=dict)


def crowds(most: int) -> list[int]:
    """1, 2, 4, ... and the most pairs."""
    return sorted({min(1 << k, most) for k in range(most.bit_length() + 1)}) if most else []


def parts(ranks: int, nodes: int) -> Iterator[Part]:
    """Everything that a round times."""
    per_node = -(-ranks // nodes)
    for way, most in zip(WAYS, (per_node // 2, per_node if nodes > 1 else 0), strict=True):
        if most:
            yield from (Part(way, size, many) for size in SIZES for many in WINDOWS)
            yield from (Part(way, *messages, pairs) for pairs in crowds(most)[1:] for messages in CROWDED)
    for means in MEANS:
        yield from (Part(means, size, pieces) for pieces, size in COPIES)
    for spec in LIBRARY:
        yield from (Part(spec, size) for size in LIBRARY_SIZES)


def take(session: Session, nodes: int, seconds: float) -> Taken:
    """Rounds until that many seconds are over, LEAST_ROUNDS at least."""
    taken = Taken()
    until = time.monotonic() + seconds
    while taken.rounds < LEAST_ROUNDS or time.monotonic() < until:
        for part in parts(session.ranks, nodes):
            if part.what not in taken.refused:
                _take(session, part, taken)
        taken.rounds += 1
    return taken


def _take(session: Session, part: Part, taken: Taken) -> None:
    try:
        if part.what in LIBRARY:
            found = {part: _library(session, part, taken)}
            if part.bytes == 1 and part.what == LIBRARY[0]:
                found[Part("flag")] = session.limits()["flag"]
        else:
            found = _single(session, part, taken)
    except Refused as problem:
        taken.refused[part.what] = str(problem)
        return
    for key, seconds in found.items():
        taken.seconds.setdefault(key, []).append(seconds)


def _single(session: Session, part: Part, taken: Taken) -> dict[Part, float]:
    calls = taken.calls.get(part, 2)
    if part.what in MEANS:
        (answer,) = session.ask(f"copies {part.what} {part.many} {part.bytes} {calls}")
    else:
        (answer,) = session.ask(f"messages {part.what} {part.pairs} {part.bytes} {part.many} {calls}")
    seconds, *posting = (float(word) for word in answer[1:])
    if part not in taken.calls:
        taken.calls[part] = _calls(seconds)
        return _single(session, part, taken)
    found = {part: seconds}
    if posting and part == Part(part.what, SIZES[0], WINDOWS[-1]):
        found[Part(f"posting {part.what}")] = posting[0]
    return found


def _library(session: Session, part: Part, taken: Taken) -> float:
    """An all-to-all by the library, which also shows what a call costs besides its messages."""
    target = session.target
    session.call(Cell(f"{target.kind} {target.version}", session.ranks, "alltoall", str(part.bytes)))
    number = session.candidate(part.what)
    if part not in taken.calls:
        session.check(number)
        ran = session.ran(number)
        if ran.spec == "native":
            raise Refused(f"{part.what} is left to the host MPI: {ran.reason}")
        taken.calls[part] = _calls(session.seconds(number))
    (sample,) = session.measure([(number, taken.calls[part])])
    return sample.longest


def _calls(seconds: float) -> int:
    return max(3, min(MOST_CALLS, math.ceil(LEAST_S / max(seconds, 1e-9))))
