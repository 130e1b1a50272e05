"""What exchanges make ranks and nodes do: closed forms and symmetry against schedules, message by message."""

import itertools
import re
import time
from collections import Counter, defaultdict

import pytest

from swapmeet import _core

MAPS = ("", "1", "2", "3", "4", "8", "4+2", "5+1+3", "cyclic:3", "2/4")
GRIDS = [f"dims={dims},radix={radix}" for dims in ("P", "2d", "nodes", "groups:3") for radix in ("2", "3/4", "all")]
GRIDS += [
    f"dims={dims},radix={radix},{form}"
    for dims in ("P", "2d", "nodes")
    for radix, form in (("3", "digits=balanced"), ("all", "paths=rotated"), ("2/4", "digits=balanced,paths=rotated"))
]


def blocks_of(runs: list[str]) -> int:
    return sum(map(length, runs))


def length(run: str) -> int:
    found = re.fullmatch(r"\w+\[(\d+)(?:\.\.(\d+)(?:/(-?\d+))?)?\]", run)
    assert found, run
    return 1 if found[2] is None else (int(found[2]) - int(found[1])) // int(found[3] or 1) + 1


def contiguous(run: str) -> bool:
    return "/" not in run


def by_hand(spec: _core.Spec, ranks: int, nodes: str) -> list[dict[str, tuple[int, int, int, int]]]:
    """For each step with messages, within nodes and between: (messages, blocks, and of a node)."""
    levels = _core.parse_node_map(nodes, ranks)
    node_of = levels[0] if levels else [0] * ranks
    steps: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for rank in range(ranks):
        for number, (_, _, _, _, sends, _) in enumerate(_core.generate(spec, ranks, rank, nodes).steps):
            steps[number] += [(rank, peer, blocks_of(runs)) for peer, runs in sends]
    phases = []
    for number in sorted(steps):
        if not steps[number]:
            continue
        phase = {}
        for name in ("within", "between"):
            tally: dict[tuple[object, ...], Counter[str]] = defaultdict(Counter)
            for source, target, blocks in steps[number]:
                if (node_of[source] == node_of[target]) != (name == "within"):
                    continue
                for key in (("s", source), ("r", target), ("S", node_of[source]), ("R", node_of[target])):
                    tally[key].update(messages=1, blocks=blocks)
            most = [
                max((count[what] for key, count in tally.items() if key[0] in who), default=0)
                for who in ("sr", "SR")
                for what in ("messages", "blocks")
            ]
            phase[name] = (most[0], most[1], most[2], most[3])
        phases.append(phase)
    return phases


def counted(spec: _core.Spec, ranks: int, nodes: str) -> list[dict[str, tuple[float, ...]]]:
    return [
        {
            name: (traffic.messages, traffic.blocks, traffic.node_messages, traffic.node_blocks)
            for name, traffic in (("within", phase.within), ("between", phase.between))
        }
        for phase in _core.Work(spec, ranks, nodes).phases
    ]


def compare(text: str, ranks: int, nodes: str) -> None:
    """Between nodes exactly; what the busiest rank sends within its node is the rest of its messages."""
    spec = _core.parse_spec(text)
    if spec.unsuitable(ranks, nodes):
        return
    expected, found = by_hand(spec, ranks, nodes), counted(spec, ranks, nodes)
    assert len(expected) == len(found), (text, ranks, nodes)
    differ = spec.family == "bruck" and _core.count(spec, ranks, nodes).ranks_differ
    for hand, phase in zip(expected, found, strict=True):
        where = (text, ranks, nodes, hand, phase)
        assert phase["between"] == hand["between"], where
        assert phase["within"][2:] == hand["within"][2:], where
        if differ or spec.family == "leaders" or 0 in (hand["within"][0], hand["between"][0]):
            assert phase["within"] == hand["within"], where
        else:
            assert phase["within"][:2] <= hand["within"][:2], where


@pytest.mark.parametrize("nodes", MAPS)
def test_messages_of_grids(nodes: str) -> None:
    for grid, ranks in itertools.product(GRIDS, (1, 2, 3, 5, 8, 12, 13, 16)):
        if "groups" in grid and ranks % 3:
            continue
        compare(f"bruck({grid},window=all)", ranks, nodes)


@pytest.mark.parametrize("nodes", ["", "2", "4", "4+2", "cyclic:3", "7+1"])
def test_messages_of_others(nodes: str) -> None:
    for ranks in (1, 2, 3, 8, 12, 13):
        compare("direct(window=all)", ranks, nodes)
        compare("two-layer-staggered", ranks, nodes)
        compare("bruck(radix=3,messages=staggered,window=all)", ranks, nodes)
        for leaders in ("1", "2", "all"):
            compare(f"leaders(per-node={leaders},window=all)", ranks, nodes)


def test_nodes_cut_long_ways() -> None:
    """Radices whose messages wrap around, in one dimension on nodes of consecutive ranks of any size."""
    for ranks, nodes in ((24, "6"), (25, "6"), (24, "9+7+8"), (17, "10+7"), (20, "2")):
        for radix in range(2, ranks + 1):
            compare(f"bruck(radix={radix},window=all)", ranks, nodes)


def test_totals_are_the_counts() -> None:
    for text, ranks in itertools.product(("tra", "radix", "bruck(radix=7)", "direct", "grid"), (1, 2, 17, 100, 4096)):
        spec = _core.parse_spec(text)
        work, counts = _core.Work(spec, ranks), _core.count(spec, ranks)
        assert sum(phase.within.messages for phase in work.phases) == counts.messages
        assert sum(phase.within.blocks for phase in work.phases) == counts.blocks
        assert sum(phase.batches for phase in work.phases) == counts.batches
        for phase in work.phases:
            assert sum(row[0] for row in phase.by_size) == phase.within.messages
            assert sum(row[0] * row[1] for row in phase.by_size) == phase.within.blocks
            assert sum(row[2] for row in phase.by_size) == sum(row[3] for row in phase.by_size) == phase.batches


def test_sizes_of_messages_and_batches() -> None:
    """Message by message, the largest first; each batch has a first and a last one."""
    for ranks, radix, window in itertools.product((2, 7, 24, 100), (2, 3, 5, 10, 100), ("1", "2", "3", "all")):
        spec = _core.parse_spec(f"bruck(radix={radix},window={window})")
        rounds: dict[int, list[int]] = defaultdict(list)
        for _, digit, _, _, _, blocks in _core.count_rounds(spec, ranks):
            rounds[digit].append(blocks)
        for sizes, phase in zip(rounds.values(), _core.Work(spec, ranks).phases, strict=True):
            step = len(sizes) if window == "all" else int(window)
            batches = [sizes[i : i + step] for i in range(0, len(sizes), step)]
            firsts, lasts = Counter(batch[0] for batch in batches), Counter(batch[-1] for batch in batches)
            expected = [(n, float(size), firsts[size], lasts[size]) for size, n in Counter(sizes).items()]
            assert phase.by_size == expected, (ranks, radix, window)
            assert sizes == sorted(sizes, reverse=True)


LAYOUTS = ("basic", "modified", "zero-rotation", "zero-copy")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("pack", ["memcpy", "datatype"])
def test_copies(layout: str, pack: str) -> None:
    """Blocks and pieces that each rank copies: as counted, but for runs that wrap around the end of a buffer."""
    for grid, ranks in itertools.product(("P", "2d"), (1, 2, 7, 16, 27, 36)):
        for radix in ("2", "3", "5", "all"):
            spec = _core.parse_spec(f"bruck(dims={grid},radix={radix},layout={layout},pack={pack})")
            if spec.unsuitable(ranks, ""):
                continue
            work, messages = _core.Work(spec, ranks), _core.count(spec, ranks).messages
            for rank in range(ranks):
                blocks = pieces = 0
                for _, _, _, copies, _, _ in _core.generate(spec, ranks, rank).steps:
                    for source, target in copies:
                        count = blocks_of([source])
                        blocks += count
                        pieces += 1 if contiguous(source) and contiguous(target) else count
                slack = 4 * messages * (1 if grid == "P" else 6) + (ranks if layout == "zero-copy" else 2) + 2
                assert abs(pieces - work.packed[1]) <= slack, (spec, ranks, rank, pieces, work.packed)
                if layout == "basic":
                    assert blocks == work.packed[0], (spec, ranks, rank, blocks, work.packed)
                else:
                    assert abs(blocks - work.packed[0]) <= _core.count(spec, ranks).blocks


@pytest.mark.parametrize("per_node", ["1", "2", "4", "all"])
@pytest.mark.parametrize(("ranks", "nodes"), [(16, "4"), (24, "4"), (64, "8"), (20, "8+4")])
def test_copies_of_leaders(per_node: str, ranks: int, nodes: str) -> None:
    """Of the rank that copies most, exactly."""
    spec = _core.parse_spec(f"leaders(per-node={per_node},intra=mpi)")
    most = (0, 0)
    for rank in range(ranks):
        copied = [copy for step in _core.generate(spec, ranks, rank, nodes).steps for copy in step[3]]
        counts = [(blocks_of([source]), contiguous(source) and contiguous(target)) for source, target in copied]
        blocks, pieces = sum(n for n, _ in counts), sum(1 if together else n for n, together in counts)
        most = (max(most[0], blocks), max(most[1], pieces))
    assert _core.Work(spec, ranks, nodes).packed == most


def test_datatypes_are_counted_where_blocks_are_scattered() -> None:
    assert _core.Work(_core.parse_spec("bruck(pack=datatype)"), 8).typed == (8.0, 6.0)  # of 12 blocks, 4 lie together
    assert _core.Work(_core.parse_spec("bruck"), 8).typed == (0.0, 0.0)
    assert _core.Work(_core.parse_spec("bruck(layout=zero-copy,pack=datatype)"), 8).typed == (16.0, 12.0)


@pytest.mark.parametrize("ranks", [10**6, 10**6 + 3])
def test_a_million_ranks_take_less_than_a_second(ranks: int) -> None:
    texts = ["direct", "pairwise", "tra", "bruck", "bruck(radix=all)"]
    texts += ["two-layer", "grid", "leaders", "leaders(per-node=4)"] if ranks % 64 == 0 else []
    for text in texts:
        before = time.process_time()
        _core.Work(_core.parse_spec(text), ranks, "64")
        assert time.process_time() - before < 1, text
