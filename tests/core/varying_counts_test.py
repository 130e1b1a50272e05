"""Counts of exchanges of blocks of unequal size, against hands, digits and formulas. Against executions:
tests/mpi/traffic_test.py."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapmeet import _core

Sizes = list[list[int]]
NEVER = "direct=never"
ROOM = 4 + 8 * 2  #: for the sizes of two blocks, sent ahead: they may be wide


def counted(spec: str, sizes: Sizes, **options) -> _core.VaryingCounts:
    return _core.count_varying(_core.parse_spec(spec), len(sizes), sizes, **options)


def rows(counts: _core.VaryingCounts) -> list[tuple[int, int, int, int]]:
    return [(rank.messages, rank.message_bytes, rank.size_bytes, rank.working_bytes) for rank in counts.ranks]


def constant(ranks: int, size: int) -> Sizes:
    return [[size] * ranks for _ in range(ranks)]


@pytest.mark.parametrize("sizes", ["combined", "ahead", "total"])
def test_two_and_three_ranks_know_all_sizes(sizes: str) -> None:
    """Every message is the last of its only block: data alone, received where it stays."""
    spec = f"bruck(sizes={sizes},{NEVER})"
    assert rows(counted(spec, [[100, 5], [7, 100]])) == [(1, 5, 0, 0), (1, 7, 0, 0)]
    assert rows(counted(spec, [[9, 1, 2], [4, 9, 8], [16, 0, 9]])) == [(2, 3, 0, 0), (2, 12, 0, 0), (1, 16, 0, 0)]


FOUR = [[9, 1, 2, 4], [8, 9, 16, 32], [64, 128, 9, 256], [512, 1024, 2048, 9]]  #: each block its own bit


def by_hand(ahead: int, in_front: int, room: int, messages: int) -> list[tuple[int, int, int, int]]:
    """Radix 2 on four ranks. Rank r sends to r+1 its blocks for r+1 and r+3; then, to r+2, its block for r+2 and that
    of r-1 for r+2, which has come with the first message; these end there.

    ahead, in_front: bytes ahead, and in front, of the first message's data; room: memory for what goes ahead.
    """
    found = []
    for r in range(4):
        s = [FOUR[(r + i) % 4] for i in range(4)]  # of the ranks from here on
        at = [(r + i) % 4 for i in range(4)]
        out, into = s[0][at[1]] + s[0][at[3]] + in_front, s[3][at[0]] + s[3][at[2]] + in_front
        out_2, into_2 = s[0][at[2]] + s[3][at[2]], s[2][at[0]] + s[1][at[0]]
        peak = max(2 * room + out + into, into + out_2 + into_2)
        found.append((messages, ahead + out + out_2, ahead + in_front, peak))
    return found


def test_four_ranks_by_hand() -> None:
    assert rows(counted(f"bruck(sizes=combined,{NEVER})", FOUR)) == by_hand(0, 8, 0, 2)
    assert rows(counted(f"bruck(sizes=ahead,{NEVER})", FOUR)) == by_hand(8, 0, ROOM, 3)
    assert rows(counted(f"bruck(sizes=total,{NEVER})", FOUR)) == by_hand(8, 8, 8, 3)
    assert rows(counted(f"bruck({NEVER})", FOUR)) == by_hand(0, 8, 0, 2)


def test_blocks_that_need_wide_sizes() -> None:
    """From 2^32 - 3 bytes on: a mark, and 8 bytes a block. The block goes 0 to 1, then 1 to 3; another ends at 1."""
    for size, narrow in ((2**32 - 4, True), (2**32 - 3, False)):
        sizes = constant(4, 0)
        sizes[0][3], sizes[0][1] = size, 1
        counts = counted(f"bruck(sizes=combined,{NEVER})", sizes, limit_bytes=2**50)
        told, none = 8 if narrow else 20, 5  # of two empty blocks: a mark, and that they are two
        assert rows(counts) == [
            (1, size + 1 + told, told, size + 1 + told + none),
            (2, none + size, none, max(none + size + 1 + told, 2 * size + 1 + told)),
            (1, none, none, 2 * none),
            (1, none, none, none + size),  # the sizes of two empty blocks, one of which has not left
        ]


@pytest.mark.parametrize("treatment", ["combined", "ahead", "total"])
@pytest.mark.parametrize("step", [1, 77, 255])
def test_sizes_of_few_blocks_are_listed(step: int, treatment: str) -> None:
    """Each of 256 ranks has a block for one other. Seven messages before the last tell the sizes of 128 blocks each: a
    mark of 4 bytes, a number of empty blocks, perhaps a size and again a number of empty ones. As a number for each
    block they would take 512 bytes."""
    ranks = 256
    sizes = constant(ranks, 0)
    for s in range(ranks):
        sizes[s][(s + step) % ranks] = 100
    counts = counted(f"bruck(radix=2,sizes={treatment},{NEVER})", sizes)
    length = 8 if treatment == "total" else 0
    for rank in counts.ranks:
        assert 7 * (4 + 2 + length) <= rank.size_bytes <= 7 * (4 + 2 + 1 + 2 + length)


def told(sizes: Sequence[int]) -> int:
    """Bytes that the sizes of a message's blocks take: listed, if at most half have data and that is shorter."""

    def varint(number: int) -> int:
        return max(1, (number.bit_length() + 6) // 7)

    listed, empty = 4, 0
    for size in sizes:
        if size:
            listed, empty = listed + varint(empty) + varint(size), 0
        else:
            empty += 1
    listed += varint(empty) if empty else 0
    plain = 4 * len(sizes)
    return listed if 2 * sum(map(bool, sizes)) <= len(sizes) and listed < plain else plain


def test_all_blocks_empty() -> None:
    zero = constant(8, 0)
    # Radix 2: the digits of 1 and 2 have messages with blocks to be passed on, of 4 blocks,
    # whose sizes are a mark and that 4 are empty; that of 4 has none.
    assert {row[:3] for row in rows(counted(f"bruck(sizes=combined,{NEVER})", zero))} == {(2, 10, 10)}
    assert {row[:3] for row in rows(counted(f"bruck(sizes=ahead,{NEVER})", zero))} == {(2, 10, 10)}
    assert {row[:3] for row in rows(counted(f"bruck(sizes=total,{NEVER})", zero))} == {(4, 26, 26)}
    for spec in ("direct", "hybrid", "padded-bruck", "padded-alltoall", "bruck(direct=0)"):
        counts = counted(spec, zero)
        assert set(rows(counts)) == {(0, 0, 0, 0)}, spec
        assert {rank.plan_messages for rank in counts.ranks} == {0}
    assert counted("bruck", zero).mean_bytes == 0


def test_one_hot_block_is_sent_directly() -> None:
    """The others do what they do without it; where nothing is sent directly, it burdens all on its way."""
    hot = [[8] * 8 for _ in range(8)]
    hot[0][7] = 1 << 20
    cold = [[8] * 8 for _ in range(8)]
    cold[0][7] = 0
    alone, without = rows(counted("bruck", hot)), rows(counted("bruck", cold))
    assert alone[0] == (without[0][0] + 1, without[0][1] + (1 << 20), *without[0][2:])
    assert alone[1:] == without[1:]
    burdened = [row[1] > 1 << 20 for row in rows(counted(f"bruck({NEVER})", hot))]
    assert burdened == [True, True, False, True, False, False, False, False]  # 0 to 1, to 3, to 7


def test_what_ranks_agree_on() -> None:
    sizes = constant(8, 100)
    found = {
        spec: (counts.agreement_bytes, counts.direct_bytes, counts.each_bytes, counts.padded_bytes, counts.sizes)
        for spec in ("bruck", "two-phase-bruck", "hybrid", "padded-bruck(direct=64)", "bruck(sizes=padded,direct=auto)")
        for counts in [counted(spec, sizes)]
    }
    assert found == {
        "bruck": (0, 32 << 10, 0, 0, "combined"),
        "two-phase-bruck": (16, None, 100, 0, "ahead"),
        "hybrid": (416, 127, 100, 0, "combined"),
        "padded-bruck(direct=64)": (16, 64, 0, 0, "padded"),
        "bruck(sizes=padded,direct=auto)": (416, 127, 100, 127, "padded"),  # the largest of its class
    }


@pytest.mark.parametrize("spec", ["two-phase-bruck", "sloav", "hybrid", "bruck(sizes=combined,direct=never)"])
def test_sizes_that_all_ranks_know_are_not_sent(spec: str) -> None:
    equal, unequal = constant(8, 100), constant(8, 100)
    unequal[3][5] = 101
    for counts, known in ((counted(spec, equal), True), (counted(spec, unequal), False)):
        assert (counts.each_bytes == 100) == known
        assert all((rank.size_bytes == 0) == known for rank in counts.ranks)
    told, untold = counted(spec, unequal).ranks[0], counted(spec, equal).ranks[0]
    assert untold.message_bytes == told.message_bytes - told.size_bytes


@given(st.integers(2, 12), st.data())
def test_the_threshold_is_that_of_the_classes(ranks: int, data: st.DataObject) -> None:
    row = st.lists(st.sampled_from((0, 1, 700, 5000, 70_000, 1 << 20)), min_size=ranks, max_size=ranks)
    sizes = data.draw(st.lists(row, min_size=ranks, max_size=ranks))
    most: Counter[int] = Counter()
    for r in range(ranks):
        for mine in (sizes[r], [sizes[s][r] for s in range(ranks)]):
            most |= Counter(_core.size_class(size) for peer, size in enumerate(mine) if peer != r)
    cost = _core.forwarding(_core.parse_spec("hybrid"), ranks)
    assert counted("hybrid", sizes).direct_bytes == _core.direct_threshold([most[c] for c in range(50)], *cost)


def test_the_limit_of_working_memory() -> None:
    sizes = constant(8, 1000)
    counts = counted("two-phase-bruck", sizes, limit_bytes=10_000)
    assert counts.declined and set(rows(counts)) == {(0, 0, 0, 0)}
    assert not counted("two-phase-bruck", sizes).declined
    lowered = counted("bruck", sizes, limit_bytes=10_000)
    assert not lowered.declined and lowered.direct_bytes == 10_000 // 16  # 16 blocks: 8 that land, 4 kept, ...
    assert {row[:2] for row in rows(lowered)} == {(7 + 2, 7000 + 10)}  # all directly, and the sizes of empty ones
    assert counted(
        "padded-alltoall", constant(2, 2**31), limit_bytes=2**50
    ).declined  # an int counts the bytes of a block


@pytest.mark.parametrize("spec", ["padded-bruck", "bruck(radix=3,sizes=padded,layout=zero-copy)", "tra2(sizes=padded)"])
def test_padded_plans(spec: str) -> None:
    sizes = constant(9, 3)
    sizes[4][5] = 50
    counts, closed = counted(spec, sizes, nodes="3"), _core.count(_core.parse_spec(spec), 9, "3")
    assert counts.padded_bytes == 50 and counts.bound_bytes == 2 * 9 * 50 and counts.plan_known
    for rank in counts.ranks:
        assert (rank.messages, rank.message_bytes, rank.working_bytes) == (0, 0, 2 * 9 * 50)
        assert (rank.plan_messages, rank.plan_bytes) == (closed.messages, closed.blocks * 50)
        assert rank.plan_scratch_bytes <= closed.scratch_blocks * 50
    assert not counted("padded-alltoall", sizes).plan_known


def test_direct_exchanges() -> None:
    sizes = [[50, 7, 0], [20, 50, 21], [1, 40, 50]]
    assert rows(counted("pairwise", sizes)) == [(1, 7, 0, 0), (2, 41, 0, 0), (2, 41, 0, 0)]
    assert rows(counted("direct(segment=10)", sizes)) == [(1, 7, 0, 0), (2 + 3, 41, 0, 0), (1 + 4, 41, 0, 0)]
    segmented = counted("direct(segment=10,sizes=padded)", sizes)
    assert [rank.plan_messages for rank in segmented.ranks] == [2 * 4] * 3


def digits(offset: int, radix: int) -> list[tuple[int, int]]:
    """The non-zero digits (weight, value) of an offset, least significant first."""
    found, weight = [], 1
    while offset:
        offset, digit = divmod(offset, radix)
        if digit:
            found.append((weight, digit))
        weight *= radix
    return found


def turn_of(offset: int, moves: int, all_moves: int, layout: str) -> tuple[bool, int]:
    """What orders the blocks of a message: those that the layout keeps in one buffer together, then offsets."""
    second = {"zero-rotation": moves > 0, "zero-copy": (all_moves - moves) % 2 == 1}.get(layout, False)
    return second, offset if layout == "basic" else -offset


def simulated(sizes: Sizes, radix: int, threshold: int, treatment: str, layout: str) -> list[tuple[int, int, int]]:
    """Messages, bytes and bytes of sizes: each block goes digit by digit, on one dimension."""
    ranks = len(sizes)
    totals = [[0, 0, 0] for _ in range(ranks)]
    messages = defaultdict(list)  # (rank, weight, digit): (its turn, bytes, whether it ends there)
    for s, d in itertools.permutations(range(ranks), 2):
        direct = sizes[s][d] > threshold
        if direct:
            totals[s][0] += 1
            totals[s][1] += sizes[s][d]
        way, place = digits((d - s) % ranks, radix), s
        for i, (weight, digit) in enumerate(way):
            turn = turn_of((d - s) % ranks, i, len(way), layout)
            messages[place, weight, digit].append((turn, 0 if direct else sizes[s][d], i + 1 == len(way)))
            place = (place + weight * digit) % ranks
    for (rank, _, _), blocks in messages.items():
        data, last = sum(size for _, size, _ in blocks), all(ends for *_, ends in blocks)
        head = 0 if last else told([size for _, size, _ in sorted(blocks)])
        parts = {"combined": [head + data], "ahead": [head, data], "total": [0 if last else 8, head + data]}[treatment]
        totals[rank][0] += sum(part > 0 for part in parts)
        totals[rank][1] += sum(parts)
        totals[rank][2] += sum(parts) - data
    return [(n, size, heads) for n, size, heads in totals]


@st.composite
def matrices(draw: st.DrawFn, most_ranks: int = 14) -> Sizes:
    ranks = draw(st.integers(1, most_ranks))
    row = st.lists(st.integers(0, 40) | st.sampled_from((0, 1000)), min_size=ranks, max_size=ranks)
    return draw(st.lists(row, min_size=ranks, max_size=ranks))


TREATMENTS = st.sampled_from(("combined", "ahead", "total"))


@given(matrices(), st.integers(2, 15), st.sampled_from((1, 20, 999, 10**6)), TREATMENTS, st.integers(0, 5))
def test_blocks_go_digit_by_digit(sizes: Sizes, radix: int, threshold: int, treatment: str, window: int) -> None:
    layout = ("basic", "modified", "zero-rotation", "zero-copy")[window % 4]
    parameters = f"radix={radix},layout={layout},window={window or 'all'},sizes={treatment},direct={threshold}"
    counts = counted(f"bruck({parameters})", sizes)
    assert [row[:3] for row in rows(counts)] == simulated(sizes, radix, threshold, treatment, layout)
    assert all(rank.working_bytes <= counts.bound_bytes for rank in counts.ranks)


SHAPES = (
    "dims=2d,radix=all",
    "dims=3d",
    "dims=nodes,radix=2/all",
    "dims=nodes,radix=3,messages=staggered",
    "dims=groups:4",
)


@given(matrices(), st.sampled_from(SHAPES), TREATMENTS, st.integers(0, 3))
def test_bytes_are_conserved_on_grids(sizes: Sizes, shape: str, treatment: str, window: int) -> None:
    """What goes is what passes a rank on its way: the data of all treatments is the same, sizes are besides."""
    spec = f"bruck({shape},window={window or 'all'},sizes={{}},{NEVER})"
    nodes = "3+1" if "nodes" in shape else ""
    counts = counted(spec.format(treatment), sizes, nodes=nodes)
    data = [rank.message_bytes - rank.size_bytes for rank in counts.ranks]
    plain = counted(spec.format("combined"), sizes, nodes=nodes)
    assert data == [rank.message_bytes - rank.size_bytes for rank in plain.ranks]
    own = sum(map(sum, sizes)) - sum(sizes[r][r] for r in range(len(sizes)))
    dimensions = len(_core.count(_core.parse_spec(spec.format(treatment)), len(sizes), nodes).sizes)
    assert own <= sum(data) and (own > 0) == (sum(data) > 0)
    assert dimensions == 0 or sum(data) <= own * 4 * dimensions  # of at most 14 places: 4 digits
    assert all(rank.working_bytes <= counts.bound_bytes for rank in counts.ranks)


@given(st.integers(2, 40), st.integers(2, 41), st.integers(1, 100))
def test_equal_blocks_cost_what_the_closed_forms_say(ranks: int, radix: int, size: int) -> None:
    spec = f"bruck(radix={radix},{NEVER})"
    closed = _core.count(_core.parse_spec(spec), ranks)
    for rank in counted(spec, constant(ranks, size)).ranks:
        assert (rank.messages, rank.message_bytes - rank.size_bytes) == (closed.messages, closed.blocks * size)


def test_a_counter_serves_many_sizes() -> None:
    counter = _core.VaryingCounter(_core.parse_spec("hybrid"), 13)
    for text, seed in (("uniform:max=9KiB", 1), ("sparse:density=0.2,bytes=77", 2), ("uniform:max=9KiB", 1)):
        workload = _core.parse_workload(text)
        sizes = _core.workload_sizes(text, seed, 13)
        assert (
            rows(counter.count(sizes)) == rows(counter.count_workload(workload, seed)) == rows(counted("hybrid", sizes))
        )
        doubled = [[2 * size for size in row] for row in sizes]
        assert rows(counter.count_workload(workload, seed, scale=2)) == rows(counter.count(doubled))


def test_largest_and_mean_leave_own_blocks_out() -> None:
    counts = counted("bruck", [[10**6, 1, 2], [3, 10**6, 4], [5, 6, 10**6]])
    assert (counts.largest_bytes, counts.mean_bytes) == (6, 3.5)
    assert counted("bruck", [[8]]).mean_bytes == 0


def test_completion_and_packing_change_the_memory_only() -> None:
    """A window that slides may hold messages of two batches."""
    family = "bruck(radix=3,window={},complete={},pack={},direct=never)"
    sizes = [[(3 * s + 7 * d) % 11 for d in range(13)] for s in range(13)]
    for window in ("1", "2", "all"):
        batches, sliding, typed = (
            counted(family.format(window, complete, pack), sizes)
            for complete, pack in (("all", "memcpy"), ("any", "memcpy"), ("test", "datatype"))
        )
        for rank, other, third in zip(batches.ranks, sliding.ranks, typed.ranks, strict=True):
            numbers = {(r.messages, r.message_bytes, r.size_bytes) for r in (rank, other, third)}
            assert len(numbers) == 1
            assert rank.working_bytes <= other.working_bytes == third.working_bytes <= sliding.bound_bytes
            assert window != "all" or rank.working_bytes == other.working_bytes
    assert any(
        a.working_bytes < b.working_bytes
        for a, b in zip(
            counted(family.format("1", "all", "memcpy"), sizes).ranks,
            counted(family.format("1", "any", "memcpy"), sizes).ranks,
            strict=True,
        )
    )


def test_what_cannot_be_counted() -> None:
    for spec, problem in (
        ("native", "choose an algorithm"),
        ("bruck(dims=2x2)", "the product of its dims is 4"),
        ("direct(order=xor)", "power of two"),
    ):
        assert problem in _core.varying_problem(_core.parse_spec(spec), 3)
        with pytest.raises(ValueError, match=problem):
            counted(spec, constant(3, 1))
    assert "more than 65535 ranks" in _core.varying_problem(_core.parse_spec("direct"), 65536)
    for sizes in ([[1, 2], [3]], [[1, 2]], [[1, -1], [0, 0]], [[0, 2**41], [0, 0]]):
        with pytest.raises(ValueError, match="expected|has from 0"):
            _core.count_varying(_core.parse_spec("bruck"), 2, sizes)
    with pytest.raises(ValueError, match="has from 0"):
        _core.VaryingCounter(_core.parse_spec("bruck"), 2).count_workload(
            _core.parse_workload("uniform:max=9"), 0, -1.0
        )


def test_memory_is_foretold() -> None:
    spec = _core.parse_spec("bruck")
    assert _core.varying_memory_bytes(_core.parse_spec("direct"), 1000) == 8 * 1000**2
    assert 8 * 4096**2 < _core.varying_memory_bytes(spec, 4096) < 2 << 30
