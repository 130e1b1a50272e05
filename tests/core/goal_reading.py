"""Reads GOAL text as LogGOPSim's txt2bin does, and runs it: any order, every message a rendezvous."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

MESSAGE = re.compile(r"(l\d+): (send|recv) (\d+)b (to|from) (\d+) tag (\d+)")
CALCULATION = re.compile(r"(l\d+): calc (\d+)")
DEPENDENCE = re.compile(r"(l\d+) (i?requires) (l\d+)")


@dataclass
class Operation:
    kind: str  #: send, recv or calc
    size: int  #: bytes, or nanoseconds
    peer: int = -1
    tag: int = 0
    requires: list[int] = field(default_factory=list)  #: operations that must be over, by number
    irequires: list[int] = field(default_factory=list)  #: that must have started


Ranks = list[list[Operation]]


def read_goal(lines: Iterable[str]) -> Ranks:
    """The operations of each rank; a label may only be used below the statement that it names."""
    ranks: Ranks = []
    labels: dict[str, int] = {}
    count = -1
    inside = False
    for line in (line.rstrip("\n") for text in lines for line in text.splitlines()):
        if not line or line.startswith("//"):
            continue
        if match := re.fullmatch(r"num_ranks (\d+)", line):
            assert count < 0 and not inside
            count = int(match[1])
        elif match := re.fullmatch(r"rank (\d+) \{", line):
            assert not inside and int(match[1]) == len(ranks) < count
            ranks.append([])
            labels, inside = {}, True
        elif line == "}":
            assert inside
            inside = False
        else:
            assert inside, line
            _statement(line, ranks[-1], labels)
    assert len(ranks) == count and not inside
    return ranks


def _statement(line: str, operations: list[Operation], labels: dict[str, int]) -> None:
    if match := DEPENDENCE.fullmatch(line):
        getattr(operations[labels[match[1]]], match[2]).append(labels[match[3]])
        return
    if match := MESSAGE.fullmatch(line):
        assert (match[2] == "send") == (match[4] == "to")
        operation = Operation(match[2], int(match[3]), int(match[5]), int(match[6]))
        assert operation.size > 0
    else:
        match = CALCULATION.fullmatch(line)
        assert match, line
        operation = Operation("calc", int(match[2]))
    assert match[1] not in labels
    labels[match[1]] = len(operations)
    operations.append(operation)


def run(ranks: Ranks, seed: int = 0) -> tuple[int, dict[str, int]]:
    """Execute all, in random order: a message is over when both ends have started it.

    Returns how many went from rank to rank, and the most sends, and receives, that a rank had in flight.

    Fails if something never starts, or if the two ends of a message disagree.
    """
    waiting = [Counter[int]() for _ in ranks]  # what each operation still waits for
    followers: list[defaultdict[int, list[int]]] = [defaultdict(list) for _ in ranks]
    starters: list[defaultdict[int, list[int]]] = [defaultdict(list) for _ in ranks]
    for rank, operations in enumerate(ranks):
        for number, operation in enumerate(operations):
            waiting[rank][number] = len(operation.requires) + len(operation.irequires)
            for before in operation.requires:
                followers[rank][before].append(number)
            for before in operation.irequires:
                starters[rank][before].append(number)
    ready = deque(
        (rank, n) for rank, operations in enumerate(ranks) for n in range(len(operations)) if not waiting[rank][n]
    )
    posted: dict[tuple[int, int, int, str], tuple[int, int]] = {}
    messages = done = 0
    flying: Counter[tuple[int, str]] = Counter()
    most = {"send": 0, "recv": 0}
    random = Random(seed)

    def release(rank: int, numbers: list[int]) -> None:
        for number in numbers:
            waiting[rank][number] -= 1
            if waiting[rank][number] == 0:
                ready.append((rank, number))

    while ready:
        ready.rotate(random.randrange(len(ready)))
        rank, number = ready.popleft()
        operation = ranks[rank][number]
        release(rank, starters[rank][number])
        over = [(rank, number)]
        if operation.kind != "calc":
            flying[rank, operation.kind] += 1
            most[operation.kind] = max(most[operation.kind], flying[rank, operation.kind])
            ends = (rank, operation.peer) if operation.kind == "send" else (operation.peer, rank)
            other = "recv" if operation.kind == "send" else "send"
            met = posted.pop((*ends, operation.tag, other), None)
            if met is None:
                key = (*ends, operation.tag, operation.kind)
                assert key not in posted, "two messages alike at a time"
                posted[key] = (rank, number)
                continue
            assert ranks[met[0]][met[1]].size == operation.size
            over.append(met)
            messages += 1
        for where, which in over:
            done += 1
            flying[where, ranks[where][which].kind] -= 1
            release(where, followers[where][which])
    assert done == sum(map(len, ranks)), "a deadlock, or a circle of dependences"
    return messages, most
