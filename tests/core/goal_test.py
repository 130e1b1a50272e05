"""GOAL text: parsed back it runs without deadlock, and moves what the model counts."""

from __future__ import annotations

import pytest
from goal_reading import Operation, read_goal, run

from swapmeet import _core, machines
from swapmeet.cli.goal import text

BLOCK = 100
SPECS = [
    ("pairwise", 7, ""),
    ("direct(window=all)", 6, ""),
    ("direct(order=random,window=3,complete=any)", 9, ""),
    ("direct(order=scatter,window=2,complete=all)", 8, ""),
    ("direct(order=xor,window=4,complete=test,segment=30)", 8, ""),
    ("tra(r=2)", 12, ""),
    ("bruck(radix=4,layout=zero-rotation,window=2,complete=any)", 17, ""),
    ("bruck(radix=3,layout=zero-copy,window=2)", 10, ""),
    ("two-layer(r1=2,r2=all)", 12, "4"),
    ("two-layer(r1=2,r2=2)", 11, "4+3"),
    ("node-leaders(per-node=2)", 13, "4+3"),
    ("two-layer-staggered", 8, "4"),
]


def operations(spec: str, ranks: int, nodes: str, machine: str | None = None) -> list[list[Operation]]:
    point = _core.parse_spec(spec)
    return read_goal(text(point, ranks, BLOCK, nodes, machines.load(machine) if machine else None))


@pytest.mark.parametrize("spec, ranks, nodes", SPECS)
def test_it_runs_and_moves_what_the_model_counts(spec: str, ranks: int, nodes: str) -> None:
    parsed = operations(spec, ranks, nodes)
    schedules = [_core.generate(_core.parse_spec(spec), ranks, rank, nodes) for rank in range(ranks)]
    passes = -(-BLOCK // (schedules[0].segment_bytes or BLOCK))
    assert run(parsed)[0] == passes * sum(schedule.messages for schedule in schedules)
    for schedule, mine in zip(schedules, parsed, strict=True):
        assert sum(one.kind == "send" for one in mine) == passes * schedule.messages
        assert sum(one.size for one in mine if one.kind == "send") == BLOCK * schedule.blocks
    assert all(one.size == 0 for mine in parsed for one in mine if one.kind == "calc"), "copies take no time"


@pytest.mark.parametrize("completion", ["all", "any"])
def test_a_granted_message_waits_for_its_grant(completion: str) -> None:
    parsed = operations(f"direct(window=3,complete={completion},post=granted,segment=30)", 8, "")
    assert run(parsed)[0] == 2 * 8 * 7 * 4
    for mine in parsed:
        sends, receives = ([one for one in mine if one.kind == kind] for kind in ("send", "recv"))
        grants = {n for n, one in enumerate(mine) if one.kind == "recv" and one.size == 1}
        for one in sends:
            if one.size > 1:
                (grant,) = grants.intersection(one.requires)
                assert (mine[grant].peer, mine[grant].tag) == (one.peer, one.tag + (1 << 28))
            else:
                (receive,) = one.irequires
                assert (mine[receive].kind, mine[receive].peer) == ("recv", one.peer)
        assert sum(one.size for one in receives) == BLOCK * 7 + 7 * 4


@pytest.mark.parametrize("completion", ["all", "any", "test"])
@pytest.mark.parametrize("window", [1, 3, 5])
def test_windows_are_kept(window: int, completion: str) -> None:
    parsed = operations(f"direct(order=random,window={window},complete={completion})", 12, "")
    found = [run(parsed, seed)[1] for seed in range(5)]
    assert max(most[kind] for most in found for kind in most) == window


def test_a_batch_waits_for_all_of_the_one_before_and_a_sliding_window_does_not() -> None:
    def joins(completion: str) -> int:
        (mine, *_) = operations(f"direct(order=shift,window=3,complete={completion})", 10, "")
        return sum(one.kind == "calc" for one in mine)

    assert joins("all") == 3 and joins("any") == 1


def test_steps_follow_one_another() -> None:
    """A digit's messages wait for those of the digit before: what they pass on has come."""
    for mine in operations("tra(r=2)", 8, ""):
        sends = [n for n, one in enumerate(mine) if one.kind == "send"]
        receives = [n for n, one in enumerate(mine) if one.kind == "recv"]
        assert len(sends) == len(receives) == 3
        for digit in (1, 2):
            (join,) = mine[sends[digit]].requires
            assert {sends[digit - 1], receives[digit - 1]} <= set(mine[join].requires)


def test_copies_cost_what_the_machine_says() -> None:
    machine = machines.load("theta").costs.pack
    for spec, ranks in (("tra(r=2,layout=basic)", 8), ("pairwise", 5)):
        counted = _core.rounds(_core.parse_spec(spec), ranks)
        blocks, pieces = (sum(step[i] for step in counted) for i in (0, 1))
        for mine in operations(spec, ranks, "", "theta"):
            taken = sum(one.size for one in mine if one.kind == "calc")
            expected = blocks * BLOCK * machine.byte_ns + 1000 * pieces * machine.piece_us
            assert taken == pytest.approx(expected, rel=0.1)


def test_a_dependence_that_is_left_out_is_noticed() -> None:
    """Of this parser: with two sends that cross, each behind the receive of the other, nothing moves."""
    ranks = [
        "num_ranks 2\nrank 0 {\nl1: recv 1b from 1 tag 0\nl2: send 1b to 1 tag 0\nl2 requires l1\n}\n",
        "rank 1 {\nl1: recv 1b from 0 tag 0\nl2: send 1b to 0 tag 0\nl2 requires l1\n}\n",
    ]
    with pytest.raises(AssertionError, match="deadlock"):
        run(read_goal(ranks))


def test_a_rank_at_a_time_is_written() -> None:
    lines = text(_core.parse_spec("pairwise"), 1 << 14, 8)
    assert next(lines).endswith("num_ranks 16384\n") and next(lines).startswith("\nrank 0 {\n")


@pytest.mark.parametrize(
    "words, problem",
    [
        (("pairwise", "-P", "4", "-S", "0"), "without bytes"),
        (("native", "-P", "4", "-S", "8"), "no schedule"),
        (("direct(order=xor)", "-P", "6", "-S", "8"), "cannot serve P = 6"),
        (("pairwise", "-P", "4", "-S", "8", "-o", "/dev/null/out.goal"), "out.goal: File exists: give a place"),
        (("pairwise", "-P", "4", "-S", "8", "--machine", "nosuch"), "no built-in machine"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], problem: str) -> None:
    from typer.testing import CliRunner

    from swapmeet.cli.app import app

    done = CliRunner().invoke(app, ["goal", *words])
    assert done.exit_code == 2 and problem in done.output
    assert len(done.output.splitlines()) == 1
