"""The verifier can fail: each way of breaking a correct set of schedules is found."""

import re
from collections.abc import Callable

import pytest

from swapmeet import _core

RANKS = 5


def texts(spec: str, ranks: int = RANKS) -> list[str]:
    return [str(_core.generate(_core.parse_spec(spec), ranks, rank)) for rank in range(ranks)]


def findings(schedules: list[str]) -> list[str]:
    return list(_core.verify_schedules([_core.parse_schedule(text) for text in schedules]).findings)


def edit(rank: int, pattern: str, replacement: str) -> Callable[[list[str]], None]:
    """Replace the first line of `rank` that matches."""

    def change(schedules: list[str]) -> None:
        schedules[rank], changes = re.subn(pattern, replacement, schedules[rank], count=1)
        assert changes == 1, pattern

    return change


def both(*changes: Callable[[list[str]], None]) -> Callable[[list[str]], None]:
    def change(schedules: list[str]) -> None:
        for one in changes:
            one(schedules)

    return change


MUTATIONS = {
    "a receive is dropped": (edit(2, r"  receive 0 .*\n", ""), "fewer messages than are sent"),
    "a send is dropped": (edit(2, r"  send 0 .*\n", ""), "more messages than are sent"),
    "a message is dropped": (
        both(edit(2, r"  send 0 .*\n", ""), edit(0, r"  receive 2 .*\n", "")),
        "rank 0 ends with nothing in receive[2]",
    ),
    "a message is sent twice": (
        both(edit(2, r"(  send 0 .*\n)", r"\1\1"), edit(0, r"(  receive 2 .*\n)", r"\1\1")),
        "receive[2] is touched by another operation of the step",
    ),
    "two peers are swapped": (
        both(
            edit(1, r"send 2 last send\[2\]", "send 2 last send[3]"),
            edit(1, r"send 3 last send\[3\]", "send 3 last send[2]"),
        ),
        "rank 2 ends with block (1, 3) in receive[1]",
    ),
    "the wrong block is sent": (
        edit(3, r"send 0 last send\[0\]", "send 0 last send[4]"),
        "rank 0 ends with block (3, 4)",
    ),
    "a block goes to the wrong place": (
        both(
            edit(0, r"receive 1 last receive\[1\]", "receive 1 last receive[2]"),
            edit(0, r"receive 2 last receive\[2\]", "receive 2 last receive[1]"),
        ),
        "rank 0 ends with block (2, 0) in receive[1]",
    ),
    "a block lies out of bounds": (edit(4, r"send\[0\]", "send[5]"), "out of bounds"),
    "a block number is negative": (edit(4, r"receive\[0\]", "receive[-1]"), "out of bounds"),
    "a run leaves the buffer": (edit(4, r"send\[0\]", "send[3..5]"), "out of bounds"),
    "scratch is used but not asked for": (
        edit(0, r"receive 1 last receive\[1\]", "receive 1 last scratch[0]"),
        "out of bounds",
    ),
    "a peer does not exist": (edit(1, r"send 0 ", "send 5 "), "rank 5, which does not exist"),
    "a peer is negative": (edit(1, r"receive 0 ", "receive -1 "), "rank -1, which does not exist"),
    "a rank sends to itself": (edit(1, r"send 0 ", "send 1 "), "itself; use a copy"),
    "a message is empty": (edit(1, r"send 0 last send\[0\]", "send 0"), "carries no block"),
    "a message has too many blocks": (
        edit(1, r"send 0 last send\[0\]", "send 0 last send[0..1]"),
        "a message of 2 blocks into 1",
    ),
    "the send buffer is written": (
        edit(1, r"receive 0 last receive\[0\]", "receive 0 last send[0]"),
        "writes to the send buffer",
    ),
    "a copy writes the send buffer": (edit(1, r"copy send\[1\] receive\[1\]", "copy send[1] send[2]"), "send buffer"),
    "a copy has unequal sides": (edit(1, r"copy send\[1\]", "copy send[0..1]"), "sides of different length"),
    "the own block is not copied": (edit(1, r"  copy .*\n", ""), "rank 1 ends with nothing in receive[1]"),
    "two operations write one block": (
        edit(0, r"receive 1 last receive\[1\]", "receive 1 last receive[2]"),
        "touched by another operation of the step",
    ),
    "a message reads what another writes": (
        edit(0, r"send 1 last send\[1\]", "send 1 last receive[3]"),
        "touched by another operation of the step",
    ),
    "a rank cuts its blocks otherwise": (edit(3, "segment=0", "segment=8"), "cuts its blocks otherwise"),
    "a schedule is of another rank": (edit(3, "rank=3", "rank=2"), "is of rank 2"),
    "a schedule is of another size": (edit(3, "ranks=5", "ranks=6"), "of 6"),
    "the scratch space is negative": (edit(3, "scratch=0", "scratch=-1"), "negative scratch"),
    "a message is the last for its sender only": (
        edit(1, r"receive 0 last ", "receive 0 "),
        "the last of its blocks for one end only",
    ),
    "the window is negative": (edit(3, "window=all", "window=-1"), "window is negative"),
}


@pytest.mark.parametrize("name", MUTATIONS)
@pytest.mark.parametrize("spec", ["spread-out", "direct(order=random,complete=any)"])
def test_each_mutation_is_found(spec: str, name: str) -> None:
    schedules = texts(spec)
    assert findings(schedules) == []
    change, words = MUTATIONS[name]
    change(schedules)
    found = findings(schedules)
    assert any(words in finding for finding in found), found


def schedule(rank: int, ranks: int, *lines: str, scratch: int = 0) -> str:
    return f"schedule ranks={ranks} rank={rank} scratch={scratch} segment=0\n" + "".join(f"{line}\n" for line in lines)


def step(window: str = "all", complete: str = "all") -> str:
    return f"step window={window} complete={complete} post=receives-first"


def cyclic(ranks: int, window: str, complete: str) -> list[str]:
    """Each rank sends to its successor first but receives from it first too: everybody waits for somebody else."""
    result = []
    for me in range(ranks):
        peers = [(me + i) % ranks for i in range(1, ranks)]
        lines = [step(window, complete), f"copy send[{me}] receive[{me}]"]
        lines += [f"send {peer} send[{peer}]" for peer in peers]
        lines += [f"receive {peer} receive[{peer}]" for peer in peers]
        result.append(schedule(me, ranks, *lines))
    return result


@pytest.mark.parametrize("complete", ["all", "any", "test"])
@pytest.mark.parametrize("ranks", [3, 5, 8])
def test_deadlock_of_rendezvous_is_found(ranks: int, complete: str) -> None:
    found = findings(cyclic(ranks, "1", complete))
    assert any(finding.startswith("deadlock: rank 0, step 0 never finishes; ") for finding in found), found
    assert findings(cyclic(ranks, "all", complete)) == []


def test_deadlock_across_steps_is_found() -> None:
    """Two ranks that both send before they receive: buffered sends would hide it."""
    lines = [
        [step(), f"copy send[{me}] receive[{me}]", f"send {1 - me} send[{1 - me}]"]
        + [step(), f"receive {1 - me} receive[{1 - me}]"]
        for me in (0, 1)
    ]
    assert any("deadlock" in finding for finding in findings([schedule(me, 2, *lines[me]) for me in (0, 1)]))


def test_messages_overtaken_within_a_pair_are_found() -> None:
    """Two messages between one pair, received in the other order, end in each other's place."""
    sender = [step(), "copy send[0] receive[0]", "send 1 send[1]", "send 1 send[0]", "receive 1 receive[1]"]
    receiver = [step(), "copy send[1] receive[1]", "receive 0 scratch[0]", "receive 0 receive[0]", "send 0 send[0]"]
    found = findings([schedule(0, 2, *sender), schedule(1, 2, *receiver, scratch=1)])
    assert any("rank 1 ends with block (0, 0) in receive[0]" in finding for finding in found), found


def test_a_block_overwritten_while_it_is_needed_is_found() -> None:
    """Scratch is filled, then overwritten in the next step before it is passed on."""
    zero = [step(), "copy send[0] receive[0]", "copy send[1] scratch[0]", step(), "copy send[0] scratch[0]"]
    zero += [step(), "send 1 scratch[0]", "receive 1 receive[1]"]
    one = [step(), "copy send[1] receive[1]", step(), "send 0 send[0]", "receive 0 receive[0]"]
    found = findings([schedule(0, 2, *zero, scratch=1), schedule(1, 2, *one)])
    assert any("rank 1 ends with block (0, 0) in receive[0]" in finding for finding in found), found


def test_forwarding_through_scratch_is_proved() -> None:
    """What later families do: blocks travel together and through scratch."""
    zero = [step(), "copy send[0] receive[0]", "copy send[1] scratch[0]"]
    zero += [step(), "send 1 scratch[0]", "receive 1 receive[1]"]
    one = [step(), "copy send[1] receive[1]", "send 0 send[0]", "receive 0 receive[0]"]
    assert findings([schedule(0, 2, *zero, scratch=1), schedule(1, 2, *one)]) == []


def test_a_false_claim_to_be_the_last_is_found() -> None:
    """Both ends say that a message holds nothing that goes further. Rank 0 sends rank 1 a block for rank 2."""
    schedules = texts("bruck(radix=2,layout=modified,window=1)", 4)
    assert findings(schedules) == []
    both(edit(0, r"send 1 ", "send 1 last "), edit(1, r"receive 0 ", "receive 0 last "))(schedules)
    assert any("is not the last" in finding for finding in findings(schedules)), findings(schedules)


def test_claiming_less_than_the_truth_is_allowed() -> None:
    """It is a promise that saves sizes, not part of what is delivered."""
    assert findings([text.replace(" last", "") for text in texts("bruck(radix=2)", 5)]) == []


def test_too_few_schedules_are_found() -> None:
    assert any("is of rank 0 of 5" in finding for finding in findings(texts("pairwise")[:1]))


def test_giving_up_proves_nothing() -> None:
    verdict = _core.verify(_core.parse_spec("pairwise"), 8, lambda done: False)
    assert not verdict.proved
    assert verdict.findings == ["interrupted: nothing is proved"]


def test_progress_rises_and_may_fail() -> None:
    seen: list[float] = []
    assert _core.verify(_core.parse_spec("direct(window=1)"), 200, lambda done: seen.append(done) or True).proved
    assert seen == sorted(seen)
    assert all(0 <= done <= 1 for done in seen)

    def fail(done: float) -> bool:
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        _core.verify(_core.parse_spec("pairwise"), 8, fail)
