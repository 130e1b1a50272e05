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
