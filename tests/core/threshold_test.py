"""Which blocks are sent directly: none of small ones, all of a few, only the large ones where sizes are skewed."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from limits import examples

from swapmeet import _core

CLASSES = 50
STARTUP_BYTES = 8192  #: that a message is worth: src/model/threshold.cpp


def classes(blocks: dict[int, int]) -> list[int]:
    """Numbers of blocks by class, of numbers by size in bytes."""
    counts = [0] * CLASSES
    for size, number in blocks.items():
        counts[_core.size_class(size)] += number
    return counts


def middle(size_class: int) -> float:
    return 1.5 * 2 ** (size_class - 1) if size_class else 0


def cost(counts: list[int], most_class: int, messages: float, hops: float) -> float:
    """As the header states it: classes above `most_class` are sent directly."""
    above = sum(n * (STARTUP_BYTES + middle(c)) for c, n in enumerate(counts) if c > most_class)
    below = [(n, middle(c)) for c, n in enumerate(counts) if 0 < c <= most_class]
    return above + (
        messages * STARTUP_BYTES + sum(n * hops * size for n, size in below) if any(n for n, _ in below) else 0
    )


def test_classes() -> None:
    assert [_core.size_class(n) for n in (0, 1, 2, 3, 4, 7, 8, 1023, 1024)] == [0, 1, 2, 2, 3, 3, 4, 10, 11]
    for c in range(1, CLASSES - 1):
        assert _core.size_class(2 ** (c - 1)) == _core.size_class(2**c - 1) == c
    for huge in (2**48, 2**49, 2**50, 2**62, 2**63 - 1):
        assert _core.size_class(huge) == CLASSES - 1
    with pytest.raises(ValueError, match="negative"):
        _core.size_class(-1)
    with pytest.raises(ValueError, match="50 classes"):
        _core.direct_threshold([0] * 51, 1, 1)


def test_sparse_exchanges_are_sent_directly() -> None:
    """One message fewer than the schedule has is cheaper, whatever it holds."""
    messages, hops = _core.forwarding(_core.parse_spec("bruck(radix=2)"), 64)
    for size in (1, 8, 1000, 10**6, 2**40):
        assert _core.direct_threshold(classes({0: 63 - 5, size: 5}), messages, hops) == 0


def test_without_blocks_nothing_is_passed_on() -> None:
    assert _core.direct_threshold([0] * CLASSES, 6, 3) == 0
    assert _core.direct_threshold(classes({0: 63}), 6, 3) == 0
    assert _core.direct_threshold([], 6, 3) == 0


@pytest.mark.parametrize("ranks", [16, 64, 1000])
def test_small_blocks_are_all_passed_on(ranks: int) -> None:
    for text in ("bruck(radix=2)", "tuna", "hybrid"):
        messages, hops = _core.forwarding(_core.parse_spec(text), ranks)
        for size in (1, 8, 100):
            threshold = _core.direct_threshold(classes({size: ranks - 1}), messages, hops)
            assert size <= threshold < 2 * size


@pytest.mark.parametrize("hot", [10**6, 64 << 20, 2**33, 2**49, 2**62])
def test_one_hot_block_is_sent_directly_alone(hot: int) -> None:
    messages, hops = _core.forwarding(_core.parse_spec("hybrid"), 32)
    threshold = _core.direct_threshold(classes({8: 30, hot: 1}), messages, hops)
    assert threshold == 15  # the class of 8 to 15 bytes


def test_hops_that_cost_nothing() -> None:
    """Were each block to travel once, fewer messages would always be better."""
    counts = classes({8: 20, 1 << 20: 11})
    assert _core.direct_threshold(counts, 5, 1) == 2 ** _core.size_class(1 << 20) - 1
    assert _core.direct_threshold(counts, 31, 1) == 0


some_classes = st.lists(st.integers(0, 100_000) | st.just(0), min_size=CLASSES, max_size=CLASSES)
prices = st.tuples(st.integers(0, 10_000).map(float), st.floats(1, 20))


@pytest.mark.slow
@settings(max_examples=examples(500))
@given(some_classes, prices)
def test_the_least_cost_is_taken(counts: list[int], price: tuple[float, float]) -> None:
    messages, hops = price
    threshold = _core.direct_threshold(counts, messages, hops)
    assert threshold == 0 or (threshold + 1).bit_count() == 1
    best = min(cost(counts, c, messages, hops) for c in range(CLASSES))
    taken = cost(counts, threshold.bit_length(), messages, hops)
    assert taken <= best * (1 + 1e-9)
    assert threshold == 0 or counts[threshold.bit_length()] > 0  # the largest class that is passed on is not empty


@settings(max_examples=examples(300))
@given(some_classes, prices, st.floats(1, 4))
@example(classes({64: 11, 512: 1, 2**50: 5462}), (1.0, 11.75), 1.59375)  # what is sent directly costs 10^18
def test_dearer_schedules_pass_no_more_on(counts: list[int], price: tuple[float, float], factor: float) -> None:
    messages, hops = price
    threshold = _core.direct_threshold(counts, messages, hops)
    assert _core.direct_threshold(counts, messages, hops * factor) <= threshold
    assert _core.direct_threshold(counts, messages * factor, hops) in (0, threshold)


def test_no_overflow() -> None:
    """Every class full at 16 million ranks: 2**24 blocks of up to 2**49 bytes."""
    full = [2**24] * CLASSES
    assert 0 <= _core.direct_threshold(full, 24, 12) < 2**49
    assert _core.direct_threshold(full, 24, 1) == 2**49 - 1
    assert _core.direct_threshold([2**62] * CLASSES, 1, 1) == 2**49 - 1
    assert _core.direct_threshold([0] * 49 + [2**62], 1e300, 1e300) == 0


def test_forwarding_is_what_schedules_send() -> None:
    """Messages and hops of a rank; sizes that go ahead are messages too."""
    for p, radix, sizes in itertools.product((2, 3, 16, 27), ("2", "3", "all"), ("ahead", "total", "combined", "auto")):
        spec = _core.parse_spec(f"bruck(radix={radix},sizes={sizes})")
        schedule = _core.generate(spec, p, 0)
        messages, hops = _core.forwarding(spec, p)
        assert messages == schedule.messages * (2 if sizes in ("ahead", "total") else 1)
        assert hops == pytest.approx(schedule.blocks / (p - 1))
    assert _core.forwarding(_core.parse_spec("padded-alltoall"), 10) == (9, 1)
    assert _core.forwarding(_core.parse_spec("native"), 1) == (1, 1)


def test_forwarding_on_unequal_nodes_is_the_same_for_all() -> None:
    spec = _core.parse_spec("two-layer")
    for nodes, p in (("4+2", 6), ("cyclic:3", 7), ("2/4", 10)):
        plans = [_core.generate(spec, p, rank, nodes) for rank in range(p)]
        messages, hops = _core.forwarding(spec, p, nodes)
        assert messages == max(plan.messages for plan in plans)
        assert hops == pytest.approx(max(plan.blocks for plan in plans) / (p - 1))


@pytest.mark.parametrize(("spec", "most"), [("padded-alltoall", 2**31 - 2), ("padded-bruck", 2**31 - 1)])
def test_padded_blocks_are_counted_by_an_int(spec: str, most: int) -> None:
    """Where the host MPI exchanges them there is a byte more behind each."""
    parsed = _core.parse_spec(spec)
    assert _core.within(parsed, most, 2**40)
    assert not _core.within(parsed, most + 1, 2**40)
    assert not _core.within(parsed, 1001, 1000)
