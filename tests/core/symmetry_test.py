"""Every radix for every number of ranks: in full to 32 (--all: 64), by symmetry to 128 (--all: 512). Proof can fail."""

import math
import random
import re
import time
from collections.abc import Callable, Iterator

import pytest

from swapmeet import _core

LAYOUTS = ("basic", "modified", "zero-rotation", "zero-copy")
MOST = 512
IN_FULL = pytest.mark.parametrize("most", [32, pytest.param(64, marks=pytest.mark.long)])

Proof = Callable[[_core.Spec, int], _core.Verdict]
Report = Callable[[str, int], None]


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> Report:
    """Says on the terminal how many proofs there were, and how long they took."""
    begin = time.process_time()

    def say(what: str, count: int) -> None:
        with capsys.disabled():
            print(f"\n  proved {what}: {count} specs in {time.process_time() - begin:.0f} s")

    return say


def radices(most: int) -> Iterator[tuple[int, int]]:
    """Every (P, r), also r = 2 for one rank."""
    return ((ranks, radix) for ranks in range(1, most + 1) for radix in range(2, max(ranks, 2) + 1))


def divisors(ranks: int) -> Iterator[int]:
    return (q for q in range(1, ranks + 1) if ranks % q == 0)


def two_dimensions(most: int) -> Iterator[tuple[int, str]]:
    """Every (P, dims and radices) with two dimensions."""
    for ranks in range(1, most + 1):
        for q in divisors(ranks):
            for r1 in range(2, max(q, 2) + 1):
                for r2 in range(2, max(ranks // q, 2) + 1):
                    yield ranks, f"dims={q}x{ranks // q},radix={r1}/{r2}"


def prove(proof: Proof, ranks: int, parameters: str) -> None:
    verdict = proof(_core.parse_spec(f"bruck({parameters})"), ranks)
    assert verdict.proved, (ranks, parameters, verdict.findings)


@pytest.mark.slow
@pytest.mark.parametrize("most", [MOST // 4, pytest.param(MOST, marks=pytest.mark.long)])
@pytest.mark.parametrize("window", ["1", "all"])
@pytest.mark.parametrize("layout", ["modified", "zero-rotation"])
def test_every_radix_by_symmetry(layout: str, window: str, most: int, report: Report) -> None:
    count = 0
    for ranks, radix in radices(most):
        prove(_core.verify_symmetric, ranks, f"radix={radix},layout={layout},window={window}")
        count += 1
    assert count == 1 + most * (most - 1) // 2
    report(f"by symmetry, every (P, r) to P = {most}, {layout}, window {window}", count)


def test_a_sample_of_everything_else_by_symmetry(report: Report) -> None:
    """Other layouts and packings, several dimensions, mixed radices."""
    draw = random.Random(1)
    for _ in range(4000):
        ranks = draw.randint(2, MOST)
        dims = draw.choice(["P", "2d", "3d", "4d"])
        digits = ("-".join(str(draw.randint(2, ranks)) for _ in range(draw.randint(1, 3))) for _ in range(3))
        rest = f"layout={draw.choice(LAYOUTS)},pack={draw.choice(['memcpy', 'datatype'])},window={draw.randint(1, 9)}"
        prove(_core.verify_symmetric, ranks, f"dims={dims},radix={'/'.join(digits)},{rest}")
    report(f"by symmetry, at random to P = {MOST}", 4000)


@pytest.mark.slow
@IN_FULL
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_radix_in_full(layout: str, most: int, report: Report) -> None:
    count = 0
    for ranks, radix in radices(most):
        for window, pack in (("1", "memcpy"), ("all", "datatype")):
            prove(_core.verify, ranks, f"radix={radix},layout={layout},window={window},pack={pack}")
            count += 1
    report(f"in full, every (P, r) to P = {most}, {layout}, window 1 and all", count)


@pytest.mark.slow
@IN_FULL
@pytest.mark.parametrize("layout", LAYOUTS)
def test_two_dimensions_in_full(layout: str, most: int, report: Report) -> None:
    cases = list(two_dimensions(most))
    for ranks, parameters in cases:
        prove(_core.verify, ranks, f"{parameters},layout={layout},window=2")
    report(f"in full, every (P, Q, r1, r2) to P = {most}, {layout}", len(cases))


SYMMETRIC = ("direct(order=shift)", "bruck", "tra", "radix(r=3)", "grid", "torus", "bruck(dims=2d,layout=zero-copy)")


@pytest.mark.parametrize("text", SYMMETRIC)
def test_both_proofs_count_alike(text: str) -> None:
    spec = _core.parse_spec(text)
    for ranks in (1, 2, 3, 7, 12, 36):
        full, symmetric = _core.verify(spec, ranks), _core.verify_symmetric(spec, ranks)
        assert (symmetric.findings, full.findings) == ([], [])
        assert (symmetric.messages, symmetric.blocks) == (full.messages, full.blocks)


@pytest.mark.parametrize("order", ["xor", "random", "scatter"])
def test_other_orders_are_refused(order: str) -> None:
    found = _core.verify_symmetric(_core.parse_spec(f"direct(order={order})"), 8).findings
    assert len(found) == 1
    assert found[0].endswith("does not look alike from every rank")


@pytest.mark.parametrize("ranks", [12, 36, 60])
@pytest.mark.parametrize(
    "parameters", ["radix=2", "radix=all/root,layout=zero-rotation,window=all", "radix=3,layout=modified"]
)
def test_groups_of_equal_size_are_a_grid(parameters: str, ranks: int) -> None:
    spec = _core.parse_spec(f"bruck(dims=groups:4,{parameters})")
    full, symmetric = _core.verify(spec, ranks), _core.verify_symmetric(spec, ranks)
    assert (symmetric.findings, full.findings) == ([], [])
    assert (symmetric.messages, symmetric.blocks) == (full.messages, full.blocks)


def test_groups_of_other_sizes_are_refused() -> None:
    assert not _core.verify_symmetric(_core.parse_spec("bruck(dims=groups:3)"), 8).proved


RUN = re.compile(r"(send|receive|scratch)\[(-?\d+)(?:\.\.(-?\d+)(?:/(-?\d+))?)?\]")


def blocks(run: str) -> list[tuple[str, int]]:
    """Each block of a run in its text form."""
    found = RUN.fullmatch(run)
    assert found, run
    buffer, first = found[1], int(found[2])
    last, stride = int(found[3] or first), int(found[4] or 1)
    return [(buffer, block) for block in range(first, last + (1 if stride > 0 else -1), stride)]


class Grid:
    """Translation of a schedule's text form."""

    def __init__(self, sizes: list[int]) -> None:
        self.sizes = sizes

    def moved(self, place: int, by: int) -> int:
        result, stride = 0, 1
        for size in self.sizes:
            result += (place // stride + by // stride) % size * stride
            stride *= size
        return result

    def translated(self, text: str, by: int) -> str:
        """What rank `by` does if it does what rank 0 does in `text`; one run for each block."""
        lines = []
        for line in text.splitlines():
            word, *rest = line.split()
            if word == "copy":
                pairs = zip(*(self._runs([run], by) for run in rest), strict=True)
                lines += [f"copy {source} {target}" for source, target in pairs]
            elif word in ("send", "receive"):
                last = rest[1:2] == ["last"]
                words = [
                    word,
                    str(self.moved(int(rest[0]), by)),
                    *rest[1 : 1 + last],
                    *self._runs(rest[1 + last :], by),
                ]
                lines.append(" ".join(words))
            else:
                lines.append(line.replace("rank=0 ", f"rank={by} "))
        return "\n".join(lines) + "\n"

    def _runs(self, runs: list[str], by: int) -> list[str]:
        each = [block for run in runs for block in blocks(run)]
        return [f"{buffer}[{block if buffer == 'scratch' else self.moved(block, by)}]" for buffer, block in each]


CASES = {
    "bruck(radix=2,layout=basic)": [7],
    "bruck(radix=3,layout=modified)": [10],
    "bruck(radix=4,layout=zero-rotation,window=1)": [16],
    "bruck(dims=3x5,radix=2/3,layout=zero-copy,pack=datatype)": [3, 5],
    "direct(order=shift,window=2)": [6],
}


def first_rank(spec: str) -> str:
    """The schedule of rank 0 of a case, one run for each block."""
    schedule = _core.generate(_core.parse_spec(spec), math.prod(CASES[spec]), 0)
    return Grid(CASES[spec]).translated(str(schedule), 0)


def findings(texts: list[str], sizes: list[int] | None = None) -> list[str]:
    """Of the proof by symmetry if there are `sizes`, of the full one if not."""
    schedules = [_core.parse_schedule(text) for text in texts]
    verdict = _core.verify_symmetric_schedules(schedules, sizes) if sizes else _core.verify_schedules(schedules)
    return list(verdict.findings)


@pytest.mark.parametrize("spec", CASES)
def test_translations_of_one_rank_are_proved_by_both(spec: str) -> None:
    grid, text = Grid(CASES[spec]), first_rank(spec)
    texts = [grid.translated(text, rank) for rank in range(math.prod(grid.sizes))]
    assert findings(texts) == []
    assert findings(texts[:1], grid.sizes) == []
    assert findings(texts, grid.sizes) == []


def edit(pattern: str, replacement: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        text, changes = re.subn(pattern, replacement, text, count=1)
        assert changes == 1, pattern
        return text

    return change


MUTATIONS = {
    "a message is dropped": (edit(r"send 1 .*\n((?:.*\n)*?)receive 6 .*\n", r"\1"), "rank 0 ends with"),
    "a send is dropped": (edit(r"send 1 .*\n", ""), "2 receives, but 1 sends"),
    "a receive is dropped": (edit(r"receive 6 .*\n", ""), "1 receives, but 2 sends"),
    "a message is the last for its sender only": (
        edit(r"(send 1) ", r"\1 last "),
        "is the last of its blocks for one end only",
    ),
    "a message says to be the last, but is not": (
        lambda text: edit(r"(receive 6) ", r"\1 last ")(edit(r"(send 1) ", r"\1 last ")(text)),
        "is not the last of all its blocks, but marked so",
    ),
    "displacements of sends are swapped": (
        edit(r"send 1 (.*)\nsend 2 (.*)\n", r"send 2 \1\nsend 1 \2\n"),
        "is from rank 6, but by symmetry rank 5 sends it",
    ),
    "receives start in another order": (
        edit(r"(receive 6 .*\n)(receive 5 .*\n)", r"\2\1"),
        "receive number 0 of the step is from rank 5, but by symmetry rank 6 sends it",
    ),
    "the wrong block is packed": (
        edit(r"copy receive\[2\] scratch", "copy receive[3] scratch"),
        "rank 0 ends with block",
    ),
    "the wrong block is sent": (edit(r"send 3 receive\[2\]", "send 3 receive[1]"), "rank 0 ends with block"),
    "a block goes to the wrong place": (edit(r"copy send\[0\] receive\[0\]", "copy send[0] receive[1]"), "touched by"),
    "a copy is dropped": (edit(r"copy .*\n", ""), "rank 0 ends with"),
    "messages differ in length": (edit(r"(send 3 receive\[2\])", r"\1 send[0]"), "by symmetry 4 are sent"),
    "a message comes a step late": (
        edit(r"(receive 4 )", r"step window=all complete=all post=receives-first\n\1"),
        "0 receives",
    ),
    "packing and sending are one step": (
        edit(r"(copy receive\[\d\] scratch.*\n)step.*\n(?=send)", r"\1"),
        "touched by another operation of the step",
    ),
    "a block is out of bounds": (edit(r"send\[0\]", "send[7]"), "out of bounds"),
    "a rank sends to itself": (edit(r"send 1 ", "send 0 "), "itself; use a copy"),
    "the schedule is of another size": (edit("ranks=7", "ranks=8"), "of 8"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_each_mutation_is_found(name: str) -> None:
    text = str(_core.generate(_core.parse_spec("bruck(radix=3,layout=modified,window=all)"), 7, 0))
    text = Grid([7]).translated(text, 0).replace(" last", "")  # a promise, which most mutations would break too
    assert findings([text], [7]) == []
    change, words = MUTATIONS[name]
    found = findings([change(text)], [7])
    assert any(words in finding for finding in found), (found, text)


@pytest.mark.parametrize("rank", [1, 8, 15])
def test_another_rank_that_behaves_otherwise_is_found(rank: int) -> None:
    """It delivers, among its own kind, but not to the others."""
    one, other = (
        [str(_core.generate(_core.parse_spec(f"bruck(radix={r})"), 16, rank)) for rank in range(16)]
        for r in ("2", "4-2")
    )
    assert findings(one, [16]) == findings(other, [16]) == []
    one[rank] = other[rank]
    assert findings(one) != []
    assert findings([one[0], one[rank]], [16]) == [
        f"rank {rank} does not do what rank 0 does, seen from itself: they differ in step 2"
    ]


def test_without_a_schedule_nothing_is_proved() -> None:
    assert findings([], [4]) == ["there is no schedule"]


def mutated(text: str, draw: random.Random) -> str:
    """A small change somewhere; it may happen to do no harm."""
    lines = text.splitlines()
    kind = draw.choice(["drop", "swap", "peer", "block", "pair", "window", "double"])
    messages = [i for i, line in enumerate(lines) if line.startswith(("send", "receive"))]
    i = draw.choice(messages if kind in ("swap", "peer", "pair") else range(2, len(lines)))
    if kind == "drop":
        del lines[i]
    elif kind == "double":
        lines.insert(i, lines[i])
    elif kind == "swap":
        j = draw.choice(messages)
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == "peer":
        lines[i] = re.sub(r" \d+ ", f" {draw.randint(1, 5)} ", lines[i], count=1)
    elif kind == "block":
        lines[i] = re.sub(r"\[\d+\]", f"[{draw.randint(0, 5)}]", lines[i], count=1)
    elif kind == "pair":  # a send and a receive: symmetric again, if they belong together
        other = draw.choice([j for j in messages if lines[j].split()[0] != lines[i].split()[0]])
        lines = [line for j, line in enumerate(lines) if j not in (i, other)]
    elif kind == "window":
        lines = [re.sub("window=[^ ]*", f"window={draw.randint(1, 3)}", line) for line in lines]
    return "\n".join(lines) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("spec", CASES)
def test_both_proofs_agree_on_mutations(spec: str) -> None:
    """What is proved by symmetry is proved in full. The reverse holds but for schedules out of lockstep."""
    grid, text, draw = Grid(CASES[spec]), first_rank(spec), random.Random(2)
    outcomes = dict.fromkeys(((a, b) for a in (False, True) for b in (False, True)), 0)
    for _ in range(300):
        changed = text
        for _ in range(draw.randint(1, 2)):
            changed = mutated(changed, draw)
        found = findings([changed], grid.sizes)
        full = findings([grid.translated(changed, rank) for rank in range(math.prod(grid.sizes))])
        assert found or not full, (changed, full)
        if found and not full:
            lockstep = ("by symmetry", "receives, but", "for one end only")
            assert all(any(words in finding for words in lockstep) for finding in found), (found, changed)
        outcomes[not found, not full] += 1
    assert outcomes[False, False] > 50
    assert outcomes[True, True] > 10
