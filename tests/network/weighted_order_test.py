"""Orders of messages of unequal size, checked by code that knows nothing of how they are made; and their sizes."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from core.network_test import networks
from core.slots_test import check
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import examples
from profiling.recordings import skewed
from typer.testing import CliRunner

from swapmeet import _core
from swapmeet.cli.app import app
from swapmeet.errors import SwapmeetError
from swapmeet.measure.profiling import weights

Sizes = list[list[int]]


def height(slots: _core.Slots, sizes: Sizes) -> int:
    """The sum of the largest messages of all slots, counted here anew."""
    largest: dict[int, int] = {}
    for a, row in enumerate(sizes):
        for b, size in enumerate(row):
            if a != b:
                largest[slots.slot(a, b)] = max(size, largest.get(slots.slot(a, b), 0))
    return sum(largest.values())


def least(placed: _core.PlacedNetwork, sizes: Sizes) -> int:
    """The most bytes over capacity that any rank or link has, counted here anew."""
    load: dict[object, int] = {}
    for a, row in enumerate(sizes):
        for b, size in enumerate(row):
            if a != b:
                path = placed.path(placed.placement[a], placed.placement[b])
                for resource in [("out", a), ("in", b), *path]:
                    load[resource] = load.get(resource, 0) + size
    capacity = dict(enumerate(capacity for *_, capacity in placed.network.links))
    return max((-(-size // capacity.get(r, 1)) for r, size in load.items()), default=0)  # type: ignore[call-overload]


def test_a_large_message_is_not_met_by_small_ones() -> None:
    """Ranks 0 and 1 have 10 bytes for each other: at once, not in two slots, as equal messages would be."""
    placed = _core.PlacedNetwork(_core.named_network("torus(dims=1,hosts=3)"))
    sizes = [[0, 10, 1], [10, 0, 1], [1, 1, 0]]
    slots = placed.slots(moves=1000, sizes=sizes)
    check(placed, slots)
    assert placed.bound(sizes)[:4] == (11, 0, 11, 11)
    assert (placed.bytes_in_turn(slots, sizes), slots.slots) == (12, 3)  # 11 cannot be
    assert placed.bytes_in_turn(placed.slots(), sizes) == 20


@pytest.mark.parametrize(("capacity", "total"), [(1, 12), (2, 6)])
def test_bytes_of_a_link_are_shared(capacity: int, total: int) -> None:
    """From a and b to c and d: 5 and 1, 1 and 5 bytes."""
    text = f"host a s\nhost b s\nhost c t\nhost d t\nlink s t {capacity}\n"
    placed = _core.PlacedNetwork(_core.parse_network(text))
    sizes = [[0, 0, 5, 1], [0, 0, 1, 5], [0, 0, 0, 0], [0, 0, 0, 0]]
    slots = placed.slots(moves=2000, sizes=sizes)
    check(placed, slots)
    assert placed.bound(sizes)[:3] == (total, total, 6)
    assert placed.bytes_in_turn(slots, sizes) == total


sizes_of_messages = st.one_of(st.just(0), st.integers(0, 9), st.integers(0, 2**40))


@given(networks(), st.integers(0, 9), st.integers(1, 9), st.integers(0, 3), st.data())
@settings(max_examples=examples(60))
def test_orders_of_any_sizes(text: str, seed: int, ranks: int, effort: int, data: st.DataObject) -> None:
    placed = _core.PlacedNetwork(_core.parse_network(text), _core.Spread.hash, seed, "cyclic", ranks)
    sizes = [[data.draw(sizes_of_messages) for _ in range(ranks)] for _ in range(ranks)]
    slots = placed.slots(seed, moves=effort * 300, seconds=600, sizes=sizes)
    check(placed, slots)
    assert placed.overfull(slots) == ""
    assert placed.bytes_in_turn(slots, sizes) == height(slots, sizes)
    assert placed.bound(sizes)[0] == least(placed, sizes) <= height(slots, sizes)
    assert height(slots, sizes) <= height(placed.slots(seed, effort * 300 // 4, 600), sizes)
    assert slots == placed.slots(seed, moves=effort * 300, seconds=600, sizes=sizes)


@given(networks(), st.integers(1, 3), st.integers(1, 9), st.data())
@settings(max_examples=examples(60))
def test_loads_of_any_sizes(text: str, window: int, ranks: int, data: st.DataObject) -> None:
    placed = _core.PlacedNetwork(_core.parse_network(text), placement="cyclic", ranks=ranks)
    sizes = [[data.draw(sizes_of_messages) for _ in range(ranks)] for _ in range(ranks)]
    spec = _core.parse_spec(f"direct(order=shift,window={window})")
    rounds = [range(1 + first, min(ranks, 1 + first + window)) for first in range(0, ranks - 1, window)]
    parts = [
        [[sizes[a][b] if (b - a) % ranks in part else 0 for b in range(ranks)] for a in range(ranks)] for part in rounds
    ]
    largest, _ = placed.load(spec, sizes)
    assert largest == [least(placed, part) for part in parts]


def test_equal_sizes_make_the_order_of_equal_messages() -> None:
    placed = _core.PlacedNetwork(_core.named_network("slim-fly(q=3,hosts=2)"))
    sizes = [[7] * 36 for _ in range(36)]
    equal = placed.slots(moves=5000, seconds=600)
    assert placed.bytes_in_turn(placed.slots(moves=20000, seconds=600, sizes=sizes), sizes) <= 7 * equal.slots


def test_moves_make_it_shorter() -> None:
    placed = _core.PlacedNetwork(_core.named_network("slim-fly(q=4,hosts=3)"))
    sizes = _core.workload_sizes("sparse:density=0.7,bytes=4096", 1, len(placed.placement))
    some, many = (placed.slots(moves=moves, seconds=600, sizes=sizes) for moves in (0, 20000))
    assert placed.bytes_in_turn(many, sizes) < placed.bytes_in_turn(some, sizes)
    assert placed.bytes_in_turn(some, sizes) < placed.bytes_in_turn(placed.slots(), sizes)


def test_a_table_of_sizes_is_an_order(tmp_path: Path) -> None:
    placed = _core.PlacedNetwork(_core.named_network("torus(dims=3x2)"))
    sizes = _core.workload_sizes("uniform:max=1KiB", 0, 6)
    slots = placed.slots(moves=100, sizes=sizes)
    (tmp_path / "table").write_text(str(slots))
    spec = _core.parse_spec(f"direct(order=topology({tmp_path}/table),window=2)")
    assert _core.verify(spec, 6).findings == []
    largest, _ = placed.load(_core.parse_spec(str(spec).replace("window=2", "window=1")), sizes)
    assert sum(largest) == placed.bytes_in_turn(slots, sizes)  # what the command prints is what the schedule asks for


@pytest.mark.parametrize(
    ("sizes", "problem"),
    [
        ([[0]], "sizes are of 1 ranks, not of 2"),
        ([[0, 1], [1]], "expected 2 sizes of each rank, found 1"),
        ([[0, -1], [1, 0]], "sizes are from 0 on"),
        ([[0, 2**62], [1, 0]], r"2\^62 bytes at most in all"),
    ],
)
def test_sizes_that_are_wrong(sizes: Sizes, problem: str) -> None:
    placed = _core.PlacedNetwork(_core.named_network("torus(dims=2)"))
    for use in (placed.bound, lambda s: placed.slots(sizes=s), lambda s: placed.load(_core.parse_spec("pairwise"), s)):
        with pytest.raises(ValueError, match=problem):
            use(sizes)
    with pytest.raises(ValueError, match="only direct exchanges"):
        placed.load(_core.parse_spec("tra"), [[0, 1], [1, 0]])


# Where sizes come from


def test_sizes_of_a_file() -> None:
    assert weights.parse("# from a solver\n0 1KiB\n\n2 0  # b\n", "f") == [[0, 1024], [2, 0]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("0 1\n2\n", "f: expected 2 sizes, found 1 (line 2)"),
        ("0 1\n", "f: expected as many lines as sizes in each, 2, but there are 1"),
        ("", "f: expected a line for each rank"),
        ("0 x\n0 0\n", 'f: "x": expected bytes, such as 64, 8KiB or 1MiB (line 1)'),
        ("0 -1\n0 0\n", 'f: "-1": expected bytes, such as 64, 8KiB or 1MiB (line 1)'),
    ],
)
def test_files_of_sizes_that_are_wrong(text: str, problem: str) -> None:
    with pytest.raises(SwapmeetError, match=re.escape(problem)):
        weights.parse(text, "f")


def test_sizes_of_a_recording(tmp_path: Path) -> None:
    """Of the Alltoallvs two are of 1000 and 3000 bytes from rank 0, two of 8 each."""
    assert weights.read(str(skewed(tmp_path)), None) == [[504, 1504], [4, 4]]
    with pytest.raises(SwapmeetError, match="no MPI_Alltoallv on 3 ranks, only on 2"):
        weights.read(str(tmp_path), 3)


# The command


def here(*words: str, status: int = 0) -> str:
    done = CliRunner().invoke(app, ["topology", *words])
    assert done.exit_code == status, done.output
    return done.output


def test_orders_are_compared_by_bytes(tmp_path: Path) -> None:
    words = [
        "dragonfly(a=4,p=2,h=1)",
        "--workload",
        "uniform:max=1KiB",
        "--moves",
        "4000",
        "--slots",
        str(tmp_path / "t"),
    ]
    rows = {
        row["order"]: row for row in csv.DictReader(io.StringIO(here(*words, "--csv", "--spec", "random-sendrecv")))
    }
    both = ("conflict-free", "conflict-free, by bytes")
    assert set(rows) == {"shift", "random", "scatter", "random-sendrecv", *both}
    assert len({row["bound"] for row in rows.values()}) == 1
    assert int(rows[both[1]]["bytes"]) < int(rows[both[0]]["bytes"]) < int(rows["shift"]["bytes"])
    sizes = _core.workload_sizes("uniform:max=1KiB", 0, 40)
    assert height(_core.parse_slots((tmp_path / "t").read_text()), sizes) == int(rows[both[1]]["bytes"])
    text = here(*words)
    assert "bytes in all: at least" in text and "bytes in turn" in text and "busiest link of these" in text


def test_bad_input_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "sizes"
    file.write_text("0 1\n1 0\n")

    def refused(*words: str) -> str:
        (line,) = here("torus(dims=3)", *words, status=2).splitlines()
        return line

    assert "the sizes are of 2 ranks, but 3 are placed: give -P 2" in refused("--workload", str(file), "-P", "3")
    assert "is no file, and no workload" in refused("--workload", "much")
    assert "--workload with --check-slots" in refused("--workload", str(file), "--check-slots", "x")
    assert "with sizes only direct exchanges" in refused("--workload", str(file), "--spec", "tra")
    file.write_bytes(b"\xff")
    assert "it is not text" in refused("--workload", str(file))
