"""Limits on requests outstanding and on messages that arrive early: what is chosen stays within them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from limits import examples

from swapmeet import _core

ALLTOALL, ALLTOALLV = _core.Collective.alltoall, _core.Collective.alltoallv
NODE_OF_128 = 131072  #: ranks of 1024 nodes of 128


def chosen(spec: str, ranks: int, block_bytes: int = 8, collective=ALLTOALL, nodes: str = "", **limits: str | int):
    environment = [f"SWAPMEET_ALGORITHM={spec}", *(f"SWAPMEET_{key}_LIMIT={value}" for key, value in limits.items())]
    options = _core.read_options(environment, ranks)
    assert not options.problems
    return _core.choose(collective, ranks, block_bytes, options, nodes=nodes)


def test_defaults_change_nothing_up_to_2048_ranks() -> None:
    for ranks in (2, 64, 1000, 2048):
        for spec in ("spread-out", "pairwise", "tra", "bruck(radix=2)"):
            for block_bytes in (1, 1 << 20, 1 << 40):
                assert chosen(spec, ranks, block_bytes) == (_core.parse_spec(spec), "SWAPMEET_ALGORITHM", 2**63 - 1)


@pytest.mark.parametrize("spec", ["spread-out", "direct(window=all,complete=any)", "tra(window=all)", "pairwise"])
@pytest.mark.parametrize("block_bytes", [8, 4096, 1 << 20])
def test_a_node_of_128_ranks_on_1024_nodes_survives(spec: str, block_bytes: int) -> None:
    found, reason, most = chosen(spec, NODE_OF_128, block_bytes)
    assert found.family != "native", reason
    bounds = _core.ceiling(found, NODE_OF_128).rank
    assert bounds.requests <= 4096
    assert 128 * bounds.early_bytes(block_bytes) <= 16 << 30
    assert most >= block_bytes
    assert bounds.early_bytes(most) <= 128 << 20


def test_a_window_is_narrowed_as_little_as_possible_and_why_is_said() -> None:
    found, reason, _ = chosen("spread-out", 100, REQUEST=64)
    assert str(found) == "direct(order=shift,window=32,complete=all)"
    assert reason == (
        "SWAPMEET_ALGORITHM, instead of direct(order=shift,window=all,complete=all): "
        "198 requests may be outstanding at a time, SWAPMEET_REQUEST_LIMIT is 64"
    )
    assert str(chosen("direct(window=5,complete=any)", 100, REQUEST=9)[0]).startswith("direct(order=shift,window=4,")


def test_a_window_that_slides_becomes_batches_where_too_much_would_arrive_early() -> None:
    found, reason, _ = chosen("direct(window=8,complete=any)", 1000, 1 << 20, UNEXPECTED="16MiB")
    parameters = dict(found.parameters)
    assert parameters["complete"] == "all"
    assert int(parameters["window"]) <= 8
    assert "SWAPMEET_UNEXPECTED_LIMIT=16777216 is exceeded by blocks above" in reason
    assert _core.certify(found, 1000).rank.early_bytes(1 << 20) <= 16 << 20


def test_the_choice_depends_on_the_size_only_where_it_must() -> None:
    found, _, most = chosen("spread-out", 1000, 8, UNEXPECTED="4MiB")
    assert found == _core.parse_spec("spread-out")
    bounds = _core.certify(found, 1000).rank
    assert bounds.early_bytes(most) <= 4 << 20 < bounds.early_bytes(most + 1)
    assert chosen("spread-out", 1000, most, UNEXPECTED="4MiB")[0] == found
    assert chosen("spread-out", 1000, most + 1, UNEXPECTED="4MiB")[0] != found


def test_where_no_window_is_narrow_enough_messages_are_granted() -> None:
    found, reason, most = chosen("direct(order=scatter)", 1000, 1 << 20, UNEXPECTED="1MiB")
    assert str(found) == "direct(order=scatter,window=all,complete=all,post=granted)"
    assert "999 messages may arrive before their receives are posted" in reason
    assert most == 2**63 - 1
    bounds = _core.certify(found, 1000).rank
    assert (bounds.early_messages, bounds.early_blocks, bounds.early_bytes(1 << 40)) == (999, 0, 999 * 512)


def test_grants_come_after_every_window_and_are_narrowed_to_the_request_limit() -> None:
    assert "granted" not in str(chosen("spread-out", 1000, 1 << 20, UNEXPECTED="16MiB")[0])
    found, _, _ = chosen("direct(order=random,window=64,complete=any)", 1000, 1 << 20, REQUEST=50, UNEXPECTED="1MiB")
    assert str(found) == "direct(order=random,window=16,complete=any,post=granted)"
    assert _core.certify(found, 1000).rank.requests == 48
    found, _, _ = chosen("spread-out", NODE_OF_128, 1 << 20, UNEXPECTED="1MiB")
    assert str(found) == "direct(order=shift,window=256,complete=all,post=granted)"


def test_what_cannot_be_narrowed_goes_to_the_host_mpi() -> None:
    found, reason, _ = chosen("direct(order=scatter)", 1000, 1 << 20, UNEXPECTED="256KiB")
    assert found.family == "native"
    assert "999 messages may arrive before their receives are posted" in reason
    assert chosen("spread-out", 1000, 8, UNEXPECTED=0)[0].family == "native"


def test_blocks_of_unequal_size_may_all_go_directly() -> None:
    assert chosen("tra", 1000, 0, ALLTOALLV)[0] == _core.parse_spec("tra")
    found, reason, _ = chosen("tra", 3000, 0, ALLTOALLV)
    assert found.family == "native"
    assert "6000 requests may be outstanding" in reason
    assert chosen("tra", 3000, 8)[0] == _core.parse_spec("tra")


def test_padded_blocks_that_go_directly_are_not_granted() -> None:
    spec = "direct(order=scatter,sizes=padded,direct=100)"
    assert chosen(spec, 100, 0, ALLTOALLV, UNEXPECTED="2MiB")[0].family == "native"
    assert "post=granted" in str(chosen("direct(order=scatter)", 100, 0, ALLTOALLV, UNEXPECTED="2MiB")[0])


def test_shared_memory_within_a_node_takes_no_requests() -> None:
    assert chosen("shared-memory", 64, REQUEST=2)[0] == _core.parse_spec("shared-memory")


@settings(max_examples=examples(100))
@given(
    some.sampled_from(
        [
            "direct(window={w},complete={c})",
            "direct(order=random,window={w})",
            "direct(order=scatter,window={w},complete={c})",
            "direct(window={w},complete={c},post=granted)",
            "bruck(radix={r},window={w},complete={c})",
        ]
    ),
    some.integers(2, 200),
    some.sampled_from(["1", "3", "16", "all"]),
    some.sampled_from(["all", "any"]),
    some.sampled_from(["2", "5", "all"]),
    some.integers(2, 300),
    some.integers(0, 1 << 22),
    some.integers(0, 1 << 20),
)
def test_whatever_is_chosen_is_within_the_limits(
    point: str, ranks: int, w: str, c: str, r: str, requests: int, early: int, block_bytes: int
) -> None:
    found, _, most = chosen(point.format(w=w, c=c, r=r), ranks, block_bytes, REQUEST=requests, UNEXPECTED=early)
    if found.family == "native":
        return
    bounds = _core.certify(found, ranks).rank
    assert bounds.requests <= requests
    assert bounds.early_bytes(block_bytes) <= early
    assert most >= block_bytes


@pytest.mark.parametrize("nodes", ["", "8"])
def test_candidates_of_trials_stay_within(nodes: str) -> None:
    options = _core.read_options(["SWAPMEET_REQUEST_LIMIT=16", "SWAPMEET_UNEXPECTED_LIMIT=2MiB"], 64)
    host, *found = (one.spec for one in _core.candidates(ALLTOALL, 64, 512, nodes=nodes, options=options))
    assert host.family == "native"
    assert found
    assert found != [one.spec for one in _core.candidates(ALLTOALL, 64, 512, nodes=nodes)][1:]
    for spec in found:
        assert spec.family != "native"
        if nodes or dict(spec.parameters).get("intra", "mpi") == "mpi":
            bounds = _core.certify(spec, 64, nodes).rank
            assert bounds.requests <= 16
            assert bounds.early_bytes(1 << 40) <= 2 << 20


@pytest.mark.parametrize(("name", "value"), [("REQUEST", "1"), ("REQUEST", "many"), ("UNEXPECTED", "-1")])
def test_values_that_cannot_be_used(name: str, value: str) -> None:
    (problem,) = _core.read_options([f"SWAPMEET_{name}_LIMIT={value}"], 4).problems
    assert "keeping" in problem


def test_working_memory_is_what_plans_take() -> None:
    """Exchange::working_blocks(): both sides, and the most scratch blocks of any rank."""
    limit = 1 << 20
    options = _core.read_options([f"SWAPMEET_SCRATCH_LIMIT={limit}"])
    for name, *_ in _core.aliases():
        spec = _core.parse_spec(name)
        for ranks, nodes in itertools.product((1, 2, 3, 4, 5, 8, 13, 16, 27), ("", "4", "3")):
            if spec.family == "native" or spec.unsuitable(ranks, nodes):
                continue
            more = dict(spec.parameters)
            copies = spec.family != "direct" or more["intra"] != "mpi" or more["segment"] != "0"
            scratch = max(_core.generate(spec, ranks, rank, nodes).scratch_blocks for rank in range(ranks))
            largest = limit // (2 * ranks + scratch)
            assert _core.within_scratch_limit(spec, ranks, largest, options, nodes), (name, ranks, nodes)
            too_large = _core.within_scratch_limit(spec, ranks, largest + 1, options, nodes)
            assert too_large != copies, (name, ranks, nodes)
