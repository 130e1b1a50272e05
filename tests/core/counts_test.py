"""Closed forms of K, D and scratch against digits counted one by one, the papers' formulas, and schedules."""

import functools
import itertools
import math
import random
from collections import Counter

import pytest

from swapmeet import _core

Rounds = dict[tuple[int, int, int], tuple[int, int]]  # (dimension, weight, z): (messages, blocks)
LAYOUTS = ("basic", "modified", "zero-rotation", "zero-copy")
EVERY = [f"layout={layout},pack={pack}" for layout in LAYOUTS for pack in ("memcpy", "datatype")]


def bruck(parameters: str) -> _core.Spec:
    return _core.parse_spec(f"bruck({parameters})")


def totals(spec: _core.Spec, ranks: int, nodes: str = "") -> tuple[int, int]:
    counts = _core.count(spec, ranks, nodes)
    return counts.messages, counts.blocks


def papers_totals(p: int, r: int) -> tuple[int, int]:
    """K and D as `tra` and `radix` state them (shared/papers/README.md, "Corrected formulas")."""
    w = next(w for w in range(64) if r**w >= p)
    if w == 0:
        return 0, 0
    d = 0
    for x, z in itertools.product(range(w), range(1, r)):
        lc, t = p // r ** (x + 1) * r**x, p % r ** (x + 1) - z * r**x
        d += lc if t <= 0 else lc + r**x if t // r**x > 0 else lc + t % r**x
    return w * (r - 1) - (r**w - p) // r ** (w - 1), d


def digits(offset: int, radices: tuple[int, ...]) -> tuple[int, ...]:
    """Least significant first; the last radix is repeated until nothing is left."""
    found = []
    for i in itertools.count():
        if offset == 0:
            return tuple(found)
        offset, digit = divmod(offset, radices[min(i, len(radices) - 1)])
        found.append(digit)
    raise AssertionError


def rounds_by_digits(n: int, radices: tuple[int, ...]) -> Counter[tuple[int, int]]:
    """How many offsets there are in each round (x, z): counted one by one."""
    return Counter((x, z) for offset in range(n) for x, z in enumerate(digits(offset, radices)) if z)


@pytest.mark.parametrize("residue", range(8))
def test_every_radix_up_to_512_ranks(residue: int) -> None:
    """D is the number of non-zero digits of 0..P-1, K that of the rounds (x, z) in which some offset has that digit."""
    for r in range(2 + residue, 513, 8):
        spec, rounds, blocks = bruck(f"radix={r}"), set[tuple[int, int]](), 0
        for p in range(2, 513):
            new = [(x, z) for x, z in enumerate(digits(p - 1, (r,))) if z]
            rounds.update(new)
            blocks += len(new)
            if p >= r:
                assert totals(spec, p) == (len(rounds), blocks), f"P = {p}, r = {r}"


def test_the_papers_formulas() -> None:
    pairs = [(p, r) for p in range(2, 129) for r in range(2, p + 1)]
    pairs += [(p, r) for p in (512, 2048, 10_007, 65_536, 10**6) for r in (2, 3, 7, 46, 100)]
    for p, r in pairs:
        assert totals(bruck(f"radix={r}"), p) == papers_totals(p, r), f"P = {p}, r = {r}"


def test_the_papers_examples() -> None:
    assert totals(bruck("radix=128"), 16384) == (254, 32512)
    assert totals(bruck("radix=root"), 16384) == (254, 32512)
    assert totals(bruck("radix=2"), 16384) == (14, 114688)
    assert totals(bruck("radix=all"), 16384) == (16383, 16383)
    assert totals(bruck("radix=3"), 10) == (5, 13)  # 01 02 10 11 12 20 21 22 100
    assert totals(_core.parse_spec("spread-out"), 16384) == (16383, 16383)


@pytest.mark.parametrize("p", [5**3, 6**3, 7**4, 10**6])
def test_exact_powers(p: int) -> None:
    """Where ceil(log P / log r) in floating point is wrong."""
    for r in (r for r in range(2, 1001) if p in (r**w for w in range(1, 21))):
        w = round(math.log(p, r))
        assert totals(bruck(f"radix={r}"), p) == (w * (r - 1), w * (r - 1) * p // r)


def counted(schedule: _core.Schedule, sizes: list[int], radices: list[list[int]]) -> Rounds:
    """What the messages of a schedule are, from who they go to; ranks lie on the grid in order."""
    found: Rounds = {}
    digit_of_step = [(d, x) for d, row in enumerate(radices) for x in range(len(row))]
    exchanges = [step for step in schedule.steps if step[4]]
    for (d, x), (*_, sends, _receives) in zip(digit_of_step, exchanges, strict=True):
        stride, weight = math.prod(sizes[:d]), math.prod(radices[d][:x])
        for peer, runs in sends:
            places = (peer // stride - schedule.rank // stride) % sizes[d]
            assert places % weight == 0
            key = (d, weight, places // weight)
            messages, blocks = found.get(key, (0, 0))
            found[key] = (messages + 1, blocks + sum(length(run) for run in runs))
    return found


@functools.cache
def length(run: str) -> int:
    """How many blocks `scratch[3..9/2]` is."""
    first, _, rest = run[run.index("[") + 1 : -1].partition("..")
    last, _, stride = rest.partition("/")
    return (int(last) - int(first)) // int(stride or 1) + 1 if rest else 1


def stated(spec: _core.Spec, ranks: int, nodes: str = "") -> Rounds:
    rows = _core.count_rounds(spec, ranks, nodes)
    return {(dimension, weight, z): (messages, blocks) for dimension, _, weight, z, messages, blocks in rows}


def agree(parameters: str, ranks: int, rank: int) -> None:
    """Round by round and in total, the closed forms are what the schedule does; rounds without blocks do not exist."""
    spec = bruck(parameters)
    schedule, counts, rounds = _core.generate(spec, ranks, rank), _core.count(spec, ranks), stated(spec, ranks)
    assert counted(schedule, counts.sizes, counts.radices) == rounds, f"{parameters}, P = {ranks}, rank {rank}"
    assert (counts.messages, counts.blocks) == (schedule.messages, schedule.blocks)
    assert counts.messages == sum(messages for messages, _ in rounds.values())
    assert counts.blocks == sum(blocks for _, blocks in rounds.values())
    assert not counts.ranks_differ


@pytest.mark.parametrize("residue", range(4))
def test_schedules_of_up_to_64_ranks(residue: int) -> None:
    for p in range(1 + residue, 65, 4):
        for r in range(2, p + 2):
            agree(f"radix={r},{EVERY[(p + r) % len(EVERY)]}", p, (p * r // 3) % p)


def test_schedules_of_more_ranks() -> None:
    draw = random.Random(20)
    for _ in range(60):
        p = draw.randrange(65, 513)
        agree(f"radix={draw.randrange(2, p + 1)},{draw.choice(EVERY)}", p, draw.randrange(p))


def test_mixed_radices_within_a_dimension() -> None:
    for p, radices in itertools.product((1, 2, 5, 12, 24, 31, 60), ((2, 3), (4, 2), (3, 2, 5), (7, 2), (2, 30))):
        text = f"radix={'-'.join(map(str, radices))}"
        expected = rounds_by_digits(p, radices)
        rows = _core.count_rounds(bruck(text), p)
        assert {(x, z): blocks for _, x, _, z, _, blocks in rows} == dict(expected), f"{text}, P = {p}"
        agree(text, p, p // 2)


def factorizations(p: int, parts: int) -> list[tuple[int, ...]]:
    if parts == 1:
        return [(p,)]
    return [(n, *rest) for n in range(1, p + 1) if p % n == 0 for rest in factorizations(p // n, parts - 1)]


@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize("residue", range(4))
def test_grids(parts: int, residue: int) -> None:
    """Every factorisation of P <= 64: each dimension's rounds, with P/n blocks for each offset."""
    for p in range(1 + residue, 65, 4):
        for i, sizes in enumerate(factorizations(p, parts)):
            radices = [2 + (i + 3 * d) % max(1, n - 1) for d, n in enumerate(sizes)]
            text = f"dims={'x'.join(map(str, sizes))},radix={'/'.join(map(str, radices))}"
            expected = {
                (d, x, z): blocks * p // n
                for d, (n, r) in enumerate(zip(sizes, radices, strict=True))
                for (x, z), blocks in rounds_by_digits(n, (r,)).items()
            }
            rows = _core.count_rounds(bruck(text), p)
            assert {(d, x, z): blocks for d, x, _, z, _, blocks in rows} == expected, f"{text}, P = {p}"
            agree(f"{text},{EVERY[i % len(EVERY)]}", p, (7 * i) % p)


def test_hypercube_and_two_layers() -> None:
    assert totals(bruck("dims=2x2x2x2x2x2x2x2x2x2,radix=all"), 1024) == (10, 10 * 512)
    # tra2: Q = 64 ranks on each of N = 256 nodes, r1 = 8, direct between nodes.
    k, d = totals(_core.parse_spec("tra2"), 16384, "64")
    assert (k, d) == (14 + 255, 2 * 7 * 8 * 256 + 255 * 64)


@pytest.mark.parametrize(
    "nodes",
    [
        "4+2",
        "5+3+1",
        "1+4",
        "cyclic:3",
        "0,1,0,2,2",
        "0,0,0,1,2,1",
        "2/6",
        "2+1+3/6",
        "cyclic:4/cyclic:2",
        "2/4/0,0,0,0,1,1,1",
    ],
)
@pytest.mark.parametrize("radix", ["2", "root/all", "all/2", "3-2/2"])
def test_unequal_nodes_are_counted(nodes: str, radix: str) -> None:
    listed = nodes.rpartition("/")[2].count(",") + 1
    for p in [listed] if listed > 1 else (1, 2, 3, 6, 7, 9, 14, 17, 23):
        for variant in EVERY:
            spec = bruck(f"dims=nodes,radix={radix},{variant}")
            schedules = [_core.generate(spec, p, rank, nodes) for rank in range(p)]
            counts = _core.count(spec, p, nodes)
            assert counts.messages == max(schedule.messages for schedule in schedules)
            assert counts.blocks == max(schedule.blocks for schedule in schedules)
            assert counts.scratch_blocks >= max(schedule.scratch_blocks for schedule in schedules)
            rounds = _core.count_rounds(spec, p, nodes)
            assert sum(round[4] for round in rounds) >= counts.messages
            assert sum(round[5] for round in rounds) >= counts.blocks
            if not counts.ranks_differ:
                assert sum(round[5] for round in rounds) == counts.blocks


@pytest.mark.parametrize("residue", range(4))
def test_staggered_messages_of_regular_grids(residue: int) -> None:
    """In the last dimension each block has a message of its own: K there is D."""
    windows = itertools.cycle(("1", "3", "all"))
    for p in range(1 + residue, 65, 4):
        agree(f"radix={2 + p % 7},messages=staggered,window={next(windows)}", p, p // 3)
        for i, sizes in enumerate(factorizations(p, 2) + factorizations(p, 3)):
            radices = [2 + (i + 5 * d) % max(1, n - 1) for d, n in enumerate(sizes)]
            text = f"dims={'x'.join(map(str, sizes))},radix={'/'.join(map(str, radices))},{EVERY[i % len(EVERY)]}"
            text += f",window={next(windows)}"
            agree(f"{text},messages=staggered", p, (5 * i) % p)
            rows = [list(_core.count_rounds(bruck(text + rest), p)) for rest in ("", ",messages=staggered")]
            for together, apart in zip(*rows, strict=True):
                assert apart == (*together[:4], together[5] if together[0] == len(sizes) - 1 else 1, together[5])


def test_staggered_batches() -> None:
    """Messages, not peers, fill the window where each block has its own."""
    for p, window in ((64, 1), (64, 5), (60, 7)):
        spec = bruck(f"dims=2d,radix=all,window={window},messages=staggered")
        steps = [step for step in _core.generate(spec, p, 0).steps if step[4]]
        assert _core.count(spec, p).batches == sum(-(-len(sends) // window) for *_, sends, _ in steps)


@pytest.mark.parametrize("nodes", ["4+2", "5+3+1", "1+4", "cyclic:3", "2/6", "cyclic:4/cyclic:2"])
@pytest.mark.parametrize("radix", ["2", "root/all", "all/2", "3-2/2"])
def test_staggered_messages_between_unequal_nodes(nodes: str, radix: str) -> None:
    for i, p in enumerate((1, 2, 3, 6, 7, 9, 14, 17, 23)):
        spec = bruck(f"dims=nodes,radix={radix},window={('1', '2', 'all')[i % 3]},messages=staggered,{EVERY[i % 8]}")
        schedules = [_core.generate(spec, p, rank, nodes) for rank in range(p)]
        counts = _core.count(spec, p, nodes)
        assert counts.messages == max(schedule.messages for schedule in schedules), p
        assert counts.blocks == max(schedule.blocks for schedule in schedules)
        assert counts.scratch_blocks >= max(schedule.scratch_blocks for schedule in schedules)
        assert sum(messages for *_, messages, _ in _core.count_rounds(spec, p, nodes)) >= counts.messages


@pytest.mark.parametrize("form", ["digits=balanced", "paths=rotated", "digits=balanced,paths=rotated"])
def test_rounds_are_those_of_one_phase_where_ranks_differ(form: str) -> None:
    """A rank without messages in a round does not make its next one count for that of the others."""
    for p, radix in itertools.product((3, 5, 7, 13), ("2", "3", "all")):
        spec = bruck(f"dims=groups:2/6,radix={radix},{form}")
        steps = zip(*(_core.generate(spec, p, rank).steps for rank in range(p)), strict=True)
        sent = [
            [(len(step[4]), sum(length(run) for _, runs in step[4] for run in runs)) for step in row] for row in steps
        ]
        most = [(max(messages for messages, _ in row), max(blocks for _, blocks in row)) for row in sent]
        assert [row[4:] for row in _core.count_rounds(spec, p) if row[4]] == [row for row in most if row[0]], (p, radix)


def test_groups_in_groups() -> None:
    for p in (8, 12, 13, 24, 25):
        spec = bruck("dims=groups:2/8,radix=2")
        schedules = [_core.generate(spec, p, rank) for rank in range(p)]
        counts = _core.count(spec, p)
        assert counts.ranks_differ == (p not in (8, 24))
        assert counts.sizes == [2, 4, -(-p // 8)]
        assert counts.messages == max(schedule.messages for schedule in schedules)
        assert counts.blocks == max(schedule.blocks for schedule in schedules)


def scratch(parameters: str, ranks: int, nodes: str = "") -> tuple[int, int]:
    """(what any rank's schedule uses, what is stated)."""
    spec = bruck(parameters)
    used = max(_core.generate(spec, ranks, rank, nodes).scratch_blocks for rank in range(ranks))
    return used, _core.count(spec, ranks, nodes).scratch_blocks


@pytest.mark.parametrize("variant", EVERY)
def test_scratch_is_as_stated(variant: str) -> None:
    """The header of src/algorithms/bruck.cpp: enough for every rank, and the formula of one dimension."""
    layout, pack = (word.split("=")[1] for word in variant.split(","))
    for p in range(1, 41):
        for r in range(2, p + 2):
            used, enough = scratch(f"radix={r},{variant}", p)
            moved = p - -(-p // min(r, p))
            staged = (2 if pack == "memcpy" else 0 if layout == "zero-copy" else 1) * moved
            whole = p if layout in ("basic", "zero-copy") else 0
            assert used <= enough <= whole + staged, f"P = {p}, r = {r}"
            if 2 * r <= p and not (layout == "zero-rotation" and pack == "datatype"):
                assert used == enough == whole + staged, f"P = {p}, r = {r}"


@pytest.mark.parametrize("digits", ["standard", "balanced"])
@pytest.mark.parametrize("dims", ["P", "2d", "3d"])
def test_scratch_is_enough_without_closed_forms(digits: str, dims: str) -> None:
    """Where all ranks do alike, what each stages still depends on where its blocks end."""
    for paths in ("ordered", "rotated"):
        for radix, layout in itertools.product(("2", "3", "root", "all"), LAYOUTS):
            text = f"dims={dims},radix={radix},digits={digits},paths={paths},layout={layout}"
            for p in (2, 3, 4, 5, 9, 13, 16, 27, 30):
                used, enough = scratch(text, p)
                assert used <= enough, (text, p)
                assert used <= _core.certify(bruck(text), p).rank.scratch_blocks


@pytest.mark.parametrize("paths", ["ordered", "rotated"])
@pytest.mark.parametrize("nodes", ["", "1", "2", "3", "3+1", "cyclic:2"])
def test_scratch_is_enough_where_ranks_share_memory_with_others(nodes: str, paths: str) -> None:
    """What goes through shared memory is not staged, and goes there from some ranks only."""
    for radix, layout, dims in itertools.product(("2", "3", "all"), LAYOUTS, ("P", "2d")):
        text = f"dims={dims},radix={radix},digits=balanced,paths={paths},layout={layout},intra=shm"
        for p in (4, 7, 8, 13):
            used, enough = scratch(text, p, nodes)
            assert used <= enough, (text, p)
            certificate = _core.certify(bruck(text), p, nodes=nodes)
            assert used <= certificate.rank.scratch_blocks


def test_scratch_of_grids_is_enough() -> None:
    for p in (12, 16, 24, 36):
        for i, sizes in enumerate(factorizations(p, 2) + factorizations(p, 3)):
            for radix in ("2", "all", "3/2", "root"):
                used, enough = scratch(f"dims={'x'.join(map(str, sizes))},radix={radix},{EVERY[i % 8]}", p)
                assert used <= enough, f"{sizes}, radix={radix}, {EVERY[i % 8]}"


@pytest.mark.parametrize(
    ("text", "batches"),
    [
        ("bruck(radix=4,window=1)", 3 + 3 + 3),
        ("bruck(radix=4,window=all)", 3),
        ("bruck(radix=4,window=2)", 6),
        ("bruck(dims=8x8,radix=all,window=3)", 6),
        ("pairwise", 63),
        ("spread-out", 1),
        ("direct(window=5)", 13),
    ],
)
def test_batches(text: str, batches: int) -> None:
    assert _core.count(_core.parse_spec(text), 64).batches == batches


def test_a_million_ranks() -> None:
    counts = _core.count(bruck("radix=1000"), 10**6)
    assert (counts.messages, counts.blocks, counts.sizes, counts.radices) == (1998, 1998000, [10**6], [[1000, 1000]])
    assert len(_core.count_rounds(bruck("radix=all"), 10**6)) == 10**6 - 1


def test_one_rank_sends_nothing() -> None:
    for text in ("bruck", "grid", "torus", "tra2", "spread-out"):
        spec = _core.parse_spec(text)
        counts = _core.count(spec, 1)
        assert (counts.messages, counts.blocks, counts.batches) == (0, 0, 0)
        assert _core.count_rounds(spec, 1) == []


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(ValueError, match="no schedule"):
        _core.count(_core.parse_spec("native"), 4)
    with pytest.raises(ValueError, match="product of its dims is 6"):
        _core.count(bruck("dims=2x3"), 4)
    with pytest.raises(ValueError, match="at least one rank"):
        _core.count_rounds(bruck("radix=2"), 0)
    with pytest.raises(ValueError, match="expected the ranks of each node"):
        _core.count(bruck("dims=nodes"), 4, "4+")
