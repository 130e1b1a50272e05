"""What becomes of blocks, which is all that is executed where their sizes differ: proved for every variant.

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

from swapmeet import _core

LAYOUTS = ("basic", "modified", "zero-rotation", "zero-copy")
PACKINGS = ("memcpy", "datatype")
WINDOWS = ("1", "2", "all")
MESSAGES = ("coalesced", "staggered")

Name = tuple[int, int]  # (source, destination) of a block
Sent = tuple[int, int, bool, tuple[Name, ...]]  # sender, receiver, last, blocks


def by_blocks(sent: Sent) -> tuple[int, int, tuple[Name, ...]]:
    """A key that does not depend on what is said of a message."""
    return (*sent[:2], sent[3])


def schedules(parameters: str, ranks: int, nodes: str = "") -> list[_core.Schedule]:
    spec = _core.parse_spec(f"bruck({parameters})")
    return [_core.generate(spec, ranks, rank, nodes) for rank in range(ranks)]


def relays(parameters: str, ranks: int, nodes: str = "") -> list[_core.Relay]:
    return [_core.relay_of(schedule) for schedule in schedules(parameters, ranks, nodes)]


def proved(parameters: str, ranks: int, nodes: str = "") -> None:
    verdict = _core.verify_relays(schedules(parameters, ranks, nodes))
    assert verdict.findings == [], f"bruck({parameters}), P = {ranks}, nodes {nodes!r}"


def rounds(relay: _core.Relay) -> list[tuple[list, list]]:
    """(sends, receives) of the rounds that have messages."""
    return [(sends, receives) for _, _, sends, receives in relay.rounds if sends or receives]


# --- by hand ---------------------------------------------------------------------------------------------------------


def test_three_ranks_pass_nothing_on() -> None:
    """Offsets 1 = 01 and 2 = 10 have one digit that is not zero."""
    for r in (2, 3):
        relay = _core.relay_of(schedules(f"radix={r},layout=zero-rotation,window=1", 3)[0])
        assert rounds(relay) == [
            ([(1, True, [1])], [(2, True, [-1 - 2])]),
            ([(2, True, [2])], [(1, True, [-1 - 1])]),
        ]
        assert relay.passed_on == 0
        assert relay.peak_blocks() == 2


def test_four_ranks_in_radix_2() -> None:
    """Offset 3 = 11 goes to the next rank first: rank 0 passes on what rank 3 sends to rank 2, as block P + 0."""
    relay = _core.relay_of(schedules("radix=2,layout=zero-rotation,window=all", 4)[0])
    assert rounds(relay) == [
        ([(1, False, [3, 1])], [(3, False, [4, -1 - 3])]),
        ([(2, True, [2, 4])], [(2, True, [-1 - 2, -1 - 1])]),
    ]
    assert relay.passed_on == 1
    assert relay.peak_blocks() == 6  # two kept, two that leave, two that arrive


def test_four_ranks_in_radix_3() -> None:
    """Offset 3 = 10: all go straight, offsets 1 and 2 in the first digit."""
    relay = _core.relay_of(schedules("radix=3,layout=zero-rotation,window=all", 4)[1])
    assert rounds(relay) == [
        ([(2, True, [2]), (3, True, [3])], [(0, True, [-1 - 0]), (3, True, [-1 - 3])]),
        ([(0, True, [0])], [(2, True, [-1 - 2])]),
    ]
    assert relay.peak_blocks() == 4


def test_two_nodes_of_unequal_size() -> None:
    """Nodes {0, 1} and {2}: rank 2 holds two places, so it passes nothing on to itself."""
    for rank, relay in enumerate(relays("dims=nodes,radix=all,layout=zero-rotation,window=all", 3, "2+1")):
        sent = Counter(block for sends, _ in rounds(relay) for _, _, blocks in sends for block in blocks)
        assert all(count == 1 for count in sent.values())
        assert {block for block in sent if block < 3} == set(range(3)) - {rank}


def test_what_is_out_of_bounds_is_refused() -> None:
    text = str(schedules("radix=2,layout=modified,window=1", 4)[0])
    with pytest.raises(ValueError, match="out of bounds"):
        _core.relay_of(_core.parse_schedule(text.replace("copy send[0] ", "copy send[4] ")))
    with pytest.raises(ValueError, match="does not exist"):
        _core.verify_relays([_core.parse_schedule(text.replace("send 1 ", "send 9 "))] * 4)
    with pytest.raises(ValueError, match="is of rank 0"):
        _core.verify_relays([_core.parse_schedule(text)] * 4)


# --- against schedules, by names -------------------------------------------------------------------------------------


def listed(run: str) -> list[tuple[str, int]]:
    """Each block of `scratch[3..9/2]`."""
    buffer, first, last, stride = re.fullmatch(r"(\w+)\[(\d+)(?:\.\.(\d+)(?:/(-?\d+))?)?\]", run).groups()
    step = int(stride or 1)
    return [(buffer, i) for i in range(int(first), int(last or first) + (1 if step > 0 else -1), step)]


def sent_by_schedules(all_ranks: list[_core.Schedule]) -> list[list[Sent]]:
    """What each step sends, run in lockstep with names for blocks; `last` is whether all of them are at their end."""
    ranks = len(all_ranks)
    holds = [{("send", d): (r, d) for d in range(ranks)} for r in range(ranks)]
    result: list[list[Sent]] = []
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
        if sent:
            result.append(sorted(sent, key=by_blocks))
    return result


def sent_by_relays(all_ranks: list[_core.Relay]) -> list[list[Sent]]:
    """What each step sends, by relays."""
    holds = [{d: (relay.rank, d) for d in range(relay.ranks)} for relay in all_ranks]
    result: list[list[Sent]] = []
    for _, group in itertools.groupby(labels(all_ranks), key=lambda label: label[0]):
        of_step: list[Sent] = []
        for label in group:
            now = [(relay.rank, row) for relay in all_ranks for row in relay.rounds if row[:2] == label]
            sent = [
                (r, peer, last, tuple(holds[r].pop(block) for block in blocks))
                for r, (_, _, sends, _) in now
                for peer, last, blocks in sends
            ]
            mail = {pair: deque(entries) for pair, entries in grouped(sent).items()}
            for r, (*_, receives) in now:
                for peer, last, blocks in receives:
                    _, _, also_last, names = mail[peer, r].popleft()
                    assert also_last == last
                    holds[r].update((number, name) for number, name in zip(blocks, names, strict=True) if number >= 0)
                    assert all(
                        name == (-1 - number, r) for number, name in zip(blocks, names, strict=True) if number < 0
                    )
            of_step += sent
        if of_step:
            result.append(sorted(of_step, key=by_blocks))
    assert all(set(held) == {rank} for rank, held in enumerate(holds))
    return result


def without_last(steps: list[list[Sent]]) -> list[list[tuple[int, int, tuple[Name, ...]]]]:
    return [[(sender, receiver, blocks) for sender, receiver, _, blocks in step] for step in steps]


def of_all(steps: list[list[Sent]]) -> list[Sent]:
    return [entry for step in steps for entry in step]


def labels(all_ranks: list[_core.Relay]) -> list[tuple[int, int]]:
    return sorted({row[:2] for relay in all_ranks for row in relay.rounds})


def grouped(sent: list[Sent]) -> dict[tuple[int, int], list[Sent]]:
    pairs: dict[tuple[int, int], list[Sent]] = {}
    for entry in sent:
        pairs.setdefault(entry[:2], []).append(entry)
    return pairs


@pytest.mark.slow
@pytest.mark.parametrize("nodes", ["", "4+2", "cyclic:3", "2/4"])
@pytest.mark.parametrize("messages", MESSAGES)
def test_every_layout_carries_the_same_blocks_to_the_same_peers(messages: str, nodes: str) -> None:
    """In the same steps; and `last` says which messages hold nothing that goes further: exactly, if coalesced."""
    for p, radix in itertools.product((1, 2, 3, 4, 7, 8, 9, 12), ("2", "3", "2-3/2", "all")):
        seen = []
        for layout, pack, window in itertools.product(LAYOUTS, PACKINGS, ("2", "all")):
            dims = "nodes" if nodes else "2d" if messages == "staggered" else "P"
            text = f"dims={dims},radix={radix},layout={layout},pack={pack},window={window},messages={messages}"
            plans = schedules(text, p, nodes)
            by_relay = sent_by_relays([_core.relay_of(plan) for plan in plans])
            assert without_last(by_relay) == without_last(by_schedule := sent_by_schedules(plans)), text
            if messages == "coalesced" or radix == "all":
                assert by_relay == by_schedule, text
            for says, ends in zip(of_all(by_relay), of_all(by_schedule), strict=True):
                assert ends[2] or not says[2], text  # staggered, the blocks of a bundle say what holds for all of it
            if window == "all":  # a window makes more steps of a digit only where nodes are unequal
                together = [
                    sorted((a, b, last, tuple(sorted(blocks))) for a, b, last, blocks in step) for step in by_relay
                ]
                seen.append(together)
        assert all(step == seen[0] for step in seen), (p, radix)


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
    "layout={},pack={},window={},messages={}".format,
    st.sampled_from(LAYOUTS),
    st.sampled_from(PACKINGS),
    st.sampled_from(("1", "2", "3", "all")),
    st.sampled_from(MESSAGES),
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(node_maps(), radices, variants)
def test_any_node_map(nodes: tuple[str, int], radix: str, variant: str) -> None:
    text, ranks = nodes
    assume("too unequal" not in _core.parse_spec("two-layer").unsuitable(ranks, text))
    proved(f"dims=nodes,radix={radix},{variant}", ranks, text)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), radices, variants)
def test_any_grid(sizes: list[int], radix: str, variant: str) -> None:
    ranks = functools.reduce(int.__mul__, sizes)
    assume(ranks <= 36)
    proved(f"dims={'x'.join(map(str, sizes))},radix={radix},{variant}", ranks)


def test_the_verdict_counts_messages_and_blocks() -> None:
    plans = schedules("radix=2,window=all", 8)
    verdict = _core.verify_relays(plans)
    assert (verdict.messages, verdict.blocks) == (8 * 3, 8 * 12)
    assert verdict.messages == sum(plan.messages for plan in plans)


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
    """Of the verifier of schedules, and of that of relays."""
    plans = [_core.parse_schedule(text) for text in texts]
    return list(_core.verify_schedules(plans).findings), list(_core.verify_relays(plans).findings)


# Four ranks, radix 2, as four_ranks() says: rank 0 sends blocks 3 and 1 to rank 1, then one from rank 3 and block 2 to
# rank 2.
MUTATIONS: dict[str, tuple[Change, str, str]] = {
    "a message says at both ends to be the last, but is not": (
        both(edit(0, "send 1 ", "send 1 last "), edit(1, "receive 0 ", "receive 0 last ")),
        "is not the last",
        "says to be the last passes a block on",
    ),
    "a message is the last for its sender only": (
        edit(2, r"receive 0 last ", "receive 0 "),
        "the last of its blocks for one end only",
        "not sent in the same batch",
    ),
    "a message is the last for its receiver only": (
        edit(0, r"send 2 last ", "send 2 "),
        "the last of its blocks for one end only",
        "not sent in the same batch",
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
    "a message goes in another step at one end": (
        edit(0, r"(  send 2 last)", r"step window=all complete=all post=receives-first\n\1"),
        "",
        "same batch",
    ),
    "a message has fewer blocks at one end": (
        edit(1, r"receive 0 (\S+) \S+\n", r"receive 0 \1\n"),
        "a message of 2 blocks into 1",
        "another number of blocks",
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
    change, of_schedules, of_relays = MUTATIONS[name]
    change(texts)
    found = findings(texts)
    if of_schedules:
        assert any(of_schedules in finding for finding in found[0]), found
    assert any(of_relays in finding for finding in found[1]), found


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
    of_schedules, of_relays = findings([by_hand(0, 2, *zero), by_hand(1, 2, *one, scratch=1)])
    assert of_schedules == []
    assert of_relays[0] == "rank 0, blocks of unequal size: a block is sent that is not there"


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
    of_schedules, of_relays = findings([by_hand(0, 2, *zero), by_hand(1, 2, *one, scratch=1)])
    assert of_schedules == []
    assert any("a block is sent that is not there" in finding for finding in of_relays)


def test_windows_of_unequal_size_are_found() -> None:
    """Equal blocks do not mind in which batch a message goes, as long as nobody waits for ever."""
    texts = [str(plan) for plan in schedules("radix=3,layout=zero-rotation,window=all", 8)]
    texts[3] = re.sub("window=all", "window=1", texts[3])
    of_schedules, of_relays = findings(texts)
    assert of_schedules == []
    assert any("same batch" in finding for finding in of_relays), of_relays


def test_saying_less_than_one_knows_is_no_mistake() -> None:
    """Without `last` at either end sizes travel needlessly."""
    assert findings([text.replace(" last", "") for text in four_ranks()]) == ([], [])


# --- against a run with bytes ----------------------------------------------------------------------------------------


class StuckError(Exception):
    pass


def run(all_ranks: list[_core.Relay], sizes: list[list[int]], draw: random.Random) -> bool:
    """Whether each rank gets what it should, by exchanges of blocks of these sizes as src/engine/varying.cpp has them.

    Sizes go with messages that are not the last; others without bytes are not sent. Ranks take turns at random.
    """
    ranks = len(all_ranks)
    mail: dict[tuple[int, int, bool], deque[tuple[list[int], list[Name]]]] = {}
    kept: list[dict[int, tuple[int, Name]]] = []
    received: list[dict[int, tuple[int, Name]]] = [{} for _ in range(ranks)]
    for relay in all_ranks:
        kept.append({d: (sizes[relay.rank][d], (relay.rank, d)) for d in range(ranks)})

    def rank_runs(relay: _core.Relay) -> Iterator[None]:
        me = relay.rank
        for _, _, sends, receives in relay.rounds:
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

    waiting = {relay.rank: rank_runs(relay) for relay in all_ranks}
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


@settings(max_examples=150, deadline=None)
@given(node_maps(), radices, variants, st.integers(0, 2**32))
def test_what_is_proved_also_runs(nodes: tuple[str, int], radix: str, variant: str, seed: int) -> None:
    text, ranks = nodes
    assume("too unequal" not in _core.parse_spec("two-layer").unsuitable(ranks, text))
    draw = random.Random(seed)
    sizes = [[draw.choice((0, 0, 1, draw.randrange(100))) for _ in range(ranks)] for _ in range(ranks)]
    assert run(relays(f"dims=nodes,radix={radix},{variant}", ranks, text), sizes, draw)


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


def test_no_mutation_that_is_proved_fails_to_run() -> None:
    draw = random.Random(3)
    outcomes = Counter[bool]()
    for _ in range(600):
        parameters = f"radix={draw.choice('23')},layout={draw.choice(LAYOUTS)},pack=datatype,window={draw.choice('12')}"
        texts = [str(plan) for plan in schedules(parameters, 6)]
        for _ in range(draw.randint(1, 2)):
            texts = mutated(texts, draw)
        plans = [_core.parse_schedule(text) for text in texts]
        try:
            good = _core.verify_schedules(plans).proved and _core.verify_relays(plans).proved
        except ValueError:
            continue
        outcomes[good] += 1
        if good:
            sizes = [[draw.choice((0, 3, 50)) for _ in range(6)] for _ in range(6)]
            assert run([_core.relay_of(plan) for plan in plans], sizes, draw), texts
    assert min(outcomes.values()) > 50


# --- storage ---------------------------------------------------------------------------------------------------------


def peak_by_lifetimes(relay: _core.Relay) -> int:
    """Each message occupies its memory from the round in which it arrives to that in which its last block leaves."""
    rows = relay.rounds
    leaves = {block: t for t, (*_, sends, _) in enumerate(rows) for _, _, blocks in sends for block in blocks}
    used = [sum(len(blocks) for _, _, blocks in sends) for *_, sends, _ in rows]
    for t, (*_, receives) in enumerate(rows):
        for _, _, blocks in receives:
            end = max([t, *(leaves[block] for block in blocks if block >= relay.ranks)])
            for during in range(t, end + 1):
                used[during] += len(blocks)
    return max(used, default=0)


def most_on_their_way(relay: _core.Relay) -> int:
    """Blocks that a rank has taken in and not passed on yet, between two rounds, at most."""
    here = most = 0
    for *_, sends, receives in relay.rounds:
        here -= sum(block >= relay.ranks for _, _, blocks in sends for block in blocks)
        here += sum(block >= 0 for _, _, blocks in receives for block in blocks)
        most = max(most, here)
    return most


def test_peak_against_lifetimes_of_messages() -> None:
    for p, r, window in itertools.product(range(1, 25), (2, 3, 5, 9, 30), WINDOWS):
        for relay in relays(f"radix={r},layout=zero-rotation,window={window}", p)[:2]:
            assert relay.peak_blocks() == peak_by_lifetimes(relay), (p, r, window)
    for p, dims in ((12, "3x4"), (16, "2x2x4"), (6, "6x1")):
        for messages in MESSAGES:
            relay = relays(f"dims={dims},radix=2,window=2,messages={messages}", p)[p // 2]
            assert relay.peak_blocks() == peak_by_lifetimes(relay)


@settings(max_examples=150, deadline=None)
@given(node_maps(), radices, variants)
def test_peak_of_any_node_map(nodes: tuple[str, int], radix: str, variant: str) -> None:
    """At most P' blocks for each place held are on their way; their messages take more, at most all that came."""
    text, ranks = nodes
    spec = _core.parse_spec("two-layer")
    assume("too unequal" not in spec.unsuitable(ranks, text))
    places = functools.reduce(int.__mul__, _core.grid_sizes(text, ranks))
    for relay in relays(f"dims=nodes,radix={radix},{variant}", ranks, text):
        assert relay.peak_blocks() == peak_by_lifetimes(relay)
        held = -(-places // ranks) if places == ranks else places  # a place of its own, or some that it carries too
        assert most_on_their_way(relay) <= places * held
        arrived = sum(len(blocks) for *_, receives in relay.rounds for _, _, blocks in receives)
        widest = max((sum(len(blocks) for _, _, blocks in sends) for *_, sends, _ in relay.rounds), default=0)
        assert relay.peak_blocks() <= arrived + widest


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
            [relay] = {
                (relay.peak_blocks(), relay.passed_on) for relay in relays(f"radix={r},layout={layout},window=all", p)
            }
            assert relay[0] == peak_in_one_dimension(p, r), (p, r)


def test_peak_of_exact_powers() -> None:
    """(w+1) (r-1)/r P blocks for P = r**w: more than P, for messages are kept whole until their last block leaves."""
    for r, w in ((2, 1), (2, 2), (2, 3), (2, 5), (2, 7), (3, 2), (3, 4), (4, 3), (8, 2), (11, 2)):
        p = r**w
        relay = _core.relay_of(_core.generate(_core.parse_spec(f"bruck(radix={r},window=all)"), p, p // 2))
        assert relay.peak_blocks() == peak_in_one_dimension(p, r) == (w + 1) * (r - 1) * p // r
        assert relay.peak_blocks() <= sum(len(blocks) for *_, sends, _ in relay.rounds for _, _, blocks in sends) + p


def test_a_window_of_one_takes_less() -> None:
    """What is in flight is one message, not a digit's."""
    for p, r in itertools.product((9, 16, 27, 40), (3, 4, 9)):
        one, every = (
            relays(f"radix={r},layout=zero-rotation,window={window}", p)[0].peak_blocks() for window in ("1", "all")
        )
        assert one <= every
