"""What all ranks do together, moment by moment: the operations of their schedules, replayed with blocks as names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from swapmeet import _core

BUFFERS = ("send", "receive", "scratch")
RUN = re.compile(r"(\w+)\[(\d+)(?:\.\.(\d+)(?:/(-?\d+))?)?\]")

Move = tuple[int, int, int]  #: (place that a block is read from, place it is written to, block)
Rows = Sequence[tuple[int, Sequence[str]]]


@dataclass(frozen=True)
class Transfer:
    """A message; or, where both ranks are the same, the copies of a rank.

    Places of a rank count through its buffers: 0 to P-1 is send, P to 2P-1 receive, then comes scratch. A block is
    source * P + destination.
    """

    source: int
    target: int
    moves: Sequence[Move]


@dataclass(eq=False)
class Frame:
    """What happens at a time, if all ranks keep in step: copies, then messages that are in flight together."""

    step: int
    purpose: str  #: of the copies: copy, pack or unpack
    copies: list[Transfer] = field(default_factory=list)
    messages: list[Transfer] = field(default_factory=list)


def replay(schedules: Sequence[_core.Schedule]) -> list[Frame]:
    """Replay verified schedules, one of each rank in order.

    A message takes one frame, and passes when both its ends have come to it. A step begins when all ranks have
    finished the one before.

    Raises
    ------
    RuntimeError
        If the messages of a step do not match among themselves, or wait for one another.
    """
    ranks = len(schedules)
    contents = [
        [rank * ranks + other for other in range(ranks)] + [-1] * (ranks + schedule.scratch_blocks)
        for rank, schedule in enumerate(schedules)
    ]
    frames: list[Frame] = []
    steps, purposes = zip(*((schedule.steps, schedule.purposes) for schedule in schedules), strict=True)
    for number in range(max(map(len, steps))):
        purpose = next(row[number] for row in purposes if number < len(row))
        sides = [_Side(row[number], ranks) for row in steps if number < len(row)]
        frame = Frame(number, purpose)
        for rank, side in enumerate(sides):
            if side.copies:
                frame.copies.append(_read(contents, rank, rank, side.copies))
        _write(contents, frame.copies)
        for batch in _batches(sides):
            frame.messages = [_read(contents, a, b, zip(source, target, strict=True)) for a, b, source, target in batch]
            _write(contents, frame.messages)
            frames.append(frame)
            frame = Frame(number, purpose)
        if frame.copies:
            frames.append(frame)
    return frames


def places(run: str, ranks: int) -> list[int]:
    """The places of a run in its text form, such as receive[7..0/-1]."""
    match = RUN.fullmatch(run)
    if match is None:
        raise ValueError(f"not a run: {run}")
    begin = BUFFERS.index(match[1]) * ranks
    first, last, stride = int(match[2]), int(match[3] or match[2]), int(match[4] or 1)
    return [begin + i for i in range(first, last + (1 if stride > 0 else -1), stride)]


class _Side:
    """A step of one rank, and how far it has come."""

    def __init__(self, row: tuple[int, str, str, Sequence[tuple[str, str]], Rows, Rows], ranks: int) -> None:
        window, completion, _, copies, sends, receives = row
        self.copies = [
            pair for source, target in copies for pair in zip(places(source, ranks), places(target, ranks), strict=True)
        ]
        self.messages = [
            [(peer, [place for run in runs for place in places(run, ranks)]) for peer, runs in rows]
            for rows in (sends, receives)
        ]
        self.waiting = [list(range(len(rows))) for rows in self.messages]  # not done, of sends and of receives
        self._window = window or max(map(len, self.messages))
        self._in_batches = completion == "all"

    def in_flight(self, direction: int) -> list[int]:
        waiting = self.waiting[direction]
        if not self._in_batches:
            return waiting[: self._window]
        batch = min((row[0] for row in self.waiting if row), default=0) // max(1, self._window)
        return [i for i in waiting if i < (batch + 1) * self._window]


def _batches(sides: Sequence[_Side]) -> list[list[tuple[int, int, list[int], list[int]]]]:
    """The messages of a step that are in flight together: (source, target, places there, places here) of each."""
    twins = {}  # (target, number of the receive) of each send: the n-th of a to b is the n-th of b from a
    coming = defaultdict(list)
    for rank, side in enumerate(sides):
        for i, (peer, _) in enumerate(side.messages[1]):
            coming[peer, rank].append(i)
    for rank, side in enumerate(sides):
        for i, (peer, _) in enumerate(side.messages[0]):
            if not coming[rank, peer]:
                raise RuntimeError(f"rank {rank} sends to {peer}, which receives that in another step")
            twins[rank, i] = peer, coming[rank, peer].pop(0)
    batches = []
    while any(side.waiting[0] for side in sides):
        open_receives = [set(side.in_flight(1)) for side in sides]
        passing = [
            (rank, i, *twins[rank, i])
            for rank, side in enumerate(sides)
            for i in side.in_flight(0)
            if twins[rank, i][1] in open_receives[twins[rank, i][0]]
        ]
        if not passing:
            raise RuntimeError("the messages of a step wait for one another")
        for source, i, target, j in passing:
            sides[source].waiting[0].remove(i)
            sides[target].waiting[1].remove(j)
        batches.append([(a, b, sides[a].messages[0][i][1], sides[b].messages[1][j][1]) for a, i, b, j in passing])
    return batches


def _read(contents: Sequence[Sequence[int]], source: int, target: int, pairs: Iterable[tuple[int, int]]) -> Transfer:
    return Transfer(source, target, [(place, to, contents[source][place]) for place, to in pairs])


def _write(contents: Sequence[list[int]], transfers: Sequence[Transfer]) -> None:
    for transfer in transfers:
        for _, place, block in transfer.moves:
            contents[transfer.target][place] = block
