"""What travels, which is all that is executed where the sizes of blocks differ: proved for every variant.

And the proof can fail.
"""

from __future__ import annotations

import functools
import itertools
import random
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator

import pytest
from core.bruck_test import node_maps
from core.strategies import radices
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from limits import examples

from swapmeet import _core

LAYOUTS = ("basic", "modified", "zero-rotation", "zero-copy")
PACKINGS = ("memcpy", "datatype")
WINDOWS = ("1", "2", "all")
COMPLETIONS = ("all", "any", "test")
MESSAGES = ("coalesced", "staggered")

Name = tuple[int, int]  # (source, destination) of a block
Sent = tuple[int, int, bool, tuple[Name, ...]]  # sender, receiver, last, blocks


def schedules(parameters: str, ranks: int, nodes: str = "") -> list[_core.Schedule]:
    spec = _core.parse_spec(f"bruck({parameters})")
    return [_core.generate(spec, ranks, rank, nodes) for rank in range(ranks)]


def flows(parameters: str, ranks: int, nodes: str = "") -> list[_core.Flow]:
    spec = _core.parse_spec(f"bruck({parameters})")
    return [_core.flow(spec, ranks, rank, nodes) for rank in range(ranks)]


def proved(parameters: str, ranks: int, nodes: str = "") -> None:
    verdict = _core.verify_flows(flows(parameters, ranks, nodes))
    assert verdict.findings == [], f"bruck({parameters}), P = {ranks}, nodes {nodes!r}"


def rounds(flow: _core.Flow) -> list[tuple[list, list]]:
    """(sends, receives) of each round."""
    return [(sends, receives) for _, _, sends, receives in flow.rounds]


# --- by hand ---------------------------------------------------------------------------------------------------------


def test_three_ranks_pass_nothing_on() -> None:
    """Offsets 1 = 01 and 2 = 10 have one digit that is not zero."""
    one, two = ([(1, True, [1])], [(2, True, [-1 - 2])]), ([(2, True, [2])], [(1, True, [-1 - 1])])
    for r, expected in ((2, [one, two]), (3, [(one[0] + two[0], one[1] + two[1])])):
        flow = flows(f"radix={r},layout=zero-rotation,window=1", 3)[0]
        assert rounds(flow) == expected
        assert {row[:2] for row in flow.rounds} == {(1, "all")}
        assert flow.passed_on == 0
        assert flow.peak_blocks() == 2


def test_four_ranks_in_radix_2() -> None:
    """Offset 3 = 11 goes to the next rank first: rank 0 passes on what rank 3 sends to rank 2, as block P + 0."""
    flow = flows("radix=2,layout=zero-rotation,window=all", 4)[0]
    assert rounds(flow) == [
        ([(1, False, [3, 1])], [(3, False, [4, -1 - 3])]),
        ([(2, True, [2, 4])], [(2, True, [-1 - 2, -1 - 1])]),
    ]
    assert flow.passed_on == 1
    assert flow.peak_blocks() == 6  # two kept, two that leave, two that arrive


def test_four_ranks_in_radix_3() -> None:
    """Offset 3 = 10: all are sent directly, offsets 1 and 2 in the first digit."""
    flow = flows("radix=3,layout=zero-rotation,window=all", 4)[1]
    assert rounds(flow) == [
        ([(2, True, [2]), (3, True, [3])], [(0, True, [-1 - 0]), (3, True, [-1 - 3])]),
        ([(0, True, [0])], [(2, True, [-1 - 2])]),
    ]
    assert flow.peak_blocks() == 4


def test_two_nodes_of_unequal_size() -> None:
    """Nodes {0, 1} and {2}: rank 2 holds two places, so it passes nothing on to itself."""
    for rank, flow in enumerate(flows("dims=nodes,radix=all,layout=zero-rotation,window=all", 3, "2+1")):
        sent = Counter(block for sends, _ in rounds(flow) for _, _, blocks in sends for block in blocks)
        assert all(count == 1 for count in sent.values())
        assert {block for block in sent if block < 3} == set(range(3)) - {rank}


def test_what_is_out_of_bounds_is_refused() -> None:
    text = str(schedules("radix=2,layout=modified,window=1", 4)[0])
    with pytest.raises(ValueError, match="out of bounds"):
        _core.flow_of(_core.parse_schedule(text.replace("copy send[0] ", "copy send[4] ")))
    with pytest.raises(ValueError, match="does not exist"):
        _core.flow_of(_core.parse_schedule(text.replace("send 1 ", "send 9 ")))
    assert _core.verify_flows(flows("radix=2", 4)[:1] * 2).findings[0] == "flow 0 is of rank 0 of 4"


# --- against schedules, by names -------------------------------------------------------------------------------------


def listed(run: str) -> list[tuple[str, int]]:
    """Each block of `scratch[3..9/2]`."""
    buffer, first, last, stride = re.fullmatch(r"(\w+)\[(\d+)(?:\.\.(\d+)(?:/(-?\d+))?)?\]", run).groups()
    step = int(stride or 1)
    return [(buffer, i) for i in range(int(first), int(last or first) + (1 if step > 0 else -1), step)]


def sent_by_schedules(all_ranks: list[_core.Schedule]) -> list[Sent]:
    """What each step sends, run in lockstep with names for blocks; `last` is whether all of them are at their end."""
    ranks = len(all_ranks)
    holds = [{("send", d): (r, d) for d in range(ranks)} for r in range(ranks)]
    result: list[Sent] = []
    for steps in itertools.zip_longest(*(schedule.steps for schedule in all_ranks)):
        sent: list[Sent] = []
        for r, (_, _, _, copies, sends, _) in enumerate(steps):
            for source, target in copies:
                names = [holds[r][place] for place in listed(source)]
                holds[r].update(zip(listed(target), names, strict=True))
            for peer, runs in sends:
                blocks = tuple(holds[r][place] for run in runs for place in listed(run))
                sent.append((r, peer, all(destination == peer for _, destination in blocks), blocks))
        mail = {pair: deque(group) for pair, group in grouped(sent).items()}
        for r, (*_, receives) in enumerate(steps):
            for peer, runs in receives:
                blocks = mail[peer, r].popleft()[3]
                holds[r].update(zip((place for run in runs for place in listed(run)), blocks, strict=True))
        result += sent
    return sorted(result, key=lambda entry: entry[0])


def sent_by_flows(all_ranks: list[_core.Flow]) -> list[Sent]:
    """What each rank sends, round by round as messages arrive."""
    holds = [{d: (flow.rank, d) for d in range(flow.ranks)} for flow in all_ranks]
    mail: dict[tuple[int, int, bool], deque[tuple[Name, ...]]] = {}
    sent: list[Sent] = []

    def rank_runs(flow: _core.Flow) -> Iterator[None]:
        me = flow.rank
        for _, _, sends, receives in flow.rounds:
            for peer, last, blocks in sends:
                names = tuple(holds[me].pop(block) for block in blocks)
                sent.append((me, peer, last, names))
                mail.setdefault((me, peer, last), deque()).append(names)
            for peer, last, blocks in receives:
                while not mail.get((peer, me, last)):
                    yield
                names = mail[peer, me, last].popleft()
                holds[me].update((number, name) for number, name in zip(blocks, names, strict=True) if number >= 0)
                assert all(name == (-1 - number, me) for number, name in zip(blocks, names, strict=True) if number < 0)

    waiting = [rank_runs(flow) for flow in all_ranks]
    for _ in range(1000):  # turns
        waiting = [rank for rank in waiting if next(rank, "over") != "over"]
    assert not waiting
    assert all(set(held) == {rank} for rank, held in enumerate(holds))
    return sorted(sent, key=lambda entry: entry[0])


def without_last(sent: list[Sent]) -> list[tuple[int, int, tuple[Name, ...]]]:
    return [(sender, receiver, blocks) for sender, receiver, _, blocks in sent]


def grouped(sent: list[Sent]) -> dict[tuple[int, int], list[Sent]]:
    pairs: dict[tuple[int, int], list[Sent]] = {}
    for entry in sent:
        pairs.setdefault(entry[:2], []).append(entry)
    return pairs


@pytest.mark.slow
@pytest.mark.parametrize("nodes", ["", "4+2", "cyclic:3", "2/4"])
@pytest.mark.parametrize("messages", MESSAGES)
def test_every_layout_carries_the_same_blocks_to_the_same_peers(messages: str, nodes: str) -> None:
    """The flow is what its schedule makes travel; `last` says which messages end all their blocks: exactly, if
    coalesced.
    """
    for p, radix in itertools.product((1, 2, 3, 4, 7, 8, 9, 12), ("2", "3", "2-3/2", "all")):
        seen = []
        for layout, pack, window in itertools.product(LAYOUTS, PACKINGS, ("2", "all")):
            dims = "nodes" if nodes else "2d" if messages == "staggered" else "P"
            text = f"dims={dims},radix={radix},layout={layout},pack={pack},window={window},messages={messages}"
            plans = schedules(text, p, nodes)
            by_flow = sent_by_flows(flows(text, p, nodes))
            assert by_flow == sent_by_flows([_core.flow_of(plan) for plan in plans]), text
            assert without_last(by_flow) == without_last(by_schedule := sent_by_schedules(plans)), text
            if messages == "coalesced" or radix == "all":
                assert by_flow == by_schedule, text
            for says, ends in zip(by_flow, by_schedule, strict=True):
                assert ends[2] or not says[2], text  # staggered, the blocks of a bundle say what holds for all of it
            seen.append(sorted((a, b, last, tuple(sorted(blocks))) for a, b, last, blocks in by_flow))
        assert all(sent == seen[0] for sent in seen), (p, radix)


# --- proofs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", PACKINGS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_radix_and_window_up_to_16_ranks(layout: str, pack: str) -> None:
    for p in range(1, 17):
        for r, window in itertools.product(range(2, max(p, 2) + 1), WINDOWS):
            proved(f"radix={r},layout={layout},pack={pack},window={window}", p)


@pytest.mark.parametrize("messages", MESSAGES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_grids_of_up_to_16_ranks(layout: str, messages: str) -> None:
    packings, windows = itertools.cycle(PACKINGS), itertools.cycle(WINDOWS)
    for p, dims in itertools.product(range(1, 17), ("2d", "3d", "groups:3", "groups:2/6")):
        for radix in ("2", "3/2", "all", "root/all", "2-3/4-2"):
            rest = f"pack={next(packings)},window={next(windows)},messages={messages}"
            proved(f"dims={dims},radix={radix},layout={layout},{rest}", p)


variants = st.builds(
    "layout={},pack={},window={},messages={},complete={}".format,
    st.sampled_from(LAYOUTS),
    st.sampled_from(PACKINGS),
    st.sampled_from(("1", "2", "3", "all")),
    st.sampled_from(MESSAGES),
    st.sampled_from(COMPLETIONS),
)


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(node_maps(), radices, variants)
def test_any_node_map(nodes: tuple[str, int], radix: str, variant: str) -> None:
    text, ranks = nodes
    assume("too unequal" not in _core.parse_spec("two-layer").unsuitable(ranks, text))
    proved(f"dims=nodes,radix={radix},{variant}", ranks, text)


@settings(max_examples=examples(200))
@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), radices, variants)
def test_any_grid(sizes: list[int], radix: str, variant: str) -> None:
    ranks = functools.reduce(int.__mul__, sizes)
    assume(ranks <= 36)
    proved(f"dims={'x'.join(map(str, sizes))},radix={radix},{variant}", ranks)


def test_the_verdict_counts_messages_and_blocks() -> None:
    verdict = _core.verify_flows(flows("radix=2,window=all", 8))
    assert (verdict.messages, verdict.blocks) == (8 * 3, 8 * 12)
    assert verdict.messages == sum(plan.messages for plan in schedules("radix=2,window=all", 8))


# --- the proof can fail ----------------------------------------------------------------------------------------------

Change = Callable[[list[str]], None]


def edit(rank: int, pattern: str, replacement: str) -> Change:
    def change(texts: list[str]) -> None:
        texts[rank], changes = re.subn(pattern, replacement, texts[rank], count=1)
        assert changes == 1, (pattern, texts[rank])

    return change


def both(*changes: Change) -> Change:
    def change(texts: list[str]) -> None:
        for one in changes:
            one(texts)

    return change


def findings(texts: list[str]) -> tuple[list[str], list[str]]:
    """Of the verifier of schedules, and of that of flows."""
    plans = [_core.parse_schedule(text) for text in texts]
    return list(_core.verify_schedules(plans).findings), list(
        _core.verify_flows([_core.flow_of(plan) for plan in plans]).findings
    )


# Four ranks, radix 2, as four_ranks() says: rank 0 sends blocks 3 and 1 to rank 1, then one from rank 3 and block 2 to
# rank 2.
MUTATIONS: dict[str, tuple[Change, str, str]] = {
    "a message says at both ends to be the last, but is not": (
        both(edit(0, "send 1 ", "send 1 last "), edit(1, "receive 0 ", "receive 0 last ")),
        "is not the last",
        "marked as the last passes a block on",
    ),
    "a message is the last for its sender only": (
        edit(2, r"receive 0 last ", "receive 0 "),
        "the last of its blocks for one end only",
        "more messages than are sent",
    ),
    "a message is the last for its receiver only": (
        edit(0, r"send 2 last ", "send 2 "),
        "the last of its blocks for one end only",
        "more messages than are sent",
    ),
    "two blocks of a message are swapped": (
        edit(0, r"send 1 (\S+) (\S+)\n", r"send 1 \2 \1\n"),
        "ends with block",
        "ends with block",
    ),
    "a block is passed on twice, another never": (
        edit(0, r"(send 2 last )(\S+) \S+", r"\1\2 \2"),
        "ends with block",
        "a block is sent that is not there",
    ),
    "a block is never passed on": (
        both(edit(0, r"send 2 last .*\n", ""), edit(2, r"receive 0 last .*\n", "")),
        "ends with nothing",
        "came 0 times",
    ),
    "a message has fewer blocks at one end": (
        edit(1, r"receive 0 (\S+) \S+\n", r"receive 0 \1\n"),
        "a message of 2 blocks into 1",
        "a message of 2 blocks into 1",
    ),
}


def four_ranks() -> list[str]:
    """One block in each run, so that the mutations can name it."""
    texts = [str(plan) for plan in schedules("radix=2,layout=zero-copy,pack=datatype,window=all", 4)]

    def split(text: str) -> str:
        each = lambda run: " ".join(f"{buffer}[{i}]" for buffer, i in listed(run[0]))  # noqa: E731
        messages = (line for line in text.splitlines(keepends=True))
        return "".join(
            re.sub(r"\w+\[[^]]*\]", each, line) if re.match(r"\s*(send|receive) ", line) else line for line in messages
        )

    return [split(text) for text in texts]


@pytest.mark.parametrize("name", MUTATIONS)
def test_each_mutation_is_found(name: str) -> None:
    texts = four_ranks()
    assert findings(texts) == ([], [])
    change, of_schedules, of_flows = MUTATIONS[name]
    change(texts)
    found = findings(texts)
    if of_schedules:
        assert any(of_schedules in finding for finding in found[0]), found
    assert any(of_flows in finding for finding in found[1]), found


def by_hand(rank: int, ranks: int, *lines: str, scratch: int = 0, window: str = "all") -> str:
    head = f"schedule ranks={ranks} rank={rank} scratch={scratch} segment=0\n"
    step = f"step window={window} complete=all post=receives-first"
    return head + "".join(f"{step if line == 'step' else line}\n" for line in lines)


def test_a_block_that_is_sent_twice_delivers_but_is_found() -> None:
    """The first copy is overwritten unread: right for equal blocks, whose schedule is executed as it is."""
    zero = ["step", "copy send[0] receive[0]", "send 1 send[1]", "receive 1 last receive[1]"]
    zero += ["step", "send 1 last send[1]"]
    one = ["step", "copy send[1] receive[1]", "receive 0 scratch[0]", "send 0 last send[0]"]
    one += ["step", "receive 0 last receive[0]"]
    of_schedules, of_flows = findings([by_hand(0, 2, *zero), by_hand(1, 2, *one, scratch=1)])
    assert of_schedules == []
    assert of_flows[0] == "rank 0, blocks of unequal size: a block is sent that is not there"


def test_the_own_block_may_not_travel() -> None:
    zero = [
        "step",
        "copy send[0] receive[0]",
        "send 1 last send[1]",
        "receive 1 last receive[1]",
        "step",
        "send 1 send[0]",
    ]
    one = ["step", "copy send[1] receive[1]", "send 0 last send[0]", "receive 0 last receive[0]", "step"]
    one += ["receive 0 scratch[0]"]
    of_schedules, of_flows = findings([by_hand(0, 2, *zero), by_hand(1, 2, *one, scratch=1)])
    assert of_schedules == []
    assert any("a block is sent that is not there" in finding for finding in of_flows)


def test_windows_of_unequal_size_do_no_harm() -> None:
    """As long as nobody waits for ever."""
    texts = [str(plan) for plan in schedules("radix=3,layout=zero-rotation,window=all", 8)]
    texts[3] = re.sub("window=all", "window=1", texts[3])
    assert findings(texts) == ([], [])


@pytest.mark.parametrize("complete", COMPLETIONS)
def test_ranks_that_wait_in_a_circle_are_found(complete: str) -> None:
    """Each rank sends to the next one first, and receives from it first."""
    texts = []
    for r in range(3):
        sends = [f"send {(r + i) % 3} last send[{(r + i) % 3}]" for i in (1, 2)]
        receives = [f"receive {(r + i) % 3} last receive[{(r + i) % 3}]" for i in (1, 2)]
        text = by_hand(r, 3, "step", f"copy send[{r}] receive[{r}]", *sends, *receives, window="1")
        texts.append(text.replace("complete=all", f"complete={complete}"))
    of_schedules, of_flows = findings(texts)
    assert any("deadlock" in finding for finding in of_schedules)
    assert any("deadlock" in finding and "step 0 never finishes; it waits for rank" in finding for finding in of_flows)
    assert findings([text.replace("window=1", "window=all") for text in texts]) == ([], [])


@pytest.mark.parametrize("complete", COMPLETIONS)
def test_a_block_that_leaves_in_the_round_in_which_it_arrives_is_found(complete: str) -> None:
    """Some orders of completion have it there in time, others do not: rank 1 passes block (0, 2) on, as P + 0."""
    sends, receives = [(1, False, [2]), (1, True, [1])], [(1, True, [-2]), (2, True, [-3])]
    zero = _core.Flow(3, 0, [(1, complete, sends, []), (0, complete, [], receives)])
    arrives = [(0, False, [3]), (0, True, [-1]), (2, True, [-3])]
    leaves = [(0, True, [0]), (2, True, [3]), (2, True, [2])]
    two = _core.Flow(3, 2, [(0, complete, [(0, True, [0]), (1, True, [1])], [(1, True, [-1]), (1, True, [-2])])])
    in_turn = _core.Flow(3, 1, [(0, complete, [], arrives), (0, complete, leaves, [])])
    at_once = _core.Flow(3, 1, [(0, complete, leaves, arrives)])
    assert _core.verify_flows([zero, in_turn, two]).findings == []
    assert any("a block is sent that is not there" in f for f in _core.verify_flows([zero, at_once, two]).findings)


@pytest.mark.parametrize("change", ["twice", "peer", "number", "itself"])
def test_what_no_schedule_says_is_found(change: str) -> None:
    rows = [[list(row) for row in flow.rounds] for flow in flows("radix=2,window=all", 4)]
    block, peer, problem = {
        "twice": (3, 1, "a block is sent that is not there"),
        "peer": (1, 9, "rank 9 does not exist"),
        "number": (9, 1, "a block has a number that does not exist"),
        "itself": (1, 0, "a message to itself"),
    }[change]
    rows[0][0][2] = [(peer, False, [3, block])]
    found = _core.verify_flows([_core.Flow(4, r, [tuple(row) for row in of_rank]) for r, of_rank in enumerate(rows)])
    assert any(problem in finding for finding in found.findings), found.findings


def test_saying_less_than_one_knows_is_no_mistake() -> None:
    """Without `last` at either end sizes travel needlessly."""
    assert findings([text.replace(" last", "") for text in four_ranks()]) == ([], [])


# --- against a run with bytes ----------------------------------------------------------------------------------------


class StuckError(Exception):
    pass


def run(all_ranks: list[_core.Flow], sizes: list[list[int]], draw: random.Random) -> bool:
    """Whether each rank gets what it should, by exchanges of blocks of these sizes as src/engine/varying.cpp has them.

    Sizes go with messages that are not the last; others without bytes are not sent. Ranks take turns at random.
    """
    ranks = len(all_ranks)
    mail: dict[tuple[int, int, bool], deque[tuple[list[int], list[Name]]]] = {}
    kept: list[dict[int, tuple[int, Name]]] = []
    received: list[dict[int, tuple[int, Name]]] = [{} for _ in range(ranks)]
    for flow in all_ranks:
        kept.append({d: (sizes[flow.rank][d], (flow.rank, d)) for d in range(ranks)})

    def rank_runs(flow: _core.Flow) -> Iterator[None]:
        me = flow.rank
        for _, _, sends, receives in flow.rounds:
            for peer, last, blocks in sends:
                entries = [kept[me][block] for block in blocks]
                if not last or sum(size for size, _ in entries):
                    box = mail.setdefault((me, peer, last), deque())
                    box.append(([size for size, _ in entries], [name for _, name in entries]))
            for peer, last, blocks in receives:
                if last and sum(sizes[-1 - block][me] for block in blocks) == 0:
                    for block in blocks:
                        received[me][-1 - block] = (0, (-1 - block, me))
                    continue
                while not mail.get((peer, me, last)):
                    yield
                found, names = mail[peer, me, last].popleft()
                for block, size, name in zip(blocks, found, names, strict=True):
                    if block < 0:
                        received[me][-1 - block] = (size, name)
                    else:
                        kept[me][block] = (size, name)

    waiting = {flow.rank: rank_runs(flow) for flow in all_ranks}
    idle = 0
    while waiting:
        rank = draw.choice(sorted(waiting))
        before = sum(map(len, mail.values()))
        try:
            next(waiting[rank])
            idle = idle + 1 if sum(map(len, mail.values())) == before else 0
        except StopIteration:
            del waiting[rank]
            idle = 0
        if idle > 50 * ranks:
            raise StuckError
    return not any(mail.values()) and all(
        received[d][s] == (sizes[s][d], (s, d)) for d in range(ranks) for s in range(ranks) if s != d
    )


@settings(max_examples=examples(150))
@given(node_maps(), radices, variants, st.integers(0, 2**32))
def test_what_is_proved_also_runs(nodes: tuple[str, int], radix: str, variant: str, seed: int) -> None:
    text, ranks = nodes
    assume("too unequal" not in _core.parse_spec("two-layer").unsuitable(ranks, text))
    draw = random.Random(seed)
    sizes = [[draw.choice((0, 0, 1, draw.randrange(100))) for _ in range(ranks)] for _ in range(ranks)]
    assert run(flows(f"dims=nodes,radix={radix},{variant}", ranks, text), sizes, draw)


def mutated(texts: list[str], draw: random.Random) -> list[str]:
    """A small change somewhere; it may happen to do no harm."""
    texts = list(texts)
    rank = draw.randrange(len(texts))
    lines = texts[rank].splitlines()
    messages = [i for i, line in enumerate(lines) if re.match(r"\s*(send|receive) ", line)]
    i, j = draw.choice(messages), draw.choice(messages)
    match draw.choice(["last", "both last", "swap", "block", "runs", "window", "step"]):
        case "last":
            lines[i] = (
                lines[i].replace(" last", "") if " last" in lines[i] else re.sub(r"( \d+ )", r"\1last ", lines[i])
            )
        case "both last":
            texts = [text.replace(" last", "", 1) for text in texts]
            lines = texts[rank].splitlines()
        case "swap":
            lines[i], lines[j] = lines[j], lines[i]
        case "block":
            lines[i] = re.sub(r"\[\d+\]", f"[{draw.randrange(4)}]", lines[i], count=1)
        case "runs":
            head, *rest = re.split(r" (?=\w+\[)", lines[i])
            draw.shuffle(rest)
            lines[i] = " ".join([head, *rest])
        case "window":
            lines = [re.sub("window=[^ ]*", f"window={draw.randint(1, 2)}", line) for line in lines]
        case "step":
            lines.insert(i, "step window=all complete=all post=receives-first")
    texts[rank] = "\n".join(lines) + "\n"
    return texts


def mutations_run(number: int, draw: random.Random, drawn: Callable[[], list[_core.Schedule]]) -> Counter[bool]:
    """Change schedules of 6 ranks here and there; those that are proved all the same deliver. How many were, or not."""
    outcomes = Counter[bool]()
    for _ in range(number):
        texts = [str(plan) for plan in drawn()]
        for _ in range(draw.randint(1, 2)):
            texts = mutated(texts, draw)
        plans = [_core.parse_schedule(text) for text in texts]
        try:
            good = (
                _core.verify_schedules(plans).proved
                and _core.verify_flows([_core.flow_of(plan) for plan in plans]).proved
            )
        except ValueError:
            continue
        outcomes[good] += 1
        if good:
            sizes = [[draw.choice((0, 3, 50)) for _ in range(6)] for _ in range(6)]
            assert run([_core.flow_of(plan) for plan in plans], sizes, draw), texts
    return outcomes


def test_no_mutation_that_is_proved_fails_to_run() -> None:
    draw = random.Random(3)

    def drawn() -> list[_core.Schedule]:
        radix, layout, window = draw.choice("23"), draw.choice(LAYOUTS), draw.choice("12")
        return schedules(f"radix={radix},layout={layout},pack=datatype,window={window}", 6)

    assert min(mutations_run(600, draw, drawn).values()) > 50


# --- storage ---------------------------------------------------------------------------------------------------------


def batches(flow: _core.Flow) -> list[tuple[list, list]]:
    """(sends, receives) that are in flight together with complete=all."""
    rows = []
    for window, _, sends, receives in flow.rounds:
        width = window or max(len(sends), len(receives))
        starts = range(0, max(len(sends), len(receives)), width)
        rows += [(sends[i : i + width], receives[i : i + width]) for i in starts]
    return rows


def peak_by_lifetimes(flow: _core.Flow) -> int:
    """Each message occupies its memory from the batch in which it arrives to that in which its last block leaves."""
    rows = batches(flow)
    leaves = {block: t for t, (sends, _) in enumerate(rows) for _, _, blocks in sends for block in blocks}
    used = [sum(len(blocks) for _, _, blocks in sends) for sends, _ in rows]
    for t, (_, receives) in enumerate(rows):
        for _, _, blocks in receives:
            end = max([t, *(leaves[block] for block in blocks if block >= flow.ranks)])
            for during in range(t, end + 1):
                used[during] += len(blocks)
    return max(used, default=0)


def peak_of_an_execution(flow: _core.Flow, draw: random.Random) -> int:
    """With complete=any: a message of either direction starts whenever another one is over, in a random order."""
    kept: dict[int, list[int]] = {}  # of messages that came: their blocks that have not left, and all their blocks
    came_with: dict[int, int] = {}
    peak = came = 0
    for window, _, sends, receives in flow.rounds:
        width = window or max(len(sends), len(receives))
        waiting = {"send": [blocks for _, _, blocks in sends], "receive": [blocks for _, _, blocks in receives]}
        in_flight: dict[str, list[list[int]]] = {"send": [], "receive": []}
        while any(waiting.values()) or any(in_flight.values()):
            for way in waiting:
                while waiting[way] and len(in_flight[way]) < width:
                    in_flight[way].append(waiting[way].pop(0))
            used = sum(size for _, size in kept.values())
            peak = max(peak, used + sum(len(blocks) for some in in_flight.values() for blocks in some))
            way = draw.choice([way for way, some in in_flight.items() if some])
            blocks = in_flight[way].pop(draw.randrange(len(in_flight[way])))
            stay = [block for block in blocks if block >= flow.ranks]
            if way == "receive" and stay:
                came += 1
                kept[came] = [len(stay), len(blocks)]
                came_with.update(dict.fromkeys(stay, came))
            for block in stay if way == "send" else []:
                kept[came_with[block]][0] -= 1
                if kept[came_with[block]][0] == 0:
                    del kept[came_with[block]]
    return peak


def most_on_their_way(flow: _core.Flow) -> int:
    """Blocks that a rank has taken in and not passed on yet, between two rounds, at most."""
    here = most = 0
    for *_, sends, receives in flow.rounds:
        here -= sum(block >= flow.ranks for _, _, blocks in sends for block in blocks)
        here += sum(block >= 0 for _, _, blocks in receives for block in blocks)
        most = max(most, here)
    return most


def test_peak_against_lifetimes_of_messages() -> None:
    for p, r, window in itertools.product(range(1, 25), (2, 3, 5, 9, 30), WINDOWS):
        for flow in flows(f"radix={r},layout=zero-rotation,window={window}", p)[:2]:
            assert flow.peak_blocks() == peak_by_lifetimes(flow), (p, r, window)
    for p, dims in ((12, "3x4"), (16, "2x2x4"), (6, "6x1")):
        for messages in MESSAGES:
            flow = flows(f"dims={dims},radix=2,window=2,messages={messages}", p)[p // 2]
            assert flow.peak_blocks() == peak_by_lifetimes(flow)


@settings(max_examples=examples(150))
@given(st.integers(2, 20), radices, variants, st.integers(0, 2**32))
def test_no_execution_takes_more_than_the_peak(ranks: int, radix: str, variant: str, seed: int) -> None:
    draw = random.Random(seed)
    variant = re.sub("complete=all", "complete=any", variant)
    for flow in flows(f"radix={radix},{variant}", ranks)[:2]:
        assert max(peak_of_an_execution(flow, draw) for _ in range(5)) <= flow.peak_blocks()


def test_the_peak_of_a_sliding_window_by_hand() -> None:
    """Radix 3, 6 ranks: two messages of two blocks, of which each brings one to be passed on, then one of three."""
    flow = flows("radix=3,window=1,complete=any", 6)[0]
    assert [[len(blocks) for *_, blocks in receives] for _, receives in rounds(flow)] == [[2, 2], [3]]
    draw = random.Random(0)
    peaks = {peak_of_an_execution(flow, draw) for _ in range(200)}
    assert flow.peak_blocks() == max(peaks)


@settings(max_examples=examples(150))
@given(node_maps(), radices, variants)
def test_peak_of_any_node_map(nodes: tuple[str, int], radix: str, variant: str) -> None:
    """At most P' blocks for each place held are on their way; their messages take more, at most all that came."""
    text, ranks = nodes
    spec = _core.parse_spec("two-layer")
    assume("too unequal" not in spec.unsuitable(ranks, text))
    places = functools.reduce(int.__mul__, _core.grid_sizes(text, ranks))
    for flow in flows(f"dims=nodes,radix={radix},{variant}", ranks, text):
        if "complete=all" in variant:
            assert flow.peak_blocks() == peak_by_lifetimes(flow)
        assert flow.peak_blocks() >= peak_by_lifetimes(flow)
        held = -(-places // ranks) if places == ranks else places  # a place of its own, or some that it carries too
        assert most_on_their_way(flow) <= places * held
        arrived = sum(len(blocks) for *_, receives in flow.rounds for _, _, blocks in receives)
        widest = max((sum(len(blocks) for _, _, blocks in sends) for *_, sends, _ in flow.rounds), default=0)
        assert flow.peak_blocks() <= arrived + widest


def offsets_with(p: int, weight: int, r: int, z: int) -> int:
    return sum(offset // weight % r == z for offset in range(p))


def peak_in_one_dimension(p: int, r: int) -> int:
    """With window=all: in digit x arrive as many blocks M_x as leave, and messages (y, z) of earlier digits are there.

    Those that brought a block that has yet to move in digit x or later: its offset is z*r**y + r**x at least.
    """
    weights = [r**x for x in range(64) if r**x < p]
    peak = 0
    for x, weight in enumerate(weights):
        moved = sum(offsets_with(p, weight, r, z) for z in range(1, r))
        kept = sum(
            offsets_with(p, earlier, r, z) for earlier in weights[:x] for z in range(1, r) if z * earlier + weight < p
        )
        peak = max(peak, kept + 2 * moved)
    return peak


def test_closed_form_of_the_peak_in_one_dimension() -> None:
    for p, r in itertools.product(range(1, 41), range(2, 12)):
        for layout in ("basic", "zero-copy"):
            [flow] = {
                (flow.peak_blocks(), flow.passed_on) for flow in flows(f"radix={r},layout={layout},window=all", p)
            }
            assert flow[0] == peak_in_one_dimension(p, r), (p, r)


def test_peak_of_exact_powers() -> None:
    """(w+1) (r-1)/r P blocks for P = r**w: more than P, for messages are kept whole until their last block leaves."""
    for r, w in ((2, 1), (2, 2), (2, 3), (2, 5), (2, 7), (3, 2), (3, 4), (4, 3), (8, 2), (11, 2)):
        p = r**w
        flow = _core.flow_of(_core.generate(_core.parse_spec(f"bruck(radix={r},window=all)"), p, p // 2))
        assert flow.peak_blocks() == peak_in_one_dimension(p, r) == (w + 1) * (r - 1) * p // r
        assert flow.peak_blocks() <= sum(len(blocks) for *_, sends, _ in flow.rounds for _, _, blocks in sends) + p


def test_a_window_of_one_takes_less() -> None:
    """What is in flight is one message, not a digit's."""
    for p, r in itertools.product((9, 16, 27, 40), (3, 4, 9)):
        one, every = (
            flows(f"radix={r},layout=zero-rotation,window={window}", p)[0].peak_blocks() for window in ("1", "all")
        )
        assert one <= every
