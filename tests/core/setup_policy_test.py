"""When a communicator is worth setting up: what programs lose by waiting for calls, and by setting up for too few."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from swapmeet import _core

ALLTOALL, ALLTOALLV = _core.Collective.alltoall, _core.Collective.alltoallv


def awaited(known: bool, small_calls: float, made: int = 0) -> int:
    policy, calls = _core.SetupPolicy(), 0
    while not policy.over(known, small_calls, made):
        calls += 1
    return calls


@pytest.mark.parametrize(
    ("small_calls", "first", "later"), [(1.0, 6, 3), (1.4, 5, 3), (2.0, 3, 2), (3.0, 3, 1), (100.0, 3, 1)]
)
def test_longer_calls_are_awaited_less_often(small_calls: float, first: int, later: int) -> None:
    assert awaited(False, small_calls) == first
    assert awaited(True, small_calls) == later


def test_where_the_last_run_made_many_calls_none_is_awaited() -> None:
    """By the host MPI they take four times as long as setting up; what was never measured may be no faster by ours."""
    assert [awaited(True, 1.0, made) for made in (0, 23, 24, 1000)] == [3, 3, 0, 0]
    assert [awaited(True, 8.0, made) for made in (0, 2, 3)] == [1, 1, 0]
    assert awaited(False, 1.0, 1000) == awaited(False, 1.0)


@given(some.integers(1, 50), some.floats(1, 100), some.floats(0, 1))
def test_a_program_loses_little_however_many_calls_it_makes(calls: int, host: float, share: float) -> None:
    """In calls with the smallest blocks; setting up takes six, a call by ours a share of the host MPI's."""
    setup, ours = _core.SetupPolicy.first_calls, share * host
    for known, factor, least in ((False, 2, 3), (True, 3, 1)):
        first = min(calls, awaited(known, host))
        took = first * host + (setup + (calls - first) * ours if calls > first else 0)
        assert took <= factor * min(calls * host, setup + calls * ours) + least * host + 1e-9


def test_blocks_of_all_sizes_together_are_counted() -> None:
    policy = _core.SetupPolicy()
    assert [policy.over(False, calls) for calls in (1.0, 2.0, 1.0, 2.5, 1.0, 1.0)] == [False] * 4 + [True] * 2


@pytest.mark.parametrize(("ranks", "nodes"), [(4, "2"), (64, "8"), (128, "64"), (4096, "64")])
def test_calls_count_by_what_the_host_mpi_is_expected_to_take(ranks: int, nodes: str) -> None:
    def small_calls(block_bytes: int, collective: _core.Collective = ALLTOALL) -> float:
        return _core.small_calls(collective, ranks, block_bytes, nodes=nodes)

    assert small_calls(0) == small_calls(1) == 1
    sizes = [small_calls(1 << power) for power in range(0, 22, 3)]
    assert sizes == sorted(sizes)
    assert small_calls(1 << 20) > 6
    assert small_calls(8, ALLTOALLV) == small_calls(1 << 20, ALLTOALLV), "ranks do not know the others' sizes"
    assert small_calls(8, ALLTOALLV) >= small_calls(64), "MPIs have no Bruck's algorithm for them"


@pytest.mark.parametrize(
    ("left", "small_calls", "then"), [(0, 1.0, 6), (1, 1.0, 5), (4, 1.0, 3), (8, 1.0, 3), (1, 4.0, 3)]
)
def test_calls_before_the_ranks_meet_count(left: int, small_calls: float, then: int) -> None:
    """Between nodes too little is left to await then, but for the three calls that are timed."""
    policy = _core.SetupPolicy()
    policy.leave(left)
    assert [policy.leaves_call() for _ in range(left + 1)] == [True] * left + [False]
    more = 0
    while not policy.over(False, small_calls):
        more += 1
    assert more == then


def test_no_call_is_left_once_the_ranks_meet() -> None:
    policy = _core.SetupPolicy()
    policy.leave(8)
    assert policy.leaves_call()
    policy.setup_begins()
    assert not policy.leaves_call()
