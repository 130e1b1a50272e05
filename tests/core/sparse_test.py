"""Sparse exchanges without MPI: all ranks in one process, whose messages are found late and in any order."""

from __future__ import annotations

import limits
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapmeet import _core

SPECS = [
    "nbx",
    "nbx(window=1)",
    "census",
    "census(window=2)",
    "sparse-bruck",
    "sparse-bruck(r=3)",
    "sparse-bruck(r=all,window=2)",
    "sparse-bruck(direct=20)",
    "sparse-bruck(direct=0)",
    "sparse-bruck(dims=2d,radix=2)",
    "sparse-bruck(digits=balanced)",
    "sparse-bruck(r=3,digits=balanced,window=1)",
    "sparse-bruck(dims=2d,radix=4,digits=balanced)",
    "grid(sparse=forward)",
    "two-layer(sparse=forward)",
    "tra2(r1=2,r2=2,sparse=forward,window=1)",
    "bruck(dims=groups:2/4,radix=2,window=all,sparse=forward)",
]


def rehearsed(spec: str, ranks: int, **settings) -> _core.SparseRehearsal:
    done = _core.rehearse_sparse(_core.parse_spec(spec), ranks, **settings)
    assert done.problem == ""
    return done


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 8, 12, 17])
def test_every_message_arrives_once_whole_and_in_order(spec: str, ranks: int) -> None:
    """Four calls, one directly behind the other."""
    for seed in range(6):
        rehearsed(spec, ranks, messages=3, most_bytes=40, seed=seed, calls=4)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_messages_whose_headers_are_lost(ranks: int, late: bool) -> None:
    """Nobody expects them. Their sources wait for a receiver; a later call with the same tag may find them first."""
    lost = {"loses_hops": True, "late": late}
    for seed in range(6):
        rehearsed("sparse-bruck(direct=20)", ranks, messages=3, most_bytes=40, seed=seed, calls=6, **lost)


@given(
    st.integers(1, 24),
    st.integers(2, 9),
    st.integers(0, 3),
    st.sampled_from(("0", "10", "auto", "never")),
    st.sampled_from(("", "2", "3+1", "cyclic:3", "4+2+1", "2/4")),
    st.integers(0, 2**32),
)
def test_on_nodes_of_any_size(ranks: int, radix: int, window: int, direct: str, nodes: str, seed: int) -> None:
    spec = _core.parse_spec(
        f"bruck(dims=nodes,radix={radix}/2,window={window or 'all'},direct={direct},sparse=forward)"
    )
    done = _core.rehearse_sparse(spec, ranks, messages=3, most_bytes=30, seed=seed, calls=2, nodes=nodes)
    assert done.problem == ""


@pytest.mark.parametrize(("radix", "ranks", "hops"), [(2, 64, 6), (4, 64, 9), (8, 64, 14), (2, 100, 7), (10, 100, 18)])
def test_hops_are_those_of_bruck(radix: int, ranks: int, hops: int) -> None:
    """w(r-1) messages whatever is exchanged; of nothing they hold nothing."""
    done = rehearsed(f"sparse-bruck(r={radix})", ranks, messages=0)
    assert (done.hops, done.header_bytes, done.messages) == (hops, 0, 0)


def test_headers_are_of_what_there_is() -> None:
    """Four times the messages on as many ranks have four times the headers: nothing is said of what is not there."""
    few, many = (rehearsed("sparse-bruck", 512, messages=m, most_bytes=0) for m in (1, 4))
    each = [done.header_bytes / done.messages for done in (few, many)]
    assert each[0] == pytest.approx(each[1], rel=0.1)
    # source and destination take two bytes each, the size one; a message is passed on 9/2 times on average, but an
    # eighth stay
    assert each[0] <= 5 * 4.5


@pytest.mark.parametrize("spec", ["nbx", pytest.param("sparse-bruck", marks=pytest.mark.slow)])
def test_no_memory_of_the_number_of_ranks(spec: str) -> None:
    """What a rank takes on 20,000 ranks (10^5 with --all) is what it takes on a thousand, but for the logarithm."""
    most = 100_000 if limits.everything else 20_000
    few, many = (rehearsed(spec, ranks, messages=1, most_bytes=8) for ranks in (1_000, most))
    assert many.messages > 0.9 * most
    assert many.working_bytes < 2 * few.working_bytes + 1000
    assert many.working_bytes < 6000
    assert many.hops <= 17


def test_nodes_take_the_map_of_nodes() -> None:
    """Two numbers for each rank: the one thing of this size, where messages are passed on by node."""
    spec = _core.parse_spec("two-layer(sparse=forward)")
    done = _core.rehearse_sparse(spec, 1024, messages=1, nodes="16")
    assert done.problem == ""
    assert 8 * 1024 < done.working_bytes < 8 * 1024 + 12000


@pytest.mark.parametrize(
    ("ranks", "algorithm", "expected"),
    [
        (1024, "auto", "census"),
        (1025, "auto", "nbx"),
        (8, "pairwise", "census"),
        (8, "nbx", "nbx"),
        (4096, "tra(r=4,sparse=census)", "census"),
        (8, "tra(r=4,sparse=forward)", "forward"),
        (8, "grid(dims=3x3,sparse=forward)", "census"),
    ],
)
def test_the_choice(ranks: int, algorithm: str, expected: str) -> None:
    spec, reason = _core.choose_sparse(ranks, algorithm)
    assert f"sparse={expected}" in spec
    if "3x3" in algorithm:
        assert "unsuitable: the product of its dims is 9" in reason


@pytest.mark.parametrize(
    "spec", ["direct(sparse=forward)", "leaders(sparse=nbx)", "native(sparse=nbx)", "nbx(sparse=x)"]
)
def test_what_there_is_not(spec: str) -> None:
    with pytest.raises(ValueError, match="sparse"):
        _core.parse_spec(spec)
