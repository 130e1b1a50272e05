"""What an exchange holds at most, against every execution of small exchanges.

`Executions` is the witness: it knows what windows, completion rules and posting orders mean, posts and completes one
message at a time, each when it may, and looks at every state that ranks can reach together. It shares no code with the
certificates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from limits import examples

from swapmeet import _core


@dataclass(frozen=True)
class Round:
    """The messages of a step: the number of each among all messages between its ends, and its blocks."""

    window: int
    slides: bool
    receives_first: bool
    granted: bool
    sends: tuple[tuple[int, int, int], ...]  #: (peer, number, blocks)
    receives: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Local:
    """Where a rank is: its round, messages of it that it has posted, and which of these are complete (bits)."""

    round: int = 0
    sends: int = 0
    receives: int = 0
    sent: int = 0
    received: int = 0


def blocks_of(runs: list[str]) -> int:
    """`scratch[3..7/2]` is three blocks, `send[4]` is one."""
    total = 0
    for run in runs:
        inside = run[run.index("[") + 1 : run.index("]")]
        ends, _, stride = inside.partition("/")
        first, _, last = ends.partition("..")
        total += 1 if not last else abs(int(last) - int(first)) // abs(int(stride or 1)) + 1
    return total


def rounds_of(schedule: _core.Schedule, exchanges: int) -> list[Round]:
    numbers: dict[tuple[str, int], int] = defaultdict(int)

    def numbered(way: str, messages: list[tuple[int, list[str]]]) -> Iterator[tuple[int, int, int]]:
        for peer, runs in messages:
            yield peer, numbers[way, peer], blocks_of(runs)
            numbers[way, peer] += 1

    rounds = []
    for window, completion, posting, _, sends, receives in schedule.steps * exchanges:
        if sends or receives:
            rounds.append(
                Round(
                    window or max(len(sends), len(receives)),
                    completion != "all",
                    posting != "interleaved",
                    posting == "granted",
                    tuple(numbered("send", sends)),
                    tuple(numbered("receive", receives)),
                )
            )
    return rounds


class Executions:
    """All executions of so many exchanges, one after the other; with `buffered`, only those in which sends complete
    at once, which reach every number of early messages that others reach. A granted send begins when its grant is
    there, so it completes no earlier than the receive is posted; early are grants whose sends are not posted.
    """

    def __init__(self, schedules: list[_core.Schedule], exchanges: int = 2, buffered: bool = False) -> None:
        self.begin([rounds_of(schedule, exchanges) for schedule in schedules], buffered)

    def begin(self, rounds: list[list[Round]], buffered: bool) -> None:
        self.rounds = rounds
        self.buffered = buffered
        self.early_messages = self.early_blocks = self.requests = self.states = 0
        self.node_messages = 0
        self.senders, self.receivers = (
            [
                {(peer, n): (r, i) for r, one in enumerate(rounds) for i, (peer, n, _) in enumerate(getattr(one, ends))}
                for rounds in self.rounds
            ]
            for ends in ("sends", "receives")
        )

    def look_at_all(self) -> Executions:
        first = tuple(Local() for _ in self.rounds)
        seen, left = {first}, [first]
        while left:
            state = left.pop()
            self.states += 1
            self.look(state)
            moves = False
            for rank in range(len(state)):
                for local in self.next(state, rank):
                    moves = True
                    following = (*state[:rank], self.moved_on(rank, local), *state[rank + 1 :])
                    if following not in seen:
                        seen.add(following)
                        left.append(following)
            assert moves or all(local.round == len(r) for local, r in zip(state, self.rounds, strict=True)), state
        return self

    def look_where_one_stands_still(self) -> Executions:
        """Only executions in which one rank posts so many messages and no more, and the others go on to their end."""
        for rank, rounds in enumerate(self.rounds):
            for posts in range(sum(len(one.sends) + len(one.receives) for one in rounds) // 2 + 1):
                self.stand_still(rank, posts)
        return self

    def stand_still(self, rank: int, posts: int) -> None:
        state = [Local() for _ in self.rounds]
        moved = True
        while moved:
            moved = False
            for mover in range(len(state)):
                for local in self.next(tuple(state), mover):
                    before = sum(len(one.sends) + len(one.receives) for one in self.rounds[mover][: local.round])
                    if mover != rank or before + local.sends + local.receives <= posts:
                        state[mover] = self.moved_on(mover, local)
                        moved = True
                        break
        self.look(tuple(state))

    def moved_on(self, rank: int, local: Local) -> Local:
        now = self.rounds[rank][local.round]
        over = local.sent == (1 << len(now.sends)) - 1 and local.received == (1 << len(now.receives)) - 1
        return Local(local.round + 1) if over else local

    def next(self, state: tuple[Local, ...], rank: int) -> Iterator[Local]:
        local = state[rank]
        if local.round == len(self.rounds[rank]):
            return
        now = self.rounds[rank][local.round]
        for is_send in self.may_post(now, local):
            if is_send:
                done = 1 << local.sends if self.buffered and not now.granted else 0
                yield Local(local.round, local.sends + 1, local.receives, local.sent | done, local.received)
            else:
                yield Local(local.round, local.sends, local.receives + 1, local.sent, local.received)
        for i in range(local.sends):
            peer, number, _ = now.sends[i]
            if not local.sent >> i & 1 and not (now.granted and not self.is_received(state[peer], peer, rank, number)):
                yield Local(local.round, local.sends, local.receives, local.sent | 1 << i, local.received)
        for i in range(local.receives):
            peer, number, _ = now.receives[i]
            if not local.received >> i & 1 and self.is_sent(state[peer], peer, rank, number):
                yield Local(local.round, local.sends, local.receives, local.sent, local.received | 1 << i)

    def is_sent(self, sender: Local, rank: int, to: int, number: int) -> bool:
        place = self.senders[rank][to, number]
        return place < (sender.round, sender.sends)

    def is_received(self, receiver: Local, rank: int, source: int, number: int) -> bool:
        """Whether the receive is posted."""
        return self.receivers[rank][source, number] < (receiver.round, receiver.receives)

    def may_post(self, now: Round, local: Local) -> Iterator[bool]:
        """Whether it is a send, of each message that may be posted next."""
        begin = 0
        if not now.slides:
            while self.batch_over(now, local, begin):
                begin += now.window
        sends_end, receives_end = (min(len(all), begin + now.window) for all in (now.sends, now.receives))
        if local.sends < sends_end or local.receives < receives_end:  # the batch, or what a sliding window begins with
            if local.receives == receives_end:
                yield True
            elif local.sends == sends_end or now.receives_first:
                yield False
            else:
                yield local.receives > local.sends
        elif now.slides:
            if local.sends < len(now.sends) and local.sends - local.sent.bit_count() < now.window:
                yield True
            if local.receives < len(now.receives) and local.receives - local.received.bit_count() < now.window:
                yield False

    def batch_over(self, now: Round, local: Local, begin: int) -> bool:
        if begin + now.window >= max(len(now.sends), len(now.receives)):
            return False
        for messages, done in ((now.sends, local.sent), (now.receives, local.received)):
            if not all(done >> i & 1 for i in range(begin, min(len(messages), begin + now.window))):
                return False
        return True

    def look(self, state: tuple[Local, ...]) -> None:
        node = 0
        for rank, local in enumerate(state):
            messages = blocks = 0
            for number, one in enumerate(self.rounds[rank][local.round :]):
                if one.granted:
                    ungranted = one.sends[local.sends if number == 0 else 0 :]
                    messages += sum(self.is_received(state[peer], peer, rank, sent) for peer, sent, _ in ungranted)
                    continue
                for peer, sent, size in one.receives[local.receives if number == 0 else 0 :]:
                    if self.is_sent(state[peer], peer, rank, sent):
                        messages += 1
                        blocks += size
            pending = local.sends + local.receives - local.sent.bit_count() - local.received.bit_count()
            if local.round < len(self.rounds[rank]) and self.rounds[rank][local.round].granted:
                pending += local.receives - local.received.bit_count()  # each with a grant, perhaps
            self.early_messages = max(self.early_messages, messages)
            self.early_blocks = max(self.early_blocks, blocks)
            self.requests = max(self.requests, pending)
            node += messages
        self.node_messages = max(self.node_messages, node)


def schedules_of(spec: str, ranks: int, nodes: str = "") -> list[_core.Schedule]:
    return [_core.generate(_core.parse_spec(spec), ranks, rank, nodes) for rank in range(ranks)]


def numbers(bounds: _core.Bounds) -> tuple[int, int]:
    return bounds.early_messages, bounds.early_blocks


SMALL = [
    "direct(window=all)",
    "direct(window=1)",
    "direct(window=1,post=interleaved)",
    "direct(window=all,post=interleaved)",
    "direct(window=1,complete=any)",
    "direct(window=1,complete=test,post=interleaved)",
    "direct(order=random,seed=3,window=1)",
    "direct(order=scatter,window=1)",
    "direct(window=1,post=granted)",
    "direct(window=all,post=granted)",
    "direct(order=scatter,window=1,post=granted)",
    "bruck(radix=2)",
    "bruck(radix=3,window=all)",
    "bruck(radix=3,window=1,complete=any)",
]


@pytest.mark.parametrize("spec", SMALL)
def test_three_ranks_in_every_execution(spec: str) -> None:
    schedules = schedules_of(spec, 3)
    found = _core.certify_schedules(schedules)
    seen = Executions(schedules).look_at_all()
    assert (seen.early_messages, seen.early_blocks) == numbers(found.rank)
    assert seen.requests == found.rank.requests
    assert seen.node_messages <= found.node.early_messages
    assert found.exact


@pytest.mark.parametrize(
    ("spec", "ranks", "nodes"),
    [
        ("direct(window=1)", 4, ""),
        ("direct(window=2)", 4, ""),
        ("direct(window=1,post=interleaved)", 4, ""),
        ("direct(order=xor,window=1)", 4, ""),
        ("direct(order=random,seed=1,window=1)", 4, ""),
        ("direct(window=1,post=granted)", 4, ""),
        pytest.param("direct(order=xor,window=1,post=granted)", 4, "", marks=pytest.mark.long),
        pytest.param("direct(order=random,seed=1,window=1,post=granted)", 4, "", marks=pytest.mark.long),
        ("bruck(radix=2)", 4, ""),
        ("bruck(radix=2)", 5, ""),
        ("bruck(radix=3,window=1)", 4, ""),
        ("bruck(radix=2,layout=zero-copy,window=1,complete=any)", 4, ""),
        ("bruck(dims=nodes,radix=all,window=1)", 4, "2"),
        ("bruck(dims=nodes,radix=all,window=1)", 4, "3+1"),
        ("node-leaders", 4, "2"),
    ],
)
def test_more_ranks_where_sends_complete_at_once(spec: str, ranks: int, nodes: str) -> None:
    schedules = schedules_of(spec, ranks, nodes)
    found = _core.certify_schedules(schedules, nodes)
    seen = Executions(schedules, buffered=True).look_at_all()
    assert (seen.early_messages, seen.early_blocks) == numbers(found.rank)
    assert seen.node_messages <= len(schedules) * found.rank.early_messages


@pytest.mark.parametrize(
    ("spec", "ranks", "nodes"),
    [
        ("direct(window=2,post=interleaved)", 7, ""),
        ("direct(order=random,seed=56,window=2,post=interleaved)", 6, ""),  # the order of posting matters
        ("direct(order=random,seed=19,window=3)", 6, ""),
        ("direct(order=random,seed=19,window=3,post=interleaved)", 6, ""),
        ("direct(order=scatter,window=2,complete=any,post=interleaved)", 7, ""),
        ("direct(order=xor,window=2)", 8, ""),
        ("direct(window=2,post=granted)", 7, ""),
        ("direct(order=random,seed=5,window=1,post=granted)", 7, ""),
        ("direct(order=scatter,window=3,post=granted)", 7, ""),
        ("bruck(radix=3,window=all)", 8, ""),
        ("bruck(dims=nodes,radix=2/all,window=1,complete=any)", 8, "3"),
        ("leaders(per-node=2,window=1)", 8, "4+2"),
    ],
)
def test_some_execution_of_more_ranks_reaches_the_bounds(spec: str, ranks: int, nodes: str) -> None:
    schedules = schedules_of(spec, ranks, nodes)
    found = _core.certify_schedules(schedules, nodes)
    seen = Executions(schedules, buffered=True).look_where_one_stands_still()
    assert (seen.early_messages, seen.early_blocks) == numbers(found.rank)


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["direct(window=all)", "direct(window=1)", "direct(window=1,complete=any)", "bruck"])
def test_a_third_exchange_adds_nothing(spec: str) -> None:
    schedules = schedules_of(spec, 3)
    two, three = (Executions(schedules, exchanges, buffered=True).look_at_all() for exchanges in (2, 3))
    assert (two.early_messages, two.early_blocks) == (three.early_messages, three.early_blocks)


def test_the_witness_sees_more_where_windows_are_wider() -> None:
    narrow, wide = (Executions(schedules_of(f"direct(window={w})", 4), 1, True).look_at_all() for w in ("1", "all"))
    assert (narrow.early_messages, wide.early_messages) == (2, 3)
    assert narrow.states < wide.states


@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 13, 64, 257])
def test_closed_forms_of_direct_exchanges(ranks: int) -> None:
    def early(spec: str) -> int:
        return _core.certify(_core.parse_spec(spec), ranks).rank.early_messages

    assert early("direct(window=all)") == ranks - 1
    for window in (1, 2, 4):
        sliding = 2 * (ranks - 1) - window if window < ranks - 1 else ranks - 1
        assert early(f"direct(window={window},complete=any)") == sliding
    if ranks & (ranks - 1) == 0:
        assert early("direct(order=xor,window=1)") == ranks.bit_length() - 1
    # A rank that has not begun: docs/proofs.md.
    assert early("direct(window=1)") == max(i for i in range(1, ranks) if i * (i + 1) // 2 <= max(1, ranks - 1))


@pytest.mark.parametrize("ranks", [2, 4, 5, 8, 9, 16, 27, 64, 100, 1000])
@pytest.mark.parametrize("radix", [2, 3, 4])
def test_closed_form_of_bruck(ranks: int, radix: int) -> None:
    spec = _core.parse_spec(f"bruck(radix={radix},window=all)")
    counts, found = _core.count(spec, ranks), _core.certify(spec, ranks).rank
    digits = 1
    while radix**digits < ranks:
        digits += 1
    weight = radix ** (digits - 1)
    last = (ranks - 1) // weight
    missed = (last + 1) * weight > ranks
    assert found.early_messages == counts.messages - missed
    assert found.early_blocks <= counts.blocks


@pytest.mark.parametrize("completion", ["any", "test"])
@pytest.mark.parametrize("order", ["shift", "random", "scatter"])
def test_where_a_window_slides_by_grants_no_block_is_early(order: str, completion: str) -> None:
    schedules = schedules_of(f"direct(order={order},window=1,complete={completion},post=granted)", 3)
    found = _core.certify_schedules(schedules)
    seen = Executions(schedules).look_at_all()
    assert 0 < seen.early_messages <= found.rank.early_messages == 2
    assert seen.early_blocks == found.rank.early_blocks == 0
    assert seen.requests == found.rank.requests == 3
    assert not found.exact


@pytest.mark.parametrize("window", [1, 2, 3, 7, 16])
@pytest.mark.parametrize("ranks", [31, 64, 500, 1024])
def test_grants_hold_batches_together(ranks: int, window: int) -> None:
    """Ranks wait for one that stands still in both directions, so only those nearest to it grant it messages."""
    spec = _core.parse_spec(f"direct(window={window},post=granted)")
    found, most = _core.certify(spec, ranks), _core.ceiling(spec, ranks)
    assert found.exact and found.rank.early_blocks == most.rank.early_blocks == 0
    assert found.rank.early_messages <= min(4 * window, ranks - 1)
    assert most.rank.early_messages == min(6 * window, ranks - 1)


POINTS = some.sampled_from(
    [
        "direct(window={w},complete={c},post=granted)",
        "direct(order=scatter,window={w},complete={c},post=granted)",
        "direct(window={w},complete={c},post={p})",
        "direct(order=random,window={w},complete={c},post={p})",
        "direct(order=scatter,window={w},complete={c},post={p})",
        "bruck(radix={r},window={w},complete={c},post={p})",
        "bruck(dims=2d,radix={r},window={w},complete={c},post={p})",
        "bruck(dims=nodes,radix={r},window={w},complete={c},post={p})",
        "leaders(per-node={k},window={w},complete={c},post={p})",
    ]
)


@settings(max_examples=examples(150))
@given(
    POINTS,
    some.integers(2, 24),
    some.sampled_from(["", "1", "2", "3", "4", "4+2", "cyclic:3", "1+5+2"]),
    some.sampled_from(["1", "2", "3", "all"]),
    some.sampled_from(["all", "any", "test"]),
    some.sampled_from(["receives-first", "interleaved"]),
    some.sampled_from(["2", "3", "root", "all"]),
    some.sampled_from(["1", "2", "all"]),
)
def test_no_bound_is_above_its_ceiling(
    point: str, ranks: int, nodes: str, w: str, c: str, p: str, r: str, k: str
) -> None:
    spec = _core.parse_spec(point.format(w=w, c=c, p=p, r=r, k=k))
    if spec.unsuitable(ranks, nodes):
        return
    found, most = _core.certify(spec, ranks, nodes), _core.ceiling(spec, ranks, nodes)
    slides = "post=granted" in str(spec) and c != "all" and w != "all" and int(w) < ranks - 1
    assert found.exact is not slides
    for bounds, above in ((found.rank, most.rank), (found.node, most.node)):
        for name in ("requests", "peers", "early_messages", "early_blocks", "scratch_blocks"):
            assert getattr(bounds, name) <= getattr(above, name), (name, str(spec))
    if most.exact:
        assert found.rank.early_messages == most.rank.early_messages
        assert found.rank.requests == most.rank.requests


@pytest.mark.parametrize("window", [1, 2, 3, 7, 16])
@pytest.mark.parametrize("ranks", [31, 64, 200, 500, 1024])
def test_batches_hold_early_messages_down(ranks: int, window: int) -> None:
    spec = _core.parse_spec(f"direct(window={window})")
    found, most = _core.certify(spec, ranks), _core.ceiling(spec, ranks)
    assert found.exact and not most.exact
    assert found.rank.early_messages <= most.rank.early_messages
    assert found.rank.early_messages <= (2 * ranks * window) ** 0.5 + window


@pytest.mark.parametrize(
    ("spec", "nodes"),
    [("node-leaders", "4"), ("leaders(per-node=2,window=1)", "4"), ("bruck(dims=nodes,radix=all)", "4"), ("tra", "")],
)
def test_ranks_that_do_alike_are_looked_at_once(spec: str, nodes: str) -> None:
    """The same bounds come out where no two ranks are known to be alike: with nodes of names that are not in order."""
    ranks = 16
    schedules = schedules_of(spec, ranks, nodes)
    once, each = _core.certify_schedules(schedules, nodes), _core.certify_schedules(schedules, "1+15")
    assert numbers(once.rank) == numbers(each.rank)
    whole = _core.certify(_core.parse_spec(spec), ranks, nodes)
    assert numbers(whole.rank) == numbers(once.rank)


def test_thousands_of_ranks() -> None:
    for spec in ("pairwise", "spread-out", "tra", "bruck(radix=2)"):
        assert _core.certify(_core.parse_spec(spec), 4096).exact
    assert not _core.certify(_core.parse_spec("pairwise"), 131072).exact
    assert _core.certify(_core.parse_spec("pairwise"), 131072).rank.early_messages < 1100


def test_bytes_that_arrive_early() -> None:
    bounds = _core.certify(_core.parse_spec("spread-out"), 101).rank
    assert bounds.early_bytes(8) == 100 * (8 + 512)
    assert bounds.early_bytes(1 << 40) == 100 * (64 << 10)
