"""Rounds of all ranks, told without their schedules, against the schedules."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from swapmeet import _core

SPECS = [
    ("direct(order=shift,window=1)", 9, ""),
    ("direct(order=xor,window=3,complete=any)", 8, ""),
    ("direct(order=random,window=1)", 9, ""),
    ("direct(order=scatter,window=2)", 9, ""),
    ("direct(order=shift)", 6, ""),
    ("direct", 1, ""),
    ("tra(r=3)", 14, ""),
    ("bruck(radix=4,window=2)", 13, ""),
    ("grid", 12, ""),
    ("two-layer(r1=2,r2=all)", 12, "4"),
    ("two-layer(r1=2,r2=all)", 12, "cyclic:3"),
    ("two-layer(r1=2,r2=2)", 11, "4+3"),
    ("node-leaders(per-node=2,intra=mpi)", 13, "4"),
    ("two-layer-staggered", 12, "4"),
]

Messages = Counter[tuple[int, int, int]]


def of_schedules(point: _core.Spec, ranks: int, nodes: str) -> Messages:
    found: Messages = Counter()
    for rank in range(ranks):
        schedule = _core.generate(point, ranks, rank, nodes)
        for *_, sends, _receives in schedule.steps:
            for peer, runs in sends:
                found[rank, peer, sum(map(_blocks, runs))] += 1
    return found


def _blocks(run: str) -> int:
    inner = run[run.index("[") + 1 : -1]
    first, _, rest = inner.partition("..")
    last, _, stride = rest.partition("/")
    return 1 if not rest else (int(last) - int(first)) // int(stride or 1) + 1


@pytest.mark.parametrize("spec, ranks, nodes", SPECS)
def test_every_message_is_told_once(spec: str, ranks: int, nodes: str) -> None:
    point = _core.parse_spec(spec)
    told: Messages = Counter(m for *_, rounds in _core.rounds(point, ranks, nodes) for one in rounds for m in one)
    assert told == of_schedules(point, ranks, nodes)


@pytest.mark.parametrize("spec, ranks, nodes", [case for case in SPECS if "scatter" not in case[0]])
def test_no_rank_has_more_in_a_round_than_its_window(spec: str, ranks: int, nodes: str) -> None:
    point = _core.parse_spec(spec)
    windows = {w for rank in range(ranks) for w, *_ in _core.generate(point, ranks, rank, nodes).steps}
    for *_, rounds in _core.rounds(point, ranks, nodes):
        for messages in rounds:
            for end in (0, 1):
                most = max(Counter(message[end] for message in messages).values(), default=0)
                assert most <= max(windows) or 0 in windows


@pytest.mark.parametrize("ranks, window", [(9, 1), (16, 1), (16, 4), (10, 3)])
def test_scattered_ranks_meet_when_both_are_there(ranks: int, window: int) -> None:
    """By the recurrence: a batch is over when all its peers have come to it, too."""
    point = _core.parse_spec(f"direct(order=scatter,window={window})")
    batches = defaultdict(list)  # of each rank: its peers, batch by batch
    for rank in range(ranks):
        (step,) = _core.generate(point, ranks, rank).steps
        peers = [peer for peer, _ in step[-2]]
        batches[rank] = [peers[i : i + window] for i in range(0, len(peers), window)]
    over = dict.fromkeys(range(ranks), 0)  # batches of each rank
    rounds = 0
    while any(over[rank] < len(batches[rank]) for rank in range(ranks)):
        rounds += 1
        sent = {rank: {p for batch in batches[rank][: over[rank] + 1] for p in batch} for rank in range(ranks)}
        ready = [
            r for r in range(ranks) if over[r] < len(batches[r]) and all(r in sent[p] for p in batches[r][over[r]])
        ]
        assert ready
        for rank in ready:
            over[rank] += 1
    (step,) = _core.rounds(point, ranks)
    assert len(step[-1]) == pytest.approx(rounds, abs=3)


def test_what_is_not_alike_and_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="choose fewer ranks, or equal nodes"):
        _core.rounds(_core.parse_spec("two-layer(r1=all,r2=all)"), 23999, "12000+11999")
