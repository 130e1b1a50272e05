"""What an exchange of blocks of unequal size holds at most: what passes through ranks, and every execution of a few."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict, deque
from collections.abc import Iterator

import pytest
from _pytest.mark import ParameterSet
from core.certificate_test import Executions, Local, Round

from swapmeet import _core

Name = tuple[int, int]  #: (source, destination) of a block
Message = tuple[int, bool, list[Name]]  #: peer, last, blocks
Sizes = list[list[int]]  #: bytes, by source and destination


class Travel:
    """Which blocks each message of each rank has, by executing flows."""

    def __init__(self, spec: str, ranks: int, nodes: str = "") -> None:
        self.flows = [_core.flow(_core.parse_spec(spec), ranks, rank, nodes) for rank in range(ranks)]
        self.sends: list[list[list[Message]]] = [[] for _ in self.flows]  #: of each round of each rank
        self.receives: list[list[list[Message]]] = [[] for _ in self.flows]
        here = [{d: (rank, d) for d in range(ranks)} for rank in range(ranks)]
        wires: dict[tuple[int, int], deque[list[Name]]] = defaultdict(deque)
        while any(len(done) < len(flow.rounds) for done, flow in zip(self.receives, self.flows, strict=True)):
            for rank, flow in enumerate(self.flows):
                if len(self.receives[rank]) == len(flow.rounds):
                    continue
                number = len(self.receives[rank])
                _, _, sends, receives = flow.rounds[number]
                if len(self.sends[rank]) == number:
                    self.sends[rank].append([(to, last, [here[rank][b] for b in blocks]) for to, last, blocks in sends])
                    for to, _, names in self.sends[rank][-1]:
                        wires[rank, to].append(names)
                sources = [source for source, _, _ in receives]
                if any(len(wires[source, rank]) < sources.count(source) for source in sources):
                    continue
                arrived = [(source, last, wires[source, rank].popleft()) for source, last, _ in receives]
                for (_, _, names), (_, _, blocks) in zip(arrived, receives, strict=True):
                    here[rank].update((b, name) for b, name in zip(blocks, names, strict=True) if b >= 0)
                self.receives[rank].append(arrived)

    def arriving(self, rank: int) -> list[Name]:
        return [name for messages in self.receives[rank] for _, _, names in messages for name in names]


def most_sums(blocks: list[Name]) -> int:
    """How many times 1 these blocks have at most, if blocks of one source, or destination, have 1: a matching."""
    targets: dict[int, list[int]] = defaultdict(list)
    for source, destination in blocks:
        targets[source].append(destination)
    taken: dict[int, int] = {}

    def place(source: int, seen: set[int]) -> bool:
        for destination in targets[source]:
            if destination not in seen:
                seen.add(destination)
                if destination not in taken or place(taken[destination], seen):
                    taken[destination] = source
                    return True
        return False

    return sum(place(source, set()) for source in list(targets))


RADICES = ("2", "3", "4", "2-3", "all")


@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 13, 16, 27])
@pytest.mark.parametrize("radix", RADICES)
def test_what_passes_through_a_rank(radix: str, ranks: int) -> None:
    spec = f"bruck(radix={radix},direct=never)"
    held = _core.ceiling_of_unequal(_core.parse_spec(spec), ranks)
    arriving = Travel(spec, ranks).arriving(ranks // 2)
    assert len(arriving) == len(set(arriving)) <= held.rank.early_blocks
    assert most_sums(arriving) <= held.early_sums


@pytest.mark.parametrize(
    ("spec", "nodes"),
    [
        ("bruck(dims=nodes,radix=2/2,direct=never)", "4"),
        ("bruck(dims=nodes,radix=all,direct=never)", "4"),
        ("bruck(dims=nodes,radix=2/3,direct=never)", "5+3"),
        ("bruck(dims=2d,radix=all,direct=never)", ""),
        ("bruck(dims=2x3x2,radix=2,direct=never)", ""),
        ("leaders(per-node=1,direct=never)", "4"),
        ("leaders(per-node=2,direct=never)", "4"),
        ("leaders(per-node=2,direct=never)", "5+3"),
    ],
)
def test_what_passes_through_ranks_of_grids_and_leaders(spec: str, nodes: str) -> None:
    ranks = 12
    held, travel = _core.ceiling_of_unequal(_core.parse_spec(spec), ranks, nodes), Travel(spec, ranks, nodes)
    for rank in range(ranks):
        arriving = travel.arriving(rank)
        assert len(arriving) == len(set(arriving)) <= held.rank.early_blocks
        assert most_sums(arriving) <= held.early_sums


@pytest.mark.parametrize(("ranks", "radix", "sums"), [(4, 2, 2), (9, 3, 3), (16, 2, 5), (16, 4, 4), (64, 8, 8)])
def test_some_sizes_reach_the_bound(ranks: int, radix: int, sums: int) -> None:
    """Of P = r^2: r times the sum, the square root of P."""
    spec = f"bruck(radix={radix},direct=never)"
    found = most_sums(Travel(spec, ranks).arriving(0))
    assert (found, _core.ceiling_of_unequal(_core.parse_spec(spec), ranks).early_sums) == (sums, sums)


class Probed(Executions):
    """Executions of one exchange after another, each with the agreement before it.

    A message counts as early until it has been received, for its receive is posted when it is there, or its
    announcement; without data it is left out if it has no sizes.
    """

    def __init__(self, travel: Travel, sizes: list[Sizes], announced: bool) -> None:
        self.announced = announced
        self.begin([list(self.rounds_of(travel, rank, sizes)) for rank in range(len(travel.flows))], buffered=True)

    def rounds_of(self, travel: Travel, rank: int, sizes: list[Sizes]):
        ranks = len(travel.flows)
        numbers: dict[tuple[str, int], int] = defaultdict(int)

        def numbered(way: str, messages: list[tuple[int, int]]) -> tuple[tuple[int, int, int], ...]:
            found = []
            for peer, size in messages:
                found.append((peer, numbers[way, peer], size))
                numbers[way, peer] += 1
            return tuple(found)

        def of(messages: list[Message], size: Sizes) -> list[tuple[int, int]]:
            found = []
            for peer, last, names in messages:
                total = sum(size[s][d] for s, d in names)
                if total > 0 or not last:
                    found += [(peer, 0)] * (self.announced and not last) + [(peer, total)]
            return found

        for size in sizes:
            for way in (1 << k for k in range((ranks - 1).bit_length())):
                peers = [((rank + sign * way) % ranks, 0) for sign in (1, -1)]
                yield Round(1, False, True, False, numbered("s", peers[:1]), numbered("r", peers[1:]))
            for (window, _, _, _), sends, receives in zip(
                travel.flows[rank].rounds, travel.sends[rank], travel.receives[rank], strict=True
            ):
                sent, received = numbered("s", of(sends, size)), numbered("r", of(receives, size))
                if sent or received:
                    yield Round(window or max(len(sent), len(received)), False, True, False, sent, received)

    def look(self, state: tuple[Local, ...]) -> None:
        for rank, local in enumerate(state):
            early = [
                size
                for number, one in enumerate(self.rounds[rank][local.round :])
                for i, (peer, sent, size) in enumerate(one.receives)
                if not (number == 0 and local.received >> i & 1) and self.is_sent(state[peer], peer, rank, sent)
            ]
            self.early_messages = max(self.early_messages, len(early))
            self.early_blocks = max(self.early_blocks, sum(early))  # bytes


def some_sizes(ranks: int, drawn: int) -> list[list[Sizes]]:
    """Of two exchanges: all alike; those of one message of a source; and `drawn` random ones with empty blocks."""
    dice = random.Random(ranks)
    alike = [[3] * ranks for _ in range(ranks)]
    found = [[alike, alike]]
    for shift in range(1, ranks):
        lone = [[9 * (d == (s + shift) % ranks) for d in range(ranks)] for s in range(ranks)]
        found.append([lone, alike])
    for _ in range(drawn):
        found.append([[[dice.choice((0, 0, 1, 8)) for _ in range(ranks)] for _ in range(ranks)] for _ in range(2)])
    return found


def small() -> Iterator[ParameterSet]:
    for sizes in ("combined", "ahead", "total"):
        yield pytest.param("bruck(radix=2{})", 3, 6, sizes)
        yield pytest.param("bruck(radix=all,window=1{})", 3, 6, sizes)
        mark = pytest.mark.slow if sizes == "combined" else pytest.mark.long
        yield pytest.param("bruck(radix=2{})", 4, 1, sizes, marks=mark)
        yield pytest.param("bruck(radix=2{})", 4, 6, sizes, marks=pytest.mark.long)


@pytest.mark.parametrize(("spec", "ranks", "drawn", "sizes"), list(small()))
def test_every_execution_of_a_few_ranks(spec: str, ranks: int, drawn: int, sizes: str) -> None:
    text = spec.format(f",direct=never,sizes={sizes}")
    held, travel = _core.ceiling_of_unequal(_core.parse_spec(text), ranks), Travel(text, ranks)
    for matrices in some_sizes(ranks, drawn):
        seen = Probed(travel, matrices, announced=sizes != "combined").look_at_all()
        others = [(s, d) for s, d in itertools.product(range(ranks), repeat=2) if s != d]
        largest = max(size[s][d] for size in matrices for s, d in others)
        sums = max(
            sum(size[s][d] for s, d in others if pair[end] == (s, d)[end])
            for size in matrices
            for pair in others
            for end in (0, 1)
        )
        assert seen.early_messages <= held.rank.early_messages
        assert seen.early_blocks <= min(held.rank.early_blocks * largest, held.early_sums * sums)


def test_without_an_agreement_ranks_are_ahead() -> None:
    """A threshold by number needs none."""
    agreed, not_agreed = (
        _core.ceiling_of_unequal(_core.parse_spec(f"bruck(radix=2,direct={direct})"), 16) for direct in ("auto", "100")
    )
    assert not_agreed.early_sums == 2 * agreed.early_sums
    assert (agreed.rank.early_messages, not_agreed.rank.early_messages) == (4 + 15 + 4, 2 * 4 + 15)
