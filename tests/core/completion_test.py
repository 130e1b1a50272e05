"""One symbolic execution settles every order of completion: checked by walking through all of them on small cases."""

import pytest
from core.strategies import SCHEDULED
from core.verify_test import cyclic

from swapmeet import _core

SMALL_CASES = [
    (ranks, f"direct(order={order},window={window},complete={complete})")
    for ranks in (2, 3)
    for order in ("shift", "xor", "random", "scatter")
    for window in ("1", "2", "all")
    for complete in ("all", "any", "test")
    if not (order == "xor" and ranks == 3)
] + [
    (4, f"direct(order={order},window=1,complete={complete})")
    for order in ("shift", "xor")
    for complete in ("all", "any")
]


def search(schedules: list[_core.Schedule], most_states: int = 1_000_000) -> tuple[list[str], int]:
    verdict, states = _core.search_orders(schedules, most_states)
    return list(verdict.findings), states


@pytest.mark.parametrize(("ranks", "text"), SMALL_CASES)
def test_every_order_of_completion_ends(ranks: int, text: str) -> None:
    spec = _core.parse_spec(text)
    schedules = [_core.generate(spec, ranks, rank) for rank in range(ranks)]
    assert _core.verify_schedules(schedules).proved
    findings, states = search(schedules)
    assert findings == []
    assert states > ranks


@pytest.mark.parametrize("text", SCHEDULED)
def test_aliases_on_three_ranks(text: str) -> None:
    schedules = [_core.generate(_core.parse_spec(text), 3, rank) for rank in range(3)]
    assert search(schedules)[0] == []


@pytest.mark.parametrize("complete", ["all", "any", "test"])
def test_both_find_a_deadlock(complete: str) -> None:
    schedules = [_core.parse_schedule(text) for text in cyclic(3, "1", complete)]
    assert any("deadlock" in finding for finding in _core.verify_schedules(schedules).findings)
    assert any("deadlock" in finding for finding in search(schedules)[0])


def test_a_search_that_is_cut_short_says_so() -> None:
    schedules = [_core.generate(_core.parse_spec("spread-out"), 3, rank) for rank in range(3)]
    findings, states = search(schedules, 10)
    assert findings == ["more than 10 states"]
    assert states == 10


@pytest.mark.parametrize("complete", ["all", "any"])
@pytest.mark.parametrize(
    "text",
    [
        *(f"bruck(radix=2,layout={layout},pack=datatype)" for layout in ("basic", "zero-rotation", "zero-copy")),
        *(f"bruck(radix=all,layout={layout})" for layout in ("modified", "zero-copy")),
        "bruck(dims=nodes,radix=all,layout=modified)",
        "leaders(per-node=1,intra=auto)",
    ],
)
def test_no_block_is_overwritten_while_it_is_in_use(text: str, complete: str) -> None:
    for ranks, nodes, window in ((3, "2", 2), (3, "", 2), (4, "3+1", 1)):
        spec = _core.parse_spec(text.replace(")", f",complete={complete},window={window})"))
        schedules = [_core.generate(spec, ranks, rank, nodes) for rank in range(ranks)]
        assert search(schedules)[0] == []


@pytest.mark.parametrize("window", ["1", "2"])
def test_blocks_in_use_that_are_overwritten_are_found(window: str) -> None:
    """In one step a rank receives into the block that it sends. With a window of one message, and batches, the two are
    in flight together only if they are of one batch.
    """

    def texts(target: str) -> list[str]:
        head = "schedule ranks=2 rank={} scratch=2 segment=0\nstep window={} complete=all post=receives-first\n"
        zero = "send 1 send[1]\nsend 1 scratch[0]\nreceive 1 scratch[1]\nreceive 1 " + target
        one = "receive 0 receive[0]\nreceive 0 scratch[0]\nsend 0 send[0]\nsend 0 scratch[1]"
        return [head.format(0, window) + zero + "\n", head.format(1, window) + one + "\n"]

    for target, found in (("scratch[0]", True), ("receive[1]", False)):
        findings = search([_core.parse_schedule(text) for text in texts(target)])[0]
        assert any("is touched while" in finding for finding in findings) == found, findings
    apart = [
        text.replace("receive 1 scratch[1]\nreceive 1 scratch[0]", "receive 1 scratch[0]\nreceive 1 scratch[1]")
        for text in texts("scratch[0]")
    ]
    findings = search([_core.parse_schedule(text) for text in apart])[0]
    assert any("is touched while" in finding for finding in findings) == (window == "2")
