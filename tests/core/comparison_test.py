"""The comparison of two schedules of started exchanges, by the time from one exchange to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import pytest

from swapmeet import _core

#: Exchanges of a whole comparison: ten as usual, five and forty of a single step, sixteen as usual.
WHOLE, LOST = 10 + 5 + 40 + 16, 10 + 5
SHARE = 0.1  #: after a comparison, the schedule that won serves 10 / SHARE exchanges


def exchanges(took_s: Callable[[int, bool], float], comparison: _core.Comparison) -> Iterator[bool]:
    """Whether each exchange of a program has a single step; exchange `number` takes took_s(number, single)."""
    since_s, number = 0.0, 0
    while True:
        comparison.begins(since_s)
        if comparison.awaits_learning:
            usual_ns, single_ns = comparison.times_ns()
            comparison.learn(1e-9 * usual_ns, 1e-9 * single_ns)
        single = comparison.next()
        yield single
        since_s = took_s(number, single)
        number += 1


def test_a_schedule_that_loses_clearly_is_left_soon_and_tried_again_later() -> None:
    comparison = _core.Comparison(SHARE)
    of_program = list(islice(exchanges(lambda _, single: 2e-3 if single else 1e-3, comparison), 2000))
    first = [False] * 10 + [True] * 5
    pauses = [100, 400]  # each is four times as long as the last
    assert of_program[:LOST] == first
    assert not any(of_program[LOST : LOST + pauses[0]])
    again = LOST + pauses[0]
    assert of_program[again : again + LOST] == first
    assert not any(of_program[again + LOST : again + LOST + pauses[1]])
    assert of_program[again + LOST + pauses[1] :][:LOST] == first


@pytest.mark.parametrize(("ratio", "wins"), [(0.9, True), (0.96, False), (1.2, False)])
def test_a_schedule_that_does_not_lose_clearly_is_measured_again(ratio: float, wins: bool) -> None:
    comparison = _core.Comparison(SHARE)
    of_program = list(islice(exchanges(lambda _, single: ratio * 1e-3 if single else 1e-3, comparison), WHOLE + 100))
    assert of_program[:WHOLE] == [False] * 10 + [True] * 45 + [False] * 16
    assert comparison.paused
    assert set(of_program[WHOLE:]) == {wins}


def test_the_first_exchanges_of_a_schedule_do_not_count() -> None:
    """They make connections, and ranks start together only after some twenty exchanges of a single step."""

    def took_s(number: int, single: bool) -> float:
        slow = number < 4 or 10 <= number < 12 or 15 <= number < 39 or 55 <= number < 59
        return 1.0 if slow else 0.5e-3 if single else 1e-3

    assert list(islice(exchanges(took_s, _core.Comparison(SHARE)), WHOLE + 100))[-1]


def test_a_comparison_that_was_ended_stays_with_the_usual_schedule() -> None:
    comparison = _core.Comparison(1)
    of_program = exchanges(lambda _, single: 1e-3, comparison)
    assert any(islice(of_program, 15))
    comparison.end()
    assert not comparison.awaits_learning
    assert not any(islice(of_program, 200))
