"""What specs are expected to take: by the model, and by whatever was measured; and what is chosen because of it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from limits import examples

from swapmeet import _core

ALLTOALL = _core.Collective.alltoall
NATIVE = _core.Spec()
OPTIONS = _core.read_options([])
SHAPES = [(2, ""), (16, "4"), (48, "12"), (128, "8"), (11, "4+3+4"), (512, "64")]
NOW, EARLIER = 0, 1_750_000_000


def chosen(ranks: int, nodes: str, size: int, evidence: list[_core.Evidence]) -> _core.Spec:
    knowledge = _core.Knowledge(evidence=evidence)
    return _core.choose(ALLTOALL, ranks, size, OPTIONS, nodes=nodes, knowledge=knowledge)[0]


def candidates(ranks: int, nodes: str, size: int) -> list[_core.Expectation]:
    return _core.candidates(ALLTOALL, ranks, size, nodes=nodes)


@some.composite
def measurements(draw: some.DrawFn) -> tuple[int, str, int, list[_core.Evidence]]:
    """Anything that may be in a store, absurd entries too."""
    ranks, nodes = draw(some.sampled_from(SHAPES))
    size = 1 << draw(some.integers(0, 20))
    specs = [one.spec for one in candidates(ranks, nodes, size)]
    evidence = []
    for _ in range(draw(some.integers(0, 8))):
        other_ranks, other_nodes = draw(some.sampled_from([(ranks, nodes), *SHAPES]))
        kind = _core.CallKind(ALLTOALL, other_ranks, 1 << draw(some.integers(0, 20)), other_nodes)
        time = draw(some.floats(1e-12, 1e9) | some.floats(1e-6, 1e-2) | some.sampled_from([0.0, -1.0]))
        spread = draw(some.floats(0, 1)) * abs(time)
        calls = draw(some.integers(-1, 10**6))
        by = draw(some.sampled_from([_core.Measurer.trial, _core.Measurer.tune]))
        date = draw(some.sampled_from([NOW, EARLIER]))
        evidence.append(_core.Evidence(kind, draw(some.sampled_from(specs)), calls, time, spread, by, date))
    return ranks, nodes, size, evidence


@settings(max_examples=examples(150))
@given(measurements())
def test_any_evidence_gives_one_choice_which_can_be_executed(case) -> None:
    """On each rank the same: nothing but the evidence counts, and not what was decided before."""
    ranks, nodes, size, evidence = case
    first = chosen(ranks, nodes, size, evidence)
    candidates(ranks, nodes, 8)
    assert chosen(ranks, nodes, size, list(evidence)) == first
    assert not first.unsuitable(ranks, nodes)


@settings(max_examples=examples(100))
@given(measurements())
def test_the_host_mpi_can_always_be_reached(case) -> None:
    """Whatever was stored: when this run has measured that all else takes twice as long, the host MPI is taken."""
    ranks, nodes, size, evidence = case
    kind = _core.CallKind(ALLTOALL, ranks, size, nodes)
    stored = [one for one in evidence if one.date != NOW]
    known = {str(one.spec): one for one in [*candidates(ranks, nodes, size)]}
    chosen_first = chosen(ranks, nodes, size, stored)
    price_s = known[str(NATIVE)].price_s
    measured = [_core.Evidence(kind, NATIVE, 5, price_s, 0.02 * price_s)]
    for _ in range(100):
        spec = chosen(ranks, nodes, size, [*stored, *measured])
        if spec.family == "native":
            break
        measured.append(_core.Evidence(kind, spec, 5, 2 * price_s, 0.04 * price_s))
    else:
        pytest.fail(f"{chosen_first} and others are never given up")


@pytest.mark.parametrize(("ranks", "nodes"), [(64, "8"), (128, "8")])
def test_a_stored_time_counts_only_if_it_is_surely_faster(ranks: int, nodes: str) -> None:
    kind = _core.CallKind(ALLTOALL, ranks, 1 << 16, nodes)
    pairwise = _core.parse_spec("pairwise")
    price_s = candidates(ranks, nodes, 1 << 16)[0].price_s

    def choice(ratio: float, spread: float) -> _core.Spec:
        native = _core.Evidence(kind, NATIVE, 20, price_s, 0.02 * price_s, _core.Measurer.tune, EARLIER)
        time = ratio * price_s
        other = _core.Evidence(kind, pairwise, 20, time, spread * time, _core.Measurer.tune, EARLIER)
        return chosen(ranks, nodes, 1 << 16, [native, other])

    assert choice(0.6, 0.02) == pairwise
    assert choice(0.6, 0.5) != pairwise, "its interval includes a loss"
    assert choice(0.97, 0.02).family == "native"


def test_what_this_run_measures_counts_more_than_what_was_stored() -> None:
    kind = _core.CallKind(ALLTOALL, 64, 8, "8")
    spec = chosen(64, "8", 8, [])
    assert spec.family != "native"
    price_s = candidates(64, "8", 8)[0].price_s
    stored = [_core.Evidence(kind, spec, 1000, 0.01 * price_s, 0, _core.Measurer.trial, EARLIER)]
    now = [_core.Evidence(kind, NATIVE, 3, price_s, 0), _core.Evidence(kind, spec, 3, 1.5 * price_s, 0)]
    assert chosen(64, "8", 8, stored) == spec
    assert chosen(64, "8", 8, [*stored, *now]) != spec


@pytest.mark.parametrize(("ratio", "counts"), [(3, False), (1 / 3, False), (1.8, True), (1 / 1.8, True)])
def test_a_stored_time_counts_unless_this_run_took_half_as_long_or_twice(ratio: float, counts: bool) -> None:
    kind = _core.CallKind(ALLTOALL, 64, 8, "8")
    spec = chosen(64, "8", 8, [])
    now = [_core.Evidence(kind, spec, 3, 1e-4, 1e-5)]
    stored = [_core.Evidence(kind, spec, 1000, 1e-4 * ratio, 1e-6, _core.Measurer.trial, EARLIER)]

    def seconds(evidence: list[_core.Evidence]) -> float:
        found = _core.candidates(ALLTOALL, 64, 8, nodes="8", knowledge=_core.Knowledge(evidence=evidence), also=spec)
        return next(one.seconds for one in found if one.spec == spec)

    assert (seconds([*stored, *now]) != seconds(now)) == counts


def test_what_took_longer_than_the_host_mpi_is_not_taken_whatever_the_model_has_it() -> None:
    kind = _core.CallKind(ALLTOALL, 64, 8, "8")
    spec = chosen(64, "8", 8, [])
    price_s = candidates(64, "8", 8)[0].price_s

    def after(ratio: float) -> _core.Spec:
        took = [(NATIVE, 0.5 * price_s), (spec, 0.5 * ratio * price_s)]
        return chosen(64, "8", 8, [_core.Evidence(kind, one, 1, time, 0.2 * time) for one, time in took])

    assert after(0.9) == spec
    assert after(1.01) != spec


def test_what_contradicts_the_model_counts_more_than_the_model() -> None:
    """Three single calls that differ by what the model cannot explain: the model itself is doubted."""
    kind = _core.CallKind(ALLTOALL, 64, 64, "8")
    priced = [one for one in candidates(64, "8", 64) if one.spec.family != "native"]

    def seconds(ratios: list[float]) -> float:
        took = [(one.spec, ratio * one.price_s) for one, ratio in zip(priced, ratios, strict=False)]
        evidence = [_core.Evidence(kind, spec, 1, time, 0.2 * time) for spec, time in took]
        known = _core.Knowledge(evidence=evidence)
        found = _core.candidates(ALLTOALL, 64, 64, nodes="8", knowledge=known, also=priced[0].spec)
        return next(one.seconds / one.price_s for one in found if one.spec == priced[0].spec)

    assert seconds([1.2, 1, 1]) < 1.17, "within what the model may be off"
    assert seconds([3, 1, 0.6]) > 2.5, "far more than that"


def test_a_fast_host_mpi_tells_little_of_our_specs() -> None:
    kind = _core.CallKind(ALLTOALL, 64, 8, "8")
    price_s = candidates(64, "8", 8)[0].price_s
    known = _core.Knowledge(evidence=[_core.Evidence(kind, NATIVE, 5, 0.5 * price_s, 0.01 * price_s)])
    for one in _core.candidates(ALLTOALL, 64, 8, nodes="8", knowledge=known)[1:]:
        assert 0.55 < one.seconds / one.price_s < 1


def test_slow_copies_count_if_they_are_far_slower_than_assumed() -> None:
    def prices(*copies: float) -> dict[str, float]:
        known = _core.Knowledge()
        known.describe(_core.MeasuredNetwork(2.0, 0.3, 0.08, *copies))
        return {str(one.spec): one.price_s for one in _core.candidates(ALLTOALL, 64, 64, nodes="8", knowledge=known)}

    unknown, alike, slow = prices(), prices(0.015, 0.15), prices(0.1, 0.75)
    assert alike == unknown
    assert all(slow[spec] > 1.2 * unknown[spec] for spec in slow.keys() & unknown.keys() if "dims=nodes" in spec)


def test_a_late_network_is_slow_with_bytes_until_they_are_measured() -> None:
    def price_s(*network: float) -> float:
        known = _core.Knowledge()
        known.describe(_core.MeasuredNetwork(*network))
        return _core.candidates(ALLTOALL, 64, 1 << 16, nodes="8", knowledge=known)[0].price_s

    assert price_s(1.8) == price_s(1.8, -1, 0.08)
    assert price_s(90) == pytest.approx(price_s(90, -1, 4))
    assert price_s(90) > 20 * price_s(1.8)
    known = _core.Knowledge()
    for network in ([90.0], [90.0, -1, 0.08], [1.0]):  # what is known first is completed, and holds
        known.describe(_core.MeasuredNetwork(*network))
    assert _core.candidates(ALLTOALL, 64, 1 << 16, nodes="8", knowledge=known)[0].price_s == price_s(90, -1, 0.08)


def test_larger_blocks_of_unequal_size_are_forwarded_where_messages_were_measured_to_cost_more() -> None:
    def direct(*network: float, ranks_per_core: float = 1) -> set[str]:
        known = _core.Knowledge()
        if network:
            known.describe(_core.MeasuredNetwork(*network))
        known.ranks_per_core = ranks_per_core
        found = _core.candidates(_core.Collective.alltoallv, 16, 64, nodes="4", knowledge=known)
        return {dict(one.spec.parameters)["direct"] for one in found if one.spec.family in ("bruck", "leaders")}

    assert direct() == direct(1.8, 0.5, 0.08) == direct(520, -1, 0.007) == {"1KiB"}
    assert direct(520, -1, 0.007, ranks_per_core=8) == {"16KiB"}


def test_a_rank_that_sends_for_its_node_is_slow_with_bytes_where_ranks_share_cores() -> None:
    leader, all_send = _core.parse_spec("leaders(per-node=1)"), _core.parse_spec("leaders(per-node=all)")

    def price_s(spec: _core.Spec, ranks_per_core: float) -> float:
        known = _core.Knowledge()
        known.describe(_core.MeasuredNetwork(120, -1, 9.5))
        known.ranks_per_core = ranks_per_core
        found = _core.candidates(ALLTOALL, 16, 1 << 15, nodes="4", knowledge=known, also=spec)
        return next(one.price_s for one in found if one.spec == spec)

    assert price_s(leader, 1) < 1.05 * price_s(all_send, 1)
    assert price_s(leader, 8) > 1.25 * price_s(all_send, 8)


def test_a_message_on_a_slow_network_keeps_its_core_busy() -> None:
    """However little of one in a row was seen; where the network is as assumed, nothing changes."""

    def price_s(start_us: float, message_us: float) -> float:
        known = _core.Knowledge()
        known.describe(_core.MeasuredNetwork(start_us, message_us, 0.08))
        return price_of("pairwise", known)

    def price_of(spec: str, known: _core.Knowledge) -> float:
        also = _core.parse_spec(spec)
        found = _core.candidates(ALLTOALL, 64, 64, nodes="8", knowledge=known, also=also)
        return next(one.price_s for one in found if one.spec == also)

    assert price_s(1.8, -1) == price_s(1.8, 0.1)
    assert price_s(160, 0.1) == price_s(160, -1) > 50 * 2 * 20e-6


def test_few_messages_are_worth_more_where_ranks_share_cores() -> None:
    def best(ranks_per_core: float) -> _core.Spec:
        known = _core.Knowledge()
        known.describe(_core.MeasuredNetwork(160))
        known.ranks_per_core = ranks_per_core
        return _core.choose(ALLTOALL, 32, 64, OPTIONS, nodes="8", knowledge=known)[0]

    assert best(0.5) == best(1)
    assert dict(best(1).parameters)["dims"] == "nodes"  # each rank sends
    assert best(16).family == "leaders" and dict(best(16).parameters)["per-node"] == "1"


def test_measurements_of_other_sizes_count_for_their_neighbours() -> None:
    spec = chosen(64, "8", 8, [])
    kind = _core.CallKind(ALLTOALL, 64, 8, "8")
    price_s = candidates(64, "8", 8)[0].price_s
    slow = [_core.Evidence(kind, NATIVE, 9, price_s, 0), _core.Evidence(kind, spec, 9, 3 * price_s, 0)]
    assert chosen(64, "8", 16, slow) != spec
    far = _core.candidates(ALLTOALL, 64, 1 << 20, nodes="8", knowledge=_core.Knowledge(evidence=slow))
    assert far[0].calls == 0 and far[0].basis == "by the model"


def host_at(size: int, *measured: tuple[int, float]) -> _core.Expectation:
    """The host MPI, for which blocks of sizes took so many times the price."""
    evidence = []
    for other, off in measured:
        kind = _core.CallKind(ALLTOALL, 64, other, "8")
        evidence.append(_core.Evidence(kind, NATIVE, 9, off * candidates(64, "8", other)[0].price_s, 0))
    known = _core.Knowledge(evidence=evidence)
    return _core.candidates(ALLTOALL, 64, size, nodes="8", knowledge=known)[0]


def test_many_small_blocks_tell_little_of_large_ones() -> None:
    off = [host_at(size, *((1 << k, 3) for k in range(7))) for size in (64, 128, 1 << 16)]
    near, next_to, far = (one.seconds / one.price_s for one in off)
    assert near > 2.7 and next_to > 2.2 and far < 1.7, (near, next_to, far)


def test_only_the_nearest_size_counts() -> None:
    assert host_at(1 << 10, (1 << 8, 1), (1 << 6, 4), (1 << 4, 4)).seconds == host_at(1 << 10, (1 << 8, 1)).seconds


@pytest.mark.parametrize("seed", range(30))
def test_regret_is_bounded_on_random_machines(seed: int) -> None:
    """Within a factor of three of the machine that is assumed: what the choice loses against the best candidate."""
    draw = random.Random(seed)
    machine = _core.MachineCosts()
    assumed = {
        "between": (1.2, 0.3, 0.08), "within": (0.25, 0.1, 0.133), "shared": (0.2, 0.03, 0.1),
    }  # fmt: skip
    for name, (latency, overhead, byte) in assumed.items():
        link = getattr(machine, name)
        link.latency_us, link.overhead_us, link.byte_ns = (
            value * 3 ** draw.uniform(-1, 1) for value in (latency, overhead, byte)
        )
    machine.pack.byte_ns, machine.pack.piece_us = 0.1 * 3 ** draw.uniform(-1, 1), 0.01 * 3 ** draw.uniform(-1, 1)
    machine.node_byte_ns = machine.between.byte_ns
    true = _core.Knowledge(machine=machine)
    losses = []
    for ranks, nodes in ((64, "8"), (128, "8"), (256, "32")):
        for size in (8, 64, 512):
            spec = chosen(ranks, nodes, size, [])
            found = _core.candidates(ALLTOALL, ranks, size, nodes=nodes, knowledge=true)
            best = min(one.seconds for one in found)
            takes = next((one.seconds for one in found if one.spec == spec), None)
            if takes is None:
                takes = 1e-6 * _core.Work(spec, ranks, nodes).price(machine, "max-rate", size).total
            losses.append(takes / best - 1)
    assert sum(losses) / len(losses) < 0.5
    assert max(losses) < 1.5


def test_what_is_priced_alike_for_other_causes_is_tried_too() -> None:
    """Fewer messages, or fewer copies: one of both is 24 % slower there (docs/measurements/programs.md)."""
    known = _core.Knowledge()
    known.describe(_core.MeasuredNetwork(28.5, 14.0, 0.1, 0.1, 0.75))
    found = {str(one.spec): one.price_s for one in _core.candidates(ALLTOALL, 128, 64, nodes="64", knowledge=known)}
    layers = "bruck(dims=nodes,radix={}/all,layout=zero-rotation,window=all,complete=all,intra=shm)"
    copies, messages = (found[layers.format(radix)] for radix in ("root", "all"))
    assert copies == pytest.approx(messages, rel=0.03)


def test_remembered_times_of_unequal_blocks_are_times_of_those_that_come() -> None:
    """Ranks do not know sizes when they choose, so none is remembered; a program's are mostly alike."""
    alltoallv = _core.Collective.alltoallv
    kind = _core.CallKind(alltoallv, 64, 512, "8")
    kind.size_class = -1
    spec = _core.candidates(alltoallv, 64, 512, nodes="8")[1].spec
    for took_s in (20e-6, 200e-6):
        knowledge = _core.Knowledge(evidence=[_core.Evidence(kind, spec, 100, took_s, 0, date=EARLIER)])
        for size in (16, 512, 4096):
            all_found = _core.candidates(alltoallv, 64, size, nodes="8", knowledge=knowledge, also=spec)
            found = next(one for one in all_found if one.spec == spec)
            assert found.calls == 100
            assert found.seconds == pytest.approx(took_s, rel=0.5)
