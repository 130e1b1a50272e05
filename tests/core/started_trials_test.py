"""Trials of started exchanges: two schedules, by the time from one start to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby, islice

import pytest

from swapmeet import _core

USUAL, LOOK, WHOLE = 4 + 12, 2 + 3, 24 + 21  #: exchanges of a trial: as usual, at first of a single step, and later
SHARE = 0.01


def exchanges(
    took_s: Callable[[int, bool], float], share: float = SHARE, burst: float = 1
) -> Iterator[tuple[bool, bool]]:
    """Of each exchange of a program: whether it has a single step, and whether it belongs to a trial.

    Exchange `number` takes took_s(number, single). Between trials some rank takes `burst` times as long.
    """
    trials, number = _core.Trials.of_starts(share), 0
    while True:
        since_s = 0.0
        for _ in range(trials.pause):
            single = trials.usual == 1
            yield single, False
            since_s += took_s(number, single)
            number += 1
        single = trials.next(0, burst * since_s) == 1
        while trials.left > 0:
            trials.call_begins()
            yield single, True
            trials.took(took_s(number, single))
            number += 1
        trials.learn(trials.times)


def rows(
    took_s: Callable[[int, bool], float], number: int, share: float = SHARE, burst: float = 1
) -> list[tuple[bool, int]]:
    """The trials among the first exchanges: whether of a single step, and how many exchanges."""
    in_turn = groupby(islice(exchanges(took_s, share, burst), number))
    return [(single, len(list(row))) for (single, tried), row in in_turn if tried]


def usual_after(took_s: Callable[[int, bool], float], number: int) -> bool:
    """Whether a single step is usual after so many exchanges."""
    return next(single for single, tried in islice(exchanges(took_s), number, None) if not tried)


@pytest.mark.parametrize("slower", [2, 10])
def test_a_single_step_that_loses_clearly_is_used_for_few_exchanges(slower: float) -> None:
    tried = rows(lambda _, single: slower * 1e-3 if single else 1e-3, 500)
    assert tried[:2] == [(False, USUAL), (True, LOOK)]
    assert all(not single for single, _ in tried[2:])


@pytest.mark.parametrize("burst", [1, 0.01])
@pytest.mark.parametrize("scale_s", [1e-6, 1e-3, 10])
def test_both_schedules_are_tried_among_the_first_exchanges(scale_s: float, burst: float) -> None:
    """However long the program computes between two starts, and although a rank that was late starts many at once."""
    tried = rows(lambda *_: scale_s, 300, burst=burst)
    assert (False, USUAL) in tried
    assert (True, LOOK) in tried or scale_s == 1e-6, "preparing it takes as long as a hundred such exchanges"


@pytest.mark.parametrize(("ratio", "wins"), [(0.5, True), (0.7, True), (0.97, False), (1.2, False)])
def test_the_faster_schedule_becomes_usual(ratio: float, wins: bool) -> None:
    assert usual_after(lambda _, single: ratio * 1e-3 if single else 1e-3, 300) == wins


def test_a_small_gain_is_found_by_more_trials() -> None:
    assert usual_after(lambda number, single: (0.88 if single else 1) * (1e-3 + 1e-5 * (number % 3)), 3000)


def test_the_first_exchanges_of_a_schedule_do_not_count() -> None:
    """They make connections, and ranks start together only after some twenty exchanges of a single step."""
    last, row = False, 0

    def took_s(_: int, single: bool) -> float:
        nonlocal last, row
        row, last = (row + 1 if single == last else 0), single
        return 1e-3 if not single else 1.1e-3 if row < 24 else 0.6e-3

    assert usual_after(took_s, 1000)


def test_a_single_long_exchange_counts_little() -> None:
    assert usual_after(lambda number, single: (0.1 if number % 16 == 0 else 0.6e-3) if single else 1e-3, 1000)


def test_other_times_begin_all_anew() -> None:
    """The program may come to compute for longer."""
    assert usual_after(lambda number, single: 3e-3 if number >= 1000 and not single else 1e-3, 20_000)


def test_little_is_lost_by_trials() -> None:
    for number in (100, 1000, 10_000, 100_000):
        lost = sum(single for single, _ in islice(exchanges(lambda _, single: 3e-3 if single else 1e-3), number)) * 2
        assert lost < 0.03 * number + 2 * LOOK, number


def test_a_share_of_all_time_tries_both_in_turn() -> None:
    tried = rows(lambda *_: 1e-3, 200, share=1)
    assert tried[:4] == [(True, LOOK), (False, USUAL), (True, WHOLE), (False, USUAL)]
