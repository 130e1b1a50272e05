"""The distinct exchanges of a run, put together from what each rank knows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recordings import END, communicator, exchange, single_calls, skewed, total, write

from swapmeet.measure.profiling.exchanges import distinct
from swapmeet.measure.profiling.recording import read


def test_sizes_of_all_ranks_meet(tmp_path: Path) -> None:
    found = distinct(read([skewed(tmp_path)]))
    equal, unequal, eights = found.distinct
    assert (equal.collective, equal.bytes, equal.calls) == ("alltoall", 100, 10)
    assert equal.rank_seconds == pytest.approx(0.18)
    assert equal.call_seconds == pytest.approx(0.009)
    assert np.array_equal(unequal.bytes, [[1000, 3000], [0, 0]])
    assert (unequal.calls, eights.bytes, eights.collective) == (2, 8, "alltoallv")
    assert unequal.rank_seconds == pytest.approx(0.03)
    assert found.total == pytest.approx(0.24)
    assert found.lost == {}


def test_some_calls_stand_for_all(tmp_path: Path) -> None:
    """60 and 20 calls, of which three and one were written down; time in the same proportion."""
    rows = [(0, 0, 0, 2, 20), (1, 1, 10, 2, 20), (2, 0, 20, 2, 20), (3, 0, 30, 2, 20)]
    lines = [communicator(0, [0, 1], "0.0"), exchange(0, 0, [1, 2]), exchange(1, 0, [3, 4])]
    lines += [single_calls(0, rows), total(0, 60, 120), total(1, 20, 40), END]
    found = distinct(read([write(tmp_path, {0: lines, 1: lines}, 2)]))
    assert [(one.calls, one.rank_seconds) for one in found.distinct] == [
        (60, pytest.approx(0.24)),
        (20, pytest.approx(0.08)),
    ]


def test_communicators_of_one_shape_are_put_together(tmp_path: Path) -> None:
    def lines(members: list[int], id: str) -> list[dict[str, object]]:
        return [communicator(0, members, id), exchange(0, 0, 64), total(0, 10, 50), END]

    evens, odds = lines([0, 2], "0.1"), lines([1, 3], "1.1")
    (one,) = distinct(read([write(tmp_path, {0: evens, 1: odds, 2: evens, 3: odds}, 4)])).distinct
    assert (one.ranks, one.calls, one.communicators) == (2, 20, 2)
    assert one.rank_seconds == pytest.approx(0.2)


def test_what_cannot_be_told_apart_is_said(tmp_path: Path) -> None:
    lines = [communicator(0, [0, 1], "0.0"), exchange(0, 0, [1, 2]), total(0, 1, 10)]
    lines += [communicator(1, [0], "0-2.0", inter=True, shared=False), exchange(1, 1, 8), total(1, 1, 20)]
    lines += [exchange(2, None, None), total(2, 1, 40), exchange(3, 0, None, collective="alltoall"), total(3, 1, 80)]
    found = distinct(read([write(tmp_path, {0: [*lines, END]}, 2)]))
    assert found.distinct == []
    assert found.lost == pytest.approx(
        {
            "alltoallv of which not all ranks are known": 0.01,
            "intercommunicators": 0.02,
            "beyond the recorder's limits": 0.12,
        }
    )


def test_ranks_that_left_nothing_count_as_the_others(tmp_path: Path) -> None:
    lines = [communicator(0, [0, 1, 2], "0.0"), exchange(0, 0, 64), total(0, 10, 50), END]
    (one,) = distinct(read([write(tmp_path, {0: lines, 2: lines}, 3)])).distinct
    assert (one.calls, one.rank_seconds) == (10, pytest.approx(0.15))
