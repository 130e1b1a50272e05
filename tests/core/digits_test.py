"""Balanced digits and rotated paths of the family bruck: proved, counted, and as far-reaching as they should be."""

import itertools
import math
import random

import pytest

from swapmeet import _core

LAYOUTS = ("basic", "modified", "zero-rotation", "zero-copy")
FORMS = ("digits=balanced", "paths=rotated", "digits=balanced,paths=rotated")
POLICIES = [
    f"layout={layout},pack={pack},window={window},complete={complete}"
    for layout, pack, window, complete in itertools.product(
        LAYOUTS, ("memcpy", "datatype"), ("1", "2", "all"), ("all", "any")
    )
]


def bruck(parameters: str) -> _core.Spec:
    return _core.parse_spec(f"bruck({parameters})")


def proved(parameters: str, ranks: int, nodes: str = "") -> None:
    spec = bruck(parameters)
    assert _core.verify(spec, ranks, nodes=nodes).findings == [], f"{parameters}, P = {ranks}, nodes {nodes!r}"


@pytest.mark.parametrize("residue", range(4))
def test_every_radix_is_proved(residue: int) -> None:
    policies = itertools.cycle(POLICIES)
    for p in range(1 + residue, 33, 4):
        for r in range(2, max(p, 2) + 1):
            proved(f"radix={r},digits=balanced,{next(policies)}", p)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dims", ["2d", "3d", "groups:2", "groups:3/6", "groups:2/4/8"])
def test_grids_are_proved(form: str, dims: str) -> None:
    policies = itertools.cycle(POLICIES)
    for p in (1, 2, 3, 5, 6, 8, 11, 12, 13, 16, 24, 27, 30):
        for radix in ("2", "3", "all", "root/all", "3-2/4-2"):
            proved(f"dims={dims},radix={radix},{form},{next(policies)}", p)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("nodes", ["4", "4+2", "5+3+1", "cyclic:3", "2/6", "cyclic:4/cyclic:2"])
def test_nodes_are_proved(form: str, nodes: str) -> None:
    policies = itertools.cycle(POLICIES)
    for p in (2, 3, 7, 9, 12, 18):
        for radix in ("2", "root/all", "all"):
            for messages in ("coalesced", "staggered"):
                proved(f"dims=nodes,radix={radix},messages={messages},{form},{next(policies)}", p, nodes)


@pytest.mark.parametrize("form", FORMS)
def test_a_few_ranks_prove_all(form: str) -> None:
    for dims, p in (("P", 96), ("2d", 81), ("3d", 125), ("4x8x16", 512)):
        for radix in ("2", "3", "all"):
            spec = bruck(f"dims={dims},radix={radix},layout=zero-rotation,window=all,{form}")
            assert _core.verify_symmetric(spec, p).findings == [], f"{spec}, P = {p}"


def sent(spec: _core.Spec, ranks: int) -> list[tuple[int, int]]:
    """How far rank 0 sends in one dimension, and how many blocks."""
    found = []
    for step in _core.generate(spec, ranks, 0).steps:
        for peer, runs in step[4]:
            found.append((min(peer, ranks - peer), sum(map(length, runs))))
    return found


def length(run: str) -> int:
    """How many blocks `scratch[3..9/2]` is."""
    first, _, rest = run[run.index("[") + 1 : -1].partition("..")
    last, _, stride = rest.partition("/")
    return (int(last) - int(first)) // int(stride or 1) + 1 if rest else 1


def balanced(offset: int, n: int, radix: int) -> list[int]:
    """The digits of the shorter of the two ways, for an odd radix: an independent definition."""
    way, digits = offset if offset <= (n - 1) - (n - 1) // 2 else offset - n, []
    while way:
        z = (way + radix // 2) % radix - radix // 2
        digits.append(z)
        way = (way - z) // radix
    return digits


@pytest.mark.parametrize("radix", [3, 5, 7, 9])
def test_odd_radices_are_counted_digit_by_digit(radix: int) -> None:
    """K: values in use. D: non-zero digits. And each block moves as far as its digits say."""
    for n in (3, 9, 10, 25, 26, 27, 49, 64, 81, 100):
        spec = bruck(f"radix={radix},digits=balanced,window=all")
        digits = [balanced(offset, n, radix) for offset in range(n)]
        used = {(x, z) for row in digits for x, z in enumerate(row) if z}
        counts = _core.count(spec, n)
        capacity = next(radix**w for w in range(9) if radix**w >= n)
        if capacity == n:  # else the last radix is smaller, and other ways may be taken
            assert counts.blocks == sum(z != 0 for row in digits for z in row), (n, radix)
            assert counts.messages == len(used)
            far = sum(abs(z) * radix**x for row in digits for x, z in enumerate(row))
            assert sum(distance * blocks for distance, blocks in sent(spec, n)) == far


@pytest.mark.parametrize("radix", ["3", "4", "5", "4-2", "all"])
def test_balanced_digits_reach_half_as_far(radix: int) -> None:
    """As many messages, none farther than half the radix, both ways."""
    for n in (16, 27, 64, 100):
        plain, both = bruck(f"radix={radix},window=all"), bruck(f"radix={radix},window=all,digits=balanced")
        assert _core.count(plain, n).messages == _core.count(both, n).messages
        peers = [peer for step in _core.generate(both, n, 0).steps for peer, _ in step[4]]
        farthest = max(min(peer, n - peer) for peer in peers)
        assert farthest <= (n + 1) // 2
        assert any(peer < n / 2 for peer in peers)
        if radix != "4-2":
            assert any(peer > n / 2 for peer in peers)


def test_counts_are_those_of_schedules() -> None:
    draw = random.Random(5)
    for _ in range(40):
        dims, p = draw.choice([("P", draw.randrange(2, 80)), ("2d", 36), ("3d", 64), ("2x3x5", 30), ("4x8", 32)])
        radix, form, policy = draw.choice(("2", "3", "4", "all")), draw.choice(FORMS), draw.choice(POLICIES)
        spec = bruck(f"dims={dims},radix={radix},{form},{policy}")
        schedule, counts = _core.generate(spec, p, draw.randrange(p)), _core.count(spec, p)
        assert (counts.messages, counts.blocks) == (schedule.messages, schedule.blocks), str(spec)
        assert counts.scratch_blocks >= 0
        assert math.prod(counts.sizes) == p


@pytest.mark.parametrize("dims", ["4x4", "8x8x8", "4x8"])
def test_rotated_paths_use_all_dimensions_at_once(dims: str) -> None:
    """As many blocks in all as with ordered paths; in each phase about as many along each dimension."""
    sizes = [int(size) for size in dims.split("x")]
    p = math.prod(sizes)
    spec = bruck(f"dims={dims},radix=all,layout=zero-rotation,window=all,paths=rotated")
    ordered = bruck(f"dims={dims},radix=all,layout=zero-rotation,window=all")
    assert _core.count(spec, p).blocks == _core.count(ordered, p).blocks
    assert _core.count(spec, p).messages == len(sizes) * _core.count(ordered, p).messages
    for step in _core.generate(spec, p, 0).steps:
        if not step[4]:
            continue
        along = [0] * len(sizes)
        for peer, runs in step[4]:
            dimension, rest = 0, peer
            while rest % sizes[dimension] == 0:
                rest, dimension = rest // sizes[dimension], dimension + 1
            along[dimension] += sum(map(length, runs))
        for size, blocks in zip(sizes, along, strict=True):
            assert blocks == pytest.approx((size - 1) * p / size / len(sizes), rel=0.1)
